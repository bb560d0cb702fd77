"""Jobs computed from the command line: where, shown how, and how they ended."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faithgauge.cli.live import ENDS, Show, Watch, watching
from faithgauge.cli.output import out, printable
from faithgauge.cli.studies import cores, duration

if TYPE_CHECKING:
    from faithgauge.engine.job import Job
    from faithgauge.engine.run import Graph
    from faithgauge.engine.store import Store

MOST_BLOCKED = 5

ExecutorName = Annotated[
    str, typer.Option("--executor", help="Where jobs are computed: inline, processes, ray or slurm.")
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Jobs at once; as many as cores.", show_default=False)
]
Address = Annotated[
    str | None, typer.Option("--address", help="Of a Ray cluster; else a local one.", show_default=False)
]
Events = Annotated[
    Path | None,
    typer.Option("--events", help="Add every event to this file, a line of JSON each.", show_default=False),
]


@dataclass(frozen=True)
class Computed:
    """How every job ended, what each is in a few words, and how long it all took."""

    ended: Graph
    texts: Mapping[str, str]
    seconds: float

    @property
    def failed(self) -> bool:
        return any(node.status in ("failed", "blocked") for node in self.ended.values())


def compute(
    targets: Sequence[Job],
    store: Store,
    executor: str,
    *,
    workers: int | None,
    threads: int = 1,
    address: str | None = None,
    events: Path | None = None,
    show: Show = "all",
) -> Computed:
    """Compute what is not stored, and show it: every event, some of them, or only what fails."""
    from faithgauge.engine import run as engine
    from faithgauge.engine.executors import executor as executor_of
    from faithgauge.plans.state import describe

    made = executor_of(
        executor, workers or (1 if executor == "inline" else cores()), threads, address=address
    )
    nodes = engine.graph(targets)
    texts = describe(nodes)
    left = Counter(type(node.job).__name__ for node in engine.needed(nodes, targets, store).values())
    watch = Watch(texts, left, made.slots, store.partial)
    with watching(watch, events, show) as on_event:
        ended = engine.run(targets, store, made, threads=threads, on_event=on_event)
    return Computed(ended, texts, time.monotonic() - watch.started)


def document(ended: Graph) -> dict[str, Any]:
    counts = Counter(node.status for node in ended.values())
    failures = [
        {"job": node.key, "kind": type(node.job).__name__, "reason": node.reason, "log": node.log}
        for node in ended.values()
        if node.status == "failed"
    ]
    return {"jobs": {name: counts[name] for name in ENDS}, "failures": failures}  # type: ignore[index]


def report(done: Computed) -> None:
    """What failed and why, what that blocks, and the counts."""
    ended, texts = done.ended, done.texts
    for node in ended.values():
        if node.status == "failed":
            name = f"{type(node.job).__name__} {node.key[:12]}  {texts[node.key]}".rstrip()
            out.print(f"failed  {printable(name)}", soft_wrap=True)
            out.print(f"        {printable(node.reason)}", soft_wrap=True)
            out.print(f"        log: {node.log}", soft_wrap=True)
    blocked = [node for node in ended.values() if node.status == "blocked"]
    for node in blocked[:MOST_BLOCKED]:
        name = f"{type(node.job).__name__} {node.key[:12]}  {texts[node.key]}".rstrip()
        out.print(f"blocked {printable(name)}", soft_wrap=True)
        out.print(f"        {printable(node.reason)}", soft_wrap=True)
    if len(blocked) > MOST_BLOCKED:
        out.print(f"blocked {len(blocked) - MOST_BLOCKED} more")
    counts = Counter(node.status for node in ended.values())
    words = [f"{counts[name]} {name}" for name in ENDS]  # type: ignore[index]
    out.print(f"{', '.join(words)}; {duration(done.seconds)}")
