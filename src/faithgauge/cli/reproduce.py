"""``faithgauge reproduce PAPER``: a paper's experiments computed anew, its numbers beside ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as Grid

from faithgauge.cli.computing import ExecutorName, Workers, compute, document, report
from faithgauge.cli.curves import drawn, shares
from faithgauge.cli.options import Json
from faithgauge.cli.output import emit, err, out, printable
from faithgauge.cli.studies import Changes, StoreFolder, store_at
from faithgauge.errors import ConfigError
from faithgauge.report.advice import uniform_attention

if TYPE_CHECKING:
    from faithgauge.engine.store import Store
    from faithgauge.plans.reproduce import Reproduction

MOST_SHOWN = 300
"""Characters of the evidence for a verdict; ``--json`` has all."""
UNNAMED = frozenset(
    {"measure", "measure_a", "measure_b", "masking", "shortcut", "split", "attention", "guide"}
)
"""Keys whose values say what they are."""


def _several(option: str, what: str) -> Any:
    return typer.Option(option, help=f"{what}; several with commas.", show_default=False)


PaperName = Annotated[
    str | None, typer.Argument(metavar="PAPER", help="Such as jain-wallace-2019.", show_default=False)
]
Listed = Annotated[
    bool, typer.Option("--list", help="List papers, tables, and how much can be computed here.")
]
Tables = Annotated[str, _several("--table", "Tables of the paper")]
Figures = Annotated[str, _several("--figure", "Figures of the paper")]
Tests = Annotated[str, _several("--test", "Tests, such as agreement")]
Datasets = Annotated[str, _several("--dataset", "Data sets, in the paper's variant where there is one")]
Encoders = Annotated[str, _several("--encoder", "Encoders")]
Seeds = Annotated[int | None, typer.Option(min=1, help="How many; as the recipe has.", show_default=False)]
Starts = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="So many starts of each adversary, and a base model for each seed; as the recipe has.",
        show_default=False,
    ),
]
Instances = Annotated[
    int | None, typer.Option(min=1, help="At most so many texts are explained.", show_default=False)
]
Fractions = Annotated[str, _several("--fractions", "Shares of the tokens to mask, such as 0,0.1,…,1")]
Embeddings = Annotated[
    Path | None, typer.Option(help="File of word vectors; drawn where none is given.", show_default=False)
]
Quick = Annotated[
    bool, typer.Option("--quick", help="One seed, two epochs, 100 texts, few λ: to see that it runs.")
]


def command(
    paper: PaperName = None,
    listed: Listed = False,
    table: Tables = "",
    figure: Figures = "",
    test: Tests = "",
    dataset: Datasets = "",
    encoder: Encoders = "",
    seeds: Seeds = None,
    starts: Starts = None,
    instances: Instances = None,
    fractions: Fractions = "",
    embeddings: Embeddings = None,
    quick: Quick = False,
    executor: ExecutorName = "processes",
    workers: Workers = None,
    store: StoreFolder = None,
    changes: Changes = None,
    as_json: Json = False,
) -> None:
    """Compute what a paper measured, and show its numbers beside ours, and which of its claims hold.

    What is stored is not computed again. Numbers on partial data are marked, and data sets that are not at
    hand are left out and named.
    """
    from faithgauge.plans.reproduce import Wish, reproduction

    if listed:
        _list(paper, as_json=as_json)
        return
    if paper is None:
        raise ConfigError("expected the name of a paper, found none; faithgauge reproduce --list has them")
    vectors = (f'vectors.embeddings="{embeddings.absolute()}"',) if embeddings else ()
    wish = Wish(
        paper,
        tables=_names(table),
        figures=_names(figure),
        tests=_names(test),
        datasets=_names(dataset),
        encoders=_names(encoder),
        seeds=seeds,
        starts=starts,
        instances=instances,
        fractions=shares(fractions),
        quick=quick,
        changes=(*vectors, *(changes or ())),
    )
    found, place = reproduction(wish), store_at(store)
    if not as_json:
        for name, why in found.left_out.items():
            err.print(printable(f"left out: {name} ({why})"), soft_wrap=True)
    done = compute(found.targets, place, executor, workers=workers)
    rows, findings = _beside(found, place, quick=quick)
    if as_json:
        emit({"rows": rows, "findings": findings, "left_out": found.left_out, **document(done.ended)})
    else:
        _print(rows, findings)
        report(done)
    if done.failed:
        raise typer.Exit(1)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _beside(
    found: Reproduction, store: Store, *, quick: bool
) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    """Published numbers beside ours, for the data sets and encoders of this study, and the verdicts."""
    from faithgauge.papers.adversaries import best_of_starts
    from faithgauge.papers.compare import compare, judged
    from faithgauge.papers.published import published
    from faithgauge.plans.reproduce import ours
    from faithgauge.plans.weights import is_whole

    numbers = ours(found, store)
    if quick:
        numbers = [replace(one, note="; ".join(filter(None, (one.note, "quick run")))) for one in numbers]
    datasets = {cell.data.name.partition("@")[0] for cell in found.cells}
    encoders = {cell.model.model.encoder for cell in found.cells} | {one.encoder for one in numbers}
    if found.paper.transformer and any(is_whole(name) for name in encoders):
        encoders.add(found.paper.transformer)
    tables = dict.fromkeys(recipe.table for recipe in found.recipes if recipe.table)
    cells = [
        cell
        for name in tables
        for cell in published(found.paper.key, name)
        if cell.dataset in datasets and cell.encoder in encoders
    ]
    rows = compare(cells, numbers, recipes=found.recipes, at_hand=datasets)
    findings = judged(found.paper.key, numbers)
    if best := best_of_starts(numbers):
        claims = [one for one in judged(found.paper.key, best) if one["verdict"] != "untested"]
        findings += [one | {"name": f"{one['name']}, best of starts"} for one in claims]
    return rows, findings


def _print(rows: list[dict[str, Any]], findings: list[dict[str, str]]) -> None:
    """By data set and encoder; what belongs to the print alone is counted, not shown."""
    curves = [row for row in rows if "fraction" in row and row["ours"] is not None]
    shown = [row for row in rows if row["ours"] is not None and "fraction" not in row]
    for where in sorted({_where(row) for row in shown}):
        mine = [row for row in shown if _where(row) == where]
        out.print(printable(" ".join(where)), style="bold")
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        grid.add_column("", overflow="fold", ratio=1)
        for name in ("published", "ours", "95 % interval", "difference"):
            grid.add_column(name, justify="right", no_wrap=True)
        for row in mine:
            grid.add_row(*_cells(row))
        out.print(grid)
        for row in mine:
            if row["metric"] in ("f1_positive_gap", "accuracy_gap"):
                out.print(printable(f"  {uniform_attention(row['ours'], row['low'], row['high'])}"))
        for note in dict.fromkeys(row["note"] for row in mine if row["note"]):
            out.print(printable(f"  {note}"), style="dim")
    for line in drawn(curves):
        out.print(printable(line), soft_wrap=True)
    if rest := len(rows) - len(shown) - len(curves):
        out.print(f"{rest} published numbers without one of ours: --json says why of each.")
    for finding in findings:
        out.print(printable(f"{finding['verdict']:9} {finding['name']}: {finding['claim']}"), soft_wrap=False)
        if finding["verdict"] != "untested":
            out.print(printable(f"          {_short(finding['evidence'])}"), style="dim")


def _short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN].rpartition(" ")[0] + " …"


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    """What it is, and the numbers; a published number outside our interval has a mark."""
    names = list(row)
    keys = names[names.index("metric") + 1 : names.index("published")]
    plain = [str(row[name]) for name in keys if name in UNNAMED]
    words = [row["metric"], *plain, *(f"{name} {row[name]}" for name in keys if name not in UNNAMED)]
    interval = "" if row["low"] is None else f"{row['low']:.3f} – {row['high']:.3f}"
    difference = "" if row["difference"] is None else f"{row['difference']:+.3f}"
    outside = "*" if row["inside"] is False else ""
    return (
        printable(" ".join(words)),
        _with_spread(row["published"], row["published_spread"]),
        _with_spread(row["ours"], row["spread"]),
        interval,
        difference + outside,
    )


def _where(row: dict[str, Any]) -> tuple[str, ...]:
    """Data set, without its variant, and encoder; and what stands in for the encoder of the paper."""
    weights = next((part for part in row["note"].split("; ") if part.startswith("substituted weights")), "")
    return row["dataset"].partition("@")[0], row["encoder"], *([f"({weights})"] if weights else [])


def _with_spread(value: float | str | None, spread: float | None) -> str:
    if not isinstance(value, float):
        return "–" if value is None else str(value)
    return f"{value:.3f}" if spread is None else f"{value:.3f} ± {spread:.3f}"


def _list(paper: str | None, *, as_json: bool) -> None:
    from faithgauge.papers.overview import overview
    from faithgauge.papers.published import PAPERS
    from faithgauge.plans.reproduce import there

    papers = [paper] if paper else list(PAPERS)
    recipes = {name: PAPERS[name].recipes for name in papers}
    rows = [row for row in overview(recipes, there(papers)) if row["paper"] in papers]
    if as_json:
        emit({"tables": rows})
        return
    for name in papers:
        out.print(printable(f"{name}  {PAPERS[name].title}"), style="bold", soft_wrap=True)
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), expand=True)
        grid.add_column("table", no_wrap=True, width=5)
        grid.add_column("what it shows", ratio=1)
        for column in ("cells", "values", "here"):
            grid.add_column(column, justify="right", width=6)
        for row in rows:
            if row["paper"] == name:
                numbers = (str(row[column]) for column in ("cells", "values", "computable"))
                grid.add_row(row["table"], row["title"], *numbers)
        out.print(grid)
    out.print("values: cells with one in print; here: those that can be computed with the data at hand")
