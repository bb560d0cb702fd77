"""What the answer loses when one token is taken out: deleted, or replaced by the mask."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from faithgauge.errors import UnsupportedError
from faithgauge.models.answers import Variants, answers
from faithgauge.models.question import Question
from faithgauge.types import Batch, Importance


def leave_one_out(
    model: nn.Module, batch: Batch, question: Question, *, absolute: bool = False
) -> Importance:
    """The answer to the text, less that to the text without the token, which is encoded anew.

    score_t = f(x) − f(x without t), and its absolute value with `absolute`.

    Where t was the only token nothing is left: that text is one padding token to which no attention is paid.

    Paper: jain-wallace-2019, section 4.1 (absolute).
    Range: [−1, 1] of a probability.
    Cost: one text per token.
    """
    return _without_each(model, batch, question, fill=None, absolute=absolute)


def occlusion(model: nn.Module, batch: Batch, question: Question, *, absolute: bool = False) -> Importance:
    """The answer to the text, less that to the text with the mask in place of the token.

    score_t = f(x) − f(x with the mask at t), and its absolute value with `absolute`.

    Paper: zeiler2014, section 4.2.
    Differs: the paper hides squares of images under grey.
    Range: [−1, 1] of a probability.
    Cost: one text per token.
    """
    if question.known.mask is None:
        raise UnsupportedError("the tokenizer has no mask token; choose leave_one_out")
    return _without_each(model, batch, question, fill=question.known.mask, absolute=absolute)


def _without_each(
    model: nn.Module, batch: Batch, question: Question, *, fill: int | None, absolute: bool
) -> Importance:
    whole = torch.arange(len(batch), device=batch.ids.device)
    texts, tokens = batch.maskable.nonzero(as_tuple=True)
    source, removed = torch.cat([whole, texts]), torch.cat([torch.full_like(whole, -1), tokens])
    steps = torch.arange(batch.ids.shape[1], device=batch.ids.device)

    def keep(numbers: Int[Tensor, "example"]) -> Bool[Tensor, "example token"]:
        return steps != removed[numbers, None]

    found = answers(model, batch, question, variants=Variants(source, keep, fill))
    change = found[texts] - found[len(batch) :]
    scores = torch.full(batch.ids.shape, torch.nan, device=batch.ids.device)
    scores[texts, tokens] = change.abs() if absolute else change
    return Importance(scores, signed=not absolute)
