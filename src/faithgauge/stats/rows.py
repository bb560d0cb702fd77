"""Two scores for each token of many rows, side by side, and one number for each row that comes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from faithgauge.errors import DataError
from faithgauge.types import Ragged

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REASONS = ("", "no token", "one token", "constant scores", "infinite scores")
"""Why a row has no number, by its code; code 0 is a row that has one."""

DEFINED, NO_TOKEN, ONE_TOKEN, CONSTANT, INFINITE = range(len(REASONS))

FILL = np.inf
"""What stands after the last score of a row in a block."""

AT_ONCE = 1 << 14
"""Positions that are worked on together: what a processor's cache holds."""


@dataclass(frozen=True)
class RowValues:
    """One number per row, nan where there is none; `reason` then says why, as an index of REASONS.

    `p` is the p-value of each number, where the measure has one.
    """

    value: Floats
    reason: NDArray[np.int8]
    p: Floats | None = None

    def __len__(self) -> int:
        return len(self.value)

    def reasons(self) -> list[str | None]:
        """The reason of each row in words, None for a row that has its number."""
        return [REASONS[code] or None for code in self.reason]


@dataclass(frozen=True)
class Paired:
    """The positions that have both scores: row i is from ``offsets[i]`` to ``offsets[i + 1]`` of either."""

    first: Floats
    second: Floats
    offsets: Ints

    def lengths(self) -> Ints:
        return np.diff(self.offsets)

    def row(self) -> Ints:
        """The row that each position is in."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.lengths())


def paired(first: Ragged, second: Ragged) -> Paired:
    """The scores of positions that are nan in neither; nan says that a position is none."""
    if not np.array_equal(first.offsets, second.offsets):
        raise DataError(
            f"expected scores of the same tokens, found {_size(first)} and {_size(second)}, or rows of other"
            " lengths; compare explanations of the same texts"
        )
    begin, end = first.offsets[0], first.offsets[-1]
    x, y = (np.asarray(one.values[begin:end], dtype=np.float64) for one in (first, second))
    known = ~(np.isnan(x) | np.isnan(y))
    before = np.concatenate([[0], np.cumsum(known)])
    return Paired(x[known], y[known], before[first.offsets - begin])


def undefined(pair: Paired) -> NDArray[np.int8]:
    """The reason why a row cannot be ranked, 0 where it can."""
    n = pair.lengths()
    reason = np.where(n == 0, NO_TOKEN, np.where(n == 1, ONE_TOKEN, DEFINED)).astype(np.int8)
    change = np.zeros((2, len(n)), dtype=bool)
    row = pair.row()
    for side, values in enumerate((pair.first, pair.second)):
        differs = values != values[pair.offsets[row]]
        change[side, row[differs]] = True
    reason[(reason == DEFINED) & ~change.all(axis=0)] = CONSTANT
    return reason


def blocks(pair: Paired) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Rows of two positions and more, those of nearly the same length together.

    Each block is the numbers of its rows and both their scores, (row, s²) with FILL after the last: s is the
    smallest whole number whose square holds the longest of them. An infinite score is the largest finite one.
    """
    # Sorting is several times slower where a value is nan, so that it cannot be what fills a row up.
    first, second = (np.minimum(values, np.finfo(np.float64).max) for values in (pair.first, pair.second))
    n = pair.lengths()
    sides = np.where(n < 2, 0, np.ceil(np.sqrt(n)).astype(np.int64))
    for side in np.unique(sides[sides > 0]):
        alike = np.flatnonzero(sides == side)
        step = max(1, AT_ONCE // side**2)
        place = np.arange(side**2)
        for start in range(0, len(alike), step):
            rows = alike[start : start + step]
            inside = place < n[rows, None]
            at = np.where(inside, pair.offsets[rows, None] + place, 0)
            yield rows, np.where(inside, first[at], FILL), np.where(inside, second[at], FILL)


def _size(scores: Ragged) -> str:
    return f"{len(scores.values)} tokens in {len(scores)} rows"
