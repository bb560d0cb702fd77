"""``faithgauge clean``: what it would free, and that only ``--yes`` frees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faithgauge.cli.main import run


@pytest.fixture
def done(toy: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    run(["run", str(toy), "--executor", "inline"])
    toy.write_text(toy.read_text().replace('"bilstm", ', ""))
    capsys.readouterr()
    return toy


def test_nothing_is_removed_without_yes(
    done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["clean", str(done)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split()[0] == "8"
    assert "results that these studies do not use" in out
    assert "Nothing was removed; with --yes this frees " in out
    assert len(list((tmp_path / "store" / "jobs").glob("*/*"))) == 18


def test_with_yes_what_the_study_uses_stays(
    done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["clean", str(done), "--yes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["removed"], found["results"]["count"]) == (8, 8)
    assert len(list((tmp_path / "store" / "jobs").glob("*/*"))) == 10
    assert run(["run", str(done), "--executor", "inline", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"]["done"] == 0


def test_without_a_study_no_result_is_touched(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["clean", "--yes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "results" not in found
    assert found["removed"] == 0


def test_a_store_that_is_not_there_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["clean", "--store", str(tmp_path / "none")]) == 2
    assert "expected a store, found none" in capsys.readouterr().err
