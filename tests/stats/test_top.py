"""Agreement on the highest scores."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from fakes import ragged
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.stats import top
from faithgauge.stats.rank import kendall
from faithgauge.types import Ragged

NAN = float("nan")


def one(scores: list[float]) -> Ragged:
    return ragged([scores], float)


def test_overlap_by_hand() -> None:
    # The two highest: tokens 3 and 1, and tokens 3 and 0.
    first, second = one([0.1, 0.8, 0.2, 0.9]), one([5, 1, 2, 9])
    assert top.overlap(first, second, np.array([2])).value.tolist() == [0.5]


def test_equal_scores_go_by_position() -> None:
    assert top.overlap(one([1, 1, 1, 0]), one([0, 9, 8, 1]), np.array([2])).value.tolist() == [0.5]


def test_a_token_that_is_none_is_not_among_the_highest() -> None:
    first, second = one([9, 1, 2, 3]), one([NAN, 3, 2, 1])
    assert top.overlap(first, second, np.array([1])).value.tolist() == [0]
    assert top.fixed(first, second, 5).tolist() == [3]


def test_a_share_of_a_row_is_rounded_down_and_at_least_one() -> None:
    rows = ragged([[1] * 10, [1] * 4, [1] * 3, []], float)
    assert top.share(rows, rows, 0.7).tolist() == [7, 2, 2, 0]
    assert top.share(rows, rows, 0.2).tolist() == [2, 1, 1, 0]


def test_the_tokens_that_are_not_zero_are_those_of_the_sparser_explanation() -> None:
    assert top.non_zero(one([0, 0.4, 0, 0.6]), one([1, 2, -3, 0])).tolist() == [2]


def test_top_tau_by_hand() -> None:
    # The two highest of a, b, c, d: a b and a c. Of the pairs among a, b, c the pairs a b and a c are in the
    # same order by both, b c in opposite order: 1 − 2 / 3.
    first, second = one([4, 3, 2, 1]), one([4, 2, 3, 1])
    assert top.top_tau(first, second, np.array([2])).value.tolist() == pytest.approx([1 / 3], abs=1e-15)


def test_a_pair_that_is_tied_in_one_score_alone_is_half_in_opposite_order() -> None:
    # Highest a b and c d: the four pairs across are in opposite order, a b and c d each tied in one.
    first, second = one([4, 3, 2, 1]), one([1, 2, 3, 4])
    assert top.top_tau(first, second, np.array([2])).value.tolist() == pytest.approx([1 - 10 / 6], abs=1e-15)


def test_the_highest_in_the_reverse_order_disagree_completely() -> None:
    first, second = one([9, 8, 7, 1]), one([7, 8, 9, 1])
    assert top.top_tau(first, second, np.array([3])).value.tolist() == [-1]


def test_the_same_single_token_above_all_is_complete_agreement() -> None:
    first, second = one([1, 5, 2]), one([2, 9, 1])
    assert top.top_tau(first, second, np.array([1])).value.tolist() == [1]
    assert top.top_tau(first, one([9, 5, 1]), np.array([1])).value.tolist() == [-1]


def test_rows_without_a_number_have_their_reasons() -> None:
    first = ragged([[], [1], [2, 2], [1, 2]], float)
    second = ragged([[], [1], [1, 2], [1, 2]], float)
    k = np.array([0, 1, 1, 1])
    for measure in (top.overlap, top.top_tau):
        found = measure(first, second, k)
        assert found.reasons() == ["no token", "one token", "constant scores", None]
        assert found.value.tolist() == pytest.approx([NAN, NAN, NAN, 1], nan_ok=True)


SCORES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=15).filter(
    lambda row: all(len({token[side] for token in row}) > 1 for side in (0, 1))
)


@given(SCORES, st.integers(1, 15))
def test_both_are_those_of_sets_and_pairs(row: list[tuple[int, int]], k: int) -> None:
    k = min(k, len(row))
    chosen, ranked = [], []
    for side in (0, 1):
        scores = [token[side] for token in row]
        highest = sorted(range(len(row)), key=lambda i, scores=scores: (-scores[i], i))[:k]
        chosen.append(set(highest))
        ranked.append([score if i in highest else -1 for i, score in enumerate(scores)])
    first, second = (one([token[side] for token in row]) for side in (0, 1))
    assert top.overlap(first, second, np.array([k])).value[0] == len(chosen[0] & chosen[1]) / k
    distance = pairs = 0.0
    for i, j in combinations(sorted(chosen[0] | chosen[1]), 2):
        a, b = np.sign(ranked[0][i] - ranked[0][j]), np.sign(ranked[1][i] - ranked[1][j])
        distance, pairs = distance + abs(a - b) / 2, pairs + 1
    expected = 1 - 2 * distance / max(pairs, 1)
    assert top.top_tau(first, second, np.array([k])).value[0] == pytest.approx(expected, abs=1e-14)


@given(st.permutations(range(12)), st.permutations(range(12)))
def test_the_highest_of_all_tokens_have_the_tau_of_all(first: list[int], second: list[int]) -> None:
    found = top.top_tau(one(list(first)), one(list(second)), np.array([12]))
    assert found.value == pytest.approx(kendall(one(list(first)), one(list(second))).value, abs=1e-14)
