"""The known answer, and its opposite: between them lies every explanation of a model that solved its task."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from faithgauge.errors import UnsupportedError
from faithgauge.models.question import Question
from faithgauge.types import Batch, Importance


def oracle(model: nn.Module, batch: Batch, question: Question) -> Importance:  # noqa: ARG001
    """1 for the tokens that are known to decide the label, 0 for all others.

    score_t = 1 if t is evidence, else 0.

    There is no order within either kind: these are ties, and go by position where an order is needed.

    Range: {0, 1}.
    Cost: none.
    """
    return _importance(_evidence(question), batch)


def reversed_(model: nn.Module, batch: Batch, question: Question) -> Importance:  # noqa: ARG001
    """The opposite of the oracle: 0 for the tokens that are known to decide the label, 1 for all others.

    score_t = 0 if t is evidence, else 1.

    Range: {0, 1}.
    Cost: none.
    """
    return _importance(~_evidence(question), batch)


def _evidence(question: Question) -> Tensor:
    if question.evidence is None:
        raise UnsupportedError("the evidence of these texts is not known; choose another explainer")
    return question.evidence


def _importance(chosen: Tensor, batch: Batch) -> Importance:
    return Importance(chosen.float().masked_fill(~batch.maskable, torch.nan), signed=False)
