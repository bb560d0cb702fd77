"""Two scores per token, side by side."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import ragged

from faithgauge.errors import DataError
from faithgauge.stats import rows
from faithgauge.stats.rank import kendall
from faithgauge.stats.rows import FILL, RowValues, blocks, paired, undefined
from faithgauge.types import Ragged

NAN = float("nan")


def floats(texts: list[list[float]]) -> Ragged:
    return ragged(texts, float)


def test_a_position_that_is_nan_in_either_score_is_left_out_of_both() -> None:
    pair = paired(floats([[NAN, 1, 2, 3], [4, 5]]), floats([[9, 8, NAN, 7], [6, 5]]))
    assert pair.first.tolist() == [1, 3, 4, 5]
    assert pair.second.tolist() == [8, 7, 6, 5]
    assert pair.offsets.tolist() == [0, 2, 4]
    assert pair.row().tolist() == [0, 0, 1, 1]


def test_offsets_need_not_start_at_0() -> None:
    part = Ragged(np.arange(7.0), np.array([3, 5, 7]))
    pair = paired(part, part)
    assert pair.first.tolist() == [3, 4, 5, 6]
    assert pair.offsets.tolist() == [0, 2, 4]


def test_scores_of_other_tokens_are_refused() -> None:
    with pytest.raises(
        DataError, match=r"3 tokens in 2 rows and 3 tokens in 1 rows.*explanations of the same"
    ):
        paired(floats([[1, 2], [3]]), floats([[1, 2, 3]]))


def test_every_row_that_cannot_be_ranked_has_its_reason() -> None:
    first = floats([[NAN, NAN], [1, NAN], [2, 2], [1, 2], [1, 2], []])
    second = floats([[1, 2], [1, 2], [1, 2], [3, 3], [2, 1], []])
    found = RowValues(np.zeros(6), undefined(paired(first, second)))
    assert found.reasons() == [
        "no token",
        "one token",
        "constant scores",
        "constant scores",
        None,
        "no token",
    ]
    assert len(found) == 6


def test_what_is_constant_is_judged_by_the_positions_that_both_scores_have() -> None:
    assert kendall(floats([[1, 1, 2]]), floats([[1, 2, NAN]])).reasons() == ["constant scores"]


def test_rows_of_nearly_the_same_length_are_in_one_block() -> None:
    pair = paired(
        floats([[1, 2], [1, 2, 3, 4, 5], [4], [4, 3, 2]]), floats([[2, 1], [5, 4, 3, 2, 1], [1], [1, 2, 3]])
    )
    found = list(blocks(pair))
    assert [numbers.tolist() for numbers, _, _ in found] == [[0, 3], [1]]
    assert found[0][1].tolist() == [[1, 2, FILL, FILL], [4, 3, 2, FILL]]
    assert found[1][2].tolist() == [[5, 4, 3, 2, 1, *[FILL] * 4]]


def test_a_block_holds_no_more_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "AT_ONCE", 9)
    pair = paired(floats([[1, 2]] * 5), floats([[2, 1]] * 5))
    assert [numbers.tolist() for numbers, _, _ in blocks(pair)] == [[0, 1], [2, 3], [4]]


def test_no_rows_at_all_give_no_values() -> None:
    assert len(kendall(floats([]), floats([]))) == 0
