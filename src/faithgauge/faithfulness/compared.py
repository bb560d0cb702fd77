"""Two models beside each other on the same texts: how far apart are their outputs, and their attention?

Of a binary output the distance is that of wiegreffe-pinter-2019 and attefa, ½|Δp|; of more classes it is the
total variation distance over all. What it can be at most is therefore ½ or 1.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from faithgauge.encode.batching import padded, reading_batches
from faithgauge.errors import UnsupportedError
from faithgauge.faithfulness.divergence import HALF_TVD_MAX, PAPERS, TVD_MAX, jsd, kl, tvd
from faithgauge.types import Encoded, Ragged, Said

Floats = NDArray[np.float64]
Divergence = Literal["jsd", "kl"]


def output_distance(
    first: Float[Tensor, "*batch class"], second: Float[Tensor, "*batch class"]
) -> Float[Tensor, "*batch"]:
    """The distance of two outputs: ½|Δp| of two classes, ½ Σ_c |p_c − q_c| of more.

    Paper: attefa, eq. 1; wiegreffe-pinter-2019, section 3.1.
    Differs: two outputs of a softmax count as one of a sigmoid, which says the same.
    Range: [0, ½] of two classes, [0, 1] of more.
    """
    return tvd(first, second) * largest_distance(first.shape[-1])


def largest_distance(classes: int) -> float:
    """The most that `output_distance` can be."""
    return HALF_TVD_MAX if classes == 2 else TVD_MAX


def attention_distance(
    first: Float[Tensor, "*batch token"], second: Float[Tensor, "*batch token"], kind: Divergence = "jsd"
) -> Float[Tensor, "*batch"]:
    """JSD(α, α̂), or KL(α ‖ α̂) with the papers' 1e-10 in each logarithm, which keeps it finite."""
    return jsd(first, second) if kind == "jsd" else kl(first, second, epsilon=PAPERS)


def outputs_apart(one: Said, other: Said) -> Floats:
    """`output_distance` of every text."""
    pair = (torch.from_numpy(said.probability.astype(np.float64)) for said in (one, other))
    return output_distance(*pair).numpy()


def attention_apart(one: Said, other: Said, kind: Divergence = "jsd") -> Floats:
    """`attention_distance` of every text; where both texts of a pair are attended to, the mean of both.

    Texts without a token that can be attended to are at distance 0.
    """
    parts = ((one.attention, other.attention), (one.pair, other.pair))
    found = [_apart(a, b, kind) for a, b in parts if a is not None and b is not None]
    if not found:
        raise UnsupportedError("expected two models with attention, found one without; compare others")
    mean: Floats = np.mean(found, axis=0)
    return mean


def movable(encoded: Encoded) -> NDArray[np.bool_]:
    """Which texts have two tokens or more, in either text of a pair: no other attention can be changed."""
    most = _tokens(encoded.spans)
    if encoded.pair_spans is not None:
        most = np.maximum(most, _tokens(encoded.pair_spans))
    return most > 1


def max_attention(said: Said) -> Floats:
    """The largest weight of every (first) text; nan where there is no token."""
    assert said.attention is not None
    weights = said.attention
    largest = np.zeros(len(weights))
    full = weights.lengths() > 0
    largest[full] = np.maximum.reduceat(weights.values, weights.offsets[:-1][full])
    return np.where(largest > 0, largest, np.nan)


def _tokens(spans: Ragged) -> NDArray[np.int64]:
    """How many tokens of each text can be attended to."""
    real = np.concatenate([[0], np.cumsum(np.asarray(spans.values[:, 0]) >= 0)])
    count: NDArray[np.int64] = np.diff(real[spans.offsets])
    return count


def _apart(first: Ragged, second: Ragged, kind: Divergence) -> Floats:
    result = np.empty(len(first))
    for rows in reading_batches(first.lengths()):
        own, others = (torch.from_numpy(padded(part, rows).astype(np.float64)) for part in (first, second))
        result[rows] = attention_distance(own, others, kind).numpy()
    return result
