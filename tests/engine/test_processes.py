from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from engine.toys import Mortal, Sum, Threads, artefacts, layers, leftovers, lines, value_in

from faithgauge.engine.inline import Inline
from faithgauge.engine.job import Job, key_of
from faithgauge.engine.processes import Processes
from faithgauge.engine.run import Event, run
from faithgauge.engine.store import Store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the locks of the store are those of POSIX")


@pytest.mark.parametrize("workers", [1, 3])
def test_processes_give_the_same_bytes_as_inline_whatever_their_number(tmp_path: Path, workers: int) -> None:
    run(layers(3, 3, size=999), Store(tmp_path / "inline"), Inline())
    ended = run(layers(3, 3, size=999), Store(tmp_path / "processes"), Processes(workers))
    assert {node.status for node in ended.values()} == {"done"}
    assert artefacts(tmp_path / "processes") == artefacts(tmp_path / "inline")
    assert len(artefacts(tmp_path / "inline")) == 27
    assert leftovers(tmp_path / "processes") == []


@pytest.mark.parametrize(("threads", "policy"), [(1, "PASSIVE"), (2, None)])
def test_a_worker_has_the_threads_it_was_given_and_our_own_environment_stays(
    tmp_path: Path, threads: int, policy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    run([Threads()], Store(tmp_path), Processes(1, threads), threads=threads)
    folder = Store(tmp_path).checked(key_of(Threads()))
    assert json.loads((folder / "threads.json").read_text()) == [threads, str(threads), policy]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "OMP_WAIT_POLICY" not in os.environ


@pytest.mark.parametrize(("deaths", "status"), [(2, "done"), (3, "failed")])
def test_a_worker_that_is_killed_is_replaced_and_its_job_sent_again(
    tmp_path: Path, deaths: int, status: str
) -> None:
    events = list[Event]()
    job, aside = Mortal(deaths, tmp_path / "log"), Sum(1)
    ended = run([job, aside], Store(tmp_path / "store"), Processes(2), on_event=events.append)
    assert ended[key_of(job)].status == status
    assert ended[key_of(aside)].status == "done"
    assert len(lines(tmp_path / "log")) == 3
    told = [event.reason for event in events if event.what == "retried"]
    assert told == ["killed by signal 9 (SIGKILL)"] * 2
    assert leftovers(tmp_path / "store") == ([] if status == "done" else [f"failed/{key_of(job)}"])


def test_a_dead_worker_is_noticed_though_its_child_holds_the_pipe(tmp_path: Path) -> None:
    job = Mortal(1, tmp_path / "log", child=True)
    executor = Processes(1)
    events = list[Event]()
    started = time.monotonic()
    # The child holds the worker's lock as well, so the second attempt waits until it has ended.
    ended = run([job], Store(tmp_path / "store"), executor, on_event=events.append)
    assert ended[key_of(job)].status == "done"
    assert [event.what for event in events] == ["started", "retried", "done"]
    assert time.monotonic() - started < 30


def test_a_job_whose_code_a_worker_cannot_import_fails_and_is_not_retried(tmp_path: Path) -> None:
    module = type(sys)("only_here")

    @dataclass(frozen=True, eq=False)
    class Local(Job):
        number: int = 1

    Local.__module__, Local.__qualname__ = "only_here", "Local"
    module.Local = Local  # type: ignore[attr-defined]
    sys.modules["only_here"] = module
    try:
        events = list[Event]()
        ended = run([Local(), Sum(1)], Store(tmp_path), Processes(1), on_event=events.append)
    finally:
        del sys.modules["only_here"]
    assert ended[key_of(Sum(1))].status == "done"
    assert [event.what for event in events].count("retried") == 0
    assert next(node.reason for node in ended.values() if node.status == "failed") == (
        "the job cannot be read by its worker: ModuleNotFoundError: No module named 'only_here'"
    )


def test_an_idle_worker_that_died_is_replaced(tmp_path: Path) -> None:
    store, executor = Store(tmp_path), Processes(1)

    def kill_idle(event: Event) -> None:
        if event.what == "done":
            for process, _ in executor._idle:
                assert process.pid is not None
                os.kill(process.pid, signal.SIGKILL)
                process.join()

    ended = run([Sum(1), Sum(2), Sum(3)], store, executor, on_event=kill_idle)
    assert Counter(node.status for node in ended.values()) == {"done": 3}
    assert value_in(store.checked(key_of(Sum(3)))) == 3


def test_an_executor_can_be_used_again(tmp_path: Path) -> None:
    executor = Processes(1)
    for i in range(2):
        assert run([Sum(i)], Store(tmp_path), executor)[key_of(Sum(i))].status == "done"


def test_workers_are_gone_after_the_run_and_ended_when_abandoned(tmp_path: Path) -> None:
    executor = Processes(2)

    def interrupt(event: Event) -> None:
        if event.what == "started" and event.key == key_of(slow[1]):
            raise KeyboardInterrupt

    slow = [Sum(i, (), 10, 60.0) for i in range(2)]
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(slow, Store(tmp_path), executor, on_event=interrupt)
    assert time.monotonic() - started < 5
    assert executor._busy == {}
    assert executor._idle == []
    assert leftovers(tmp_path) == []
