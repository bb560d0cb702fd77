"""Readouts of texts of which every token's value is said, without a model."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from faithgauge.models.readout import Readout


def readout_of(
    attention: Sequence[Sequence[float]], values: Sequence[Sequence[float | Sequence[float]]]
) -> Readout:
    """A linear decoder: `values` has for each token of each text its logit, or one for every class."""
    width = max(map(len, attention))
    weights, maskable = (
        torch.zeros(len(attention), width),
        torch.zeros(len(attention), width, dtype=torch.bool),
    )
    first = torch.tensor(values[0][0])
    logits = torch.zeros(len(attention), width, max(first.numel(), 1))
    for text, (own, said) in enumerate(zip(attention, values, strict=True)):
        weights[text, : len(own)] = torch.tensor(own)
        maskable[text, : len(own)] = True
        logits[text, : len(own)] = torch.tensor(said).reshape(len(own), logits.shape[-1])
    rows = torch.arange(len(attention))
    return Readout(weights, maskable, rows, logits, lambda given: projected(given, logits))


def projected(attention: Tensor, values: Tensor) -> Tensor:
    return torch.einsum("bst,btc->bsc", attention, values)
