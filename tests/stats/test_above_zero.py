"""Student's test of a mean above 0."""

from __future__ import annotations

from math import isnan, nan

import pytest
from scipy import stats

from faithgauge.stats.above_zero import above_zero


def test_it_is_the_one_sided_test_of_scipy() -> None:
    values = [0.1, 0.3, -0.05, 0.2]
    assert above_zero(values) == pytest.approx(stats.ttest_1samp(values, 0, alternative="greater").pvalue)


def test_three_values_by_hand() -> None:
    """Of 1, 2, 3: t = 2√3 with 2 degrees of freedom, of which 1 − F(t) = ½ − t / (2 √(2 + t²))."""
    assert above_zero([1, 2, 3]) == pytest.approx(0.5 - 12**0.5 / (2 * 14**0.5))


@pytest.mark.parametrize(("values", "p"), [([0.2, 0.2], 0.0), ([0.0, 0.0], 1.0), ([-1.0, -1.0], 1.0)])
def test_equal_values_are_above_zero_or_not(values: list[float], p: float) -> None:
    assert above_zero(values) == p


@pytest.mark.parametrize("values", [[], [0.5], [0.5, nan]])
def test_one_value_and_what_is_not_a_number_tell_nothing(values: list[float]) -> None:
    assert isnan(above_zero(values))
