"""``faithgauge audit [DATA]``: which explanations of a model may be believed, from one command."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table as Grid
from rich.text import Text

from faithgauge.cli.computing import ExecutorName, Workers, compute
from faithgauge.cli.live import Show
from faithgauge.cli.options import Json, Labels, takes_data
from faithgauge.cli.output import emit, err, out, printable
from faithgauge.cli.studies import StoreFolder, cores, duration, size, store_at
from faithgauge.cli.train import options
from faithgauge.config import DataConfig
from faithgauge.errors import ConfigError

if TYPE_CHECKING:
    from faithgauge.audit.ask import Ready, Wish
    from faithgauge.audit.plan import Planned, Wanted
    from faithgauge.audit.whole import Bill
    from faithgauge.engine.job import Job
    from faithgauge.engine.run import Graph

STYLES = {"supported": "bold green", "not supported": "bold red", "undecided": "bold yellow"}
_WHAT: dict[str, Any] = {"show_default": False, "rich_help_panel": "What is audited, and how much of it"}


ModelOption = Annotated[
    str,
    typer.Option(help="A model: its folder (also one of transformers), or package.module:function.", **_WHAT),
]
Scores = Annotated[Path | None, typer.Option(help="Scores from elsewhere: JSONL or Parquet.", **_WHAT)]
Retrain = Annotated[
    bool, typer.Option("--retrain", help="With --model: train others for the tests that need it.", **_WHAT)
]
Explainers = Annotated[str, typer.Option(help="With commas (faithgauge list explainers).", **_WHAT)]
Tests = Annotated[str, typer.Option(help="With commas (faithgauge list audited).", **_WHAT)]
Seeds = Annotated[int | None, typer.Option(min=1, help="How many models are trained.", **_WHAT)]
Instances = Annotated[int | None, typer.Option(min=1, help="At most so many texts are explained.", **_WHAT)]
Budget = Annotated[
    str, typer.Option(help="Time it may take: 90s, 10m, 1h; 10m, and 2m without data.", **_WHAT)
]
Factory = Annotated[
    str, typer.Option(help="Train a model of your own: package.module:function of a Shape.", **_WHAT)
]
Out = Annotated[Path, typer.Option("--out", help="Folder of the report.")]
NoTexts = Annotated[bool, typer.Option("--no-texts", help="Keep texts out of page and files.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show only what fails, and the verdict.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show every job, and all numbers.")]


def _command(
    config: DataConfig,
    model: ModelOption = "",
    labels: Labels = None,
    scores: Scores = None,
    retrain: Retrain = False,
    explainers: Explainers = "",
    tests: Tests = "",
    seeds: Seeds = None,
    instances: Instances = None,
    budget: Budget = "",
    factory: Factory = "",
    folder: Out = Path("runs/audit"),
    no_texts: NoTexts = False,
    executor: ExecutorName = "processes",
    workers: Workers = None,
    store: StoreFolder = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Say which explanations of a model may be believed, and write a page with all that speaks for it.

    Without arguments built-in texts are audited of which the answer is known. A model is trained on DATA, or
    given with --model. What is stored is not computed again.
    """
    if not quiet:  # before anything that takes time
        err.print(printable(f"Reading {config.name or 'planted'}."), soft_wrap=True)
    from faithgauge.audit import ask, whole
    from faithgauge.audit.called import wished
    from faithgauge.audit.folder import refuse_folder
    from faithgauge.audit.plan import Wanted

    if retrain and not model:
        raise ConfigError("--retrain: expected it beside --model, found no model; leave it out")
    if labels is not None and not model:
        raise ConfigError("--labels: expected it beside --model, found no model; leave it out")
    if quiet and verbose:
        raise ConfigError("expected --quiet or --verbose, found both; leave one out")
    refuse_folder(folder)
    names, at_once = _names(explainers), workers or (1 if executor == "inline" else cores())
    seconds = whole.seconds_of(budget or (whole.BUDGET if config.name else whole.BUDGET_OF_DEMO))
    demo = not (config.name or model or factory)
    settings, seeds = wished(config, given, demo=demo, model=model), seeds or (whole.SEEDS if demo else None)
    _audit(
        ask.Wish(settings, factory, model, retrain, scores, names, seeds, labels),
        Wanted(_names(tests), names, seeds, instances, seconds, at_once, strict=bool(budget)),
        _How(folder, not no_texts, executor, workers, store, quiet, verbose, as_json),
    )


