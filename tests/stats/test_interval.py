"""Intervals by drawing again, and over seeds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import isnan
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from faithgauge.seeds import generator
from faithgauge.stats import interval
from faithgauge.stats.interval import Interval, bca, crossed, crossed_means, nested, percentile, student

NAN = float("nan")
VALUES = np.random.default_rng(0).gamma(1, 1, 40)


def median(sample: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.median(sample, axis=1)


def ends(found: Interval) -> list[float]:
    return [found.low, found.high]


def test_percentile_by_hand() -> None:
    # The same draws, one by one.
    values, random = np.array([1.0, 2.0, 6.0]), generator(7, "bootstrap")
    means = [np.mean([values[random.integers(0, 3)] for _ in range(3)]) for _ in range(200)]
    found = percentile(values, seed=7, resamples=200, level=0.9)
    assert found.value == 3
    assert ends(found) == pytest.approx(list(np.quantile(means, [0.05, 0.95])), abs=1e-14)
    assert (found.over, found.n, found.n_seeds, found.n_missing) == ("instances", 3, 1, 0)


@pytest.mark.parametrize(("ours", "method"), [(percentile, "percentile"), (bca, "BCa")])
@pytest.mark.parametrize(("statistic", "theirs"), [(interval.mean, np.mean), (median, np.median)])
def test_the_bootstrap_has_the_numbers_of_scipy(ours: Any, method: str, statistic: Any, theirs: Any) -> None:
    settings = {"n_resamples": 999, "method": method, "confidence_level": 0.9}
    expected = stats.bootstrap((VALUES,), theirs, rng=generator(3, "bootstrap"), **settings)
    found = ours(VALUES, seed=3, statistic=statistic, level=0.9, resamples=999)
    assert ends(found) == pytest.approx(list(expected.confidence_interval), abs=1e-12)
    assert found.value == theirs(VALUES)


def test_student_has_the_numbers_of_scipy() -> None:
    expected = stats.ttest_1samp(VALUES[:5], 0).confidence_interval(0.95)
    found = student(VALUES[:5])
    assert ends(found) == pytest.approx([expected.low, expected.high], abs=1e-12)
    assert (found.over, found.n, found.n_seeds) == ("seeds", 5, 5)


@pytest.mark.parametrize("of", [percentile, bca])
def test_what_is_nan_is_left_out_and_counted(of: Any) -> None:
    without = of(np.array([1, 2, 6]), seed=0, resamples=99)
    assert of(np.array([NAN, 1, 2, NAN, 6]), seed=0, resamples=99) == replace(without, n_missing=2)


@pytest.mark.parametrize("of", [percentile, bca])
def test_one_value_has_no_interval_and_none_has_no_value(of: Any) -> None:
    one, none = of(np.array([4.0]), seed=0), of(np.array([NAN]), seed=0)
    assert (one.value, one.n) == (4, 1)
    assert isnan(one.low)
    assert isnan(one.high)
    assert isnan(none.value)
    assert (none.n, none.n_seeds, none.n_missing) == (0, 0, 1)


@pytest.mark.parametrize("of", [percentile, bca])
def test_equal_values_have_an_interval_of_no_width(of: Any) -> None:
    assert ends(of(np.full(9, 0.25), seed=0)) == [0.25, 0.25]


@pytest.mark.parametrize("of", [percentile, bca])
def test_the_draws_are_the_same_however_few_are_in_memory(of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = of(VALUES, seed=5, resamples=99)
    monkeypatch.setattr(interval, "AT_ONCE", 100)
    assert of(VALUES, seed=5, resamples=99) == at_once


def test_a_statistic_may_be_of_several_columns() -> None:
    table = np.stack([VALUES, VALUES**2], axis=1)
    table[3, 1] = NAN

    def ratio(sample: NDArray[np.float64]) -> NDArray[np.float64]:
        return sample[..., 1].mean(axis=1) / sample[..., 0].mean(axis=1)

    found = percentile(table, seed=0, statistic=ratio, resamples=99)
    kept = np.delete(VALUES, 3)
    assert found.value == pytest.approx((kept**2).mean() / kept.mean(), abs=1e-14)
    assert (found.n, found.n_missing) == (39, 1)


def test_three_seeds_and_their_instances_are_drawn() -> None:
    # Instances of a seed are alike, so that a draw is the mean of three of 0, 3 and 9.
    found = nested([np.full(2, 0.0), np.full(4, 3.0), np.full(3, 9.0)], seed=0, level=0.8)
    means = [sum(drawn) / 3 for drawn in product([0, 3, 9], repeat=3)]
    assert found.value == 4
    assert ends(found) == pytest.approx(list(np.quantile(means, [0.1, 0.9])), abs=1e-14)
    assert (found.over, found.n, found.n_seeds) == ("seeds and instances", 9, 3)


def test_two_seeds_are_kept_and_their_instances_drawn() -> None:
    found = nested([np.full(2, 0.0), np.full(4, 3.0)], seed=0)
    assert (found.value, *ends(found)) == (1.5, 1.5, 1.5)
    assert (found.over, found.n, found.n_seeds) == ("instances", 6, 2)


def test_one_seed_is_the_bootstrap_over_its_instances() -> None:
    assert nested([VALUES], seed=4, resamples=99) == percentile(VALUES, seed=4, resamples=99)
    assert crossed(VALUES[None], seed=4, resamples=99) == percentile(VALUES, seed=4, resamples=99)


def test_a_seed_without_a_value_is_none() -> None:
    found = nested([VALUES, np.array([NAN, NAN])], seed=4, resamples=99)
    assert (found.n, found.n_seeds, found.n_missing) == (40, 1, 2)


def test_instances_that_all_seeds_share_are_drawn_once_for_all() -> None:
    # What differs between instances does not become smaller with more seeds that all see the same ones.
    shared = crossed(np.stack([VALUES] * 3), seed=1)
    alone = percentile(VALUES, seed=1)
    own = nested([VALUES] * 3, seed=1)
    assert shared.high - shared.low == pytest.approx(alone.high - alone.low, rel=0.05)
    assert own.high - own.low == pytest.approx((alone.high - alone.low) / np.sqrt(3), rel=0.1)


def test_crossed_draws_seeds_too_where_there_are_three() -> None:
    table = np.repeat([[0.0], [3.0], [9.0]], 5, axis=1)
    means = [sum(drawn) / 3 for drawn in product([0, 3, 9], repeat=3)]
    found = crossed(table, seed=0, level=0.8)
    assert ends(found) == pytest.approx(list(np.quantile(means, [0.1, 0.9])), abs=1e-14)
    assert found.over == "seeds and instances"
    assert crossed(table[:2], seed=0).over == "instances"


def test_an_instance_that_one_seed_lacks_is_left_out_for_all() -> None:
    found = crossed(np.array([[1, 2, NAN], [3, 4, 100]]), seed=0, resamples=99)
    assert found.value == 2.5
    assert (found.n, found.n_missing) == (4, 2)


def test_nothing_at_all_is_no_value() -> None:
    assert isnan(nested([], seed=0).value)
    assert isnan(crossed(np.empty((2, 0)), seed=0).value)
    assert isnan(student(np.array([])).value)
    assert isnan(student(np.array([1.0])).low)


def test_about_95_of_100_intervals_of_a_mean_hold_it() -> None:
    random = np.random.default_rng(0)
    for of in (percentile, bca):
        found = [of(random.normal(size=60), seed=i, resamples=300) for i in range(200)]
        assert 180 <= sum(one.low <= 0 <= one.high for one in found) <= 198


def test_many_means_at_once_have_the_intervals_that_each_has_alone() -> None:
    random = np.random.default_rng(1)
    values = random.normal(size=(3, 4, 30))
    values[1, :, 5] = np.nan
    values[2, 0, :20] = np.nan
    found = crossed_means(values, seed=7, resamples=500)
    for own, one in zip(values, found, strict=True):
        known = ~np.isnan(own)
        table = np.stack([np.where(known, own, 0.0), known], axis=-1).astype(np.float64)
        alone = crossed(table, seed=7, resamples=500, statistic=lambda x: x.sum(1)[:, 0] / x.sum(1)[:, 1])
        expected = (alone.value, alone.low, alone.high)
        assert (one.value, one.low, one.high) == pytest.approx(expected, abs=1e-12)
        assert (one.n, one.n_seeds) == (known.sum(), 4)
        assert one.n_missing == (~known).sum()
        assert one.over == "seeds and instances"


def test_of_many_means_a_seed_without_values_is_left_out_and_nothing_has_no_interval() -> None:
    values = np.array([[[1.0, 3.0], [np.nan, np.nan]], [[np.nan] * 2] * 2, [[2.0, np.nan], [np.nan] * 2]])
    some, none, one = crossed_means(values, seed=0, resamples=50)
    assert (some.value, some.n, some.n_seeds, some.over) == (2.0, 2, 1, "instances")
    assert isnan(none.value)
    assert (none.n, none.n_seeds) == (0, 0)
    assert one.value == 2.0
    assert isnan(one.low)
    assert isnan(one.high)
