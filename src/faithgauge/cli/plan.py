"""``faithgauge plan STUDY.toml``: every job of a study, what is stored, and what the rest may cost."""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faithgauge.cli.computing import Workers
from faithgauge.cli.options import Json
from faithgauge.cli.output import emit, err, out, printable
from faithgauge.cli.studies import Changes, StoreFolder, StudyFile, cores, duration, opened, size, store_at

if TYPE_CHECKING:
    from faithgauge.engine.job import Job
    from faithgauge.engine.run import Graph
    from faithgauge.engine.store import Store
    from faithgauge.plans.history import Cost
    from faithgauge.plans.state import Standing


FEW = 12
"""A job that needs more open jobs than these is not computed for the sake of knowing its cost."""
WHAT = 2
"""The column that gives way where the console is narrow."""


@dataclass(frozen=True)
class Line:
    """One job of the plan."""

    key: str
    kind: str
    what: str
    state: str
    cost: Cost | None


@dataclass(frozen=True)
class Plan:
    """All jobs, and what those that are left take: `work` by one worker, `wall` by so many at once.

    Both are None where nothing is known.
    """

    lines: list[Line]
    workers: int
    work: float | None
    wall: float | None

    @classmethod
    def of(cls, nodes: Graph, lines: list[Line], workers: int) -> Plan:
        from faithgauge.plans.schedule import wall

        left = {line.key for line in lines if line.state != "done"}
        known = {line.key: line.cost.seconds for line in lines if line.cost is not None}
        if left and not known:
            return cls(lines, workers, None, None)
        open_ = {key: node for key, node in nodes.items() if key in left}
        return cls(lines, workers, sum(known.values()), wall(open_, known, workers))


def command(
    study: StudyFile,
    store: StoreFolder = None,
    changes: Changes = None,
    probe: Annotated[
        bool,
        typer.Option("--probe", help="Compute one job of each sort first (it is kept), to know the cost."),
    ] = False,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Say which jobs a study needs, what is stored of them, and what the rest will cost.

    Whatever can be known to be wrong with the study is said here, and nothing is computed. Time and memory
    are those of the most similar jobs in the store.
    """
    plan = opened(study, changes)
    show_plan(plan.targets, plan.study.name, store_at(store), probe=probe, workers=workers, as_json=as_json)


def show_plan(
    targets: list[Job], name: str, store: Store, *, probe: bool, workers: int | None, as_json: bool
) -> None:
    """The jobs that these targets need, what is stored of them, and what the rest will cost."""
    from faithgauge.plans.state import standings

    nodes, found = standings(targets, store)
    if probe and _probe(nodes, found, store):
        nodes, found = standings(targets, store)
    plan = Plan.of(nodes, _lines(nodes, found, store), workers or cores())
    if as_json:
        emit(_document(plan, name, store))
    else:
        _print(plan, store)


def _probe(nodes: Graph, found: dict[str, Standing], store: Store) -> int:
    """Compute the first open job of each sort of which the store tells nothing, and what it needs."""
    from faithgauge.engine.inline import Inline
    from faithgauge.engine.run import needed, run
    from faithgauge.plans.history import History

    history = History(store, nodes)
    first: dict[str, Job] = {}
    for key, node in nodes.items():
        if found[key].state == "todo" and history.cost(key) is None:
            first.setdefault(history.likeness(key), node.job)
    wanted = [job for job in first.values() if len(needed(nodes, [job], store)) <= FEW]
    if wanted:
        err.print(f"computing {len(wanted)} jobs, one of each sort")
        # What torch loads at the first step of the first training is no part of what a training takes.
        importlib.import_module("torch._dynamo")
        run(wanted, store, Inline())
    return len(wanted)


def _lines(nodes: Graph, found: dict[str, Standing], store: Store) -> list[Line]:
    from faithgauge.plans.history import History
    from faithgauge.plans.state import describe

    history = History(store, nodes)
    texts = describe(nodes)
    return [
        Line(key, type(node.job).__name__, texts[key], found[key].state, None)
        if found[key].state == "done"
        else Line(key, type(node.job).__name__, texts[key], found[key].state, history.cost(key))
        for key, node in nodes.items()
    ]


def _print(plan: Plan, store: Store) -> None:
    order = {kind: i for i, kind in enumerate(dict.fromkeys(line.kind for line in plan.lines))}
    rows = [_cells(line) for line in sorted(plan.lines, key=lambda line: order[line.kind])]
    for text in _aligned([("state", "job", "what", "time", "memory", "key"), *rows]):
        out.out(text, highlight=False)
    counts = Counter(line.state for line in plan.lines)
    out.print(f"{len(plan.lines)} jobs: {', '.join(f'{n} {state}' for state, n in counts.items())}.")
    out.print(_estimate(plan))
    out.print(f"Store: {store.root}", soft_wrap=True)


def _cells(line: Line) -> tuple[str, ...]:
    unknown = "" if line.state == "done" else "?"
    time = duration(line.cost.seconds) if line.cost else unknown
    memory = size(line.cost.memory) if line.cost else unknown
    return (line.state, line.kind, printable(line.what), time, memory, line.key[:8])


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Lines as wide as the console allows. A grid of rich takes seconds where there are 10,000."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rest = sum(widths) - widths[WHAT] + 2 * (len(widths) - 1)
    widths[WHAT] = min(widths[WHAT], max(out.width - rest, 10))
    return [
        "  ".join(
            cell.rjust(width) if i in (3, 4) else _cut(cell, width).ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _estimate(plan: Plan) -> str:
    """The whole of what is left, as far as it can be told."""
    left = [line for line in plan.lines if line.state != "done"]
    known = [line.cost for line in left if line.cost is not None]
    if not left:
        return "Nothing is left to compute."
    if plan.work is None or plan.wall is None:
        return "Time and memory: unknown, as no such job is stored; --probe computes one of each."
    text = f"About {duration(plan.work)} of work, {duration(plan.wall)} with {plan.workers} at once"
    text += f"; up to {size(max(cost.memory for cost in known))} for each worker"
    unknown = len(left) - len(known)
    return text + (f"; unknown for {unknown} more jobs: --probe computes one of each." if unknown else ".")


def _document(plan: Plan, name: str, store: Store) -> dict[str, Any]:
    jobs = [
        {
            "job": line.key,
            "kind": line.kind,
            "what": line.what,
            "state": line.state,
            "seconds": line.cost.seconds if line.cost else None,
            "memory": line.cost.memory if line.cost else None,
        }
        for line in plan.lines
    ]
    times = {"work_seconds": plan.work, "wall_seconds": plan.wall, "workers": plan.workers}
    counts = Counter(line.state for line in plan.lines)
    return {"study": name, "store": store.root, "jobs": jobs, "states": dict(counts), **times}
