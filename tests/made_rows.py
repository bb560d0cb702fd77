"""Result rows made by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow

from faithgauge import results
from faithgauge.audit.rows import Rows

RANDOM, BASE = "random order", "base model"


def row(measure: str, value: float, seed: int = 0, **other: Any) -> dict[str, Any]:
    setting = json.dumps(other.pop("setting", {}), sort_keys=True)
    return {"measure": measure, "value": value, "seed": seed, "setting": setting, **other}


def by_text(measure: str, values: Sequence[Sequence[float]], **other: Any) -> list[dict[str, Any]]:
    """(seed, text)"""
    return [
        row(measure, value, seed, example=str(text), **other)
        for seed, own in enumerate(values)
        for text, value in enumerate(own)
    ]


def erased(explainer: str, comprehensive: float, sufficient: float, *, n: int = 40) -> list[dict[str, Any]]:
    """Differences from random that swing by 0.01 around these means; the rows are turned about."""
    swing = [0.01 * (-1) ** text for text in range(n)]
    rows = []
    for measure, mean in (("comprehensiveness", comprehensive), ("sufficiency", sufficient)):
        values = [[mean + one for one in swing]] * 3
        rows += by_text(measure, values, explainer=explainer, versus=RANDOM, setting={"erased_by": "mask"})
    return rows[::-1]


def right(share: float = 0.9, *, n: int = 40) -> list[dict[str, Any]]:
    """As many texts of each of two classes, the same share of which is right."""
    rows = []
    for name, start in (("a", 0), ("b", n // 2)):
        for seed in range(3):
            for i in range(n // 2):
                value = float(i < share * n // 2)
                rows.append(row("right", value, seed, example=str(start + i), **{"class": name}))
    return rows


def rows_of(*parts: list[dict[str, Any]]) -> Rows:
    every = [one for part in parts for one in part]
    return Rows(pyarrow.Table.from_pylist(every, results.schema()))
