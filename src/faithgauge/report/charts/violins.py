"""What changes with attention, by how sure attention was: a violin for each bin of the largest weight."""

from __future__ import annotations

import json

import altair as alt

from faithgauge.report.attention_bins import BINS
from faithgauge.report.charts.theme import INK, PAGE, SERIES, SOFT, distinct, layers, main, values
from faithgauge.report.tidy import Tables

WIDE = 0.42


def by_attention(tables: Tables) -> alt.LayerChart | None:
    rows = [dict(row) for row in main(tables.get("by_attention", ()))]
    curves = [dict(row) for row in main(tables.get("attention_shapes", ()))]
    if not rows:
        return None
    for row in (*rows, *curves):
        row["of"], row["at_bin"] = f"{row['comparison']} · {row['measure']}", BINS.index(row["bin"])
    for row in curves:
        row["left"], row["right"] = (row["at_bin"] + side * WIDE * row["density"] for side in (-1, 1))
    names = distinct(rows, "of", [name for name in distinct(rows, "of") if "output" in name])
    x = alt.X(
        "at_bin:Q",
        title="largest attention weight of the text",
        scale=alt.Scale(domain=[-0.6, len(BINS) - 0.4]),
        axis=alt.Axis(
            values=list(range(len(BINS))),
            labelExpr=f"{json.dumps(BINS)}[datum.value]",
            grid=False,
            labelColor=INK,
        ),
    )
    shape = (
        alt.Chart(values(curves, "of", "bin", "at", "left", "right"))
        .mark_area(orient="horizontal", opacity=0.28, color=SERIES[0])
        .encode(x="left:Q", x2="right", y=alt.Y("at:Q", title=None), detail="bin:N")
    )
    columns = ("of", "bin", "at_bin", "n", "q05", "q25", "median", "q75", "q95", "missing")
    base = alt.Chart(values(rows, *columns), height=300).encode(x=x)
    said = [alt.Tooltip("bin:N", title="largest weight"), alt.Tooltip("n:Q", title="texts × seeds")]
    said += [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("q05", "q25", "median", "q75", "q95")]
    middle = base.mark_bar(size=7, color=SERIES[0], cornerRadius=3).encode(y="q25:Q", y2="q75", tooltip=said)
    median = base.mark_point(
        filled=True, size=70, color=PAGE, stroke=SERIES[0], strokeWidth=2, opacity=1
    ).encode(y="median:Q", tooltip=said)
    number = (
        base.mark_text(color=SOFT, baseline="bottom", dy=-6, fontSize=11)
        .encode(y=alt.value(0), text=alt.Text("label:N"))
        .transform_calculate(label="'n ' + datum.n")
    )
    return layers(shape, middle, median, number, choices={"of": ("Shown", names)})
