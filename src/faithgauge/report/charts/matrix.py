"""How far every two explainers agree, as a square of colours with the number on each."""

from __future__ import annotations

from typing import Any

import altair as alt

from faithgauge.report.charts.theme import (
    INK,
    NEGATIVE,
    POSITIVE,
    Choices,
    distinct,
    layers,
    main,
    values,
)
from faithgauge.report.means import ALL
from faithgauge.report.tidy import Tables

CELL = 34


def agreement(tables: Tables) -> alt.LayerChart | None:
    rows = main(tables.get("agreement", ()))
    names = list(dict.fromkeys(name for row in rows for name in (row["explainer"], row["versus"])))
    if not rows:
        return None
    both: list[dict[str, Any]] = [dict(row) for row in rows]
    both += [
        {**row, "explainer": row["versus"], "versus": row["explainer"]}
        for row in rows
        if row["explainer"] != row["versus"]
    ]
    for row in both:
        row["group"] = row["class"] or ALL
        value = row["value"]
        row["sign"] = "no number" if value is None else "agree" if value >= 0 else "disagree"
        row["strength"] = 0.0 if value is None else min(abs(value), 1.0)
    choices = {
        "measure": ("Measure", distinct(rows, "measure", ("kendall_tau",))),
        "group": ("Texts predicted as", distinct(both, "group", (ALL,))),
    }
    data = values(
        both,
        *("explainer", "versus", "measure", "group", "value", "low", "high", "n", "missing", "floor"),
        *("sign", "strength"),
    )
    return _square(data, names, choices)


def _square(data: alt.NamedData, names: list[Any], choices: Choices) -> alt.LayerChart:
    axis = {"title": None, "sort": names}
    said = [alt.Tooltip(f"{name}:N") for name in ("explainer", "versus")]
    said += [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high")]
    said += [alt.Tooltip("floor:Q", format=".3f", title="random scores"), "n:Q", "missing:Q"]
    base = alt.Chart(data, height=CELL * len(names)).encode(
        x=alt.X("versus:N", axis=alt.Axis(labelAngle=-40, labelColor=INK, orient="top"), **axis),
        y=alt.Y("explainer:N", axis=alt.Axis(labelColor=INK), **axis),
        tooltip=said,
    )
    hue = alt.Scale(domain=["agree", "disagree", "no number"], range=[POSITIVE, NEGATIVE, "transparent"])
    strength = alt.Scale(domain=[0, 1], range=[0.04, 0.95])
    cell = base.mark_rect(cornerRadius=3).encode(
        fill=alt.Fill("sign:N", scale=hue, legend=None),
        fillOpacity=alt.FillOpacity("strength:Q", scale=strength, legend=None),
    )
    number = base.mark_text(fontSize=11, color=INK).encode(text=alt.Text("value:Q", format=".2f"))
    return layers(cell, number, choices=choices)
