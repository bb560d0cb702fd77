"""``faithgauge status STUDY.toml``: where the jobs of a study stand, and why one of them is not stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as Grid

from faithgauge.cli.options import Json
from faithgauge.cli.output import emit, out, printable
from faithgauge.cli.studies import Changes, StoreFolder, StudyFile, opened, store_at
from faithgauge.errors import ConfigError

if TYPE_CHECKING:
    from faithgauge.engine.run import Graph
    from faithgauge.engine.store import Store
    from faithgauge.plans.state import Standing


def command(
    study: StudyFile,
    why: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="Why this job is not stored; the start of its key.", show_default=False
        ),
    ] = None,
    store: StoreFolder = None,
    changes: Changes = None,
    as_json: Json = False,
) -> None:
    """Count the jobs of a study by state: done, failed, blocked, running, todo."""
    from faithgauge.plans.state import standings

    plan = opened(study, changes)
    place = store_at(store)
    nodes, found = standings(plan.targets, place)
    if why is not None:
        _why(_meant(why, nodes), nodes, found, store=place, as_json=as_json)
    elif as_json:
        emit(_document(nodes, found))
    else:
        _print(nodes, found)


def _document(nodes: Graph, found: Mapping[str, Standing]) -> dict[str, Any]:
    from faithgauge.plans.state import STATES

    counts = Counter(one.state for one in found.values())
    failures = [
        {"job": key, "kind": type(nodes[key].job).__name__, "reason": one.reason, "log": one.log}
        for key, one in found.items()
        if one.state == "failed"
    ]
    return {"jobs": {state: counts[state] for state in STATES} | {"cached": 0}, "failures": failures}


def _print(nodes: Graph, found: Mapping[str, Standing]) -> None:
    from faithgauge.plans.state import STATES, describe

    kinds = dict.fromkeys(type(node.job).__name__ for node in nodes.values())
    counts = Counter((type(nodes[key].job).__name__, one.state) for key, one in found.items())
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("job")
    for state in STATES:
        grid.add_column(state, justify="right")
    for kind in kinds:
        grid.add_row(kind, *(str(counts[kind, state] or "-") for state in STATES))
    out.print(grid)
    texts = describe(nodes)
    for key, one in found.items():
        if one.state == "failed":
            name = f"{type(nodes[key].job).__name__} {key[:12]}  {texts[key]}".rstrip()
            out.print(f"failed  {printable(name)}", soft_wrap=True)
            out.print(f"        {printable(one.reason)}", soft_wrap=True)
            out.print(f"        log: {one.log}", soft_wrap=True)


def _meant(start: str, nodes: Graph) -> str:
    keys = [key for key in nodes if key.startswith(start)]
    if len(keys) == 1:
        return keys[0]
    if not keys:
        raise ConfigError(f"--why {start}: expected the start of a key of this study; see faithgauge plan")
    raise ConfigError(f"--why {start}: expected the start of one key, found {len(keys)}; give more of it")


def _why(key: str, nodes: Graph, found: Mapping[str, Standing], *, store: Store, as_json: bool) -> None:
    """What sets a job apart from the nearest stored one of its kind."""
    from faithgauge.plans.history import History
    from faithgauge.plans.state import describe

    one = found[key]
    near = None if one.state == "done" else History(store, nodes).difference(key)
    differs = {} if near is None else near[1]
    if as_json:
        rows = [{"field": name, "stored": old, "here": new} for name, (old, new) in differs.items()]
        nearest = None if near is None else near[0]
        emit({"job": key, "state": one.state, "reason": one.reason, "nearest": nearest, "differs": rows})
        return
    kind = type(nodes[key].job).__name__
    out.print(printable(f"{kind} {key}  {describe(nodes)[key]}".rstrip()), soft_wrap=True)
    out.print(printable(f"{one.state}: {one.reason}" if one.reason else one.state), soft_wrap=True)
    if one.log is not None:
        out.print(f"log: {one.log}", soft_wrap=True)
    if one.state == "done":
        out.print(str(store.place(key)), soft_wrap=True)
    elif near is None:
        out.print(f"No {kind} is stored that it could be compared with.")
    else:
        out.print(f"The nearest stored {kind} is {near[0][:12]}; it differs in:")
        _differences(differs)


def _differences(differs: Mapping[str, tuple[Any, Any]]) -> None:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("field", "stored", "here"):
        grid.add_column(name, overflow="fold")
    for name, (old, new) in differs.items():
        grid.add_row(name, printable(_shown(old)), printable(_shown(new)))
    out.print(grid)


def _shown(value: Any) -> str:
    """A key or a checksum by its start; what is not there as a dash."""
    if isinstance(value, dict):
        return " ".join(f"{name} {str(item)[:12]}" for name, item in value.items())
    return "-" if value is None else str(value)
