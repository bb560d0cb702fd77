"""Agreement of explanations."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from fakes import ragged
from reference import jain_wallace_sst

from faithgauge.errors import ConfigError, DataError
from faithgauge.faithfulness import agreement
from faithgauge.faithfulness.agreement import (
    MEASURES,
    TokenScores,
    compared,
    joined,
    kendall_p,
    overlap_fixed,
    pairwise,
    permutation_floor,
    significant,
)
from faithgauge.stats.rank import kendall
from faithgauge.types import Ragged

NAN = float("nan")


def unsigned(*rows: list[float]) -> TokenScores:
    return TokenScores(ragged(rows, float), signed=False)


def signed(*rows: list[float]) -> TokenScores:
    return TokenScores(ragged(rows, float), signed=True)


def cut(array: np.ndarray, lengths: np.ndarray) -> Ragged:
    """The real tokens of padded rows."""
    return ragged([row[1 : n - 1] for row, n in zip(array, lengths, strict=True)], float)


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ("attention", "grad_processed", "grad"),
        ("attention", "loo_delta", "loo"),
        ("grad_processed", "loo_delta", "gradloo"),
    ],
)
def test_tau_and_p_are_those_of_the_paper_s_own_code(first: str, second: str, name: str) -> None:
    _, _, theirs = jain_wallace_sst()
    lengths = theirs["lengths_incl_sos_eos"]
    found = kendall(cut(theirs[first], lengths), cut(theirs[second], lengths))
    np.testing.assert_allclose(found.value, theirs[f"tau_{name}"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.p, theirs[f"p_{name}"], rtol=0, atol=1e-12)
    share = significant(cut(theirs[first], lengths), cut(theirs[second], lengths)).value.mean()
    assert share == (theirs[f"p_{name}"] <= 0.05).mean()


def test_every_measure_is_1_or_significant_between_an_explanation_and_itself() -> None:
    scores = ragged([[0.3, 0.1, 0.05, 0.2, 0.15, 0.12, 0.08]], float)
    found = {name: MEASURES[name](scores, scores).value.tolist() for name in MEASURES}
    assert found == {name: pytest.approx([1], abs=1e-15) for name in found} | {
        # 2 of 7! orders.
        "kendall_p": [2 / 5040]
    }


@pytest.mark.parametrize("name", list(MEASURES))
def test_every_measure_keeps_rows_without_a_number(name: str) -> None:
    first = ragged([[0.5, 0.3, 0.2], [], [1.0], [0.5, 0.5], [NAN, NAN]], float)
    second = ragged([[0.1, 0.2, 0.7], [], [0.3], [0.1, 0.9], [NAN, 1]], float)
    found = MEASURES[name](first, second)
    assert found.reasons() == [None, "no token", "one token", "constant scores", "no token"]
    assert np.isnan(found.value).tolist() == [False, True, True, True, True]


def test_a_misspelt_measure_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'kendall_tau'"):
        MEASURES["kendal_tau"]


def test_p_and_significance_by_hand() -> None:
    # Of the 120 orders of five tokens one is this one and one its reverse; of 24 of four tokens likewise.
    first, second = (
        ragged([[1, 2, 3, 4, 5], [1, 2, 3, 4]], float),
        ragged([[1, 2, 3, 4, 5], [4, 3, 2, 1]], float),
    )
    assert kendall_p(first, second).value.tolist() == [2 / 120, 2 / 24]
    assert significant(first, second).value.tolist() == [1, 0]


def test_a_token_against_the_class_counts_where_the_other_explanation_has_no_sign() -> None:
    attention, gradient = unsigned([0.5, 0.3, 0.2]), signed([-3, 2, 1])
    (found,) = pairwise({"attention": attention, "gradient": gradient}, {"tau": kendall})
    assert (found.explainer, found.versus, found.measure) == ("attention", "gradient", "tau")
    assert found.magnitudes
    assert found.rows.value.tolist() == [1]


def test_two_explanations_with_signs_are_compared_with_them() -> None:
    first, second = signed([-3, 2, 1]), signed([3, 2, 1])
    assert [compared(first, second)[2], compared(first, second, magnitudes=True)[2]] == [False, True]
    with_sign, without = (
        next(pairwise({"a": first, "b": second}, {"tau": kendall}, magnitudes=choice)).rows.value[0]
        for choice in (None, True)
    )
    assert with_sign == pytest.approx(-1 / 3, abs=1e-15)
    assert without == 1


def test_signs_can_be_asked_to_count() -> None:
    found = next(
        pairwise({"a": unsigned([3, 2, 1]), "b": signed([-3, 2, 1])}, {"tau": kendall}, magnitudes=False)
    )
    assert not found.magnitudes
    assert found.rows.value[0] == pytest.approx(-1 / 3, abs=1e-15)


def test_every_pair_of_explanations_has_every_measure() -> None:
    scores = {seed: unsigned([0.1 * seed, 0.2, 0.7]) for seed in (1, 2, 3)}
    measures = {"tau": kendall, "top": partial(overlap_fixed, k=1)}
    found = [(one.explainer, one.versus, one.measure) for one in pairwise(scores, measures)]
    assert found == [(a, b, name) for a, b in [(1, 2), (1, 3), (2, 3)] for name in ("tau", "top")]


def test_the_two_texts_of_a_pair_are_one_row() -> None:
    found = joined(ragged([[1, 2], [3], []], float), ragged([[4], [], [5, 6]], float))
    assert found.values.tolist() == [1, 2, 4, 3, 5, 6]
    assert found.offsets.tolist() == [0, 3, 4, 6]
    assert len(joined(ragged([], float), ragged([], float))) == 0


def test_pairs_that_lack_a_text_are_refused() -> None:
    with pytest.raises(DataError, match="found 1 and 2"):
        joined(ragged([[1], [2]], float), ragged([[1]], float))


def test_scores_are_not_changed() -> None:
    first, second = signed([-3, 2, 1]), unsigned([3, 2, 1])
    list(pairwise({"a": first, "b": second}))
    permutation_floor(first, second, kendall, seed=0, repeats=3)
    assert first.scores.values.tolist() == [-3, 2, 1]
    assert second.scores.values.tolist() == [3, 2, 1]


def random_scores(rows: int, tokens: int, seed: int) -> TokenScores:
    return unsigned(*np.random.default_rng(seed).random((rows, tokens)).tolist())


def test_noise_has_no_rank_correlation_and_a_twentieth_of_significant_rows() -> None:
    first = random_scores(200, 20, 0)
    tau = permutation_floor(first, first, kendall, seed=0)
    # The standard deviation of τ is √(2 (2n + 5) / (9 n (n − 1))) = .162 of a row, .0115 of the mean of 200.
    assert abs(tau.mean) < 4 * 0.0115 / np.sqrt(agreement.REPEATS)
    assert [tau.low, tau.high] == pytest.approx([-1.96 * 0.0115, 1.96 * 0.0115], abs=0.008)
    assert permutation_floor(first, first, significant, seed=0).mean == pytest.approx(0.05, abs=0.005)


def test_noise_has_k_of_n_of_the_highest_in_common() -> None:
    first = random_scores(300, 20, 1)
    found = permutation_floor(first, first, overlap_fixed, seed=0)
    assert found.mean == pytest.approx(5 / 20, abs=0.003)


def test_the_floor_is_over_rows_that_have_a_number() -> None:
    first = unsigned([0.1, 0.9], [1.0], [], [0.5, 0.5], [NAN, 0.2, 0.3, 0.4])
    found = permutation_floor(first, first, kendall, seed=0, repeats=20)
    assert (found.n, found.n_missing) == (2, 3)
    nothing = permutation_floor(unsigned([1.0]), unsigned([1.0]), kendall, seed=0)
    assert np.isnan([nothing.mean, nothing.low, nothing.high]).all()
    assert (nothing.n, nothing.n_missing) == (0, 1)


def test_the_permutations_of_a_row_depend_on_the_seed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = random_scores(9, 7, 0), random_scores(9, 7, 1)
    found = permutation_floor(first, second, kendall, seed=3, repeats=10)
    assert permutation_floor(first, second, kendall, seed=4, repeats=10) != found
    monkeypatch.setattr(agreement, "AT_ONCE", 200)
    assert permutation_floor(first, second, kendall, seed=3, repeats=10) == found


def test_the_module_says_what_agreement_is_not() -> None:
    assert "Agreement is not faithfulness." in (agreement.__doc__ or "")
