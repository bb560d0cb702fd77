"""Holm's correction, against numbers by hand and a slow reference."""

from __future__ import annotations

from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.seeds import generator
from faithgauge.stats.holm import holm
from faithgauge.stats.interval import crossed, crossed_p


def test_by_hand() -> None:
    # In order .01 · 4, .02 · 3 = .06, .03 · 2 = .06, .04 · 1 = .04, and none below the one before.
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])


def test_what_is_not_known_stays_so_and_does_not_count() -> None:
    found = holm([0.02, nan, 0.5])
    assert found[0] == pytest.approx(0.04)
    assert isnan(found[1])
    assert found[2] == pytest.approx(0.5)


def test_nothing_is_more_than_certain() -> None:
    assert holm([0.6, 0.7]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_the_same_questions_are_answered_as_going_down_step_by_step_answers_them(p: list[float]) -> None:
    level, answered = 0.05, set()
    for place, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        if (len(p) - place) * p[i] > level:
            break
        answered.add(i)
    assert {i for i, one in enumerate(holm(p)) if one <= level} == answered


@given(st.integers(0, 50), st.floats(-0.6, 0.6))
def test_p_is_small_where_the_interval_leaves_0_out(seed: int, shift: float) -> None:
    values = generator(seed, "test").normal(shift, 1, (3, 40))
    interval = crossed(values, seed=0, resamples=199)
    p = crossed_p(values, seed=0, resamples=199)
    if p < 0.04:
        assert interval.low > 0 or interval.high < 0
    if p > 0.07:
        assert interval.low < 0 < interval.high


def test_p_of_differences_that_are_all_above_0_is_the_least_there_is() -> None:
    values = generator(0, "test").uniform(1, 2, (3, 10))
    assert crossed_p(values, seed=0, resamples=199) == pytest.approx(2 / 200)
    assert crossed_p(-values, seed=0, resamples=199) == pytest.approx(2 / 200)
    assert isnan(crossed_p(values[:, :1], seed=0))
