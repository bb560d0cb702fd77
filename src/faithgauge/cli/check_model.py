"""``faithgauge check-model MODEL``: what a model can do, and which of its promises it breaks."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from rich.table import Table as Grid
from rich.text import Text

from faithgauge.cli.options import Json, ModelPlace
from faithgauge.cli.output import emit, out, printable
from faithgauge.errors import UnsupportedError

_STYLE = {"ok": "green", "missing": "yellow", "wrong": "bold red"}


def command(
    model: ModelPlace,
    classes: Annotated[int, typer.Option(help="Classes of a function that makes models.", min=2)] = 2,
    task: Annotated[Literal["single", "pair", "cloze"], typer.Option(help="Its task.")] = "single",
    as_json: Json = False,
) -> None:
    """Say which capabilities a model has, which are missing, and which are wrong (exit code 2).

    MODEL is a trained model's folder, or package.module:function, which takes a Shape (as for train) or
    nothing (as for predict and explain).
    """
    from faithgauge.models.check import check_model
    from faithgauge.models.classifier import Shape
    from faithgauge.models.store import open_or_make

    classifier, shape = open_or_make(model, Shape(100, tuple(map(str, range(classes))), task))
    findings = check_model(classifier, shape)
    wrong = [finding.promise for finding in findings if finding.status == "wrong"]
    if as_json:
        emit({"model": model, "ok": not wrong, "findings": findings})
        if wrong:
            raise typer.Exit(2)
        return
    grid = Grid.grid(padding=(0, 2))
    for finding in findings:
        status = Text(finding.status, _STYLE[finding.status])
        grid.add_row(finding.promise, status, printable(finding.detail))
    out.print(grid)
    if wrong:
        raise UnsupportedError(f"{model}: {', '.join(wrong)} not as the Classifier protocol says")
