"""The answers to many random parts of each text: what LIME and SHAP fit their lines to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from faithgauge.errors import UnsupportedError
from faithgauge.models.answers import Variants, answers
from faithgauge.models.question import Question
from faithgauge.types import Batch

Replace = Literal["mask", "pad", "delete"]
"""What happens to a token that is taken out."""

Coalitions = NDArray[np.bool_]
"""(coalition, maskable token): which tokens of a text stay."""


def filler(question: Question, replace: Replace) -> int | None:
    """The id that stands for a token that is taken out; None where it is deleted."""
    if replace == "mask" and question.known.mask is None:
        raise UnsupportedError("the tokenizer has no mask token; choose replace=pad or replace=delete")
    return {"mask": question.known.mask, "pad": question.known.pad, "delete": None}[replace]


def answered(
    model: nn.Module, batch: Batch, question: Question, *, coalitions: Sequence[Coalitions], fill: int | None
) -> list[NDArray[np.float64]]:
    """f of every coalition of every text. Coalitions that are equal are asked once."""
    maskable = batch.maskable.cpu().numpy()
    distinct, places = zip(*(_distinct(own) for own in coalitions), strict=True)
    counts = [len(own) for own in distinct]
    stay = np.zeros((sum(counts), maskable.shape[1]), bool)
    ends = np.cumsum(counts)
    for text, own in enumerate(distinct):
        stay[ends[text] - counts[text] : ends[text], maskable[text]] = own
    kept = torch.from_numpy(stay).to(batch.ids.device)
    source = torch.from_numpy(np.arange(len(counts)).repeat(counts)).to(batch.ids.device)
    variants = Variants(source, lambda numbers: kept[numbers], fill)
    found = answers(model, batch, question, variants=variants).double().cpu().numpy()
    return [own[place] for own, place in zip(np.split(found, ends[:-1]), places, strict=True)]


def _distinct(coalitions: Coalitions) -> tuple[Coalitions, NDArray[np.int64]]:
    """The different ones, and which of them stands at each place."""
    packed = np.packbits(coalitions, axis=1)
    # One value per row, compared byte by byte; a text without maskable tokens has rows of no bytes.
    rows = np.pad(packed, ((0, 0), (0, 1))).view(f"V{packed.shape[1] + 1}")[:, 0]
    _, first, places = np.unique(rows, return_index=True, return_inverse=True)
    return coalitions[first], places
