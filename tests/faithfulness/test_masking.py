"""Masking the most important tokens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.faithfulness.masking import masked

NAN = float("nan")
MASK = 9


def mask(ids: list[int], scores: list[float], fraction: float) -> list[int]:
    return masked(np.array(ids, np.int32), np.array(scores), fraction, mask=MASK).tolist()


def test_half_of_four_tokens_are_the_two_highest_and_special_ones_stay() -> None:
    assert mask([2, 4, 5, 6, 7, 3], [NAN, 0.1, 0.4, 0.2, 0.3, NAN], 0.5) == [2, 4, 9, 6, 9, 3]


def test_equal_scores_go_by_position() -> None:
    assert mask([4, 5, 6], [0.2, 0.2, 0.2], 0.67) == [9, 9, 6]


def test_the_number_of_tokens_is_rounded_down() -> None:
    assert mask([4, 5, 6], [3, 2, 1], 0.66) == [9, 5, 6]


@pytest.mark.parametrize(("fraction", "k"), [(0.1, 1), (0.3, 3), (0.7, 7), (0.9, 9), (1.0, 10)])
def test_a_fraction_that_is_whole_but_for_rounding_is_whole(fraction: float, k: int) -> None:
    assert mask(list(range(10, 20)), [1.0] * 10, fraction).count(MASK) == k


def test_what_is_masked_already_counts_and_stays_masked() -> None:
    assert mask([9, 5, 6, 7], [0.0, 0.5, 0.9, 0.1], 0.5) == [9, 5, 9, 7]


def test_a_score_below_zero_is_less_important_than_none() -> None:
    assert mask([4, 5], [-3.0, 0.0], 0.5) == [4, 9]


def test_the_text_itself_is_not_changed() -> None:
    ids = np.array([4, 5], np.int32)
    masked(ids, np.array([1.0, 2.0]), 1.0, mask=MASK)
    assert ids.tolist() == [4, 5]


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12), st.integers(0, 10), st.integers(0, 10))
def test_masked_sets_are_nested(scores: list[float], one: int, other: int) -> None:
    less, more = sorted((one / 10, other / 10))
    ids = list(range(10, 10 + len(scores)))
    few, many = mask(ids, scores, less), mask(ids, scores, more)
    assert all(b == MASK for a, b in zip(few, many, strict=True) if a == MASK)
    assert many.count(MASK) == round(more * 10) * len(scores) // 10
