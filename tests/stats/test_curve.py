from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.stats.curve import chord_area


def area(x: list[float], y: list[float]) -> float:
    return chord_area(np.array(x), np.array(y))


def test_a_convex_curve_lies_below_its_chord() -> None:
    """From (0, 0) over (1, 0) to (2, 2): the triangle of base 2 and height 1, in a box of 4."""
    assert area([0, 1, 2], [0, 0, 2]) == pytest.approx(1 / 4)


def test_a_concave_curve_lies_above_it() -> None:
    assert area([0, 1, 2], [0, 2, 2]) == pytest.approx(-1 / 4)


def test_a_straight_line_is_neither() -> None:
    assert area([0, 0.3, 1], [1, 1.6, 3]) == pytest.approx(0)


def test_points_come_in_any_order() -> None:
    assert area([2, 0, 1], [2, 0, 0]) == pytest.approx(1 / 4)


def test_points_with_the_same_x_count_as_their_mean() -> None:
    assert area([0, 1, 1, 2], [0, -1, 1, 2]) == pytest.approx(area([0, 1, 2], [0, 0, 2]))


@pytest.mark.parametrize(("x", "y"), [([0, 1], [0, 1]), ([1, 1, 1], [0, 1, 2]), ([0, 1, 2], [3, 3, 3])])
def test_two_points_or_a_flat_box_have_no_form(x: list[float], y: list[float]) -> None:
    assert isnan(area(x, y))


@given(st.lists(st.floats(0, 1), min_size=3, max_size=8, unique=True), st.floats(0.1, 9), st.floats(0.1, 9))
def test_units_change_nothing(x: list[float], a: float, b: float) -> None:
    points, height = np.array(x), np.array(x) ** 2
    if np.ptp(points) > 1e-3:
        assert chord_area(points * a, height * b + 1) == pytest.approx(chord_area(points, height), abs=1e-6)
        assert chord_area(points, height) >= -1e-12
