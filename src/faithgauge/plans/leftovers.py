"""What of a store could be removed: results that no study uses, failures, interrupted and broken attempts."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from faithgauge.engine.job import Job
from faithgauge.engine.run import graph
from faithgauge.engine.store import Store


@dataclass(frozen=True)
class Leftover:
    """One folder of the store, the key it belongs to, and its bytes."""

    key: str
    folder: Path
    size: int


def leftovers(store: Store, targets: list[Job] | None) -> dict[str, list[Leftover]]:
    """By kind; results only where it is said which `targets` are to stay, with all they depend on."""
    found = {
        name: [
            Leftover(folder.name.partition(".")[0], folder, _size(folder))
            for folder in sorted((store.root / name).iterdir())
        ]
        for name in ("failed", "partial", "tmp")
        if (store.root / name).is_dir()
    }
    if targets is None:
        return found
    used = set(graph(targets))
    unused = [key for key in store.keys() if key not in used]  # noqa: SIM118 a store is no mapping
    results = [Leftover(key, store.place(key), _size(store.place(key))) for key in unused]
    return {"results": results, **found}


def remove(store: Store, found: dict[str, list[Leftover]]) -> int:
    """Remove what nobody works on, each under the locks of its key; returns how many folders went."""
    store.prepare()
    return sum(_remove(store, one, name) for name, items in found.items() for one in items)


def _remove(store: Store, one: Leftover, name: str) -> bool:
    with ExitStack() as held:
        for lock in (one.key, f"{one.key}.work"):
            claim = store.claim(lock)
            if claim is None:
                return False
            held.callback(claim.release)
        if name == "results":
            store.discard(one.key)
        else:
            shutil.rmtree(one.folder, ignore_errors=True)
        return not one.folder.exists()


def _size(folder: Path) -> int:
    """The bytes of its files; one that goes meanwhile counts nothing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total
