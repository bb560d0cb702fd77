"""How many pairs of tokens two scores order in opposite ways, and how many each leaves tied, in many rows.

A row sorted by its first score is a permutation of the places that the second score gives, and a pair in
opposite order is an inversion of it. To count the inversions of a permutation of s² places, cut both its
positions and its places into s runs of s. An inverted pair is in the same run of positions, or else in the
same run of places, or in different runs of both; the first two are counted by comparing the s²(s−1)/2 pairs
inside runs, the third from the s × s table of how many tokens each two runs share.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithgauge.stats.rows import FILL, Floats, Ints, Paired, blocks

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class PairCounts:
    """Of each row: its tokens, the pairs in opposite order, the pairs tied in both, and the ties of each
    score.

    `ties_first` and `ties_second` are (row, 3): over the groups of t equal scores, Σ t(t−1)/2, which is the
    number of tied pairs, Σ t(t−1)(t−2) and Σ t(t−1)(2t+5).
    """

    n: Ints
    discordant: Ints
    tied_both: Ints
    ties_first: Ints
    ties_second: Ints

    def pairs(self) -> Ints:
        return self.n * (self.n - 1) // 2

    def difference(self) -> Ints:
        """Pairs in the same order less pairs in opposite order; tied pairs are neither."""
        tied = self.ties_first[:, 0] + self.ties_second[:, 0] - self.tied_both
        return self.pairs() - tied - 2 * self.discordant


def count(pair: Paired) -> PairCounts:
    """Rows of fewer than two tokens have 0 everywhere.

    Cost: O(n √n) comparisons of small integers and two sorts for a row of n tokens.
    """
    n = pair.lengths()
    counts = PairCounts(n, *np.zeros((2, len(n)), np.int64), *np.zeros((2, len(n), 3), np.int64))
    for rows, first, second in blocks(pair):
        _count(counts, rows, first, second)
    return counts


def starts(values: Floats) -> tuple[Ints, Flags]:
    """The order of each row, and where in it a new value starts; what fills a row up is always new."""
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    new = ordered == FILL
    new[:, 0] = True
    new[:, 1:] |= ordered[:, 1:] != ordered[:, :-1]
    return order, new


def _count(counts: PairCounts, rows: Ints, first: Floats, second: Floats) -> None:
    small = np.int16 if first.shape[1] <= 2**15 else np.int32
    position: NDArray[Any] = np.arange(first.shape[1], dtype=small)[None]
    order, new_first = starts(first)
    by_second, new_second = starts(np.take_along_axis(second, order, axis=1))
    place = inverse(by_second, position)
    tied = np.flatnonzero(~(new_first.all(axis=1) & new_second.all(axis=1)))
    if len(tied):
        new_first, new_second = new_first[tied], new_second[tied]
        rank_first, rank_second = new_first.cumsum(axis=1), new_second.cumsum(axis=1)
        place[tied] = _place(rank_first, rank_second, by_second[tied])
        both = np.take_along_axis(rank_second, place[tied].astype(np.int64), axis=1)
        new_both = new_first.copy()
        new_both[:, 1:] |= both[:, 1:] != both[:, :-1]
        counts.tied_both[rows[tied]] = _ties(new_both)[:, 0]
        counts.ties_first[rows[tied]] = _ties(new_first)
        counts.ties_second[rows[tied]] = _ties(new_second)
    # What fills a row up comes last in both orders, but anyhow: put it in its own.
    counts.discordant[rows] = inversions(np.where(position < counts.n[rows, None], place, position))


def inverse(permutation: Ints, position: NDArray[Any]) -> NDArray[Any]:
    """Where each number of each row stands, `position` being all of them in order."""
    result = np.empty(permutation.shape, dtype=position.dtype)
    np.put_along_axis(result, permutation, position, axis=1)
    return result


def _place(rank_first: Ints, rank_second: Ints, by_second: Ints) -> Ints:
    """The places in the order of (second, first) of tokens in the order of (first, second).

    Equal scores stand in the order of the other score, so that no tied pair is in opposite order.
    """
    rank = np.empty_like(rank_second)
    np.put_along_axis(rank, by_second, rank_second, axis=1)
    order = np.argsort(rank, axis=1, kind="stable")
    return np.argsort(np.take_along_axis(rank_first, order, axis=1), axis=1, kind="stable")


def _ties(new: Flags) -> Ints:
    """The three sums over groups of equal values, of which `new` has the starts."""
    rows, size = new.shape
    group = new.cumsum(axis=1) - 1 + size * np.arange(rows)[:, None]
    t = np.bincount(group.ravel(), minlength=rows * size).reshape(rows, size)
    pairs = t * (t - 1)
    return np.stack([(pairs // 2).sum(1), (pairs * (t - 2)).sum(1), (pairs * (2 * t + 5)).sum(1)], axis=1)


def inversions(permutation: NDArray[Any]) -> Ints:
    """The pairs i < j with permutation[i] > permutation[j], of each row of s² places."""
    rows, size = permutation.shape
    side = isqrt(size)
    run = np.arange(size, dtype=permutation.dtype) // side
    cell = side * (run + side * np.arange(rows)[:, None]) + permutation // side
    shared = np.bincount(cell.ravel(), minlength=rows * size).astype(np.int32).reshape(rows, side, side)
    earlier = shared.cumsum(axis=1, dtype=np.int32) - shared
    not_higher = earlier.cumsum(axis=2, dtype=np.int32)
    apart: Ints = (shared * (not_higher[:, :, -1:] - not_higher)).sum(axis=(1, 2), dtype=np.int64)
    # By place only the run of each position is kept, so that a pair in the same run of both counts once.
    run_by_place = inverse(permutation.astype(np.int64), run[None])
    return apart + _inside_runs(permutation, side) + _inside_runs(run_by_place, side)


def _inside_runs(values: NDArray[Any], side: int) -> Ints:
    """The pairs in the same run of `side` positions of which the earlier is greater."""
    runs = np.ascontiguousarray(values.reshape(-1, side, side).transpose(2, 1, 0))
    found = np.zeros(runs.shape, dtype=np.uint8 if side <= 2**8 else np.uint16)
    for distance in range(1, side):
        found[distance:] += (runs[:-distance] > runs[distance:]).view(np.uint8)
    pairs: Ints = found.sum(axis=(0, 1), dtype=np.int64)
    return pairs
