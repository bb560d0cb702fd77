"""Several questions at once: p-values that stay honest however many explainers are tested."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan


def holm(p: Sequence[float]) -> list[float]:
    """The p-values after Holm's correction, in their order; nan stays nan and does not count.

    p̃_(k) = max over j ≤ k of min(1, (m − j + 1) · p_(j)),   p_(1) ≤ p_(2) ≤ … ≤ p_(m)

    A question is answered where p̃ is below the level; the chance of any wrong answer is then below it too.

    Paper: holm1979.
    Range: [0, 1], never below p.
    Cost: a sort.
    """
    known = sorted((i for i, one in enumerate(p) if not isnan(one)), key=lambda i: p[i])
    corrected, largest = [nan] * len(p), 0.0
    for place, i in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - place) * p[i]))
        corrected[i] = largest
    return corrected
