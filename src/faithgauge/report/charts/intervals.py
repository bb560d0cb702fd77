"""Charts with one interval a line: erasure, evidence, guides, and the gap to uniform attention."""

from __future__ import annotations

from typing import Any

import altair as alt

from faithgauge.report.charts.theme import (
    BAD,
    GOOD,
    INK,
    SERIES,
    SOFT,
    UNSURE,
    distinct,
    layers,
    main,
    values,
    zero,
)
from faithgauge.report.means import ALL
from faithgauge.report.tidy import Tables

STEP = 26
SIDES = {"better than random": GOOD, "not told apart": UNSURE, "worse than random": BAD}


def erasure(tables: Tables) -> alt.LayerChart | None:
    rows = [dict(row) for row in main(tables.get("erasure", ()))]
    if not rows:
        return None
    for row in rows:
        row["group"] = row["class"] or ALL
        row["side"] = _side(row["advantage_low"], row["advantage_high"])
        row["lacks"] = (row["reason"] or "no number") if row["advantage"] is None else None
    choices = {
        "measure": ("Measure", distinct(rows, "measure", ("comprehensiveness", "sufficiency"))),
        "group": ("Texts predicted as", distinct(rows, "group", (ALL,))),
        "erased_by": ("Tokens erased by", distinct(rows, "erased_by")),
    }
    data = values(
        rows,
        *("explainer", "measure", "group", "erased_by", "advantage", "advantage_low", "advantage_high"),
        *("n", "seeds", "missing", "side", "lacks"),
    )
    names, title = distinct(rows, "explainer"), "more than a random order →"
    chart = _lines(data, ("advantage", "advantage_low", "advantage_high"), names, title=title)
    colour = alt.Color("side:N", title=None, scale=alt.Scale(domain=list(SIDES), range=list(SIDES.values())))
    side = alt.selection_point(fields=["side"], bind="legend", name="side")
    rule, point = (
        layer.encode(color=colour, opacity=alt.when(side).then(alt.value(1)).otherwise(alt.value(0.12)))
        for layer in chart
    )
    lacks = (
        alt.Chart(data)
        .transform_filter("datum.lacks != null")
        .mark_text(align="left", dx=6, color=SOFT, fontStyle="italic")
        .encode(y=alt.Y("explainer:N", sort=names), x=alt.datum(0), text="lacks:N")
    )
    return layers(rule, point.add_params(side), lacks, choices=choices, under=[zero()])


def evidence(tables: Tables) -> alt.LayerChart | None:
    rows = main(tables.get("evidence", ()))
    if not rows:
        return None
    data = values(rows, *("explainer", "measure", "value", "low", "high", "random", "n", "seeds", "missing"))
    names = distinct(rows, "explainer")
    parts = _lines(data, ("value", "low", "high"), names, title="evidence found →")
    tick = (
        alt.Chart(data)
        .mark_tick(color=SOFT, thickness=2, height=16)
        .encode(
            y=alt.Y("explainer:N", sort=names),
            x="random:Q",
            tooltip=[alt.Tooltip("random:Q", title="random order")],
        )
    )
    return layers(
        tick, *parts, choices={"measure": ("Measure", distinct(rows, "measure", ("evidence_auprc",)))}
    )


def guides(tables: Tables) -> alt.LayerChart | None:
    rows = main(tables.get("guides", ()))
    if not rows:
        return None
    data = values(rows, "guide", "measure", "value", "low", "high", "n", "seeds")
    parts = _lines(
        data, ("value", "low", "high"), distinct(rows, "guide"), title="how well it does →", by="guide"
    )
    return layers(*parts, choices={"measure": ("Measure", distinct(rows, "measure"))})


def gaps(tables: Tables) -> alt.LayerChart | None:
    rows = main(tables.get("gaps", ()))
    if not rows:
        return None
    data = values(rows, "measure", "value", "low", "high")
    names = distinct(rows, "measure")
    parts = _lines(data, ("value", "low", "high"), names, title="better with attention →", by="measure")
    return layers(*parts, choices={}, under=[zero()])


def _lines(
    data: alt.NamedData, ends: tuple[str, str, str], names: list[Any], *, title: str, by: str = "explainer"
) -> tuple[alt.Chart, alt.Chart]:
    """A bar from low to high, and a point at the value, a line for each name."""
    value, low, high = ends
    y = alt.Y(f"{by}:N", sort=names, title=None, axis=alt.Axis(labelColor=INK))
    said = [
        alt.Tooltip(f"{by}:N"),
        *(alt.Tooltip(f"{end}:Q", format=".3f", title=end.replace("_", " ")) for end in ends),
    ]
    said += [alt.Tooltip(f"{name}:Q") for name in ("n", "seeds", "missing") if f'"{name}"' in data.name]
    base = alt.Chart(data, height=STEP * len(names)).encode(y=y, tooltip=said)
    rule = base.mark_rule(strokeWidth=3, strokeCap="round", color=SERIES[0]).encode(
        x=alt.X(f"{low}:Q", title=title, scale=alt.Scale(zero=False)), x2=high
    )
    point = base.mark_point(filled=True, size=95, opacity=1, color=SERIES[0]).encode(
        x=alt.X(f"{value}:Q", title=title)
    )
    return rule, point


def _side(low: float | None, high: float | None) -> str:
    better, unsure, worse = SIDES
    if low is None or high is None:
        return unsure
    return better if low > 0 else worse if high < 0 else unsure
