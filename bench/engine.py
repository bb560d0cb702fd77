"""What the engine itself costs: jobs that compute nothing, by the thousand, and two workers against one."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Row
from faithgauge.engine.inline import Inline
from faithgauge.engine.job import Here, Job
from faithgauge.engine.processes import Processes
from faithgauge.engine.run import graph, needed, run
from faithgauge.engine.store import Store

JOBS = 10_000
ROUNDS = 12_000_000

IN_RAY = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import ray
ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
work = ray.remote(num_cpus=1)(lambda number, *above: number)
ray.get([work.remote(i) for i in range(8)])
started = time.perf_counter()
above = []
for start in range(0, int(sys.argv[1]), 100):
    above = [work.remote(start + i, *(above[i : i + 1])) for i in range(100)]
ray.get(above)
print(json.dumps(time.perf_counter() - started))
"""


@dataclass(frozen=True, eq=False)
class Number(Job):
    """Writes a number down."""

    number: int
    above: Job | None = None

    def run(self, here: Here) -> None:
        (here.folder / "number").write_text(str(self.number))


@dataclass(frozen=True, eq=False)
class Busy(Job):
    """Keeps one core busy."""

    number: int
    rounds: int

    def run(self, here: Here) -> None:
        total = 0
        for i in range(self.rounds):
            total ^= i
        (here.folder / "number").write_text(str(total))


def study(jobs: int) -> list[Job]:
    """Layers of a hundred jobs, each of which needs one of the layer before."""
    above: list[Job] = []
    for start in range(0, jobs, 100):
        above = [Number(start + i, above[i] if above else None) for i in range(100)]
    return above


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _overhead(Path(folder))
        yield from _two_workers(Path(folder))


def _overhead(folder: Path) -> Iterator[Row]:
    store = Store(folder / "overhead")
    planned = _seconds(lambda: (targets := study(JOBS), needed(graph(targets), targets, store)))
    yield Row("plan 10,000 jobs, of 3 s", planned / 3, 1.0, planned, 3.0, "s")
    executed = _seconds(lambda: run(study(JOBS), store, Inline())) / JOBS * 1e3
    yield Row("a trivial job, inline, of 10 ms", executed / 10, 1.0, executed, 10.0, "ms")
    every = [one.job for one in graph(study(JOBS)).values()]
    cached = _seconds(lambda: run(every, store, Inline())) / JOBS * 1e3
    yield Row("a stored job, of 1 ms", cached / 1, 1.0, cached, 1.0, "ms")
    grown = _growth(folder / "memory")
    yield Row("coordinator's memory per job, of 2048 bytes", grown / 2048, 1.0, grown, 2048.0, "bytes")
    if importlib.util.find_spec("ray") is not None:
        command = [sys.executable, "-c", IN_RAY, str(JOBS)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        plain = json.loads(done.stdout.splitlines()[-1]) / JOBS * 1e3
        yield Row("a trivial job, stored, of one in plain Ray", executed / plain, None, executed, plain, "ms")


def _growth(folder: Path) -> float:
    """Bytes per job that Python holds after a run more than before it, the jobs themselves included."""
    run(study(100), Store(folder), Inline())  # what is imported and cached once
    gc.collect()
    tracemalloc.start()
    targets = study(2000)
    ended = run(targets, Store(folder), Inline())
    gc.collect()
    now, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return now / len(ended)


def _two_workers(folder: Path) -> Iterator[Row]:
    seconds = {}
    for workers in (1, 2):
        jobs = [Busy(i, ROUNDS) for i in range(16)]
        store = Store(folder / f"workers-{workers}")
        seconds[workers] = _seconds(lambda: run(jobs, store, Processes(workers)))  # noqa: B023 it is called here
    both, alone = seconds[2], seconds[1]
    goal = 0.6 if (os.cpu_count() or 1) > 1 else None
    yield Row("16 equal jobs, two workers, of one", both / alone, goal, both, alone, "s")


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
