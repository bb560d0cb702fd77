"""Where the jobs of a study stand in a store: what is done, what failed, what that blocks, what runs."""

from __future__ import annotations

import fcntl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from faithgauge.engine.job import Job, facts
from faithgauge.engine.run import Graph, graph, needed
from faithgauge.engine.store import Store

State = Literal["done", "failed", "blocked", "running", "todo"]
STATES: tuple[State, ...] = ("done", "failed", "blocked", "running", "todo")


@dataclass(frozen=True)
class Standing:
    """One job: its state, and for one that failed or is blocked why, and the log."""

    state: State
    reason: str = ""
    log: Path | None = None


def standings(targets: list[Job], store: Store) -> tuple[Graph, dict[str, Standing]]:
    """The graph of the targets, and the standing of each of its jobs, inputs before what needs them.

    A job that is not stored and not needed, because all that is computed from it is stored, is left out.
    """
    nodes = graph(targets)
    wanted = needed(nodes, targets, store)
    found: dict[str, Standing] = {}
    for key, node in nodes.items():
        if store.has(key):
            found[key] = Standing("done")
        elif key in wanted:
            found[key] = _open(key, node.inputs, found, store)
    return {key: nodes[key] for key in found}, found


def describe(nodes: Graph) -> dict[str, str]:
    """A few words on each job that tell it from the others of its kind: the fields in which they differ."""
    flat = {key: flattened(facts(node.job)["fields"]) for key, node in nodes.items()}
    by_kind: dict[str, list[str]] = {}
    for key, node in nodes.items():
        by_kind.setdefault(type(node.job).__name__, []).append(key)
    varying = {kind: _varying([flat[key] for key in keys]) for kind, keys in by_kind.items()}
    texts: dict[str, str] = {}
    for key, node in nodes.items():
        own = flat[key]
        words = [
            _word(path, own.get(path), texts)
            for path in own
            if path in varying[type(node.job).__name__] or path == "name"
        ]
        texts[key] = " ".join(dict.fromkeys(" ".join(words).split()))
    return texts


def flattened(value: Any, path: str = "") -> dict[str, Any]:
    """The leaves of a job's fields by their path, such as ``train.epochs``; an input is ``{"job": key}``."""
    if isinstance(value, dict) and set(value) not in ({"job"}, {"file"}):
        items: Any = value.items()
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        items = enumerate(value)
    else:
        return {path: value}
    found: dict[str, Any] = {}
    for name, item in items:
        found |= flattened(item, f"{path}.{name}" if path else str(name))
    return found


def _open(key: str, inputs: tuple[str, ...], found: dict[str, Standing], store: Store) -> Standing:
    for above in inputs:
        if above in found and found[above].state in ("failed", "blocked"):
            failed = above if found[above].state == "failed" else found[above].reason.split()[-1]
            return Standing("blocked", f"needs what failed: {failed[:12]}")
    if _claimed(key, store):
        return Standing("running")
    failure = store.failure(key)
    return Standing("todo") if failure is None else Standing("failed", *failure)


def _claimed(key: str, store: Store) -> bool:
    """Whether somebody holds the lock; asked without writing, so that a read-only store can be asked."""
    try:
        with (store.root / "claims" / key).open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _varying(rows: list[dict[str, Any]]) -> set[str]:
    first = rows[0]
    return {path for row in rows for path in {*row, *first} if row.get(path) != first.get(path)}


def _word(path: str, value: Any, texts: dict[str, str]) -> str:
    if isinstance(value, dict):
        return texts.get(value["job"], value["job"][:8]) if "job" in value else ""
    if isinstance(value, list):
        return "+".join(map(str, value))
    if isinstance(value, str):
        return value
    return f"{path.rpartition('.')[2]}={value}"
