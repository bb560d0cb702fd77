"""What the commands on studies share: their options, the store they work on, the study they read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithgauge.errors import ConfigError

if TYPE_CHECKING:
    from faithgauge.engine.job import Job
    from faithgauge.engine.store import Store
    from faithgauge.plans.study import Study

StudyFile = Annotated[Path, typer.Argument(metavar="STUDY.toml", help="A study file.", show_default=False)]
StoreFolder = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="Folder of the results; else FAITHGAUGE_STORE, then the user's data folder.",
        show_default=False,
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change the study, such as train.epochs=2; may be repeated.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Opened:
    """A study that was read and found in order, and the jobs it asks for."""

    study: Study
    targets: list[Job]


def opened(path: Path, changes: list[str] | None) -> Opened:
    from faithgauge.plans.study import read

    study = read(path, changes or ())
    from faithgauge.plans.grid import jobs_of

    return Opened(study, jobs_of(study))


def store_at(folder: Path | None, *, there: bool = False) -> Store:
    """The store that is meant; with `there` it must exist."""
    from faithgauge.engine.store import Store
    from faithgauge.results import store_root

    root = store_root(folder)
    if there and not (root / "store.json").is_file():
        raise ConfigError(f"{root}: expected a store, found none; name another with --store")
    if root.exists() and not root.is_dir():
        raise ConfigError(f"{root}: expected a folder for the store, found a file; choose another --store")
    if root.is_dir() and not (root / "store.json").is_file() and any(root.iterdir()):
        known = {"jobs", "failed", "partial", "tmp", "claims"}
        if not {path.name for path in root.iterdir()} <= known:
            raise ConfigError(
                f"{root}: expected a store or an empty folder, found other files; choose another"
            )
    return Store(root)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def duration(seconds: float) -> str:
    """Seconds as people read them."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def size(n_bytes: float) -> str:
    for unit in ("B", "KB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} GB"
