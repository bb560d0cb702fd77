"""The folder of an audit, completed: the page, the tables and the charts that follow from its results.

Every file takes the place of an older one when it is whole, the page last, so that a page which is there is
of the files beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from faithgauge.report.audit import Audit, opened
from faithgauge.report.tidy import TABLES, Tables, made

PAGE = "report.html"
SCALE = 2
"""Pixels of a PNG for each unit of its chart."""


def write(folder: Path, *, charts: bool = True) -> Path:
    """Write the page, the tables and, unless told otherwise, the charts of an audit; returns the page."""
    from faithgauge.report.page import page

    audit = opened(folder)
    tables = made(audit)
    specs = drawn(tables)
    for name, text in written_tables(tables):
        replace(audit.folder / "tables" / name, text.encode())
    if charts:
        for name, content in exported(specs):
            replace(audit.folder / "charts" / name, content)
    target = audit.folder / PAGE
    replace(target, page(audit, tables, specs).encode())
    return target


def compare(folders: Sequence[Path], target: Path) -> Path:
    """Write one page with several audits side by side; their own pages are linked where they are there."""
    from faithgauge.report.page import several

    audits = [opened(folder) for folder in folders]
    links = [_link(audit, target) for audit in audits]
    replace(target, several(audits, links).encode())
    return target


def drawn(tables: Tables) -> dict[str, dict[str, Any]]:
    """The charts that have rows, as Vega-Lite for the page."""
    from faithgauge.report.charts import planes
    from faithgauge.report.charts.table import CHARTS
    from faithgauge.report.charts.theme import spec

    found = {name: chart.draw(tables) for name, chart in CHARTS.items()}
    found["texts"] = planes.texts(tables)
    return {name: spec(chart) for name, chart in found.items() if chart is not None}


def written_tables(tables: Tables) -> Iterator[tuple[str, str]]:
    """Every table as CSV, Markdown and LaTeX, by file name."""
    from faithgauge.report import written

    for name, rows in tables.items():
        title = TABLES[name].title
        yield f"{name}.csv", written.as_csv(rows)
        yield f"{name}.md", written.as_markdown(rows, title)
        yield f"{name}.tex", written.as_latex(rows, title)


def exported(specs: dict[str, dict[str, Any]]) -> Iterator[tuple[str, bytes]]:
    """Every chart as SVG, PNG and PDF, by file name."""
    import vl_convert

    from faithgauge.report.charts.table import CHARTS
    from faithgauge.report.charts.theme import on_paper

    for name, one in specs.items():
        title = CHARTS[name].title if name in CHARTS else "The texts"
        svg = vl_convert.vegalite_to_svg(on_paper(one, title))
        yield f"{name}.svg", svg.encode()
        yield f"{name}.png", vl_convert.svg_to_png(svg, scale=SCALE)
        yield f"{name}.pdf", vl_convert.svg_to_pdf(svg)


def replace(target: Path, content: bytes) -> None:
    """Write a file, or leave the older one where that fails."""
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(target.name + ".new")
    try:
        new.write_bytes(content)
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)


def _link(audit: Audit, target: Path) -> str | None:
    own = audit.folder / PAGE
    return os.path.relpath(own.resolve(), target.resolve().parent) if own.exists() else None
