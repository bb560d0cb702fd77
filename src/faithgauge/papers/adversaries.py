"""AtteFa's numbers from result rows: of the adversary that starts as the paper's does, and of the best start.

What stands beside a published number is that of the first, cold start. Where there are several starts, the
key `start` tells that of the best one by its loss, and how often each start was it. Beside them stands what
says whether an adversary was found at all: the cap, and how many say one class for everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from faithgauge.papers.cells import Ours
from faithgauge.papers.tidy import Columns, Group, Known, apart, groups, where
from faithgauge.stats.rank import spearman
from faithgauge.types import Ragged

ADVERSARY = {"model": "adversary"}
BEST = "best"
"""Of the key `start`: the start with the least loss."""
INFORMATIVE = {
    "mock-1": 1.0,
    "mock-2": 2.0,
    "mock-5": 5.0,
    "mock-10": 10.0,
    "mock-1q": 18.75,
    "mock-2q": 37.5,
    "mock-3q": 56.25,
    "mock-4q": 75.0,
}
"""How many tokens of a text are informative, on average."""
MOCKS = "mock"
"""The data set of a number that is about all of them together."""
ONE_CLASS = 0.99
"""An adversary that says one class of so many texts is degenerate."""
IN_PRINT = {
    "epoch": "epoch",
    "f1_positive": "f1_positive",
    "output_distance": "tvd",
    "attention_jsd": "jsd",
    "attefa": "attefa",
}
"""By measure what the paper calls the number."""
OF_BEST = {"attefa_best": "attefa", "best_output_distance": "tvd", "best_attention_jsd": "jsd"}
BESIDE = {
    "attefa_cap": "attefa_cap",
    "attefa_cold_adjusted": "attefa_adjusted",
    "adversary_not_found": "share_not_found",
    "base_above_chance": "base_above_chance",
    "texts_that_cannot_move": "texts_that_cannot_move",
}


def attefa(rows: Columns, known: Known) -> list[Ours]:  # noqa: ARG001 one shape for all
    """Tables 2 to 5: F1 of the bases, and of the adversaries the numbers over seeds and of each seed."""
    own = apart(rows, ("against", "base_seed", "start", "starts", "cold"))
    found = [*_bases(where(own, own["against"] == ""))]
    opposed = where(own, own["against"] == "adversary")
    for cold in sorted(set(opposed["cold"].astype(str)) - {""}):
        found += _of_start(where(opposed, opposed["start"] == cold))
        found += _beside(where(opposed, opposed["cold"] == cold))
        found += _several(where(opposed, (opposed["cold"] == cold) & (opposed["starts"] != "1")))
    return found + _orderings(found)


def best_of_starts(ours: Sequence[Ours]) -> list[Ours]:
    """The numbers as if the paper had taken the best of several starts; none where there is one start."""
    best = [row for row in ours if row.keys.get("start") == BEST]
    plain = [replace(row, keys={k: v for k, v in row.keys.items() if k != "start"}) for row in best]
    return [*plain, *(row for row in ours if "model" not in row.keys)] if best else []


def _bases(rows: Columns) -> Iterator[Ours]:
    for own, group in groups(where(rows, rows["measure"] == "f1_positive"), ("split",)):
        yield group.over_seeds("f1_positive", {"split": own["split"]})


def _of_start(rows: Columns) -> Iterator[Ours]:
    """What the paper prints of its adversaries, over the seeds and of each."""
    bases = sorted(set(rows["base_seed"].astype(str)))
    more = f"one base model, of seed {bases[0]}" if len(bases) == 1 else "a base model for each seed"
    for measure, metric in IN_PRINT.items():
        for _, group in groups(where(rows, rows["measure"] == measure), ()):
            yield group.over_seeds(metric, ADVERSARY, more)
            for seed, value in zip(group.seeds, group.by_seed(), strict=True):
                yield group.single(metric, {**ADVERSARY, "seed": str(seed)}, float(value))
    for _, group in groups(where(rows, rows["measure"] == "same_class_share"), ()):
        yield _flags(group, group.values > ONE_CLASS).share("share_of_one_class", ADVERSARY)


def _beside(rows: Columns) -> Iterator[Ours]:
    """What is told beside AtteFa whatever it is."""
    for measure, metric in BESIDE.items():
        for _, group in groups(where(rows, rows["measure"] == measure), ()):
            make = group.share if metric.startswith("share") else group.over_seeds
            yield make(metric, ADVERSARY)
    yield from _below_half_cap(rows, "attefa_cold", ADVERSARY)


def _several(rows: Columns) -> Iterator[Ours]:
    """The best start of each seed, and of how many seeds each start was it."""
    keys = {**ADVERSARY, "start": BEST}
    for measure, metric in OF_BEST.items():
        for _, group in groups(where(rows, rows["measure"] == measure), ()):
            yield group.over_seeds(metric, keys)
    yield from _below_half_cap(rows, "attefa_best", keys)
    won = where(rows, rows["measure"] == "attefa_won")
    seeds = {group.name: len(group.seeds) for _, group in groups(won, ())}
    for own, group in groups(won, ("start",)):
        share = len(group.seeds) / seeds[group.name]
        yield group.single("share_won", {**ADVERSARY, "start": own["start"]}, share)


def _below_half_cap(rows: Columns, measure: str, keys: Mapping[str, str]) -> Iterator[Ours]:
    """Of how many seeds AtteFa is below half its cap: neither 0 nor 1 where the seeds end in two modes."""
    caps = {group.name: group.values for _, group in groups(where(rows, rows["measure"] == "attefa_cap"), ())}
    for _, group in groups(where(rows, rows["measure"] == measure), ()):
        low = _flags(group, group.values < caps[group.name] / 2)
        yield low.share("share_below_half_cap", keys)


def _flags(group: Group, which: NDArray[np.bool_]) -> Group:
    return replace(group, values=which.astype(np.float64))


def _orderings(found: Sequence[Ours]) -> list[Ours]:
    """Spearman's ρ of AtteFa with the number of informative tokens, over the mock sets that are there."""
    orderings = []
    for keys in (ADVERSARY, {**ADVERSARY, "start": BEST}):
        rows = [
            row for row in found if row.metric == "attefa" and row.keys == keys and row.base in INFORMATIVE
        ]
        for encoder in dict.fromkeys(row.encoder for row in rows):
            mine = [row for row in rows if row.encoder == encoder and np.isfinite(row.value)]
            if len(mine) > 2:
                amounts = np.array([INFORMATIVE[row.base] for row in mine])
                rho = _spearman(amounts, np.array([row.value for row in mine]))
                note = f"over {', '.join(row.base for row in mine)}"
                orderings.append(Ours(MOCKS, encoder, "spearman_informative", rho, keys, note=note))
    return orderings


def _spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    offsets = np.array([0, len(x)])
    return float(spearman(Ragged(x, offsets), Ragged(y, offsets)).value[0])
