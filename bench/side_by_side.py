"""Two trainings at once, one process and one thread each, against one alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

from bench.measure import Row

WORK = """
import time, torch
torch.set_num_threads(1)
from bench.measure import sst_sized
from bench.training import first
from faithgauge.config import ModelConfig, TrainConfig
from faithgauge.models.classifier import Shape, build
from faithgauge.train.fit import fit
encoded, vocabulary = sst_sized()
model = build(ModelConfig(), Shape(vocabulary, ("0", "1"), "single"), seed=0)
few = first(encoded, 64)
fit(model, {"train": few, "validation": few}, TrainConfig(epochs=1))
print("ready", flush=True)
input()
started = time.perf_counter()
fit(model, {"train": encoded, "validation": few}, TrainConfig(epochs=1))
print(time.perf_counter() - started, flush=True)
"""


def rows() -> Iterator[Row]:
    alone = max(_together(1))
    both = max(_together(2))
    yield Row("two trainings side by side, time of one", both / alone, 1.2, both, alone, "s")


def _together(n: int) -> list[float]:
    """Wall-clock seconds of each of n trainings that start at the same moment."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORK],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(n)
    ]
    pipes = [(worker.stdin, worker.stdout) for worker in workers]
    for _, output in pipes:
        assert output is not None
        output.readline()
    time.sleep(0.5)
    for start, _ in pipes:
        assert start is not None
        start.write("go\n")
        start.flush()
    return [float(output.readline()) for _, output in pipes if output is not None]
