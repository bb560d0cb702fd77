"""Agreement on the k highest scores of each row.

The k highest of a row are those with no k others above them; equal scores go by position, the first as the
higher, as in masking. A row of at most k tokens has all of them among its k highest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from faithgauge.stats.pairs import count
from faithgauge.stats.rows import (
    CONSTANT,
    DEFINED,
    FILL,
    Ints,
    Paired,
    RowValues,
    blocks,
    paired,
    undefined,
)
from faithgauge.types import Ragged

Flags = NDArray[np.bool_]


def fixed(first: Ragged, second: Ragged, k: int) -> Ints:
    """k for each row: the same, but no more than the row has tokens."""
    return np.minimum(k, paired(first, second).lengths())


def share(first: Ragged, second: Ragged, fraction: float) -> Ints:
    """k for each row: ⌊fraction · n⌋ of its n tokens, and at least one."""
    n = paired(first, second).lengths()
    # 0.7 · 10 is 6.999…: what is an integer but for rounding is that integer.
    k: Ints = np.floor(fraction * n + 1e-9).astype(np.int64).clip(np.minimum(n, 1), n)
    return k


def non_zero(first: Ragged, second: Ragged) -> Ints:
    """k for each row: how many of its scores are not zero, in the explanation that has fewer of them."""
    pair = paired(first, second)
    row, rows = pair.row(), len(pair.offsets) - 1
    counts = [np.bincount(row[one != 0], minlength=rows) for one in (pair.first, pair.second)]
    return np.minimum(counts[0], counts[1])


def overlap(first: Ragged, second: Ragged, k: Ints) -> RowValues:
    """The share of the k highest tokens of one score that are among the k highest of the other."""
    pair = paired(first, second)
    reason = undefined(pair)
    reason[(reason == DEFINED) & (k == 0)] = CONSTANT
    in_first, in_second = _highest(pair, k)
    common = np.bincount(pair.row()[in_first & in_second], minlength=len(reason))
    known = reason == DEFINED
    return RowValues(np.where(known, common / np.maximum(k, 1), np.nan), reason)


def top_tau(first: Ragged, second: Ragged, k: Ints) -> RowValues:
    """How alike two scores order the tokens that are among the k highest of either.

    1 − 2 K / (u (u − 1) / 2), where K = D + ½ T

    u: the tokens that are among the k highest of the first score or of the second; of their pairs, D are in
    opposite order and T are tied in one score alone. A token that is not among the k highest of a score
    counts in it as below them all, and as tied with every other such token. u = 1 is complete agreement.
    """
    pair = paired(first, second)
    reason = undefined(pair)
    reason[(reason == DEFINED) & (k == 0)] = CONSTANT
    in_first, in_second = _highest(pair, k)
    either = in_first | in_second
    one = np.where(in_first, pair.first, -np.inf)[either]
    other = np.where(in_second, pair.second, -np.inf)[either]
    before = np.concatenate([[0], np.cumsum(either)])
    counts = count(Paired(one, other, before[pair.offsets]))
    alone = counts.ties_first[:, 0] + counts.ties_second[:, 0] - 2 * counts.tied_both
    distance = counts.discordant + alone / 2
    tau = 1 - 2 * distance / np.maximum(counts.pairs(), 1)
    return RowValues(np.where(reason == DEFINED, tau, np.nan), reason)


def _highest(pair: Paired, k: Ints) -> tuple[Flags, Flags]:
    """Whether each position is among the k highest of its row, by the first score and by the second."""
    chosen = np.zeros((2, len(pair.first)), dtype=bool)
    for rows, *scores in blocks(pair):
        for side, values in enumerate(scores):
            order = np.argsort(np.where(values < FILL, -values, FILL), axis=1, kind="stable")
            row, rank = np.nonzero(np.arange(order.shape[1]) < k[rows, None])
            chosen[side, pair.offsets[rows[row]] + order[row, rank]] = True
    return chosen[0], chosen[1]
