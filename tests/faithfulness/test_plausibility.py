"""Scores against evidence that is known: numbers by hand, scikit-learn's, and all orders of a few tokens."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, permutations

import fakes
import numpy as np
import pytest
from fakes import EOS, SOS
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from faithgauge.errors import DataError, UnsupportedError
from faithgauge.faithfulness.against import AgainstRandom
from faithgauge.faithfulness.plausibility import (
    CHANCE,
    MEASURES,
    evidence_auprc,
    evidence_recall,
    evidence_reciprocal_rank,
    plausibility,
)
from faithgauge.types import Encoded, Ragged

NAN = float("nan")


def of(measure: str, scores: Sequence[float], evidence: Sequence[int]) -> float:
    return MEASURES[measure](np.array(scores, np.float64), np.array(evidence, bool))


def test_recall_counts_the_evidence_among_as_many_top_tokens() -> None:
    assert of("evidence_recall", [0.9, 0.1, 0.8, 0.5], [1, 1, 0, 0]) == 0.5
    assert of("evidence_recall", [0.9, 0.8, 0.1, 0.5], [1, 1, 0, 0]) == 1


def test_a_token_at_the_cut_counts_as_often_as_a_random_order_puts_it_above() -> None:
    assert of("evidence_recall", [1, 0, 0, 0], [1, 1, 0, 0]) == pytest.approx((1 + 1 / 3) / 2)


def test_average_precision_by_hand() -> None:
    # Evidence at ranks 1 and 3: precision 1 and 2/3, each for half of the recall.
    assert of("evidence_auprc", [0.9, 0.1, 0.8, 0.5], [1, 0, 0, 1]) == pytest.approx((1 + 2 / 3) / 2)


def test_the_reciprocal_rank_is_that_of_the_first_token_of_the_evidence() -> None:
    assert of("evidence_reciprocal_rank", [0.9, 0.1, 0.8, 0.5], [0, 1, 0, 1]) == pytest.approx(1 / 3)


def test_equal_ranks_are_averaged_over_their_orders() -> None:
    assert of("evidence_reciprocal_rank", [2, 1, 1, 1], [0, 1, 0, 0]) == pytest.approx(
        (1 / 2 + 1 / 3 + 1 / 4) / 3
    )


SCORED = st.integers(2, 8).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n).filter(any),
    )
)


@given(SCORED)
def test_average_precision_is_that_of_scikit_learn_with_equal_scores_too(
    case: tuple[list[float], list[bool]],
) -> None:
    scores, evidence = np.array(case[0]), np.array(case[1])
    assert evidence_auprc(scores, evidence) == pytest.approx(average_precision_score(evidence, scores))


def recall_of_order(order: Sequence[int], evidence: Sequence[bool]) -> float:
    m = sum(evidence)
    return sum(evidence[i] for i in order[:m]) / m


def rank_of_order(order: Sequence[int], evidence: Sequence[bool]) -> float:
    return 1 / (1 + next(place for place, i in enumerate(order) if evidence[i]))


def precision_of_order(order: Sequence[int], evidence: Sequence[bool]) -> float:
    hits = [place for place, i in enumerate(order) if evidence[i]]
    return float(np.mean([(found + 1) / (place + 1) for found, place in enumerate(hits)]))


@pytest.mark.parametrize(
    ("scores", "evidence"),
    [([1, 0, 0, 0, 2], [0, 1, 0, 1, 0]), ([0, 0, 0, 0], [1, 0, 1, 0]), ([3, 3, 1, 1, 1], [1, 0, 1, 0, 0])],
)
def test_ties_are_the_mean_over_all_orders_that_the_scores_allow(
    scores: list[float], evidence: list[bool]
) -> None:
    allowed = [
        order
        for order in permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]
    given, flags = np.array(scores, float), np.array(evidence, bool)
    assert evidence_recall(given, flags) == pytest.approx(
        np.mean([recall_of_order(order, evidence) for order in allowed])
    )
    assert evidence_reciprocal_rank(given, flags) == pytest.approx(
        np.mean([rank_of_order(order, evidence) for order in allowed])
    )


@pytest.mark.parametrize(("n", "m"), [(2, 1), (5, 1), (5, 2), (6, 5)])
def test_what_random_reaches_is_the_mean_over_all_orders(n: int, m: int) -> None:
    evidence = [i < m for i in range(n)]
    slow = {
        "evidence_recall": recall_of_order,
        "evidence_auprc": precision_of_order,
        "evidence_reciprocal_rank": rank_of_order,
    }
    for name, of_order in slow.items():
        mean = np.mean([of_order(order, evidence) for order in permutations(range(n))])
        assert CHANCE[name](n, m) == pytest.approx(mean)


@given(SCORED)
def test_the_position_of_a_token_does_not_matter(case: tuple[list[float], list[bool]]) -> None:
    scores, evidence = np.array(case[0]), np.array(case[1])
    for measure in MEASURES.values():
        assert measure(scores, evidence) == pytest.approx(measure(scores[::-1], evidence[::-1]))


def split(*evidence: Sequence[int]) -> Encoded:
    """Texts with these flags for their words, between special tokens."""
    encoded = fakes.encode([[SOS, *range(4, 4 + len(flags)), EOS] for flags in evidence])
    rows = [[False, *map(bool, flags), False] for flags in evidence]
    return Encoded(
        encoded.ids, encoded.spans, encoded.labels, encoded.texts, evidence=fakes.ragged(rows, bool)
    )


def scored(*rows: Sequence[float]) -> Ragged:
    return fakes.ragged([[NAN, *row, NAN] for row in rows], np.float32)


def reasons(found: AgainstRandom, explainer: str, text: int) -> set[str | None]:
    return {found.of(measure, explainer)[2][text] for measure in found.measures}


def test_the_numbers_of_a_split_are_those_of_its_texts_beside_random() -> None:
    found = plausibility(
        {"a": scored([3, 2, 1], [1, 2]), "b": scored([1, 2, 3], [2, 1])}, split([1, 0, 0], [0, 1])
    )
    assert found.explainers == ("a", "b")
    assert found.value[0].tolist() == [[1, 1], [0, 0]]
    assert found.random[0].tolist() == pytest.approx([1 / 3, 1 / 2])
    assert found.difference[0, 0].tolist() == pytest.approx([2 / 3, 1 / 2])
    assert (found.reason == 0).all()


def test_constant_scores_are_as_good_as_random() -> None:
    found = plausibility({"a": scored([1, 1, 1])}, split([1, 0, 0]))
    assert found.difference[[0, 2]].tolist() == pytest.approx(np.zeros((2, 1, 1)))


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [([], "no token"), ([0, 0], "no evidence"), ([1, 1], "every token is evidence")],
)
def test_a_text_in_which_nothing_can_be_found_has_no_number(evidence: list[int], reason: str) -> None:
    found = plausibility({"a": scored([1.0] * len(evidence), [2, 1])}, split(evidence, [1, 0]))
    assert reasons(found, "a", 0) == {reason}
    assert reasons(found, "a", 1) == {None}
    assert np.isnan(found.value[..., 0]).all()
    assert np.isnan(found.random[:, 0]).all()


def test_a_text_with_a_token_that_has_no_score_has_no_number() -> None:
    found = plausibility({"a": scored([NAN, 1]), "b": scored([2, 1])}, split([1, 0]))
    assert reasons(found, "a", 0) == {"a token without a score"}
    assert reasons(found, "b", 0) == {None}
    assert found.random[0].tolist() == [0.5]


def test_scores_of_other_texts_are_an_error() -> None:
    with pytest.raises(DataError, match="a: expected scores of 4 tokens in 1 texts, found 5 in 1"):
        plausibility({"a": scored([1, 2, 3])}, split([1, 0]))


def test_texts_without_known_evidence_are_an_error() -> None:
    with pytest.raises(UnsupportedError, match="expected texts whose evidence is known, found none"):
        plausibility({"a": scored([1, 2])}, fakes.encode([[SOS, 4, 5, EOS]]))
