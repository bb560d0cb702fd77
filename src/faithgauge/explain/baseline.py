"""The text in which nothing is said: where every path of an explanation begins.

Only maskable tokens change; what is special stays, so that the scores of the maskable tokens sum to the whole
difference between the text and its baseline.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from faithgauge.errors import UnsupportedError
from faithgauge.models.question import Question
from faithgauge.types import Batch

Baseline = Literal["pad", "zero", "mask"]


def filler(question: Question, kind: Baseline) -> int:
    """The id that stands for a missing token."""
    if kind == "pad":
        return question.known.pad
    if question.known.mask is None:
        raise UnsupportedError("the tokenizer has no mask token; choose baseline=pad")
    return question.known.mask


def baseline(
    model: nn.Module, batch: Batch, question: Question, *, kind: Baseline
) -> Float[Tensor, "batch token embed"]:
    """The word vectors of the batch with those of its maskable tokens replaced: by 0, or by a token's."""
    embed: Any = model
    if kind == "zero":
        vectors = torch.as_tensor(embed.embed(batch))
        return vectors.detach() * ~batch.maskable[..., None]
    ids = batch.ids.masked_fill(batch.maskable, filler(question, kind))
    return torch.as_tensor(embed.embed(replace(batch, ids=ids))).detach()
