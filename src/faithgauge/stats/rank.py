"""Kendall's τ-b, Spearman's ρ and Pearson's r between two scores of the tokens of many rows at once.

The numbers are those of `scipy.stats`, without its cost per call. A row of no token, of one token or of
constant scores has no correlation: its number is nan, and the reason is kept.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from math import factorial

import numpy as np
from scipy.special import ndtr

from faithgauge.stats.pairs import PairCounts, count, starts
from faithgauge.stats.rows import (
    CONSTANT,
    DEFINED,
    FILL,
    INFINITE,
    Floats,
    Ints,
    Paired,
    RowValues,
    blocks,
    paired,
    undefined,
)
from faithgauge.types import Ragged

EXACT_UP_TO = 33
"""Rows of more tokens have the normal approximation of the p-value, except where it is at its extreme."""


def kendall(first: Ragged, second: Ragged) -> RowValues:
    """How much more often two scores order a pair of tokens alike than not, and how likely that is by chance.

    τ = (C − D) / √((N − T₁)(N − T₂))

    C, D: the pairs of tokens in the same and in the opposite order; N: all n(n−1)/2 pairs; T₁, T₂: the pairs
    tied in the first and in the second score. p, the two-sided p-value of τ, is exact where no scores are
    tied and n ≤ 33 or min(D, N − D) ≤ 1, and else that of the normal distribution with the variance of C − D
    under independence, given the ties.

    Paper: kendall1945; jain-wallace-2019, section 4.1.
    Range: [−1, 1].
    Cost: O(n √n) for a row of n tokens.
    """
    pair = paired(first, second)
    reason = undefined(pair)
    counts = count(pair)
    tau, p = np.full((2, len(reason)), np.nan)
    rows = np.flatnonzero(reason == DEFINED)
    some = PairCounts(*(getattr(counts, name)[rows] for name in counts.__dataclass_fields__))
    scale = np.sqrt(some.pairs() - some.ties_first[:, 0]), np.sqrt(some.pairs() - some.ties_second[:, 0])
    tau[rows] = np.clip(some.difference() / scale[0] / scale[1], -1, 1)
    p[rows] = _p_value(some)
    return RowValues(tau, reason, p)


def pearson(first: Ragged, second: Ragged) -> RowValues:
    """The linear correlation of two scores.

    r = Σ_t (a_t − ā)(b_t − b̄) / √(Σ_t (a_t − ā)² · Σ_t (b_t − b̄)²)

    a, b: the two scores of token t; ā, b̄: their means over the tokens of the row.

    Paper: neely-2022, section 3.3.
    Range: [−1, 1].
    """
    pair = paired(first, second)
    reason = undefined(pair)
    row = pair.row()
    reason[row[~(np.isfinite(pair.first) & np.isfinite(pair.second))]] = INFINITE
    known = reason[row] == DEFINED
    value = _correlation(row[known], pair.first[known], pair.second[known], size=len(reason))
    # Scores so close to each other that their variance is lost in rounding are constant too.
    reason[(reason == DEFINED) & np.isnan(value)] = CONSTANT
    return RowValues(value, reason)


def spearman(first: Ragged, second: Ragged) -> RowValues:
    """The linear correlation of the ranks of two scores, equal scores sharing their mean rank.

    ρ = r(rank a, rank b)

    a, b: the two scores of the tokens of a row; r: Pearson's correlation.

    Paper: neely-2022, section 3.3.
    Range: [−1, 1].
    Cost: two sorts.
    """
    pair = paired(first, second)
    reason = undefined(pair)
    ranks = Paired(np.ones_like(pair.first), np.ones_like(pair.second), pair.offsets)
    for rows, one, other in blocks(pair):
        inside = one < FILL
        at = (pair.offsets[rows, None] + np.arange(one.shape[1]))[inside]
        ranks.first[at] = _mean_ranks(one)[inside]
        ranks.second[at] = _mean_ranks(other)[inside]
    row = pair.row()
    known = reason[row] == DEFINED
    return RowValues(
        _correlation(row[known], ranks.first[known], ranks.second[known], size=len(reason)), reason
    )


def _p_value(counts: PairCounts) -> Floats:
    n, pairs = counts.n, counts.pairs()
    x, y = counts.ties_first.T.astype(np.float64), counts.ties_second.T.astype(np.float64)
    m = n * (n - 1.0)
    # Two tokens that are not constant have no ties: the third term is then 0, whatever it is divided by.
    variance = (m * (2 * n + 5) - x[2] - y[2]) / 18 + 2 * x[0] * y[0] / m
    variance += x[1] * y[1] / (9 * m * np.maximum(n - 2, 1))
    p: Floats = 2 * ndtr(-np.abs(counts.difference() / np.sqrt(variance)))
    fewer = np.minimum(counts.discordant, pairs - counts.discordant)
    exact = (x[0] == 0) & (y[0] == 0) & ((n <= EXACT_UP_TO) | (fewer <= 1))
    for length in np.unique(n[exact]):
        rows = exact & (n == length)
        p[rows] = _exact(int(length))[fewer[rows]]
    return p


@cache
def _exact(n: int) -> Floats:
    """The p-values of 0, 1, 2 … pairs in opposite order, up to half of all; of 0 and 1 for long rows."""
    if n > EXACT_UP_TO:
        return np.array([2 / factorial(n), 2 / factorial(n - 1)]) if n < 171 else np.zeros(2)
    number = _permutations(n)
    below = list(accumulate(number))[: len(number) // 2 + 1]
    return np.array([min(1.0, 2 * some / factorial(n)) for some in below])


@cache
def _permutations(n: int) -> tuple[int, ...]:
    """How many permutations of n have 0, 1, 2 … inversions.

    Mₙ(c) = Σ_{0 ≤ i < n} Mₙ₋₁(c − i)
    """
    if n == 1:
        return (1,)
    below = [0, *accumulate(_permutations(n - 1))]
    last = len(below) - 1
    return tuple(below[min(c + 1, last)] - below[max(0, c + 1 - n)] for c in range(n * (n - 1) // 2 + 1))


def _mean_ranks(values: Floats) -> Floats:
    """Ranks from 1 in each row, equal values sharing their mean rank."""
    order, new = starts(values)
    place = np.arange(values.shape[1])
    begin = np.maximum.accumulate(np.where(new, place, 0), axis=1)
    last = np.concatenate([new[:, 1:], np.ones((len(new), 1), dtype=bool)], axis=1)
    end = np.minimum.accumulate(np.where(last, place, len(place))[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty_like(values)
    np.put_along_axis(ranks, order, (begin + end) / 2 + 1, axis=1)
    return ranks


def _correlation(row: Ints, x: Floats, y: Floats, *, size: int) -> Floats:
    """Pearson's r of the positions of each row; nan for a row that has none, or no variance."""

    def total(values: Floats) -> Floats:
        sums: Floats = np.bincount(row, weights=values, minlength=size).astype(np.float64)
        return sums

    n = np.maximum(np.bincount(row, minlength=size), 1)
    x, y = (values - (total(values) / n)[row] for values in (x, y))
    scale = np.sqrt(total(x * x)) * np.sqrt(total(y * y))
    found: Floats = np.divide(total(x * y), scale, out=np.full(size, np.nan), where=scale > 0).clip(-1, 1)
    return found
