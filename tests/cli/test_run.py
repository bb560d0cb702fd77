"""``faithgauge run``: what it computes, what it says, how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from faithgauge.cli.main import run

GRID = Path(__file__).parents[2] / "examples" / "grid.toml"


def document(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, object]:
    assert run([*arguments, "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_a_second_run_computes_nothing(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = document(capsys, "run", str(toy), "--executor", "inline")
    assert first["jobs"] == {"done": 18, "cached": 0, "failed": 0, "blocked": 0}
    assert first["failures"] == []
    second = document(capsys, "run", str(toy), "--executor", "inline")
    assert second["jobs"] == {"done": 0, "cached": 8, "failed": 0, "blocked": 0}


def test_a_failure_is_told_with_its_reason_and_log_and_the_rest_goes_on(
    toy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAILS", "mlp")
    found = document(capsys, "run", str(toy), "--executor", "inline", code=1)
    assert found["jobs"] == {"done": 10, "cached": 0, "failed": 4, "blocked": 4}
    failures = found["failures"]
    assert isinstance(failures, list)
    assert {one["reason"] for one in failures} == {"epoch 1: the loss of mlp is not a number"}
    assert all(Path(one["log"]).read_text().startswith("epoch 1") for one in failures)
    monkeypatch.delenv("TOY_FAILS")
    again = document(capsys, "run", str(toy), "--executor", "inline")
    assert again["jobs"] == {"done": 8, "cached": 6, "failed": 0, "blocked": 0}


def test_without_a_terminal_each_event_is_a_line_and_the_end_a_table(
    toy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAILS", "mlp")
    changes = ["--set", 'data.names="planted"', "--set", "seeds=[0]", "--executor", "inline"]
    assert run(["run", str(toy), *changes]) == 1
    out, err = capsys.readouterr()
    lines = [line[:29] for line in err.splitlines()]
    assert len(lines) == 4 + 4 + 1
    assert lines[0].startswith("started   Texts")
    assert lines[1].startswith("1/5  done      Texts")
    assert [line.split()[1] for line in err.splitlines() if line[0] in "12345"] == [
        "done", "done", "done", "failed", "blocked",
    ]  # fmt: skip
    assert "failed  Fit" in out
    assert "        epoch 1: the loss of mlp is not a number\n        log: " in out
    assert out.splitlines()[-1].startswith("3 done, 0 cached, 1 failed, 1 blocked; ")


def test_what_is_stored_already_is_one_line(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["run", str(toy), "--executor", "inline", "--set", "seeds=[0]"])
    capsys.readouterr()
    run(["run", str(toy), "--executor", "inline"])
    err = capsys.readouterr().err
    assert err.splitlines()[0] == "6 of 14 jobs are stored already"
    assert "cached" not in err


def test_every_event_goes_to_the_event_log(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "events.jsonl"
    for _ in range(2):
        run(["run", str(toy), "--executor", "inline", "--events", str(log), "--json"])
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [event["event"] for event in events].count("done") == 18
    assert [event["event"] for event in events[-8:]] == ["cached"] * 8
    done = next(event for event in events if event["event"] == "done" and event["kind"] == "Fit")
    assert set(done) == {"time", "event", "job", "kind", "what", "seconds"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--executor", "proceses"], "did you mean 'processes'?"),
        (["--set", "train.epoch=1"], "did you mean 'train.epochs'?"),
        (["--events", "/no/such/folder/log"], "expected a file to write to"),
        (["--store", "/dev/null"], "expected a folder for the store, found a file"),
    ],
)
def test_a_wrong_input_is_told_before_anything_is_computed(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert run(["run", str(toy), *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err
    assert not (tmp_path / "store").exists()


def test_a_folder_with_other_files_is_no_store(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", str(toy), "--store", str(tmp_path)]) == 2
    assert "expected a store or an empty folder, found other files" in capsys.readouterr().err


def faithgauge(*arguments: str) -> str:
    command = [sys.executable, "-c", "from faithgauge.cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_example_gives_the_same_bytes_with_processes_and_inline(tmp_path: Path) -> None:
    one, two, grid = str(tmp_path / "one"), str(tmp_path / "two"), str(GRID)
    parallel = ["--executor", "processes", "--workers", "2"]
    first = json.loads(faithgauge("run", grid, "--store", one, *parallel, "--json"))
    assert first["jobs"] == {"done": 26, "cached": 0, "failed": 0, "blocked": 0}
    second = json.loads(faithgauge("run", grid, "--store", one, *parallel, "--json"))
    assert second["jobs"] == {"done": 0, "cached": 12, "failed": 0, "blocked": 0}
    faithgauge("run", grid, "--store", two, "--executor", "inline", "--json")
    rows = [faithgauge("results", grid, "--store", store, "--format", "csv") for store in (one, two)]
    assert rows[0].count("\n") == 1 + 12 * 8
    assert rows[0] == rows[1]


@pytest.mark.slow
def test_the_example_gives_the_same_bytes_with_ray(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs the extra ray")
    one, two, grid = str(tmp_path / "one"), str(tmp_path / "two"), str(GRID)
    small = ["--set", "seeds=0"]
    for store, executor in ((one, "inline"), (two, "ray")):
        faithgauge("run", grid, "--store", store, *small, "--executor", executor, "--workers", "1", "--json")
    rows = [faithgauge("results", grid, "--store", store, *small, "--format", "csv") for store in (one, two)]
    assert rows[0].count("\n") == 1 + 4 * 8
    assert rows[0] == rows[1]
