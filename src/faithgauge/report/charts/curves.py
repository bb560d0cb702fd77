"""Curves of models that were trained again without the most important tokens (ROAR)."""

from __future__ import annotations

import altair as alt

from faithgauge.report.charts.theme import colours, distinct, layers, main, values
from faithgauge.report.tidy import Tables


def roar(tables: Tables) -> alt.LayerChart | None:
    rows = main(tables.get("roar", ()))
    if not rows:
        return None
    variants, measures = distinct(rows, "variant", first=("recursive",)), distinct(rows, "measure")
    names = distinct(rows, "explainer")
    data = values(
        rows, *("explainer", "variant", "measure", "fraction", "value", "low", "high", "n", "missing")
    )
    legend = alt.selection_point(fields=["explainer"], bind="legend", name="explainers")
    x = alt.X("fraction:Q", title="share of the tokens that is masked", axis=alt.Axis(format="%"))
    shown_full = alt.Legend(symbolOpacity=1, symbolType="circle")
    base = alt.Chart(data, height=320).encode(
        x=x,
        color=alt.Color("explainer:N", scale=colours(names), sort=names, title=None, legend=shown_full),
    )
    shown = alt.when(legend).then(alt.value(1)).otherwise(alt.value(0.08))
    y = alt.Y("value:Q", title="metric after training again", scale=alt.Scale(zero=False))
    line = base.mark_line(strokeWidth=2.2).encode(y=y, opacity=shown)
    band = base.mark_area(clip=True).encode(
        y=alt.Y("low:Q", title="metric after training again"),
        y2="high",
        opacity=alt.when(legend).then(alt.value(0.13)).otherwise(alt.value(0.01)),
    )
    said = [alt.Tooltip("explainer:N"), *([alt.Tooltip("variant:N")] if variants else [])]
    said.append(alt.Tooltip("fraction:Q", format=".0%"))
    said += [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high")]
    said.append(alt.Tooltip("n:Q", title="seeds"))
    point = base.mark_point(filled=True, size=42).encode(
        y=y,
        opacity=shown,
        tooltip=said,
    )
    choices = {"measure": ("Measure", measures), "variant": ("Tokens masked", variants)}
    return layers(band, line, point.add_params(legend), choices=choices)
