"""Whether numbers are drawn with a mean above 0."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan, sqrt

import numpy as np
from scipy.special import stdtr


def above_zero(values: Sequence[float]) -> float:
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
