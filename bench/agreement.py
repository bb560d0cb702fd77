"""Kendall's τ and its p-value of many rows against a loop of `scipy.stats.kendalltau`, one thread each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from bench.measure import Row, cpu_seconds, sst_sized
from faithgauge.stats.rank import kendall
from faithgauge.types import Ragged

REPEATS = 5
TEXTS = 1725
"""Of the binary SST test set, as jain-wallace-2019 keeps it."""


def rows() -> Iterator[Row]:
    encoded, _ = sst_sized()
    cases = {
        "length 19": (np.full(TEXTS, 19), 80),
        # Without the two special tokens of each text.
        "lengths of SST": (encoded.ids.lengths()[:TEXTS] - 2, 25),
        "length 200": (np.full(200, 200), 4),
        "length 2,000": (np.full(40, 2000), 1),
    }
    for name, (lengths, goal) in cases.items():
        first, second = (_scores(lengths, seed) for seed in (0, 1))
        ours = _fastest(lambda a=first, b=second: kendall(a, b))
        loop = _fastest(lambda a=first, b=second: _loop(a, b))
        yield Row(
            f"Kendall τ and p, {name}",
            loop / ours,
            goal,
            ours / len(lengths),
            loop / len(lengths),
            "CPU s/row",
        )


def _scores(lengths: NDArray[np.int64], seed: int) -> Ragged:
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Ragged(np.random.default_rng(seed).random(offsets[-1]), offsets)


def _loop(first: Ragged, second: Ragged) -> list[tuple[float, float]]:
    return [tuple(kendalltau(first.row(i), second.row(i))) for i in range(len(first))]


def _fastest(work: Callable[[], object]) -> float:
    return min(cpu_seconds(work) for _ in range(REPEATS))
