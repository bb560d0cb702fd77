"""``faithgauge cite RUN``: the works that an audit stands on, for a bibliography."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from faithgauge.cli.options import Json
from faithgauge.cli.output import emit


def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of an audit.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Print the works behind the tests and explainers of an audit, as BibTeX."""
    from faithgauge.audit.cites import bibliography, bibtex
    from faithgauge.audit.folder import read

    keys = read(run)["cites"]
    text = bibtex(keys)
    if as_json:
        known = bibliography()
        emit({"cites": [{"key": key, "bibtex": known[key]} for key in keys]})
    else:
        sys.stdout.write(text)
