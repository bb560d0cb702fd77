"""Numbers from groups of result rows: a mean over texts and seeds, or over seeds, with its interval.

Intervals draw texts and seeds again, texts alone where there are fewer than three seeds; of numbers that are
one a seed it is Student's (`stats.interval`). How many values were there, how many were not, and the most
frequent reason stands beside every number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from faithgauge.report.rows import Rows, seeds_of
from faithgauge.stats.interval import Interval, crossed_means, student

Row = dict[str, Any]

RESAMPLES = 1_999
ALL = "all"
"""In the column `class`: the texts of every class."""
PLACE = ("dataset", "split", "model")
ESTIMATE = ("value", "low", "high", "n", "seeds", "missing", "reason")


def by_seed(rows: Rows, *by: str) -> Iterator[Row]:
    """One number a seed: the mean, and Student's interval of it."""
    for own, group in rows.groups(*PLACE, *by):
        yield own | estimate(student(group.value), group)


def by_text(rows: Rows, *by: str, classes: bool = False) -> Iterator[Row]:
    """A number for each text and seed: the mean of all texts, and with `classes` of those of each class."""
    for place, every in rows.groups(*PLACE):
        there = np.unique(every.codes["example"])
        texts = {every.names["example"][code]: i for i, code in enumerate(there)}
        seeds = seeds_of(every)
        groups = [({**own, "class": ALL}, some) for own, some in every.groups(*by)]
        if classes and len(np.unique(every.codes["class"])) > 1:
            groups += list(every.groups(*by, "class"))
        table = np.stack([some.by_text(texts, seeds) for _, some in groups])
        found = crossed_means(table, seed=0, resamples=RESAMPLES)
        for (own, some), interval in zip(groups, found, strict=True):
            yield place | own | estimate(interval, some)


def estimate(found: Interval, rows: Rows) -> Row:
    """The columns of ESTIMATE."""
    lacking = np.isnan(rows.value)
    reasons = Counter(reason for reason in rows.where(lacking).words("reason") if reason)
    return {
        "value": number(found.value),
        "low": number(found.low),
        "high": number(found.high),
        "n": found.n,
        "seeds": found.n_seeds,
        "missing": int(lacking.sum()),
        "reason": reasons.most_common(1)[0][0] if reasons else None,
    }


def variants(rows: Rows, *keys: str) -> Iterator[tuple[str, Rows]]:
    """The rows by what of these coordinates they have, written as one label: ``adversary, λ 0.001``."""
    varied = [key for key in keys if key in rows.codes]
    for own, some in rows.groups(*varied):
        parts = [
            word if key in ("against", "start", "masking") else f"{SIGNS.get(key, key)} {word}"
            for key, word in own.items()
            if word is not None
        ]
        yield ", ".join(parts), some


SIGNS = {"lambda": "λ", "epsilon": "ε"}


def number(value: Any) -> float | None:
    """None for what is no number."""
    found = None if value is None else float(value)
    return None if found is None or np.isnan(found) else found


def place_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Where a row belongs: data set, split and model."""
    return tuple(row.get(name) for name in PLACE)
