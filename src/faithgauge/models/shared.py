"""The states of a long short-term memory over many texts that have most of their tokens in common.

Perturbed texts do. Three things follow. What a token adds to the gates is computed once for all of them. In a
few steps only few different tokens occur, so that their projections can stand in the place of the input
weights, under one-hot inputs: torch's own fused recurrence then does all of the work. And texts that begin
alike have the same states until they differ, so that each beginning is read once.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

STEPS = 8
"""How many steps are read at a time: few, so that few tokens occur in them, and many enough for a call."""

_LARGEST = 2**62


def shared_states(
    weight: Float[Tensor, "2 _ hidden"],
    projected: Float[Tensor, "vocab 2 4*hidden"],
    places: Int[Tensor, "batch token"],
    *,
    lengths: Int[Tensor, "batch"],
) -> Float[Tensor, "batch token 2 hidden"]:
    """The states of both directions, as `torch.nn.LSTM` computes them; without a gradient.

    What enters is ``projected[places]``, gates in torch's order. Padding adds 0 to every gate, and so leaves
    zero states at exactly zero: the backward direction passes through it to the last token.
    """
    batch, token = places.shape
    hidden = projected.new_empty(batch, token, 2, weight.shape[-1])
    projected = F.pad(projected, (0, 0, 0, 0, 0, 1))
    inside = torch.arange(token, device=places.device) < lengths[:, None]
    places = places.masked_fill(~inside, len(projected) - 1)
    for direction, order in enumerate((places, places.flip(1))):
        state = projected.new_zeros(2, 1, 1, weight.shape[-1])  # hidden and cell, of each beginning
        own = torch.zeros_like(lengths)  # the beginning of each text
        for start in range(0, token, STEPS):
            part = order[:, start : start + STEPS]
            if state.shape[2] < batch:
                first, now = _distinct(own, part, len(projected))
                part, state, own = part[first], state[:, :, own[first]], now
            rows, inputs = _one_hot(part.t(), projected)
            weights = [projected[rows, direction].t().contiguous(), weight[direction]]
            found, *last = torch.lstm(
                inputs, (state[0], state[1]), weights, False, 1, 0.0, False, False, False
            )
            state = torch.stack(last)
            if found.shape[1] < batch:
                found = found.index_select(1, own)
            if direction:
                hidden[:, token - start - len(found) : token - start, 1] = found.flip(0).transpose(0, 1)
            else:
                hidden[:, start : start + len(found), 0] = found.transpose(0, 1)
    return hidden


def _distinct(
    own: Int[Tensor, "batch"], part: Int[Tensor, "batch step"], size: int
) -> tuple[Int[Tensor, "example"], Int[Tensor, "batch"]]:
    """One place of each different row of both, and which of them stands at each place.

    What stands in `part` is below `size`.
    """
    code, bound = own, len(own)
    for step in part.t():
        if bound > _LARGEST // size:
            code, bound = torch.unique(code, return_inverse=True)[1], len(own)
        code, bound = code * size + step, bound * size
    different, which = torch.unique(code, return_inverse=True)
    numbers = torch.arange(len(own), device=own.device)
    if len(different) == len(own):  # they keep their order
        return numbers, numbers
    return numbers.new_empty(len(different)).scatter_(0, which, numbers), which


def _one_hot(
    places: Int[Tensor, "step batch"], projected: Tensor
) -> tuple[Int[Tensor, "vocab"], Float[Tensor, "step batch vocab"]]:
    """Which rows of `projected` occur, and each place as a vector over them."""
    occurs = torch.zeros(len(projected), dtype=torch.bool, device=places.device)
    occurs[places.flatten()] = True
    rows = occurs.nonzero()[:, 0]
    number = occurs.cumsum(0) - 1
    return rows, F.embedding(
        number[places], torch.eye(len(rows), dtype=projected.dtype, device=places.device)
    )
