"""Masking the tokens that an explanation calls most important, in all texts of a split at once.

How many tokens of a text are masked, what is masked already counted in, is an `Amount`: a share of its n
maskable tokens, or so many. Special tokens and second texts are never masked, nor are they counted: not
where the second text is a row of its own, and not where both are one row, as transformers read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from faithgauge.errors import ConfigError
from faithgauge.types import Encoded, Ragged

Rounding = Literal["exact", "float32"]
Ints = NDArray[np.int64]

AT_ONCE = 1 << 20
"""Tokens that are put in order together: what is in memory, whatever the size of the data."""


@dataclass(frozen=True)
class Amount:
    """How much of a text is masked: the share `fraction` of its tokens, or `count` of them."""

    fraction: float | None = None
    count: int | None = None
    rounding: Rounding = "exact"

    def of(self, n: Ints) -> Ints:
        """k = ⌊fraction · n⌋, or min(count, n), for texts of n tokens.

        The fraction is the decimal that is written (0.7 is 7/10), the product and its floor are those of
        integers. A text with too few tokens for the fraction has k = 0, one without any has none to mask.

        Paper: recursive-roar-2022, section 3.
        Differs: its code takes the floor in float32, which is one token short at some fractions (of 53 % of
            100 tokens it masks 52); the same can be had here by `rounding`.
        """
        if self.count is not None:
            fewest: Ints = np.minimum(n, self.count)
            return fewest
        if self.fraction is None:
            raise ConfigError("expected a fraction or a count of tokens to mask, found neither")
        if self.rounding == "float32":
            short: Ints = np.floor(np.float32(self.fraction) * n.astype(np.float32)).astype(np.int64)
            return short
        exact = Fraction(str(self.fraction))
        sizes, which = np.unique(n, return_inverse=True)
        # Of each size once, in Python's integers, which do not overflow.
        whole = [exact.numerator * int(size) // exact.denominator for size in sizes]
        return np.array(whole, np.int64)[which.ravel()]


@dataclass(frozen=True)
class Masked:
    """The ids of a split after masking, and how many texts had a token without a score to go by."""

    ids: Ragged
    unscored: int


def masked(encoded: Encoded, scores: NDArray[np.floating], amount: Amount, *, mask: int) -> Masked:
    """Of every text the k most important maskable tokens replaced by `mask`; k as `Amount` says.

    What is masked already counts among the k and stays masked, also where it is more than k, so that masking
    step by step gives nested sets. Then the highest scores go first. Equal scores go by position, the first
    token as the more important one. A token without a score (nan, as of a text that an explainer could not
    explain) comes after all that have one, again by position; texts in which that can happen are counted.
    `scores` is flat as the ids are; of a pair in one row, those of the second text are not looked at. No text
    depends on any other one.

    Paper: recursive-roar-2022, section 3.
    Differs: the paper leaves the order of equal scores open.
    Cost: one sort of the tokens, of so many at a time.
    """
    offsets = encoded.ids.offsets
    maskable = removable(encoded)
    values = np.array(encoded.ids.values, np.int32)
    before = np.concatenate([[0], np.cumsum(maskable)])[offsets]
    k = amount.of(np.diff(before))
    unscored = 0
    for first, last in pairwise(_cuts(offsets)):
        own = slice(offsets[first], offsets[last])
        places = offsets[first] + np.flatnonzero(maskable[own])
        starts = before[first : last + 1] - before[first]
        text = np.repeat(np.arange(last - first), np.diff(starts))
        done, score = values[places] == mask, -np.asarray(scores[places], np.float64)
        # Sorting is stable, and puts what is nan last: both are what is promised above.
        order = np.lexsort((score, ~done, text))
        rank = np.arange(len(places)) - starts[text]
        chosen = order[rank < k[first:last][text]]
        values[places[chosen]] = mask
        unscored += len(np.unique(text[np.isnan(score) & ~done]))
    return Masked(Ragged(values, offsets), unscored)


def removable(encoded: Encoded) -> NDArray[np.bool_]:
    """Of every id of a split whether it may be masked: no special token, and of the first text.

    Which text a token is of, its row says (`Encoded.segments`): types of tokens, which many models have not,
    are not asked.
    """
    real: NDArray[np.bool_] = np.asarray(encoded.spans.values[:, 0], np.int64) >= 0
    if encoded.segments is not None:
        real &= np.asarray(encoded.segments.values) == 0
    return real


def checked_fractions(fractions: Sequence[float]) -> tuple[float, ...]:
    """Fractions to mask, if they are such: from 0, upwards, none beyond 1."""
    found = ", ".join(f"{one:g}" for one in fractions) or "none"
    if not fractions or fractions[0] != 0:
        raise ConfigError(f"expected fractions from 0, the unmasked texts, upwards, found {found}")
    if any(a >= b for a, b in pairwise(fractions)) or fractions[-1] > 1:
        raise ConfigError(f"expected fractions in rising order up to at most 1, found {found}")
    if not any(0 < one < 1 for one in fractions):
        raise ConfigError(f"expected fractions between 0 and 1, such as 0, 0.1 … 1, found {found}")
    return tuple(float(one) for one in fractions)


def _cuts(offsets: Ints) -> list[int]:
    """The texts at which runs of about `AT_ONCE` tokens begin, and the end."""
    wanted = np.arange(0, offsets[-1], AT_ONCE)
    firsts = np.searchsorted(offsets, wanted, side="right") - 1
    return [*dict.fromkeys(int(one) for one in firsts), len(offsets) - 1]
