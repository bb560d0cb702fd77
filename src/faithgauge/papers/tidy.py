"""From result rows to numbers as papers print them: means over texts and seeds, with their intervals.

Rows come as columns (see `results`). A number is made for every data set, encoder and pair of explainers, for
all texts and for those of each class.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithgauge.papers.cells import PARTIAL, SUBSTITUTED, Ours
from faithgauge.registry import Table
from faithgauge.stats.interval import Interval, crossed, student

Columns = Mapping[str, NDArray[Any]]

RESAMPLES = 1_999
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Known:
    """What rows do not say of themselves.

    `classes` has those of each data set in order, to number them as papers do; `names` says what a paper
    calls an explainer; `metrics` are those of the models that it prints.
    """

    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    metrics: Collection[str] = ()


Numbers = Callable[[Columns, Known], list[Ours]]


@dataclass(frozen=True)
class Group:
    """The values of one place, (seed, example), nan where there is none, and what all their rows say."""

    dataset: str
    encoder: str
    setting: Mapping[str, Any]
    values: NDArray[np.float64]
    seeds: tuple[int, ...] = ()

    @property
    def name(self) -> tuple[str, str, str]:
        """What tells it from others of the same columns."""
        return self.dataset, self.encoder, json.dumps(self.setting, sort_keys=True)

    def by_seed(self) -> NDArray[np.float64]:
        """The mean over the examples of each seed; those without a value do not count."""
        known = ~np.isnan(self.values)
        with np.errstate(invalid="ignore"):
            mean: NDArray[np.float64] = np.where(known, self.values, 0.0).sum(1) / known.sum(1)
        return mean

    def over_seeds(self, metric: str, keys: Mapping[str, str], more: str = "") -> Ours:
        """The mean over seeds with Student's interval, and the standard deviation (of the population)."""
        values = self.by_seed()
        interval, known = student(values), values[~np.isnan(values)]
        spread = float(known.std()) if len(known) > 1 else None
        found = self.ours(metric, keys, interval=interval, spread=spread)
        return replace(found, n=None, n_seeds=len(values), note="; ".join(filter(None, (found.note, more))))

    def share(self, metric: str, keys: Mapping[str, str]) -> Ours:
        """Of how many seeds something is true."""
        return replace(self.over_seeds(metric, keys), low=None, high=None, spread=None)

    def single(self, metric: str, keys: Mapping[str, str], value: float) -> Ours:
        """A number of one seed, or one that needs none, which has no interval."""
        return Ours(self.dataset, self.encoder, metric, value, keys, n_seeds=1, note=note(self.setting))

    def ours(self, metric: str, keys: Mapping[str, str], *, interval: Interval, spread: float | None) -> Ours:
        return Ours(
            self.dataset,
            self.encoder,
            metric,
            interval.value,
            keys,
            low=_number(interval.low),
            high=_number(interval.high),
            spread=spread,
            n=int((~np.isnan(self.values)).sum()),
            n_seeds=len(self.values),
            note=note(self.setting),
        )


def agreement(rows: Columns, known: Known) -> list[Ours]:
    """Kendall's τ of every pair of explainers, its spread over texts, and the share that is significant.

    The presets of explainers are left out.
    """
    found = []
    for metric, measure in (("kendall_tau", "kendall_tau"), ("sig_frac", "kendall_p")):
        chosen = where(rows, rows["measure"] == measure)
        for by in (("explainer", "versus"), ("explainer", "versus", "class")):
            for own, group in groups(chosen, by):
                pair = [_plain(own[name], known.names) for name in ("explainer", "versus")]
                keys = dict(zip(("measure_a", "measure_b"), pair, strict=True))
                if "class" in own:
                    order = list(known.classes.get(group.dataset, ()))
                    if own["class"] not in order:
                        continue
                    keys["class"] = str(order.index(own["class"]))
                found.append(_agreement(group, metric, {**keys, **varied(group.setting)}))
    return found


def performance(rows: Columns, known: Known) -> list[Ours]:
    """The metrics of the models by split: the mean over seeds, and Student's interval of it."""
    found = []
    for metric in dict.fromkeys(known.metrics):
        for own, group in groups(where(rows, rows["measure"] == metric), ("split",)):
            if "masking" in group.setting:  # a point of a curve, not the model itself
                continue
            values = group.values[:, 0]
            interval = student(values)
            keys = {"split": own["split"], **varied(group.setting)}
            spread = float(values.std()) if len(values) > 1 else None
            found.append(group.ours(metric, keys, interval=interval, spread=spread))
    return found


def sizes(rows: Columns, known: Known) -> list[Ours]:
    """How many texts each split has, which is of no encoder."""
    del known  # sizes depend on nothing that rows do not say
    found = where(rows, rows["measure"] == "texts")
    columns = (found[name] for name in ("dataset", "split", "value", "setting"))
    return [
        Ours(str(dataset), "", f"n_{split}", float(value), note=note(json.loads(setting)))
        for dataset, split, value, setting in zip(*columns, strict=True)
    ]


