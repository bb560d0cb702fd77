"""``faithgauge list``: what can be chosen by name, one table after the other."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Annotated, cast

import typer
from rich.table import Table as Grid

from faithgauge.cli.output import emit, out, printable
from faithgauge.errors import ConfigError
from faithgauge.registry import locate, unknown

TABLES: Mapping[str, tuple[str, ...]] = {
    "datasets": ("faithgauge.data.table:DATASETS", "faithgauge.data.synthetic:SYNTHETIC"),
    "words": ("faithgauge.encode.words:WORDS",),
    "encoders": ("faithgauge.models.encoders:ENCODERS",),
    "attentions": ("faithgauge.models.attention:ATTENTIONS",),
    "distributions": ("faithgauge.models.attention:DISTRIBUTIONS",),
    "explainers": ("faithgauge.explain.table:EXPLAINERS",),
    "presets": ("faithgauge.settings:PRESETS",),
    "metrics": ("faithgauge.train.metrics:METRICS",),
}
"""The tables of each kind. One that only names things, without anything behind the names, is a tuple."""


def command(
    what: Annotated[str, typer.Argument(help=f"One of {', '.join(TABLES)}.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List what can be chosen by name."""
    summaries = {name: summary(entry) for name, entry in entries(what).items()}
    if as_json:
        emit({what: [{"name": name, "summary": text} for name, text in summaries.items()]})
        return
    grid = Grid.grid(padding=(0, 2))
    for name, text in summaries.items():
        grid.add_row(printable(name), printable(text))
    out.print(grid)


def entries(what: str) -> dict[str, object]:
    """Everything of one kind, by name, in the order of its tables."""
    if what not in TABLES:
        raise ConfigError(unknown("list", what, TABLES))
    tables = [cast("Mapping[str, object] | tuple[str, ...]", locate(place)) for place in TABLES[what]]
    return {name: None if isinstance(table, tuple) else table[name] for table in tables for name in table}


def summary(entry: object) -> str:
    """One line on an entry of a table: its own `summary`, else the first paragraph of its docstring.

    For settings it is the settings.
    """
    own = getattr(entry, "summary", None)
    if isinstance(own, str):
        return own
    if isinstance(entry, Mapping):
        return ", ".join(f"{key} {value}" for key, value in entry.items())
    return " ".join(docstring(entry).partition("\n\n")[0].split())


def docstring(entry: object) -> str:
    if entry is None or isinstance(entry, Mapping):
        return ""
    return inspect.getdoc(entry.func if isinstance(entry, functools.partial) else entry) or ""
