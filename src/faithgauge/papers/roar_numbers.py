"""From result rows of ROAR to numbers as papers print them: areas, curves and sparsity, over seeds.

Intervals are those of the bootstrap over seeds (BCa); one seed has none. A measure is called by the name of
its explainer where its settings are the paper's, else by all that is written of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from faithgauge.papers.cells import Ours, canonical
from faithgauge.papers.tidy import Columns, Known, Numbers, note
from faithgauge.stats.interval import bca

PAPER = "recursive-roar-2022"
Row = Mapping[str, Any]
COLUMNS = ("dataset", "split", "model", "explainer", "measure", "fraction", "setting", "seed", "value")


def numbers(masking: str, *, by_count: bool = False) -> Numbers:
    """The areas of each measure, and the curves of the metric that they are areas of."""

    def found(rows: Columns, known: Known) -> list[Ours]:
        own = [
            row
            for row in _rows(rows)
            if row["setting"].get("masking") == masking
            and ("by" in row["setting"]) == by_count
            and row["split"] == "test"
        ]
        areas = [row for row in own if row["measure"] in ("faithfulness", "masked_training_curve")]
        metric = {(row["dataset"], row["model"]): row["setting"]["metric"] for row in areas}
        curves = [row for row in own if row["measure"] == metric.get((row["dataset"], row["model"]))]
        return [*_over_seeds(areas, known), *_over_seeds(curves, known)]

    return found


def sparsity(rows: Columns, known: Known) -> list[Ours]:
    """What the most important tokens hold of all importance, by count and by fraction."""
    return _over_seeds([row for row in _rows(rows) if row["measure"] == "sparsity"], known)


def shortcuts(rows: Columns, known: Known) -> list[Ours]:
    """How far the areas of cheaper roads are from those of the full one, and how alike they rank."""
    found = [row for row in _rows(rows) if row["measure"].startswith("shortcut_")]
    return [*numbers("recursive")(rows, known), *_over_seeds(found, known)]


def synthetic(rows: Columns, known: Known) -> list[Ours]:
    """The curves of the problem whose truth is known."""
    return _over_seeds([row for row in _rows(rows) if row["model"] == "logistic"], known)


def _rows(rows: Columns) -> Iterator[dict[str, Any]]:
    """The rows of single seeds that have no text of their own, `setting` read."""
    chosen = np.flatnonzero([seed == seed and seed is not None for seed in rows["seed"]])
    if "example" in rows:
        chosen = chosen[[rows["example"][i] is None for i in chosen]]
    for i in chosen:
        row = {name: rows[name][i] for name in COLUMNS if name in rows}
        yield row | {"setting": json.loads(row["setting"] or "{}")}


def _over_seeds(rows: list[dict[str, Any]], known: Known) -> list[Ours]:
    """One number for each place, from its values for every seed."""
    places: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        key = (row["dataset"], row["model"], row["measure"], *sorted(_keys(row, known).items()))
        places.setdefault(key, []).append(row)
    return [_ours(own, known) for own in places.values()]


def _ours(rows: list[dict[str, Any]], known: Known) -> Ours:
    row, values = rows[0], np.array([row["value"] for row in rows], np.float64)
    interval = bca(values, seed=0)
    ends = [None if np.isnan(end) else float(end) for end in (interval.low, interval.high)]
    return Ours(
        row["dataset"],
        row["model"],
        row["measure"],
        interval.value,
        _keys(row, known),
        low=ends[0],
        high=ends[1],
        n_seeds=len(rows),
        note=note(row["setting"]),
    )


def _keys(row: Row, known: Known) -> dict[str, str]:
    setting = row["setting"]
    keys = {"measure": measure_of(row["explainer"], known.names)} if row["explainer"] is not None else {}
    if row["fraction"] is not None and row["fraction"] == row["fraction"]:
        keys["fraction"] = canonical(row["fraction"])
    keys |= {name: str(setting[name]) for name in ("count", "shortcut") if name in setting}
    if setting.get("masking", "recursive") != "recursive":
        keys["masking"] = str(setting["masking"])
    if setting.get("label", "gold") != "gold":  # in print it is the gold label
        keys["label"] = str(setting["label"])
    if "start" in setting and "shortcut" not in setting:
        keys["start"] = str(setting["start"])
    if "early_stop" in setting and "shortcut" not in setting:
        keys["early_stop"] = str(setting["early_stop"])
    if row["measure"] not in ("faithfulness", "masked_training_curve", "sparsity") and "fraction" in keys:
        keys["split"] = row["split"]
    return keys


def measure_of(label: str, names: Mapping[str, str] | None = None) -> str:
    """What papers call an explainer: by its name alone where it is computed as in this paper."""
    name, _, how = label.partition(":")
    return (names or {}).get(name, name) if how in ("", PAPER) else label


recursive_roar = numbers("recursive")
roar = numbers("plain")
recursive_roar_by_count = numbers("recursive", by_count=True)
masked_training = numbers("masked_training")
