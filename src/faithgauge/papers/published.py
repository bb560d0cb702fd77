"""The published tables, read from the folders of the papers, in our names and units.

Each paper has a folder with one CSV file for each of its tables, numbers as they are printed, and one
``aliases.toml``: its names and ours, which numbers are percent or offsets, and, by table and metric, the keys
that its columns leave out. What is usual is no key: trained attention, all classes together, the base model.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from faithgauge.errors import ConfigError
from faithgauge.papers.cells import Cell, canonical
from faithgauge.papers.findings import Finding
from faithgauge.papers.recipes import Recipe
from faithgauge.registry import Table, unknown

TEXT = "text"
"""The name of the numbers that stand in the running text of a paper and in no table."""

NAMED_BY = {
    "dataset": "datasets",
    "encoder": "encoders",
    "metric": "metrics",
    "measure": "explainers",
    "measure_a": "explainers",
    "measure_b": "explainers",
    "attention": "attentions",
    "class": "classes",
    "guide": "guides",
    "source": "sources",
}
"""The columns whose values have aliases, and the section of ``aliases.toml`` that has them."""

NUMBERS = ("value", "spread", "low", "high")


@dataclass(frozen=True)
class Paper:
    """A paper: its key in references.bib, its title, what each table shows, its claims, what can be computed.

    `names` says what it calls explainers that have another name here. `transformer` is what its tables call
    the pretrained encoder, and `weights` the name of that on the hub.
    """

    key: str
    title: str
    tables: Mapping[str, str]
    findings: tuple[Finding, ...]
    recipes: tuple[Recipe, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    transformer: str = ""
    weights: str = ""


PAPERS: Table[Paper] = Table(
    "paper",
    {
        "jain-wallace-2019": "faithgauge.papers.jain_wallace_2019:PAPER",
        "wiegreffe-pinter-2019": "faithgauge.papers.wiegreffe_pinter_2019:PAPER",
        "attefa": "faithgauge.papers.attefa:PAPER",
        "recursive-roar-2022": "faithgauge.papers.recursive_roar_2022:PAPER",
        "neely-2022": "faithgauge.papers.neely_2022:PAPER",
    },
)


def published(paper: str, table: str) -> tuple[Cell, ...]:
    """The cells of one table, in the order of the print; `table` is its number, or ``text``."""
    tables = PAPERS[paper].tables
    if table not in tables:
        raise ConfigError(unknown(f"table of {paper}", table, tables))
    return _cells(paper, table)


@cache
def aliases(paper: str) -> Mapping[str, Any]:
    """The alias table of a paper, by section."""
    return tomllib.loads((_folder(paper) / "aliases.toml").read_text(encoding="utf-8"))


@cache
def _cells(paper: str, table: str) -> tuple[Cell, ...]:
    file = "text_numbers.csv" if table == TEXT else f"table_{table}.csv"
    lines = (_folder(paper) / file).read_text(encoding="utf-8").splitlines()
    return tuple(_cell(paper, table, row) for row in csv.DictReader(lines))


def _folder(paper: str) -> Traversable:
    return resources.files("faithgauge.papers") / paper.replace("-", "_")


def _cell(paper: str, table: str, row: Mapping[str, str]) -> Cell:
    names = aliases(paper)
    ours = {
        column: names.get(NAMED_BY.get(column, ""), {}).get(value, value) for column, value in row.items()
    }
    percent = row["metric"] in names.get("percent", {}).get(table, ())
    value, spread, low, high = (_number(row[column], percent=percent) for column in NUMBERS)
    if table in names.get("offsets", ()) and low is not None and high is not None:
        low, high = Decimal(str(value)) + Decimal(str(low)), Decimal(str(value)) + Decimal(str(high))
    keys = {
        column: canonical(text)
        for column, text in ours.items()
        if text and column not in ("dataset", "encoder", "metric", "note", *NUMBERS)
    }
    return Cell(
        paper,
        table,
        ours["dataset"],
        ours["encoder"],
        ours["metric"],
        {**keys, **names.get("always", {}).get(table, {}).get(ours["metric"], {})},
        value=float(value) if isinstance(value, Decimal) else value,
        spread=_float(spread),
        low=_float(low),
        high=_float(high),
        note=row["note"],
        unit=names.get("units", {}).get(ours["metric"], ""),
    )


def _number(text: str, *, percent: bool) -> Decimal | str | None:
    """As it is printed, percent as a fraction; decimal, because 7.6 % is 0.076 and nothing beside it."""
    if not text:
        return None
    try:
        return Decimal(text) / (100 if percent else 1)
    except InvalidOperation:
        return text


def _float(number: Decimal | str | None) -> float | None:
    return None if number is None else float(number)
