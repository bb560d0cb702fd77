"""Processes that are killed or interrupted, and two coordinators at once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from engine.toys import artefacts, layers, leftovers, lines

from faithgauge.engine.inline import Inline
from faithgauge.engine.run import run
from faithgauge.engine.store import Store

Coordinator = Callable[..., "subprocess.Popen[str]"]
pytestmark = pytest.mark.slow


def finished(process: subprocess.Popen[str]) -> list[list[str]]:
    out, error = process.communicate(timeout=120)
    assert (process.returncode, error) == (0, "")
    return [line.split(" ", 2) for line in out.splitlines()]


def wait_for(told: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not told():
        assert time.monotonic() < until
        time.sleep(0.005)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_coordinator_killed_at_20_moments_leaves_nothing_wrong(
    tmp_path: Path, coordinator: Coordinator
) -> None:
    undisturbed = tmp_path / "undisturbed"
    run(layers(5, 4, size=40_000), Store(undisturbed), Inline())
    expected = artefacts(undisturbed)
    assert len(expected) == 20 * 3
    moments = random.Random(0)
    interrupted = 0
    for i in range(20):
        root, log = tmp_path / f"store-{i}", tmp_path / f"log-{i}"
        first = coordinator(root, "processes", 2, "layers", log)
        wait_for(log.exists)
        time.sleep(moments.uniform(0.0, 0.6))
        kill(first)
        done = len(artefacts(root))
        interrupted += done < len(expected)
        finished(coordinator(root, "processes", 2, "layers", log))
        assert artefacts(root) == expected
        assert leftovers(root) == []
        assert len(lines(log)) <= 20 + 2
    assert interrupted >= 10


def test_a_job_of_a_killed_coordinator_goes_on_from_its_checkpoint(
    tmp_path: Path, coordinator: Coordinator
) -> None:
    root, log = tmp_path / "store", tmp_path / "log"
    first = coordinator(root, "processes", 1, "steps", log)
    wait_for(lambda: len(lines(log)) >= 10)
    kill(first)
    finished(coordinator(root, "processes", 1, "steps", log))
    steps = [int(line) for line in lines(log)]
    assert sorted(set(steps)) == list(range(1, 41))
    assert len(steps) <= 41  # the step it was killed in may be there twice
    assert leftovers(root) == []


def test_workers_end_with_a_killed_coordinator(tmp_path: Path, coordinator: Coordinator) -> None:
    root, log = tmp_path / "store", tmp_path / "log"
    first = coordinator(root, "processes", 2, "long", log)
    wait_for(lambda: len(lines(log)) == 2)
    workers = [int(line.split()[1]) for line in lines(log)]
    kill(first)
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_two_coordinators_compute_every_job_once(tmp_path: Path, coordinator: Coordinator) -> None:
    root, log = tmp_path / "store", tmp_path / "log"
    both = [coordinator(root, "processes", 2, "layers", log) for _ in range(2)]
    told = [finished(one) for one in both]
    numbers = [line.split()[0] for line in lines(log)]
    assert len(numbers) == 20
    assert len(set(numbers)) == 20
    assert all(any(what == "elsewhere" for what, *_ in events) for events in told)
    assert sum(what == "started" for events in told for what, *_ in events) == 20
    run(layers(5, 4, size=40_000), Store(tmp_path / "alone"), Inline())
    assert artefacts(root) == artefacts(tmp_path / "alone")
    assert leftovers(root) == []


def test_a_coordinator_takes_over_from_one_that_is_killed(tmp_path: Path, coordinator: Coordinator) -> None:
    root, log = tmp_path / "store", tmp_path / "log"
    first = coordinator(root, "processes", 2, "wide", log)
    wait_for(lambda: len(lines(log)) >= 4)
    second = coordinator(root, "processes", 2, "wide", log)
    wait_for(lambda: len(lines(log)) >= 10)
    kill(first)
    finished(second)
    assert len({line.split()[0] for line in lines(log)}) == 24
    assert len(lines(log)) <= 24 + 2
    assert len(list(Store(root).keys())) == 24
    assert leftovers(root) == []


def test_a_killed_worker_is_replaced(tmp_path: Path, coordinator: Coordinator) -> None:
    root, log = tmp_path / "store", tmp_path / "log"
    process = coordinator(root, "processes", 2, "wide", log)
    wait_for(lambda: len(lines(log)) >= 6)
    os.kill(int(lines(log)[-1].split()[1]), signal.SIGKILL)
    told = finished(process)
    assert [what for what, *_ in told].count("retried") <= 1
    assert [what for what, *_ in told].count("done") == 24
    assert leftovers(root) == []


@pytest.mark.parametrize("executor", ["inline", "processes", "slurm"])
def test_ctrl_c_ends_all_within_five_seconds(tmp_path: Path, coordinator: Coordinator, executor: str) -> None:
    if executor == "slurm":
        pytest.importorskip("submitit", reason="needs the extra slurm")
    root, log = tmp_path / "store", tmp_path / "log"
    workers = 1 if executor == "inline" else 2
    process = coordinator(root, executor, workers, "long", log)
    wait_for(lambda: len(lines(log)) == workers)
    pids = [int(line.split()[1]) for line in lines(log)]
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    _, error = process.communicate(timeout=20)
    assert time.monotonic() - started < 5
    assert error.rstrip().endswith("KeyboardInterrupt")
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert leftovers(root) == []
    assert list(Store(root).keys()) == []
