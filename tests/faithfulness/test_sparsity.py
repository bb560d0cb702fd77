"""How few tokens hold how much of the importance."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import ragged

from faithgauge.faithfulness.masking import Amount
from faithgauge.faithfulness.sparsity import sparsity

NAN = float("nan")


def shares(texts: list[list[float]], *amounts: Amount) -> list[list[float]]:
    return sparsity(ragged(texts, np.float32), amounts).tolist()


def test_the_share_of_the_highest_by_hand() -> None:
    """|scores| 4, 3, 2, 1 of 10: one token has 0.4, two have 0.7."""
    found = shares([[NAN, 2, -4, 1, 3, NAN]], Amount(count=1), Amount(count=2), Amount(0.5), Amount(1.0))
    assert found == [[pytest.approx(0.4)], [pytest.approx(0.7)], [pytest.approx(0.7)], [pytest.approx(1.0)]]


def test_a_text_with_fewer_tokens_than_the_count_has_all_of_it() -> None:
    assert shares([[1, 1], [2, 0, 0, 2]], Amount(count=3)) == [[1.0, 1.0]]


def test_too_few_tokens_for_the_fraction_hold_nothing() -> None:
    assert shares([[1, 2, 3]], Amount(0.3)) == [[0.0]]


def test_scores_of_zero_and_no_scores_have_no_share() -> None:
    found = shares([[0, 0], [NAN], [], [5]], Amount(count=1))[0]
    assert np.isnan(found[:3]).all()
    assert found[3] == 1
