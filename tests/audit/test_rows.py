"""Result rows as tables of seeds and texts."""

from __future__ import annotations

import numpy as np
from made_rows import by_text, row, rows_of


def test_values_stand_by_seed_and_text_in_the_order_of_their_numbers() -> None:
    rows = by_text("m", [[1.0, 2.0], [3.0, 4.0]], explainer="x")
    found = rows_of(rows[::-1])
    np.testing.assert_array_equal(found.by_text("m", "x"), [[1, 2], [3, 4]])
    assert found.by_text("m", "y").shape == (0, 0)


def test_texts_are_numbers_and_what_is_missing_is_nan() -> None:
    found = rows_of([row("m", 1.0, 0, example="10"), row("m", 2.0, 1, example="9")])
    np.testing.assert_array_equal(found.by_text("m"), [[np.nan, 1], [2, np.nan]])
    assert found.texts("m").tolist() == [9, 10]


def test_a_setting_chooses_and_is_told() -> None:
    found = rows_of(
        by_text("m", [[1.0]], setting={"erased_by": "mask"}),
        by_text("m", [[2.0]], setting={"erased_by": "delete"}),
    )
    assert found.by_text("m", erased_by="delete").tolist() == [[2.0]]
    assert found.told("m", "erased_by") == ["delete", "mask"]


def test_numbers_of_whole_splits_are_apart_from_those_of_texts() -> None:
    found = rows_of([row("m", 3.0, 1), row("m", 2.0, 0)], by_text("m", [[9.0]]))
    assert found.whole("m").tolist() == [2.0, 3.0]
    assert found.by_text("m").tolist() == [[9.0]]


def test_no_rows_are_rows_too() -> None:
    assert rows_of().by_text("m").size == 0
    assert rows_of().pairs("m") == []
