"""``faithgauge results``: the rows of a study in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pytest

from faithgauge.cli.main import run


@pytest.fixture
def done(toy: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    run(["run", str(toy), "--executor", "inline"])
    capsys.readouterr()
    return toy


def test_every_format_has_the_same_rows(
    done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {form: tmp_path / f"rows.{form}" for form in ("csv", "parquet", "json")}
    for form, file in files.items():
        assert run(["results", str(done), "--format", form, "--out", str(file)]) == 0
    assert capsys.readouterr() == ("", "")
    csv, parquet = pandas.read_csv(files["csv"]), pandas.read_parquet(files["parquet"])
    rows = json.loads(files["json"].read_text())
    assert len(csv) == len(parquet) == len(rows) == 16
    assert csv["job"].tolist() == parquet["job"].tolist() == [row["job"] for row in rows]
    assert csv["value"].equals(parquet["value"])
    assert run(["results", str(done), "--format", "csv"]) == 0
    assert capsys.readouterr().out == files["csv"].read_text()


def test_the_table_says_once_what_all_rows_share(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["results", str(done)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == ["dataset", "model", "measure", "seed", "value"]
    assert out.splitlines()[-1] == "All: split test, setting {}."
    assert "mlp     roc_auc     1  1.6667" in out


def test_json_is_one_document(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["results", str(done), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 16
    assert {row["value"] for row in rows if row["measure"] == "loss"} == {None}


def test_what_is_not_stored_yet_is_said_and_the_rest_is_printed(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["run", str(toy), "--executor", "inline", "--set", "seeds=[0]"])
    capsys.readouterr()
    assert run(["results", str(toy), "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1 + 8
    assert err == f"4 of 8 results are not stored yet: faithgauge run {toy}\n"


def test_a_store_that_may_only_be_read_is_enough(
    done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path for path in (tmp_path / "store").rglob("*"))
    for path in before:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        for command in ("results", "status", "plan"):
            assert run([command, str(done), "--json"]) == 0
    finally:
        for path in before:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert sorted(path for path in (tmp_path / "store").rglob("*")) == before


def test_a_place_that_cannot_be_written_is_an_error(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["results", str(done), "--out", "/no/such/folder/rows.csv"]) == 2
    assert "expected a file in a folder that is there" in capsys.readouterr().err
