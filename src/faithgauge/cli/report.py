"""``faithgauge report RESULTS…``: the page, tables and charts of an audit, or of several side by side."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from faithgauge.cli.files import refuse_place
from faithgauge.cli.options import Json
from faithgauge.cli.output import emit, out, printable

Results = Annotated[
    list[Path],
    typer.Argument(metavar="RESULTS...", help="Folders that `faithgauge audit` wrote.", show_default=False),
]
Target = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="The page, instead of report.html in the folder, or comparison.html here for several.",
        show_default=False,
    ),
]
Charts = Annotated[
    bool, typer.Option("--charts/--no-charts", help="Write each chart as SVG, PNG and PDF too.")
]


def command(results: Results, target: Target = None, charts: Charts = True, as_json: Json = False) -> None:
    """Write the page of an audit again, with its tables and charts; of several one that compares them."""
    from faithgauge.report.audit import opened
    from faithgauge.report.write import compare, write

    refuse_place("--out", target, (".html",))
    verdicts = [
        {"audit": str(folder), "explainer": one.get("explainer"), "verdict": one.get("verdict")}
        for folder in results
        for one in opened(folder).verdicts
    ]
    if len(results) > 1:
        page = compare(results, target or Path("comparison.html"))
    else:
        page = write(results[0], charts=charts)
        if target is not None and target.resolve() != page.resolve():
            page = Path(shutil.copyfile(page, target))
    if as_json:
        emit({"report": page, "verdicts": verdicts})
    else:
        out.print(printable(str(page)), soft_wrap=True)
