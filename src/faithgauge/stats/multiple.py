"""Several tests at once: what each of them may still claim."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan, sqrt

import numpy as np
from scipy.special import stdtr

from faithgauge.stats.rows import Floats


def holm(p: Sequence[float]) -> Floats:
    """p-values adjusted so that, of all tests whose value is at most α, any is false with probability ≤ α.

    p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) p_(j))

    p_(1) ≤ … ≤ p_(m): the values in order. One that is nan is no test: it stays nan and is not counted.

    Paper: holm1979.
    """
    values = np.asarray(p, np.float64)
    found = np.full(len(values), nan)
    order = np.argsort(values)[: int((~np.isnan(values)).sum())]
    factors = np.arange(len(order), 0, -1)
    found[order] = np.maximum.accumulate(np.minimum(1, factors * values[order]))
    return found


def greater_than_zero(values: Sequence[float]) -> float:
    """The one-sided p-value of Student's test that these are drawn with a mean above 0.

    1 − F(x̄ √n / s)

    x̄, s: mean and standard deviation (of n − 1 degrees of freedom); F: Student's distribution of n − 1
    degrees of freedom. nan for fewer than two values, or where one is nan; where all are equal, 0 if they are
    above 0 and 1 if not.
    """
    x = np.asarray(values, np.float64)
    n = len(x)
    if n < 2 or isnan(x.sum()):
        return nan
    mean, spread = float(x.mean()), float(x.std(ddof=1))
    if spread == 0:
        return 0.0 if mean > 0 else 1.0
    return float(stdtr(n - 1, -mean * sqrt(n) / spread))