def note(setting: Mapping[str, Any]) -> str:
    """What must be said of a number: first whether the data are those of the paper, then its word vectors."""
    marks = {"partial": PARTIAL, "substituted": SUBSTITUTED}
    parts = [marks[setting["data"]]] if "data" in setting else []
    if vectors := setting.get("vectors"):
        parts.append(f"vectors: {vectors}")
    if setting.get("below_chance"):
        parts.append("the model does worse than a guess")
    return "; ".join(parts)


def _agreement(group: Group, metric: str, keys: Mapping[str, str]) -> Ours:
    """A text that has no value with one seed (another class, no τ) counts with the others all the same."""
    values, known = group.values, ~np.isnan(group.values)
    if metric == "sig_frac":
        values = np.where(known, values <= SIGNIFICANT, np.nan)
    table = np.stack([np.where(known, values, 0.0), known.astype(np.float64)], axis=-1)
    interval = crossed(table[known.any(axis=1)], seed=0, statistic=_ratio, resamples=RESAMPLES)
    spreads = [float(np.nanstd(own)) for own in values[known.any(axis=1)]]
    spread = float(np.mean(spreads)) if spreads and metric != "sig_frac" else None
    return group.ours(metric, keys, interval=interval, spread=spread)


def _ratio(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of the values that are there, from (resample, example, [value, is there])."""
    total, count = drawn.sum(axis=1).T
    with np.errstate(invalid="ignore"):
        mean: NDArray[np.float64] = total / count
    return mean


def groups(rows: Columns, by: Sequence[str]) -> Iterator[tuple[dict[str, str], Group]]:
    """The rows by data set, encoder, setting and these columns, in order; their values by seed."""
    columns = ("dataset", "model", "setting", *by)
    if not len(rows["value"]):
        return
    codes = [np.unique(rows[name].astype(str), return_inverse=True) for name in columns]
    table = np.stack([code for _, code in codes])
    places, which = np.unique(table, axis=1, return_inverse=True)
    for i in range(places.shape[1]):
        of = dict(zip(columns, (str(codes[j][0][code]) for j, code in enumerate(places[:, i])), strict=True))
        mine = which.ravel() == i
        seeds, seed = np.unique(rows["seed"][mine], return_inverse=True)
        examples, example = np.unique(rows["example"][mine].astype(str), return_inverse=True)
        values = np.full((len(seeds), len(examples)), np.nan)
        values[seed, example] = rows["value"][mine].astype(np.float64)
        group = Group(
            of["dataset"],
            of["model"],
            json.loads(of["setting"]),
            values,
            tuple(int(one) for one in seeds if one == one),
        )
        yield {name: of[name] for name in by}, group


def apart(rows: Columns, names: Sequence[str]) -> Columns:
    """The rows with these entries of their setting as columns of their own, "" where there is none."""
    texts, which = np.unique(rows["setting"].astype(str), return_inverse=True)
    parsed = [json.loads(text) for text in texts]
    found = {name: np.array([str(one.pop(name, "")) for one in parsed], object)[which] for name in names}
    rest = np.array([json.dumps(one, sort_keys=True) for one in parsed], object)[which]
    return {**rows, **found, "setting": rest}


def where(rows: Columns, chosen: NDArray[np.bool_]) -> Columns:
    """The rows that are chosen."""
    return {name: column[chosen] for name, column in rows.items()}


def _plain(label: str, names: Mapping[str, str]) -> str:
    name = label.partition(":")[0]
    return names.get(name, name)


def varied(setting: Mapping[str, Any]) -> dict[str, str]:
    """What papers vary of a model beside its encoder: an attention that is not the usual one is a key."""
    keys = {}
    if (setting.get("attention") or "additive") != "additive":
        keys["attention"] = str(setting["attention"])
    if setting.get("distribution") == "uniform":
        keys["attention"] = "uniform"
    return keys


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value


NUMBERS: Table[Numbers] = Table(
    "test that papers print numbers of",
    {
        "performance": performance,
        "sizes": sizes,
        "agreement": agreement,
        "uniform_performance": performance,
        "uniform": "faithgauge.papers.retrained:uniform",
        "seed_variance": "faithgauge.papers.retrained:seed_variance",
        "guides": "faithgauge.papers.retrained:guides",
        "trained_adversary": "faithgauge.papers.retrained:trained_adversary",
        "attefa": "faithgauge.papers.adversaries:attefa",
        "permutation": "faithgauge.papers.attacked:permutation",
        "adversarial_search": "faithgauge.papers.attacked:adversarial_search",
        "exact_adversary": "faithgauge.papers.attacked:exact_adversary",
        "recursive_roar": "faithgauge.papers.roar_numbers:recursive_roar",
        "roar": "faithgauge.papers.roar_numbers:roar",
        "recursive_roar_by_count": "faithgauge.papers.roar_numbers:recursive_roar_by_count",
        "masked_training": "faithgauge.papers.roar_numbers:masked_training",
        "roar_shortcuts": "faithgauge.papers.roar_numbers:shortcuts",
        "sparsity": "faithgauge.papers.roar_numbers:sparsity",
        "roar_synthetic": "faithgauge.papers.roar_numbers:synthetic",
    },
)
"""By test (of `plans.grid.TESTS`): from the rows that it writes to numbers as papers print them."""
