"""A model's answers to many variants of the texts of a batch: some tokens left in, the others taken out.

Leave-one-out, LIME, SHAP and every erasure ask for nothing else. What the variants of a text have in common
is computed once: the affine map with which the model begins, for each distinct token, and the second text of
a pair. Memory is bounded by a budget of tokens, which is halved while an allocation fails; the answers do not
depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from faithgauge.models.budget import TOKENS, in_parts
from faithgauge.models.embedding import Rows
from faithgauge.models.question import Question
from faithgauge.types import Batch

Keep = Callable[[Int[Tensor, "example"]], Bool[Tensor, "example token"]]


@dataclass(frozen=True)
class Variants:
    """Perturbed texts: variant i is text ``source[i]`` of a batch with the tokens that `keep` says.

    ``keep(numbers)`` gives (example, token) for these variants, so that not all need to be there at once;
    only maskable tokens are ever taken out. They are replaced by the id `fill`, or deleted where it is None.
    """

    source: Int[Tensor, "example"]
    keep: Keep
    fill: int | None = None

    def batch(self, batch: Batch, numbers: Int[Tensor, "example"]) -> Batch:
        """These variants as a batch, without what they share with their sources."""
        rows = self.source[numbers]
        lengths = batch.lengths[rows]
        width = int(lengths.max())
        ids, valid = batch.ids[rows, :width], batch.valid[rows, :width]
        maskable = batch.maskable[rows, :width]
        segments = None if batch.segments is None else batch.segments[rows, :width]
        out = maskable & ~self.keep(numbers)[:, :width]
        if self.fill is not None:
            return Batch(ids.masked_fill(out, self.fill), lengths, valid, maskable, segments=segments)
        left = valid & ~out
        order = (~left).to(torch.uint8).argsort(dim=-1, stable=True)  # what is left moves up, in its order
        lengths = left.sum(-1)
        width = max(int(lengths.max()), 1)
        order, left = order[:, :width], torch.arange(width, device=ids.device) < lengths[:, None]
        ids, maskable = ids.gather(1, order) * left, maskable.gather(1, order) & left
        segments = None if segments is None else segments.gather(1, order) * left
        left[:, 0] = True  # a text of which nothing is left is one padding token
        return Batch(ids, lengths.clamp(min=1), left, maskable, segments=segments)


def answers(
    model: nn.Module, batch: Batch, question: Question, *, variants: Variants, tokens: int = TOKENS
) -> Float[Tensor, "example"]:
    """f of every variant, in their order."""
    # glibc gives freed blocks back to the system, to be faulted in anew, unless they are no larger than one
    # that it gave back before, of up to 32 MB. This is one; it is never written to.
    torch.empty(2**25 - 2**16, dtype=torch.uint8)
    answer = torch.empty(len(variants.source), device=batch.ids.device)
    with torch.inference_mode(), _only_logits(model):
        read = _reader(model, batch, variants.fill)

        def work(numbers: Tensor) -> None:
            rows = variants.source[numbers]
            logits = read(variants.batch(batch, numbers), rows)
            answer[numbers] = question.value(logits, rows).to(answer)

        places = min(tokens, cast("int", getattr(model, "places", tokens)))
        in_parts(work, batch.lengths[variants.source], tokens=places)
    return answer


def _only_logits(model: Any) -> AbstractContextManager[object]:
    """Where a model can leave out what is not asked for, it does."""
    return cast("AbstractContextManager[object]", getattr(model, "only_logits", nullcontext)())


def _reader(model: nn.Module, batch: Batch, fill: int | None) -> Callable[[Batch, Tensor], Tensor]:
    """From perturbed texts and the texts they come from to logits."""
    anything: Any = model
    if "entry" not in getattr(model, "capabilities", ()):
        return lambda perturbed, rows: anything(_with_shared(perturbed, batch, rows)).logits
    distinct = torch.unique(torch.cat([batch.ids.flatten(), batch.ids.new_tensor([0, fill or 0])]))
    places = torch.zeros(int(distinct[-1]) + 1, dtype=torch.long, device=batch.ids.device)
    places[distinct] = torch.arange(len(distinct), device=batch.ids.device)
    entered = anything.enter(anything.embed(_one_text(distinct))[0])
    beside = anything.beside(batch)

    def read(perturbed: Batch, rows: Tensor) -> Tensor:
        candidates = None if batch.candidates is None else batch.candidates[rows]
        output = anything.forward_entered(
            Rows(entered, places[perturbed.ids]),
            replace(perturbed, candidates=candidates),
            beside=None if beside is None else beside[rows],
        )
        return torch.as_tensor(output.logits)

    return read


def _one_text(ids: Int[Tensor, "vocab"]) -> Batch:
    real = torch.ones_like(ids, dtype=torch.bool)[None]
    return Batch(ids[None], torch.tensor([len(ids)], device=ids.device), real, real)


def _with_shared(perturbed: Batch, batch: Batch, rows: Tensor) -> Batch:
    """The perturbed texts with what their sources have beside the text."""
    candidates = None if batch.candidates is None else batch.candidates[rows]
    pair = batch.pair
    if pair is not None:
        pair = Batch(pair.ids[rows], pair.lengths[rows], pair.valid[rows], pair.maskable[rows])
    return replace(perturbed, candidates=candidates, pair=pair)
