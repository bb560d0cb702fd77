"""How charts look, on the page and on paper.

A colour is written as the variable of the page's style, ``var(--ink)``, which a browser resolves as the
reader's light or dark scheme has it; for a file it is replaced by what it is in the light one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

INK, SOFT, LINE, PAGE = "var(--ink)", "var(--soft)", "var(--line)", "var(--page)"
GOOD, BAD, UNSURE = "var(--good)", "var(--bad)", "var(--unsure)"
POSITIVE, NEGATIVE = "var(--pos)", "var(--neg)"
SERIES = tuple(f"var(--s{i})" for i in range(1, 13))

PAPER = {
    "ink": "#1c1a18",
    "soft": "#5d5852",
    "line": "#e2ddd6",
    "page": "#ffffff",
    "good": "#00705a",
    "bad": "#b23c17",
    "unsure": "#6d675f",
    "pos": "#ff8c14",
    "neg": "#549eff",
    "s1": "#0072b2",
    "s2": "#d55e00",
    "s3": "#00866a",
    "s4": "#c05c92",
    "s5": "#9a7400",
    "s6": "#3a9ad9",
    "s7": "#7f3c8d",
    "s8": "#5d5852",
    "s9": "#8c4a3b",
    "s10": "#4d8c1f",
    "s11": "#e58606",
    "s12": "#2f4b7c",
}
"""The light scheme, in which charts are printed; `page.css` has the same and a dark one."""
FONT = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
WIDTH = 640
EVERY = "every one"
"""A choice that leaves nothing out."""


def spec(chart: alt.Chart | alt.LayerChart) -> dict[str, Any]:
    """A chart for the page, as wide as there is room."""
    names: dict[str, str] = {}
    found: dict[str, Any] = _shared(chart.properties(width="container").to_dict(validate=False), names)
    found.pop("$schema", None)
    datasets = {name: json.loads(rows) for rows, name in names.items()}
    return found | {"datasets": datasets} | {"config": _config(), "background": None}


def on_paper(page_spec: Mapping[str, Any], title: str) -> dict[str, Any]:
    """The same for a file: light, of a fixed width, with its title."""
    text = re.sub(r"var\(--(\w+)\)", lambda found: PAPER[found[1]], json.dumps(page_spec))
    heading = {"text": title, "anchor": "start", "offset": 14, "fontSize": 15, "color": PAPER["ink"]}
    page: dict[str, Any] = json.loads(text)
    return {**page, "width": WIDTH, "background": PAPER["page"], "title": heading, "padding": 16}


def values(rows: Iterable[Mapping[str, Any]], *columns: str) -> alt.NamedData:
    """Rows as the data of a chart, with these columns and four digits of every number.

    They are named by what they are, as one word of JSON, which altair copies and checks at once; `spec` gives
    them back as rows, once, however many layers show them.
    """
    table = [{name: _rounded(row.get(name)) for name in columns} for row in rows]
    return alt.NamedData(json.dumps(table, ensure_ascii=False))


def main(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of one data set, split and model, the test split of what has most rows; the others are in the
    tables."""
    from collections import Counter

    from faithgauge.report.means import place_of

    if not rows:
        return []
    counted = Counter(map(place_of, rows))
    place = max(counted, key=lambda one: (one[1] == "test", counted[one]))
    return [row for row in rows if place_of(row) == place]


Choices = Mapping[str, tuple[str, Sequence[str]]]
"""By column, the words for people and the values of which one is shown at a time, the first of them first."""


def layers(*parts: alt.Chart, choices: Choices, under: Sequence[alt.Chart] = ()) -> alt.LayerChart:
    """Layers that show the rows which the reader chooses; those `under` them show all theirs."""
    parameters = []
    for column, (label, options) in choices.items():
        if len(options) > 1:
            parts = tuple(part.transform_filter(_is_chosen(column)) for part in parts)
            parameters.append(choice(column, options, label))
    return alt.layer(*under, *parts).add_params(*parameters)


def _is_chosen(column: str) -> str:
    return f"choice_{column} === '{EVERY}' || datum['{column}'] === choice_{column}"


def choice(column: str, options: Sequence[str], label: str) -> alt.Parameter:
    """A choice of one of several words below a chart; the first is chosen at first."""
    labels = [option.replace("_", " ") for option in options]
    bound = alt.binding_select(options=list(options), labels=labels, name=f"{label} ")
    return alt.param(name=f"choice_{column}", value=options[0], bind=bound)


def distinct(rows: Iterable[Mapping[str, Any]], column: str, first: Sequence[str] = ()) -> list[Any]:
    """The words of a column in their order, those of `first` before the others."""
    found = list(dict.fromkeys(row[column] for row in rows if row.get(column) is not None))
    return [word for word in first if word in found] + [word for word in found if word not in first]


def zero() -> alt.Chart:
    """A line at 0."""
    return (
        alt.Chart(values([{"zero": 0}], "zero")).mark_rule(color=SOFT, strokeDash=[2, 3]).encode(x="zero:Q")
    )


def colours(names: Sequence[Any]) -> alt.Scale:
    """A colour for each name."""
    return alt.Scale(domain=list(names), range=[SERIES[i % len(SERIES)] for i in range(len(names))])


def _shared(part: Any, datasets: dict[str, str]) -> Any:
    """The same with short names of the data, which are kept by the names that they had."""
    if isinstance(part, list):
        return [_shared(one, datasets) for one in part]
    if not isinstance(part, dict):
        return part
    found = {key: _shared(one, datasets) for key, one in part.items() if key != "data"}
    if "data" in part:
        found["data"] = {"name": datasets.setdefault(part["data"]["name"], f"rows_{len(datasets)}")}
    return found


def _rounded(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return float(f"{value:.4g}") if math.isfinite(value) else None


def _config() -> dict[str, Any]:
    text = {"labelColor": SOFT, "titleColor": SOFT, "titleFontWeight": "normal"}
    sizes = {"labelFontSize": 12, "titleFontSize": 12, "labelFont": FONT, "titleFont": FONT}
    axis = {"gridColor": LINE, "domain": False, "ticks": False, "labelPadding": 6, "titlePadding": 10}
    return {
        "font": FONT,
        "view": {"stroke": None},
        "axis": text | sizes | axis | {"labelLimit": 190},
        "axisQuantitative": {"tickCount": 6},
        "axisY": {"titleAnchor": "end"},
        "legend": text
        | sizes
        | {
            "orient": "top",
            "titleAnchor": "middle",
            "symbolSize": 90,
            "columns": 4,
            "symbolBaseFillColor": SOFT,
            "symbolBaseStrokeColor": SOFT,
        },
        "text": {"color": INK, "font": FONT},
        "rule": {"color": SOFT},
    }
