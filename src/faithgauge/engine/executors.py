"""The executors by name: where the jobs of a run are computed."""

from __future__ import annotations

from collections.abc import Callable

from faithgauge.engine.run import Executor
from faithgauge.errors import ConfigError
from faithgauge.registry import Table


def executor(name: str, workers: int, threads: int, *, address: str | None = None) -> Executor:
    """The executor of that name for so many jobs at once, each with so many threads.

    `address` is that of a Ray cluster, or a partition of SLURM (``"local"``: processes of this machine
    instead).
    """
    make = EXECUTORS[name]
    if workers < 1 or threads < 1:
        raise ConfigError(f"expected 1 worker and 1 thread or more, found {workers} and {threads}")
    if address is not None and name not in ("ray", "slurm"):
        raise ConfigError(
            f"the executor {name!r} has no address; leave out --address, or choose ray or slurm"
        )
    return make(workers, threads, address)


def _inline(workers: int, _threads: int, _address: str | None) -> Executor:
    from faithgauge.engine.inline import Inline

    if workers > 1:
        raise ConfigError(
            f"the executor 'inline' has 1 worker, not {workers}; choose processes, or --workers 1"
        )
    return Inline()


def _processes(workers: int, threads: int, _address: str | None) -> Executor:
    from faithgauge.engine.processes import Processes

    return Processes(workers, threads)


def _ray(workers: int, threads: int, address: str | None) -> Executor:
    from faithgauge.engine.ray import Ray

    return Ray(workers, threads, address)


def _slurm(workers: int, threads: int, address: str | None) -> Executor:
    from faithgauge.engine.slurm import Slurm

    return Slurm(workers, threads, address)


EXECUTORS: Table[Callable[[int, int, str | None], Executor]] = Table(
    "executor", {"inline": _inline, "processes": _processes, "ray": _ray, "slurm": _slurm}
)
