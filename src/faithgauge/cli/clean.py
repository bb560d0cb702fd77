"""``faithgauge clean``: what a store holds that is not needed; removed only with ``--yes``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table as Grid

from faithgauge.cli.options import Json
from faithgauge.cli.output import emit, out
from faithgauge.cli.studies import StoreFolder, opened, size, store_at

if TYPE_CHECKING:
    from faithgauge.engine.store import Store

WHAT = {
    "results": "results that these studies do not use",
    "failed": "logs of jobs that failed",
    "partial": "interrupted jobs, which would begin anew",
    "tmp": "attempts that were left behind",
}


def command(
    studies: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[STUDY.toml]...", help="Free the results that none of these uses.", show_default=False
        ),
    ] = None,
    store: StoreFolder = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove them.")] = False,
    as_json: Json = False,
) -> None:
    """Say what could be freed; remove it with --yes.

    Without a study no result is freed. What a run is working on is left alone.
    """
    from faithgauge.plans.leftovers import leftovers, remove

    targets = [job for study in studies or () for job in opened(study, None).targets]
    place = store_at(store, there=True)
    found = leftovers(place, targets if studies else None)
    sizes = {name: sum(one.size for one in items) for name, items in found.items()}
    removed = remove(place, found) if yes else 0
    if as_json:
        counts = {name: {"count": len(items), "bytes": sizes[name]} for name, items in found.items()}
        emit({"store": place.root, "removed": removed, **counts})
        return
    _print(place, {name: (len(items), sizes[name]) for name, items in found.items()})
    total = size(sum(sizes.values()))
    if yes:
        out.print(f"Removed: {removed} folders, {total}.")
    else:
        out.print(f"Nothing was removed; with --yes this frees {total}.")


def _print(store: Store, found: dict[str, tuple[int, int]]) -> None:
    grid = Grid(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for _ in range(2):
        grid.add_column(justify="right", no_wrap=True)
    grid.add_column()
    for name, (count, n_bytes) in found.items():
        grid.add_row(str(count), size(n_bytes), WHAT[name])
    out.print(grid)
    out.print(f"Store: {store.root}", soft_wrap=True)
