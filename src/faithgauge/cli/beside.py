"""What `reproduce` shows: published numbers beside ours, table by table, and the verdicts on the claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.table import Table as Grid

from faithgauge.cli.curves import drawn
from faithgauge.cli.output import out, printable
from faithgauge.papers.cells import PAIR
from faithgauge.report.advice import uniform_attention

MOST_SHOWN = 300
"""Characters of the evidence for a verdict; ``--json`` has all."""
UNNAMED = frozenset(
    {"measure", "measure_a", "measure_b", "masking", "shortcut", "split", "attention", "guide"}
)
"""Keys whose values say what they are."""

Row = dict[str, Any]


def show(rows: Sequence[Row], findings: Iterable[Mapping[str, str]], titles: Mapping[str, str]) -> None:
    """By data set and encoder, and by table; what belongs to the print alone is counted, not shown."""
    curves = [row for row in rows if "fraction" in row and row["ours"] is not None]
    known = [row for row in rows if row["ours"] is not None and "fraction" not in row]
    shown = [row for row in known if not _beyond(row, known)]
    for where in sorted({_where(row) for row in shown}):
        mine = [row for row in shown if _where(row) == where]
        out.print(printable(" ".join(filter(None, where))), style="bold")
        for table, own in groupby(mine, key=lambda row: row["table"]):
            _table(f"table {table}: {titles[table]}" if table else "", list(own))
        for row in mine:
            if row["metric"] in ("f1_positive_gap", "accuracy_gap"):
                out.print(printable(f"  {uniform_attention(row['ours'], row['low'], row['high'])}"))
        for note in dict.fromkeys(row["note"] for row in mine if row["note"]):
            out.print(printable(f"  {note}"), style="dim")
    for line in drawn(curves):
        out.print(printable(line), soft_wrap=True)
    if rest := sum(row["ours"] is None for row in rows):
        out.print(f"{rest} published numbers without one of ours: --json says why of each.")
    if rest := len(known) - len(shown):
        out.print(f"{rest} more of ours on the same explanations, which are not in print: --json has them.")
    for finding in findings:
        out.print(printable(f"{finding['verdict']:9} {finding['name']}: {finding['claim']}"), soft_wrap=False)
        if finding["verdict"] != "untested":
            out.print(printable(f"          {_short(finding['evidence'])}"), style="dim")


def _beyond(row: Row, rows: Iterable[Row]) -> bool:
    """Whether it is not in print, of two explanations, where the print has some of its data set and model.

    Of each pair there are numbers by class and shares that are significant; few papers print all of them.
    """
    if row["table"] is not None or not set(PAIR) <= set(row):
        return False
    return any(other["table"] is not None and _same_place(row, other) and PAIR[0] in other for other in rows)


def _same_place(row: Row, other: Row) -> bool:
    return all(
        row[name].partition("@")[0] == other[name].partition("@")[0] for name in ("dataset", "encoder")
    )


def _table(title: str, rows: Sequence[Row]) -> None:
    """A metric that is that of all rows stands above them, once."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    metric = metrics[0] if len(metrics) == 1 and len(rows) > 1 else ""
    if heading := "; ".join(filter(None, (title, metric))):
        out.print(printable(heading))
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("", overflow="fold", ratio=1)
    for name in ("published", "ours", "95 % interval", "difference"):
        grid.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        grid.add_row(*_cells(row, "" if metric else row["metric"]))
    out.print(grid)


def _short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN].rpartition(" ")[0] + " …"


def _cells(row: Row, metric: str) -> tuple[str, ...]:
    """What it is, and the numbers; a published number outside our interval has a mark."""
    names = list(row)
    keys = names[names.index("metric") + 1 : names.index("published")]
    plain = [str(row[name]) for name in keys if name in UNNAMED]
    words = [metric, *plain, *(f"{name} {row[name]}" for name in keys if name not in UNNAMED)]
    interval = "" if row["low"] is None else f"{row['low']:.3f} – {row['high']:.3f}"
    difference = "" if row["difference"] is None else _number(row["difference"], row["unit"], sign="+")
    outside = "*" if row["inside"] is False else ""
    return (
        printable(" ".join(filter(None, words))) or "all",
        _with_spread(row["published"], row["published_spread"], row["unit"]),
        _with_spread(row["ours"], row["spread"], row["unit"]),
        interval,
        difference + outside,
    )


def _where(row: Row) -> tuple[str, ...]:
    """Data set, without its variant, and encoder; and what stands in for the encoder of the paper."""
    weights = next((part for part in row["note"].split("; ") if part.startswith("substituted weights")), "")
    return row["dataset"].partition("@")[0], row["encoder"], *([f"({weights})"] if weights else [])


def _with_spread(value: float | str | None, spread: float | None, unit: str) -> str:
    if not isinstance(value, float):
        return "–" if value is None else str(value)
    return _number(value, unit) if spread is None else f"{_number(value, unit)} ± {_number(spread, unit)}"


def _number(value: float, unit: str, sign: str = "") -> str:
    """Texts are counted, everything else is measured."""
    return f"{value:{sign},.0f}" if unit == "texts" else f"{value:{sign}.3f}"