@dataclass(frozen=True)
class _How:
    """Where to, and how much of it is shown."""

    folder: Path
    texts: bool
    executor: str
    workers: int | None
    store: Path | None
    quiet: bool
    verbose: bool
    as_json: bool


def _audit(wish: Wish, wanted: Wanted, how: _How) -> None:
    from faithgauge.audit import ask, whole
    from faithgauge.audit.document import Telling

    place = store_at(how.store)
    ready = ask.ready(wish, place)
    planned = whole.planned(ready, wanted, place)
    if not how.quiet:
        cost = whole.bill(ready, planned, place)
        _announce(ready, planned, cost, workers=wanted.workers, verbose=how.verbose)
    show: Show = "none" if how.quiet else "all" if how.verbose else "some"

    def computed(jobs: list[Job]) -> Graph:
        return compute(jobs, place, how.executor, workers=how.workers, show=show).ended

    title = f"Audit of {wish.model or ready.corpus.full_name}"
    telling = Telling(title, shlex.join(["faithgauge", *sys.argv[1:]]), texts=how.texts)
    document, page = whole.carry_out(ready, planned, computed, store=place, out=how.folder, telling=telling)
    if how.as_json:
        emit({"report": page, **document})
    else:
        _print(document, page, verbose=how.verbose)
    if document["failures"]:
        raise typer.Exit(1)


def _names(text: str) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip())) or None


def _announce(ready: Ready, planned: Planned, cost: Bill, *, workers: int, verbose: bool) -> None:
    """What is about to be done, what it may cost, and what is left out: before anything is computed."""
    choice = planned.choice
    notes = [note for note in ready.notes if note]
    for note in notes:
        err.print(printable(note[0].upper() + note[1:] + "."))
    models = "the given model" if ready.adopted else _count(choice.seeds, "model")
    err.print(
        printable(
            f"Plan: {_count(len(choice.tests), 'test')} of {_count(len(choice.explainers), 'explainer')} on "
            f"{_count(choice.instances, 'text')}, {models}."
        )
    )
    stored = f" ({cost.stored} more are stored)" if cost.stored else ""
    err.print(
        f"Cost: {_count(cost.jobs, 'job')}{stored}, about {duration(cost.seconds)} with "
        f"{_count(workers, 'worker')}, {size(cost.memory)} of memory for each."
    )
    for text in _left_out(planned.left_out, verbose=verbose):
        err.print(printable(text))


def _left_out(left_out: Mapping[str, str], *, verbose: bool) -> Iterator[str]:
    """Each with its reason; those that the budget has no room for together."""
    from faithgauge.audit.plan import NO_ROOM

    no_room = [] if verbose else [name for name, why in left_out.items() if why.startswith(NO_ROOM)]
    if no_room:
        yield f"Left out for want of time: {', '.join(no_room)} (a larger --budget has them)."
    for name, why in left_out.items():
        if name not in no_room:
            yield f"Left out: {name} ({why})."


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _print(document: Mapping[str, Any], page: Path, *, verbose: bool) -> None:
    out.print()
    out.print(printable(document["headline"]), style="bold")
    out.print()
    for one in document["model_tests"] if verbose else document["model_tests"][:1]:
        out.print(printable(one["sentence"]))
    out.print()
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("explanation", no_wrap=True)
    grid.add_column("verdict", no_wrap=True)
    grid.add_column("why", ratio=1)
    for verdict in document["verdicts"]:
        style = STYLES[verdict["verdict"]]
        reasons = " ".join(verdict["reasons"]) if verbose else _short(verdict)
        word = Text(verdict["verdict"], style)
        grid.add_row(printable(verdict["explainer"]), word, printable(reasons))
    out.print(grid)
    for one in document["left_out"] if verbose else ():
        out.print(printable(f"Left out: {one['test']} ({one['why']})."))
    for one in document["failures"]:
        out.print(printable(f"failed  {one['job']}: {one['reason']}"), soft_wrap=True)
    out.print()
    out.print(f"Report: {page}", soft_wrap=True)


def _short(verdict: Mapping[str, Any]) -> str:
    """The number that says most, or the first reason."""
    decided = [one for one in verdict["tests"] if one["p"] is not None]
    if verdict["verdict"] == "supported" and decided:
        weakest = min(decided, key=lambda one: one["low"])
        ends = f"{weakest['low']:.2f} to {weakest['high']:.2f}"
        return f"{weakest['value']:+.2f} or more beside random order ({ends})"
    first: str = verdict["reasons"][0]
    return first


command = takes_data(_command, *(one for one in options() if one.name != "seed"), needed=False)
