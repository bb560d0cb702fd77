"""Random numbers as importance: what every explanation must do better than."""

from __future__ import annotations

import torch
from torch import nn

from faithgauge.models.question import Question
from faithgauge.types import Batch, Importance


def random(model: nn.Module, batch: Batch, question: Question, *, draw: int = 1) -> Importance:  # noqa: ARG001
    """A number for every token, drawn without a look at text or model; `draw` 2 is independent of 1.

    score_t ~ U(0, 1).

    Paper: recursive-roar-2022, section 4.
    Differs: the paper's code draws by batch, so that its numbers depend on the size of the batches.
    Range: [0, 1].
    Cost: none.
    """
    scores = torch.full(batch.ids.shape, torch.nan, device=batch.ids.device)
    for text, own in enumerate(batch.maskable):
        drawn = question.random(batch, text, f"random {draw}").random(int(own.sum()))
        scores[text, own] = torch.from_numpy(drawn).to(scores)
    return Importance(scores, signed=False)


def random_2(model: nn.Module, batch: Batch, question: Question) -> Importance:
    """Random numbers that are independent of those of `random`: what must come out as no better than it.

    score_t ~ U(0, 1).

    Where a test compares explanations with `random`, that itself has no difference by construction. This one
    says how large a difference chance alone makes.

    Range: [0, 1].
    Cost: none.
    """
    return random(model, batch, question, draw=2)
