"""``faithgauge run STUDY.toml``: computes what a study asks for and is not stored yet."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faithgauge.cli.live import ENDS, Watch, watching
from faithgauge.cli.options import Json
from faithgauge.cli.output import emit, out, printable
from faithgauge.cli.studies import Changes, StoreFolder, StudyFile, cores, duration, opened, store_at

if TYPE_CHECKING:
    from faithgauge.engine.run import Graph

MOST_BLOCKED = 5


def command(
    study: StudyFile,
    executor: Annotated[
        str, typer.Option(help="Where jobs are computed: inline, processes, ray or slurm.")
    ] = "processes",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Jobs at once; as many as cores.", show_default=False)
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of each job; as the study says, or 1.", show_default=False),
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="Of a Ray cluster; else a local one.", show_default=False)
    ] = None,
    store: StoreFolder = None,
    changes: Changes = None,
    events: Annotated[
        Path | None,
        typer.Option(help="Add every event to this file, a line of JSON each.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute what a study asks for. What is stored is not computed again: running again is resuming."""
    from faithgauge.engine import run as engine
    from faithgauge.engine.executors import executor as executor_of
    from faithgauge.plans.state import describe

    plan = opened(study, changes)
    place = store_at(store)
    threads = threads or plan.study.threads
    made = executor_of(
        executor, workers or (1 if executor == "inline" else cores()), threads, address=address
    )
    nodes = engine.graph(plan.targets)
    texts = describe(nodes)
    left = Counter(type(node.job).__name__ for node in engine.needed(nodes, plan.targets, place).values())
    watch = Watch(texts, left, made.slots, place.partial)
    with watching(watch, events) as on_event:
        ended = engine.run(plan.targets, place, made, threads=threads, on_event=on_event)
    seconds = time.monotonic() - watch.started
    if as_json:
        emit(document(ended) | {"study": plan.study.name, "store": place.root, "seconds": seconds})
    else:
        _print(ended, texts, seconds)
    if any(node.status in ("failed", "blocked") for node in ended.values()):
        raise typer.Exit(1)


def document(ended: Graph) -> dict[str, Any]:
    counts = Counter(node.status for node in ended.values())
    failures = [
        {"job": node.key, "kind": type(node.job).__name__, "reason": node.reason, "log": node.log}
        for node in ended.values()
        if node.status == "failed"
    ]
    return {"jobs": {name: counts[name] for name in ENDS}, "failures": failures}  # type: ignore[index]


def _print(ended: Graph, texts: Mapping[str, str], seconds: float) -> None:
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
    out.print(f"{', '.join(words)}; {duration(seconds)}")
