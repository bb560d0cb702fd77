"""Attention in random order: how much does the output change when other tokens get the same weights?

What each token says is projected once (`models.readout`), so that a permutation costs a gather and a sum.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from faithgauge.faithfulness.divergence import tvd
from faithgauge.models.readout import Readout
from faithgauge.seeds import drawn

Floats = NDArray[np.float64]

PERMUTATIONS = 100
PLACE_BITS = np.uint64(20)
PLACES = np.uint64((1 << 20) - 1)
"""The bits of a random number that hold a place."""
AT_ONCE = 1 << 16
"""Random numbers that are worked on together: what a processor's cache holds."""


def permutation_tvd(readout: Readout, *, permutations: int = PERMUTATIONS, seed: int = 0) -> Floats:
    """How far the output of each text is from that under its own attention in random order, in the median.

    median_p TVD(ŷ(α_π(p)), ŷ(α))

    α: the attention, ŷ: the probabilities of the classes, π(p): the p-th random order of the maskable tokens.
    Of two classes TVD is |Δp|. The states are those of the text, and a permuted attention is given to the
    decoder alone. Of a model that attends to both texts of a pair the weights of one are permuted while the
    other keeps its own.

    A text of one token keeps its attention, of two tokens the median hangs on the toss of a coin, and equal
    weights are the same in every order: such numbers say nothing of the model. A text without tokens is nan.

    Paper: jain-wallace-2019, section 4.2.1 and algorithm 2.
    Range: [0, 1].
    Cost: of a linear decoder (permutations × tokens × classes) for each text, of any other one decoding for
        each permutation.
    """
    with torch.no_grad():
        own = readout.likely(readout.attention[:, None])
        found = readout.likely(permuted(readout, permutations=permutations, seed=seed))
        apart = tvd(found, own).double().cpu().numpy()
    median: Floats = np.median(apart, axis=1)
    median[~readout.maskable.any(-1).cpu().numpy()] = np.nan
    return median


def permuted(
    readout: Readout, *, permutations: int = PERMUTATIONS, seed: int = 0
) -> Float[Tensor, "batch step token"]:
    """The weights of the maskable tokens of each text in random orders, the same ones in whatever batch."""
    streams = readout.streams(seed, "permutation")
    return moved(readout.attention, readout.maskable, streams, permutations=permutations)


def moved(
    values: Tensor, maskable: Bool[Tensor, "batch token"], streams: NDArray[np.uint64], *, permutations: int
) -> Tensor:
    """What stands at the maskable tokens in random orders, (batch, step, token); the rest stays.

    `values` is (batch, token), and `streams` has the randomness of each text (see `seeds.drawn`).
    """
    order = _orders(maskable, streams, permutations).to(maskable.device)
    # First the places of the maskable tokens, then those of others, whose weights are 0 and stay.
    places = torch.argsort(maskable.logical_not().to(torch.uint8), dim=-1, stable=True)
    found = values.gather(1, places)[:, None].expand_as(order).gather(2, order)
    return found.gather(2, places.argsort(-1)[:, None].expand_as(order))


def _orders(
    maskable: Bool[Tensor, "batch token"], streams: NDArray[np.uint64], permutations: int
) -> Int[Tensor, "batch step token"]:
    """Random orders of the first places of each text, as many as it has tokens; the rest in its own order.

    A place in the low bits of a random number is sorted along with it, which is cheaper than to sort places.
    """
    tokens, width = maskable.sum(-1).cpu().numpy(), maskable.shape[1]
    places = np.arange(width, dtype=np.uint64)
    numbers = np.arange(permutations, dtype=np.uint64)[:, None] << PLACE_BITS | places
    keys = np.empty((len(tokens), permutations, width), np.uint64)
    parts = min(keys.size // AT_ONCE + 1, len(tokens))
    for some in np.array_split(np.arange(len(tokens)), parts):
        part = keys[some[0] : some[-1] + 1]
        drawn(streams[some], numbers, out=part)
        part &= ~PLACES
        part |= places
        behind = np.arange(width) >= tokens[some, None]
        np.copyto(part, places | ~PLACES, where=behind[:, None])
        part.sort(axis=-1)
        part &= PLACES
    return torch.from_numpy(keys.view(np.int64))
