"""A coordinator in a process of its own: python coordinate.py STORE EXECUTOR WORKERS GRAPH LOG."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from engine.toys import Job, Mortal, Steps, Sum, layers

from faithgauge.engine.executors import executor
from faithgauge.engine.run import Event, run
from faithgauge.engine.store import Store


def targets(name: str, log: Path) -> list[Job]:
    if name == "layers":
        return layers(5, 4, size=40_000, pause=0.04, log=log)
    if name == "wide":
        return [Sum(i, (), 100, 0.05, log) for i in range(24)]
    if name == "steps":
        return [Steps(40, 0.05, log)]
    if name == "long":
        return [Sum(i, (), 100, 60.0, log) for i in range(4)]
    if name == "mortal":
        return [Mortal(1, log)]
    raise ValueError(name)


def tell(event: Event) -> None:
    print(event.what, event.key, event.reason, flush=True)


if __name__ == "__main__":
    # Who starts the tests in the background of a script has Ctrl-C ignored, and that is inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    root, name, workers, which, log = sys.argv[1:]
    run(
        targets(which, Path(log)),
        Store(Path(root)),
        executor(name, int(workers), 1, address="local" if name == "slurm" else None),
        on_event=tell,
    )
