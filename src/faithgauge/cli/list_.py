"""``faithgauge list``: what can be chosen by name, one table after the other."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Mapping
from typing import Annotated, Any, cast

import typer
from rich.table import Table as Grid

from faithgauge.cli.output import emit, out, printable
from faithgauge.errors import ConfigError
from faithgauge.explain.table import Explainer
from faithgauge.registry import locate, unknown

TABLES: Mapping[str, tuple[str, ...]] = {
    "datasets": ("faithgauge.data.table:DATASETS", "faithgauge.data.synthetic:SYNTHETIC"),
    "words": ("faithgauge.encode.words:WORDS",),
    "encoders": ("faithgauge.models.encoders:ENCODERS",),
    "attentions": ("faithgauge.models.attention:ATTENTIONS",),
    "distributions": ("faithgauge.models.attention:DISTRIBUTIONS",),
    "explainers": ("faithgauge.explain.table:EXPLAINERS",),
    "measures": (
        "faithgauge.faithfulness.agreement:MEASURES",
        "faithgauge.faithfulness.erasure:MEASURES",
        "faithgauge.faithfulness.plausibility:MEASURES",
        "faithgauge.faithfulness.roar:MEASURES",
    ),
    "tests": ("faithgauge.plans.grid:TESTS",),
    "audited": ("faithgauge.audit.table:AUDITED",),
    "presets": ("faithgauge.settings:PRESETS",),
    "metrics": ("faithgauge.train.metrics:METRICS",),
}
"""The tables of each kind. One that only names things, without anything behind the names, is a tuple."""


def command(
    what: Annotated[str, typer.Argument(help=f"One of {', '.join(TABLES)}.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List what can be chosen by name."""
    found = entries(what)
    if as_json:
        emit({what: [{"name": name, "summary": summary(one), **facts(one)} for name, one in found.items()]})
    elif what == "explainers":
        _explainers({name: one for name, one in found.items() if isinstance(one, Explainer)})
    else:
        grid = Grid.grid(padding=(0, 2))
        for name, entry in found.items():
            grid.add_row(printable(name), printable(summary(entry)))
        out.print(grid)


def _explainers(found: Mapping[str, Explainer]) -> None:
    """What one must know to choose: whether the scores have a sign, what they need, cost, and come from."""
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("explainer", "sign", "needs", "cost", "paper"):
        grid.add_column(heading, no_wrap=heading != "cost")
    for name, entry in found.items():
        own = facts(entry)
        works = [part.partition(",")[0].strip() for part in own["paper"].rstrip(".").split(";")]
        sign = "±" if entry.signed else "+"
        row = (name, sign, "\n".join(entry.needs), own["cost"].rstrip("."), "\n".join(works))
        grid.add_row(*map(printable, row))
    out.print(grid)
    out.print("± says for or against the class that is explained, + only how much.", style="dim")
    presets = [f"{name}:{preset}" for name, entry in found.items() for preset in entry.presets]
    out.print(printable(f"Presets: {', '.join(presets)}."), style="dim")


def facts(entry: object) -> dict[str, Any]:
    """What must be known of an explainer before it runs; of other entries there is nothing to add."""
    if not isinstance(entry, Explainer):
        return {}
    said = dict(re.findall(r"^(Paper|Cost): (.*?)(?=^\w+:|\Z)", docstring(entry), re.MULTILINE | re.DOTALL))
    own = inspect.signature(entry.function).parameters.values()
    return {
        "signed": entry.signed,
        "needs": entry.needs,
        "cost": " ".join(said.get("Cost", "").split()),
        "paper": " ".join(said.get("Paper", "").split()),
        "options": {one.name: one.default for one in own if one.kind is one.KEYWORD_ONLY},
        "presets": entry.presets,
    }


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
    """That of an entry; of an explainer that of its function."""
    if isinstance(entry, Explainer):
        entry = entry.function
    if entry is None or isinstance(entry, Mapping):
        return ""
    return inspect.getdoc(entry.func if isinstance(entry, functools.partial) else entry) or ""
