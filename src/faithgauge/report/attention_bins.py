"""What changes when attention is changed, by how sure attention was: texts in bins of their largest weight.

Wherever rows tell a text's `max_attention` beside another number of the same comparison, that number is
summed up in four bins of it, of all seeds together: quantiles, and a density for the violins of
jain-wallace-2019 (figures 6 and 8).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from faithgauge.report.means import PLACE, variants
from faithgauge.report.rows import Floats, Rows

LARGEST = "max_attention"
BINS = ("0–0.25", "0.25–0.5", "0.5–0.75", "0.75–1")
KEYS = ("against", "lambda", "epsilon", "start")
QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
POINTS = 32
"""Of a density."""


def by_attention(rows: Rows) -> Iterator[dict[str, Any]]:
    """The quantiles of every number in every bin."""
    for where, values in _binned(rows):
        known = values[~np.isnan(values)]
        own = {name: float(np.quantile(known, q)) for name, q in QUANTILES.items()} if len(known) else {}
        yield where | own | {"n": len(known), "missing": len(values) - len(known)}


def shapes(rows: Rows) -> Iterator[dict[str, Any]]:
    """The density of every number in every bin that has at least five; the highest point of each is 1."""
    for where, values in _binned(rows):
        known = values[~np.isnan(values)]
        if len(known) >= 5 and known.min() < known.max():
            for at, height in zip(*density(known), strict=True):
                yield where | {"at": float(at), "density": float(height)}


def density(values: Floats) -> tuple[Floats, Floats]:
    """A Gaussian kernel density between the least and the largest value, where it is reflected.

    The width is Silverman's: 0.9 min(s, IQR / 1.34) n^(−1/5).
    """
    q1, q3 = np.quantile(values, [0.25, 0.75])
    spread = min(values.std(ddof=1), (q3 - q1) / 1.34) or values.std(ddof=1)
    width = 0.9 * spread * len(values) ** -0.2
    low, high = values.min(), values.max()
    at = np.linspace(low, high, POINTS)
    mirrored = np.concatenate([values, 2 * low - values, 2 * high - values])
    height = np.exp(-0.5 * ((at[:, None] - mirrored) / width) ** 2).sum(axis=1)
    return at, height / height.max()


def _binned(rows: Rows) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Each number's values in each bin that has texts."""
    for place, here in rows.groups(*PLACE):
        for comparison, some in variants(here, *KEYS):
            found: dict[str, list[tuple[Floats, Floats]]] = defaultdict(list)
            for _, alike in some.groups("setting", "seed"):
                for measure, pair in _beside(alike):
                    found[measure].append(pair)
            for measure, pairs in found.items():
                largest, values = (np.concatenate(side) for side in zip(*pairs, strict=True))
                bins = np.minimum((largest * len(BINS)).astype(int), len(BINS) - 1)
                for number in np.unique(bins):
                    where = place | {"comparison": comparison, "measure": measure, "bin": BINS[number]}
                    yield where, values[bins == number]


def _beside(rows: Rows) -> Iterator[tuple[str, tuple[Floats, Floats]]]:
    """By measure, the largest weight and the value of every text that has the former."""
    largest = np.full(len(rows.names["example"]), np.nan)
    own = rows.where(rows.of("measure", LARGEST))
    largest[own.codes["example"]] = own.value
    for where, some in rows.groups("measure"):
        known = ~np.isnan(largest[some.codes["example"]])
        if where["measure"] != LARGEST and known.any():
            yield where["measure"], (largest[some.codes["example"]][known], some.value[known])
