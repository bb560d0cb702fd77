"""What a number means for the one who has to choose: sentences, from numbers alone."""

from __future__ import annotations

from math import isnan

NOTHING = 0.015
"""A difference of F1 or accuracy that counts as none; ours, see `papers.wiegreffe_pinter_2019.findings`."""


def uniform_attention(gap: float, low: float | None = None, high: float | None = None) -> str:
    """What to do where trained attention does better than uniform attention by `gap`, from `low` to `high`.

    Paper: wiegreffe-pinter-2019, section 3.2.
    """
    if isnan(gap):
        return "the gap to uniform attention is not known; nothing follows from it"
    if low is None or high is None or isnan(low) or isnan(high):
        return "the gap to uniform attention has no interval; measure it on more texts before you rely on it"
    if low > 0:
        return (
            "trained attention is needed for this task; whether it is faithful is for the other tests to say"
        )
    if high < NOTHING:
        return (
            "uniform attention does as well; the task does not need attention, so do not read attention as "
            "an explanation here, and prefer the simpler model"
        )
    return "whether this task needs attention is open: the interval has both no gap and one that counts"
