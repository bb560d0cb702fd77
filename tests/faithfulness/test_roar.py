"""The area between curves of retrained models."""

from __future__ import annotations

from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.errors import DataError
from faithgauge.faithfulness.roar import faithfulness

RANDOM = {0.0: 0.9, 0.5: 0.7, 1.0: 0.5}
"""Above its floor of 0.5 it has the area ½·½·(0.4 + 0.2) + ½·½·(0.2 + 0) = 0.2."""


def curve(middle: float) -> dict[float, float]:
    return {0.0: 0.9, 0.5: middle, 1.0: 0.5}


@pytest.mark.parametrize(
    ("middle", "score"),
    [
        # The area below random is ½·½·(0 + Δ) + ½·½·(Δ + 0) = Δ/2 with Δ = 0.7 − middle.
        (0.5, 0.5),
        (0.6, 0.25),
        (0.7, 0.0),
        (0.8, -0.25),
        (0.4, 0.75),
    ],
)
def test_a_curve_of_three_points_by_hand(middle: float, score: float) -> None:
    assert faithfulness(curve(middle), RANDOM, 0.5).value == pytest.approx(score)


def test_steps_of_other_widths_count_by_their_width() -> None:
    """Δp is 0, 0.3, 0 at 0, 0.2, 1: ½·0.2·0.3 + ½·0.8·0.3 = 0.15; Δb is 0.4, 0.3, 0: 0.07 + 0.12 = 0.19."""
    random = {0.0: 0.9, 0.2: 0.8, 1.0: 0.5}
    measure = {0.0: 0.9, 0.2: 0.5, 1.0: 0.5}
    assert faithfulness(measure, random, 0.5).value == pytest.approx(0.15 / 0.19)


def test_the_order_in_which_steps_are_given_is_no_matter() -> None:
    turned = {step: RANDOM[step] for step in (1.0, 0.0, 0.5)}
    assert faithfulness(curve(0.6), turned, 0.5).value == pytest.approx(0.25)


def test_a_score_beyond_one_is_clipped_beside_its_own_value() -> None:
    area = faithfulness(curve(0.2), RANDOM, 0.5)
    assert (area.value, area.clipped) == (pytest.approx(1.25), 1.0)
    assert faithfulness(curve(1.5), RANDOM, 0.5).clipped == -1.0


def test_a_flat_random_curve_gives_no_score_and_the_reason() -> None:
    flat = {0.0: 0.509, 0.5: 0.509, 1.0: 0.5}
    area = faithfulness(curve(0.5), flat, 0.5)
    assert isnan(area.value)
    assert isnan(area.clipped)
    assert area.reason == "the random curve is flat"


def test_performance_that_is_not_defined_gives_no_score_and_the_reason() -> None:
    area = faithfulness(curve(nan), RANDOM, 0.5)
    assert isnan(area.value)
    assert area.reason == "performance is not defined at every step"


@pytest.mark.parametrize("measure", [{0.0: 0.9, 1.0: 0.5}, {0.0: 0.9, 0.4: 0.6, 1.0: 0.5}, {}])
def test_a_measure_that_was_not_run_is_refused_and_not_0(measure: dict[float, float]) -> None:
    with pytest.raises(DataError, match="expected a measure that was run at all steps of the random order"):
        faithfulness(measure, RANDOM, 0.5)


def test_shared_ends_alone_are_no_curve() -> None:
    ends = {0.0: 0.9, 1.0: 0.5}
    with pytest.raises(DataError, match="beside the first and the last, which all measures share: 0, 1"):
        faithfulness(ends, ends, 0.5)


@given(st.lists(st.floats(0.5, 1), min_size=3, max_size=8))
def test_random_against_itself_is_0_and_the_floor_at_once_is_at_most_1(values: list[float]) -> None:
    random = {i / 10: value for i, value in enumerate([1.0, *values])}
    floor = dict.fromkeys(random, 0.5)
    assert faithfulness(random, random, 0.5).value == 0
    assert faithfulness(floor, random, 0.5).value == pytest.approx(1)
