"""Rank correlation of many rows at once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from fakes import ragged
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from faithgauge.stats.rank import kendall, pearson, spearman
from faithgauge.types import Ragged

NAN, INF = float("nan"), float("inf")


def one(scores: list[float]) -> Ragged:
    return ragged([scores], float)


def texts(seed: int, lengths: list[int], values: int) -> list[NDArray[np.float64]]:
    """Scores of which some texts have ties and others none."""
    random = np.random.default_rng(seed)
    rows = [random.random(n) for n in lengths]
    return [np.floor(row * values) if random.random() < 0.5 else row for row in rows]


def by_scipy(function: Any, first: Any, second: Any) -> tuple[list[float], list[float]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [function(a, b) if len(a) > 1 else (NAN, NAN) for a, b in zip(first, second, strict=True)]
    return [value for value, _ in found], [p for _, p in found]


def test_kendall_by_hand() -> None:
    # Orders 1 2 3 4 and 1 3 2 4: five pairs alike, one not; of 24 orders 4 differ in at most one pair.
    found = kendall(one([1, 2, 3, 4]), one([1, 3, 2, 4]))
    assert found.value.tolist() == pytest.approx([4 / 6], abs=1e-15)
    assert found.p is not None
    assert found.p.tolist() == pytest.approx([2 * 4 / 24], abs=1e-15)


def test_kendall_with_ties_by_hand() -> None:
    # Of (1, 3), (2, 1), (2, 2), (3, 2) three pairs are in opposite order, one alike, one tied in each score.
    found = kendall(one([1, 2, 2, 3]), one([3, 1, 2, 2]))
    assert found.value.tolist() == pytest.approx([-2 / 5], abs=1e-15)


def test_two_tokens_are_no_evidence() -> None:
    found = kendall(one([1, 2]), one([4, 3]))
    assert found.p is not None
    assert (found.value.tolist(), found.p.tolist()) == ([-1], [1])


@pytest.mark.parametrize("values", [2, 5, 1000])
@pytest.mark.parametrize("lengths", [[*range(60)], [33, 34, 170, 171, 172, 400]], ids=["short", "long"])
def test_kendall_has_the_numbers_of_scipy(lengths: list[int], values: int) -> None:
    first, second = texts(1, lengths, values), texts(2, lengths, values)
    found = kendall(ragged(first, float), ragged(second, float))
    tau, p = by_scipy(stats.kendalltau, first, second)
    np.testing.assert_allclose(found.value, tau, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.p, p, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [2, 3, 20, 33, 34, 100, 170, 171, 172, 300])
@pytest.mark.parametrize("swapped", [0, 1, 2, 3])
def test_p_of_orders_that_hardly_differ_is_that_of_scipy(n: int, swapped: int) -> None:
    first = np.arange(n, dtype=float)
    second = first.copy()
    for i in range(min(swapped, n // 2)):
        second[[2 * i, 2 * i + 1]] = second[[2 * i + 1, 2 * i]]
    for other in (second, -second):
        found = kendall(one(list(first)), one(list(other)))
        expected = stats.kendalltau(first, other)
        assert found.p is not None
        assert found.value[0] == pytest.approx(expected.statistic, abs=1e-12)
        assert found.p[0] == pytest.approx(expected.pvalue, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(spearman, stats.spearmanr), (pearson, stats.pearsonr)], ids=["spearman", "pearson"]
)
@pytest.mark.parametrize("values", [2, 1000])
def test_the_other_correlations_have_the_numbers_of_scipy(ours: Any, theirs: Any, values: int) -> None:
    lengths = [*range(50), 300]
    first, second = texts(3, lengths, values), texts(4, lengths, values)
    value, _ = by_scipy(theirs, first, second)
    np.testing.assert_allclose(
        ours(ragged(first, float), ragged(second, float)).value, value, rtol=0, atol=1e-12
    )


def test_spearman_by_hand() -> None:
    # Ranks 1 2 3 4 and 2 1 4 3: 1 − 6 · 4 / (4 · 15).
    found = spearman(one([0.1, 0.2, 0.3, 0.9]), one([5, 3, 80, 70]))
    assert found.value.tolist() == pytest.approx([0.6], abs=1e-15)


def test_equal_scores_share_their_mean_rank() -> None:
    # Ranks 1.5 1.5 3 and 1 2 3: 1.5 / √(1.5 · 2).
    found = spearman(one([7, 7, 9]), one([1, 2, 3]))
    assert found.value.tolist() == pytest.approx([np.sqrt(0.75)], abs=1e-15)


def test_pearson_by_hand() -> None:
    # Deviations −1 0 1 and −1 −1 2: 3 / √(2 · 6).
    assert pearson(one([1, 2, 3]), one([0, 0, 3])).value.tolist() == pytest.approx([np.sqrt(0.75)], abs=1e-15)


@pytest.mark.parametrize("measure", [kendall, spearman, pearson])
def test_rows_without_a_correlation_are_kept_with_their_reasons(measure: Any) -> None:
    first = ragged([[1, 2, 3], [], [1], [2, 2], [1, 2]], float)
    second = ragged([[1, 2, 3], [], [1], [1, 2], [0.1, 0.1]], float)
    found = measure(first, second)
    assert found.value.tolist() == pytest.approx([1, NAN, NAN, NAN, NAN], nan_ok=True)
    assert found.reasons() == [None, "no token", "one token", "constant scores", "constant scores"]


def test_an_infinite_score_has_a_rank_but_no_linear_correlation() -> None:
    first, second = one([1, INF, 3, -INF]), one([1, 4, 3, 0])
    assert kendall(first, second).value.tolist() == [1]
    assert spearman(first, second).value.tolist() == pytest.approx([1], abs=1e-15)
    assert pearson(first, second).reasons() == ["infinite scores"]


def test_scores_that_differ_by_rounding_alone_are_constant_to_pearson() -> None:
    assert pearson(one([0.0, 1e-200, 0.0]), one([1, 2, 3])).reasons() == ["constant scores"]


PAIRS = st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=3, max_size=30)


@pytest.mark.parametrize("measure", [kendall, spearman, pearson])
@given(PAIRS)
def test_neither_the_order_of_the_tokens_nor_that_of_the_scores_counts(measure: Any, row: Any) -> None:
    first, second = ([token[side] for token in row] for side in (0, 1))
    found = measure(one(first), one(second)).value
    np.testing.assert_allclose(measure(one(second), one(first)).value, found, rtol=0, atol=1e-14)
    np.testing.assert_allclose(measure(one(first[::-1]), one(second[::-1])).value, found, rtol=0, atol=1e-14)


@given(PAIRS)
def test_only_the_ranks_count_to_kendall_and_spearman(row: Any) -> None:
    first, second = ([token[side] for token in row] for side in (0, 1))
    grown = one(list(np.exp(first)))
    for measure in (kendall, spearman):
        np.testing.assert_array_equal(
            measure(grown, one(second)).value, measure(one(first), one(second)).value
        )


@given(PAIRS)
def test_the_reverse_of_a_score_has_the_opposite_correlation(row: Any) -> None:
    first, second = (np.array([token[side] for token in row]) for side in (0, 1))
    for measure in (kendall, spearman, pearson):
        found = measure(one(list(first)), one(list(second))).value
        np.testing.assert_allclose(measure(one(list(first)), one(list(-second))).value, -found, atol=1e-14)


def test_the_rows_beside_it_change_nothing_for_a_row() -> None:
    first, second = texts(5, [*range(2, 40)], 10), texts(6, [*range(2, 40)], 10)
    together = kendall(ragged(first, float), ragged(second, float))
    alone = [kendall(one(list(a)), one(list(b))) for a, b in zip(first, second, strict=True)]
    np.testing.assert_array_equal(together.value, np.concatenate([row.value for row in alone]))
