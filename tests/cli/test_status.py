"""``faithgauge status``: counts by state, and why one job is not stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faithgauge.cli.main import run


def test_jobs_are_counted_by_state(
    toy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAILS", "mlp")
    run(["run", str(toy), "--executor", "inline", "--set", "seeds=[0]"])
    capsys.readouterr()
    assert run(["status", str(toy), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["jobs"] == {"done": 6, "failed": 2, "blocked": 2, "running": 0, "todo": 8, "cached": 0}
    assert {one["reason"] for one in found["failures"]} == {"epoch 1: the loss of mlp is not a number"}
    assert run(["status", str(toy)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["job", "done", "failed", "blocked", "running", "todo"]
    assert lines[2].split() == ["Fit", "2", "2", "-", "-", "4"]
    assert any(line.startswith("failed  Fit") for line in lines)


def test_why_names_the_fields_that_differ_from_the_nearest_stored_job(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["run", str(toy), "--executor", "inline"])
    changed = [str(toy), "--set", "train.epochs=3", "--set", "seeds=[0]", "--set", "model.encoder=mlp"]
    capsys.readouterr()
    run(["plan", *changed, "--json"])
    jobs = json.loads(capsys.readouterr().out)["jobs"]
    fit = next(one["job"] for one in jobs if one["kind"] == "Fit" and one["state"] == "todo")
    assert run(["status", *changed, "--why", fit[:10], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["differs"] == [{"field": "epochs", "stored": 2, "here": 3}]
    assert run(["status", *changed, "--why", fit]) == 0
    assert "it differs in:\nfield   stored  here\nepochs  2       3" in capsys.readouterr().out


def test_why_of_a_stored_job_is_its_folder(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["run", str(toy), "--executor", "inline"])
    key = next((tmp_path / "store" / "jobs").glob("*/*")).name
    capsys.readouterr()
    assert run(["status", str(toy), "--why", key]) == 0
    assert f"{tmp_path / 'store' / 'jobs'}" in capsys.readouterr().out


def test_a_key_that_is_not_of_this_study_is_an_error(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", str(toy), "--why", "zz"]) == 2
    assert "expected the start of a key of this study" in capsys.readouterr().err
    assert run(["status", str(toy), "--why", ""]) == 2
    assert "expected the start of one key, found 18" in capsys.readouterr().err
