"""``faithgauge plan``: every job, what is stored, what the rest may cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faithgauge.cli.main import run


def test_a_plan_lists_every_job_and_writes_nothing(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", str(toy)]) == 0
    out = capsys.readouterr().out
    assert "18 jobs: 18 todo." in out
    assert "todo   Texts    mock-2" in out
    assert "todo   Fit      planted mlp seed=1 " in out
    assert "Time and memory: unknown" in out
    assert not (tmp_path / "store").exists()
    assert max(map(len, out.splitlines()[:-1])) <= 80


def test_what_is_stored_tells_what_the_rest_will_cost(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["run", str(toy), "--executor", "inline", "--set", "seeds=[0]"])
    capsys.readouterr()
    assert run(["plan", str(toy), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["states"] == {"done": 10, "todo": 8}
    todo = [job for job in found["jobs"] if job["state"] == "todo"]
    assert all(job["seconds"] > 0 and job["memory"] > 1e6 for job in todo)
    # Two of the four fits are left on each of two texts, and four measurements: four chains of two.
    assert found["wall_seconds"] < found["work_seconds"]
    assert run(["plan", str(toy), "--workers", "1", "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert alone["wall_seconds"] == pytest.approx(alone["work_seconds"])
    assert run(["plan", str(toy), "--workers", "3"]) == 0
    assert "with 3 at once" in capsys.readouterr().out


def test_a_probe_computes_one_job_of_each_sort_and_keeps_it(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", str(toy), "--probe", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == "computing 10 jobs, one of each sort\n"
    found = json.loads(out)
    assert found["states"] == {"done": 10, "todo": 8}
    assert all(job["seconds"] is not None for job in found["jobs"] if job["state"] == "todo")


def test_a_plan_of_what_is_done_has_nothing_left(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["run", str(toy), "--executor", "inline"])
    capsys.readouterr()
    run(["plan", str(toy)])
    assert "18 jobs: 18 done.\nNothing is left to compute.\n" in capsys.readouterr().out
