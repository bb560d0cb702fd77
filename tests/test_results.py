"""Result rows: read from the store, in order, the same bytes for the same results."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pandas
import pyarrow
import pyarrow.parquet
import pytest
import toy_jobs

from faithgauge import results
from faithgauge.engine.inline import Inline
from faithgauge.engine.job import Job, key_of
from faithgauge.engine.run import run
from faithgauge.engine.store import Store
from faithgauge.errors import DataError


def measure(seed: int) -> Job:
    return toy_jobs.Measure(toy_jobs.Fit(toy_jobs.Texts("planted"), "mlp", 1, seed))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    run([measure(0), measure(1)], store, Inline())
    return store


def test_rows_have_every_column_and_the_key_of_their_job(store: Store) -> None:
    table = results.stored([measure(0), measure(1)], store)
    assert table.column_names == list(results.COLUMNS)
    rows = table.to_pylist()
    assert [(row["job"], row["measure"]) for row in rows] == sorted(
        (key_of(measure(seed)), name) for seed in (0, 1) for name in ("roc_auc", "loss")
    )
    assert {row["explainer"] for row in rows} == {None}


def test_jobs_that_are_not_stored_or_have_no_rows_are_left_out(store: Store) -> None:
    assert results.stored([measure(7), toy_jobs.Texts("planted")], store).num_rows == 0
    assert results.stored([], Store(store.root / "none")).column_names == list(results.COLUMNS)


def test_the_order_does_not_depend_on_the_order_of_jobs_and_rows(tmp_path: Path) -> None:
    one = {"dataset": "a", "measure": "m", "value": 0.1, "example": "2", "versus": None}
    rows = [one | {"example": "10"}, one, one | {"versus": "b"}, one | {"measure": "a"}]
    results.write(rows, tmp_path / "x.parquet")
    results.write(rows[::-1], tmp_path / "y.parquet")
    x, y = (
        results.csv(results.in_order(pyarrow.parquet.read_table(tmp_path / f"{name}.parquet")))
        for name in "xy"
    )
    assert x == y
    read = pandas.read_csv(io.BytesIO(x), dtype=str, keep_default_na=False)
    assert read[["example", "measure", "versus"]].to_numpy().tolist() == [
        ["10", "m", ""],
        ["2", "a", ""],
        ["2", "m", "b"],
        ["2", "m", ""],
    ]


def test_csv_is_exact_and_tells_a_null_from_what_is_not_a_number(store: Store) -> None:
    text = results.csv(results.stored([measure(1)], store)).decode()
    head, loss, auc, end = text.split("\n")
    assert head == ",".join(results.COLUMNS)
    assert end == ""
    assert loss == f"planted,test,mlp,,,loss,,1,,,,{{}},nan,,{key_of(measure(1))}"
    assert float(auc.split(",")[12]) == 1 + 1 / 3


def test_csv_quotes_what_needs_it(tmp_path: Path) -> None:
    setting = '{"layer":1,"start":"a"}'
    results.write([{"setting": setting, "value": 1.0, "reason": 'a, "b"\nc'}], tmp_path / "r.parquet")
    read = pandas.read_csv(io.BytesIO(results.csv(pyarrow.parquet.read_table(tmp_path / "r.parquet"))))
    assert read["setting"].tolist() == [setting]
    assert read["reason"].tolist() == ['a, "b"\nc']


def test_parquet_gives_back_the_table(store: Store) -> None:
    table = results.stored([measure(0)], store)
    again = pyarrow.parquet.read_table(io.BytesIO(results.parquet(table)))
    assert again.to_pylist()[1] == table.to_pylist()[1]
    assert math.isnan(again.to_pylist()[0]["value"])


def test_documents_have_the_setting_as_an_object_and_null_for_what_is_not_a_number(store: Store) -> None:
    loss, auc = results.documents(results.stored([measure(0)], store))
    assert (loss["measure"], loss["value"], loss["setting"]) == ("loss", None, {})
    assert auc["value"] == 1 / 3


def test_a_column_that_is_not_ours_is_refused_with_its_name(store: Store) -> None:
    path = store.root / "other.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"measure": ["m"], "valeu": [1.0]}), path)
    with pytest.raises(DataError, match="valeu"):
        results.read(path, "k")


def test_rows_can_be_written_in_sets_of_columns_in_which_one_value_stands_for_all(tmp_path: Path) -> None:
    parts = [
        {"dataset": "sst", "measure": "tau", "example": ["0", "1"], "value": [0.5, math.nan]},
        {"measure": ["low", "high"], "value": [1.0, 2.0], "seed": 3},
        {"measure": [], "value": []},
    ]
    results.write_parts(parts, tmp_path / results.ROWS)
    rows = results.read(tmp_path / results.ROWS, "key").to_pylist()
    assert [(row["dataset"], row["measure"], row["example"], row["seed"]) for row in rows] == [
        ("sst", "tau", "0", None),
        ("sst", "tau", "1", None),
        (None, "low", None, 3),
        (None, "high", None, 3),
    ]
    assert [row["value"] for row in rows][::2] == [0.5, 1.0]


@pytest.mark.parametrize("part", [{"value": [1.0], "example": ["0", "1"]}, {"valu": [1.0]}, {"seed": 1}])
def test_a_set_of_columns_that_do_not_fit_is_a_defect(tmp_path: Path, part: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="columns of lengths"):
        results.write_parts([part], tmp_path / results.ROWS)
