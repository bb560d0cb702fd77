"""With submitit's local executor: the same way as on a cluster, but for SLURM itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from engine.toys import Broken, Mortal, Sum, Threads, artefacts, layers, leftovers, lines

from faithgauge.engine.executors import executor
from faithgauge.engine.inline import Inline
from faithgauge.engine.job import key_of
from faithgauge.engine.run import Event, run
from faithgauge.engine.store import Store

pytest.importorskip("submitit", reason="needs the extra slurm")
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _workers_find_the_toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)  # one that the user has set is kept


def test_the_bytes_are_those_of_inline_and_nothing_is_left(tmp_path: Path) -> None:
    run(layers(2, 2, size=99), Store(tmp_path / "inline"), Inline())
    ended = run(layers(2, 2, size=99), Store(tmp_path / "slurm"), executor("slurm", 2, 1, address="local"))
    assert {node.status for node in ended.values()} == {"done"}
    assert artefacts(tmp_path / "slurm") == artefacts(tmp_path / "inline")
    assert leftovers(tmp_path / "slurm") == []


def test_failures_deaths_and_threads(tmp_path: Path) -> None:
    events = list[Event]()
    jobs = [Broken(), Mortal(1, tmp_path / "log"), Threads()]
    store = Store(tmp_path / "store")
    ended = run(jobs, store, executor("slurm", 3, 2, address="local"), threads=2, on_event=events.append)
    assert [ended[key_of(job)].status for job in jobs] == ["failed", "done", "done"]
    assert ended[key_of(jobs[0])].reason == "ValueError: two lines"
    assert [type(event).__name__ for event in events if event.what == "retried"] == ["Event"]
    assert len(lines(tmp_path / "log")) == 2
    threads = json.loads((store.checked(key_of(jobs[2])) / "threads.json").read_text())
    assert threads == [2, "2", None]


def test_a_job_whose_code_is_not_there_fails_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH")
    node = run([Sum(1)], Store(tmp_path), executor("slurm", 1, 1, address="local"))[key_of(Sum(1))]
    assert node.status == "failed"
    assert "ModuleNotFoundError: No module named 'engine'" in node.reason
