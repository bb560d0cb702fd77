"""``faithgauge results STUDY.toml``: the result rows of a study, as a table, CSV, Parquet or JSON."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table as Grid

from faithgauge.cli.options import Json
from faithgauge.cli.output import emit, err, out, printable
from faithgauge.cli.studies import Changes, StoreFolder, StudyFile, opened, store_at
from faithgauge.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow

HIDDEN = ("job",)
"""Not in the table for people: it says nothing beside the other columns."""
READ_BY = (
    *("dataset", "split", "model", "explainer", "versus", "setting", "fraction"),
    *("measure", "class", "class_of", "example", "seed"),
)
"""The order of that table."""


def command(
    study: StudyFile,
    form: Annotated[
        Literal["table", "csv", "parquet", "json"], typer.Option("--format", help="How the rows are written.")
    ] = "table",
    target: Annotated[
        Path | None, typer.Option("--out", help="Write to this file instead.", show_default=False)
    ] = None,
    store: StoreFolder = None,
    changes: Changes = None,
    as_json: Json = False,
) -> None:
    """Print the rows that are stored of a study, one for each measurement.

    They are sorted by job, example, measure, versus and setting: the same results give the same bytes,
    wherever they were computed.
    """
    from faithgauge import results

    if target is not None and (target.is_dir() or not target.parent.is_dir()):
        raise ConfigError(f"--out {target}: expected a file in a folder that is there; choose another place")
    plan = opened(study, changes)
    place = store_at(store)
    rows = results.stored(plan.targets, place)
    open_ = sum(not place.has(key) for key in results.keys(plan.targets))
    if open_:
        text = f"{open_} of {len(plan.targets)} results are not stored yet: faithgauge run {study}"
        err.print(printable(text), soft_wrap=True)
    if as_json or form == "json":
        _json(results.documents(rows), target)
    elif form == "table":
        _table(rows, target)
    else:
        _bytes(results.csv(rows) if form == "csv" else results.parquet(rows), target)


def _bytes(content: bytes, target: Path | None) -> None:
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return
    new = target.with_name(target.name + ".new")
    new.write_bytes(content)
    new.replace(target)


def _json(rows: list[dict[str, object]], target: Path | None) -> None:
    if target is None:
        emit(rows)
        return
    import json

    _bytes((json.dumps(rows, allow_nan=False) + "\n").encode(), target)


def _table(rows: pyarrow.Table, target: Path | None) -> None:
    """The columns in which the rows differ; what all have in common is said once."""
    rows = rows.sort_by([(name, "ascending") for name in READ_BY])
    columns = {name: rows.column(name).to_pylist() for name in rows.column_names if name not in HIDDEN}
    columns = {name: values for name, values in columns.items() if any(v not in (None, "") for v in values)}
    common = {name: values[0] for name, values in columns.items() if len(set(values)) == 1}
    common.pop("value", None)
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    shown = {name: values for name, values in columns.items() if name not in common}
    for name in shown:
        grid.add_column(name, justify="right" if name in ("value", "fraction", "seed") else "left")
    for row in zip(*shown.values(), strict=True):
        grid.add_row(*(printable(_cell(value)) for value in row))
    if target is not None:
        from rich.console import Console

        text = io.StringIO()
        Console(file=text, width=200, highlight=False, markup=False, emoji=False).print(grid)
        _bytes(text.getvalue().encode(), target)
        return
    if not rows.num_rows:
        return
    out.print(grid)
    if common:
        said = ", ".join(f"{name} {_cell(value)}" for name, value in common.items())
        out.print(printable(f"All: {said}."))


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
