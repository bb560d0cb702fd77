"""Result rows as columns: words, numbers, what a setting says, and groups."""

from __future__ import annotations

from math import isnan, nan
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from faithgauge import results
from faithgauge.errors import DataError
from faithgauge.report.rows import NOTHING, Rows, read, seeds_of


def rows_of(tmp_path: Path, *rows: dict[str, Any]) -> Rows:
    results.write(rows, tmp_path / "rows.parquet")
    return read(tmp_path / "rows.parquet")


def test_words_are_known_by_their_column_and_none_is_a_word_of_its_own(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, {"measure": "b", "value": 1.0}, {"measure": "a"}, {"value": nan})
    assert rows.words("measure") == ["b", "a", None]
    assert rows.of("measure", "a", None).tolist() == [False, True, True]
    assert rows.value[0] == 1.0
    assert isnan(rows.value[1])
    assert len(rows.where(rows.of("measure", "b"))) == 1


def test_what_a_setting_says_is_a_column_and_numbers_stand_in_their_order(tmp_path: Path) -> None:
    settings = ['{"lambda":0.01}', '{"against":"seed"}', '{"lambda":0.0001}', None]
    rows = rows_of(tmp_path, *({"setting": setting, "value": i} for i, setting in enumerate(settings)))
    assert rows.words("lambda") == ["0.01", None, "0.0001", None]
    assert rows.words("against") == [None, "seed", None, None]
    assert [(own["lambda"], some.value.tolist()) for own, some in rows.groups("lambda")] == [
        ("0.0001", [2.0]),
        ("0.01", [0.0]),
        (None, [1.0, 3.0]),
    ]


def test_a_column_that_no_row_has_is_none_everywhere(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, {"value": 1.0})
    assert rows.words("lambda") == [None]
    assert rows.of("lambda", None).tolist() == [True]
    assert rows.of("lambda", "1").tolist() == [False]
    assert [own for own, _ in rows.groups("lambda", "split")] == [{"lambda": None, "split": None}]


def test_groups_by_number_have_minus_one_for_none(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, {"seed": 2, "value": 1.0}, {"value": 2.0}, {"seed": 2, "value": 3.0})
    assert [(own["seed"], some.value.tolist()) for own, some in rows.groups("seed")] == [
        (-1.0, [2.0]),
        (2.0, [1.0, 3.0]),
    ]
    assert seeds_of(rows) == {-1.0: 0, 2.0: 1}


def test_values_stand_in_a_table_of_seeds_and_texts(tmp_path: Path) -> None:
    rows = rows_of(
        tmp_path,
        {"seed": 0, "example": "10", "value": 1.0},
        {"seed": 1, "example": "9", "value": 2.0},
        {"seed": 1, "example": "10", "value": 3.0},
    )
    table = rows.by_text({"9": 0, "10": 1}, seeds_of(rows))
    assert isnan(table[0, 0])
    assert table[0, 1] == 1.0
    assert table[1].tolist() == [2.0, 3.0]


def test_no_rows_have_no_groups() -> None:
    assert len(NOTHING) == 0
    assert list(NOTHING.groups("measure")) == []
    assert NOTHING.of("measure", "a").tolist() == []


def test_a_file_of_other_columns_is_named_with_what_it_lacks(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"value": [1.0]}), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match="found none named dataset, split"):
        read(tmp_path / "rows.parquet")


def test_a_file_that_is_no_parquet_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").write_text("no")
    with pytest.raises(DataError, match="expected result rows in Parquet"):
        read(tmp_path / "rows.parquet")
