"""Charts of points: other models in the plane of their distances, AtteFa seed by seed, and every text."""

from __future__ import annotations

from typing import Any

import altair as alt

from faithgauge.report.attention_bins import density
from faithgauge.report.charts.theme import EVERY, INK, UNSURE, choice, colours, distinct, layers, main, values
from faithgauge.report.tidy import Tables

JSD_MAX = 0.6931


def distances(tables: Tables) -> alt.LayerChart | None:
    rows = [dict(row) for row in main(tables.get("distances", ())) if row["lambda"] or not row["start"]]
    rows = [row for row in rows if row["tvd"] is not None and row["jsd"] is not None]
    if not rows:
        return None
    for row in rows:
        row["seed"] = "–" if row["seed"] is None else str(row["seed"])
        row["model"] = row["against"] or "another model"
    names = distinct(rows, "model")
    seeds = distinct(rows, "seed")
    data = values(rows, "model", "lambda", "seed", "base_seed", "tvd", "jsd", "n")
    legend = alt.selection_point(fields=["model"], bind="legend", name="models")
    shown = alt.when(legend).then(alt.value(1)).otherwise(alt.value(0.08))
    base = alt.Chart(data, height=320).encode(
        x=alt.X("jsd:Q", title="attention moves (JSD) →", scale=alt.Scale(domain=[0, JSD_MAX])),
        y=alt.Y("tvd:Q", title="output moves (TVD) →", scale=alt.Scale(domainMin=0)),
        color=alt.Color("model:N", title=None, scale=colours(names)),
        opacity=shown,
    )
    line = (
        base.transform_filter("datum.lambda != null")
        .mark_line(strokeWidth=1.5)
        .encode(detail="seed:N", order="jsd:Q")
    )
    point = base.mark_point(filled=True, size=80).encode(
        shape=alt.Shape("model:N", title=None, scale=alt.Scale(domain=names)),
        tooltip=["model:N", alt.Tooltip("lambda:N", title="λ"), "seed:N"]
        + [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("tvd", "jsd")]
        + [alt.Tooltip("n:Q", title="texts")],
    )
    choices = {"seed": ("Seed", [EVERY, *seeds] if len(seeds) > 1 else seeds)}
    return layers(line, point.add_params(legend), choices=choices)


def attefa(tables: Tables) -> alt.LayerChart | None:
    """A column for each start, the best and the cap; a violin where a column has at least five seeds."""
    rows = [dict(row) for row in main(tables.get("attefa", ())) if row["value"] is not None]
    named = {"attefa_best": "the best", "attefa_cap": "cap"}
    rows = [
        {**row, "of": named.get(row["measure"]) or f"from {row['start']}"}
        for row in rows
        if row["measure"] in named or row["measure"] == "attefa"
    ]
    if not rows:
        return None
    columns = distinct(rows, "of", [name for name in distinct(rows, "of") if name not in named.values()])
    for row in rows:
        row["at"], row["seed"] = columns.index(row["of"]), str(row["base_seed"] or row["seed"])
    seeds = distinct(rows, "seed")
    x = alt.X("at:Q", title=None, axis=_named(columns), scale=alt.Scale(domain=[-0.6, len(columns) - 0.4]))
    y = alt.Y("value:Q", title="AtteFa", scale=alt.Scale(domain=[0, 1]))
    legend = alt.selection_point(fields=["seed"], bind="legend", name="seeds")
    point = (
        alt.Chart(values(rows, "at", "of", "seed", "value"), height=280)
        .mark_point(filled=True, size=85)
        .encode(
            x=x,
            y=y,
            color=alt.Color("seed:N", title="seed", scale=colours(seeds)),
            opacity=alt.when(legend).then(alt.value(1)).otherwise(alt.value(0.08)),
            tooltip=[alt.Tooltip("of:N", title="adversary"), "seed:N", alt.Tooltip("value:Q", format=".3f")],
        )
    )
    return alt.layer(*_violin(rows, columns), point.add_params(legend))


def texts(tables: Tables) -> alt.LayerChart | None:
    rows = [dict(row) for row in tables.get("texts", ())]
    sides = [name for name in ("disagreement", "jsd") if any(row[name] is not None for row in rows)]
    if not sides or all(row["confidence"] is None for row in rows):
        return None
    for place, row in enumerate(rows):
        row["place"], row["decision"] = (
            place,
            "wrong" if row["wrong"] else "right" if row["gold"] else "unknown",
        )
    data = values(rows, *("place", "id", "label", "gold", "decision", "confidence", *sides))
    brush = alt.selection_interval(name="brush")
    legend = alt.selection_point(fields=["label"], bind="legend", name="labels")
    labels = distinct(rows, "label")
    shown = alt.when(legend & brush).then(alt.value(0.85)).otherwise(alt.value(0.1))
    chart = (
        alt.Chart(data, height=280)
        .transform_calculate(up="datum[choice_up]")
        .mark_point(filled=True, size=48)
        .encode(
            x=alt.X("confidence:Q", title="how sure the model is →", scale=alt.Scale(zero=False)),
            y=alt.Y("up:Q", title=None),
            color=alt.Color("label:N", title="predicted", scale=colours(labels)),
            shape=alt.Shape("decision:N", title="decision"),
            opacity=shown,
            tooltip=["id:N", "label:N", "gold:N"]
            + [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("confidence", *sides)],
        )
        .add_params(brush, legend)
    )
    return alt.layer(chart).add_params(choice("up", sides, "Upwards"))


def _violin(rows: list[dict[str, Any]], columns: list[Any]) -> list[alt.Chart]:
    import numpy as np

    found = []
    for place, name in enumerate(columns):
        own = np.array([row["value"] for row in rows if row["of"] == name])
        if len(own) >= 5 and own.min() < own.max():
            for value, height in zip(*density(own), strict=True):
                found.append(
                    {"at": place - 0.35 * height, "to": place + 0.35 * height, "value": value, "of": name}
                )
    if not found:
        return []
    area = alt.Chart(values(found, "at", "to", "value", "of")).mark_area(
        orient="horizontal", color=UNSURE, opacity=0.2
    )
    return [area.encode(x="at:Q", x2="to", y="value:Q", detail="of:N")]


def _named(names: list[Any]) -> alt.Axis:
    """An axis whose places 0, 1, … have names."""
    import json

    return alt.Axis(
        values=list(range(len(names))),
        labelExpr=f"{json.dumps(names)}[datum.value]",
        grid=False,
        labelColor=INK,
    )
