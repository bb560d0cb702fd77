"""The numbers of Wiegreffe & Pinter from result rows: uniform attention, seeds, guides, adversaries by λ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from faithgauge.papers.cells import Ours, canonical
from faithgauge.papers.tidy import RESAMPLES, Columns, Group, Known, apart, groups, where
from faithgauge.stats.interval import crossed, percentile

UNIFORM = {"attention": "uniform"}
DISTANCES = {"output_distance": "tvd", "attention_jsd": "jsd"}
FAR = {
    "far_f1_positive": "far_f1_positive",
    "far_output_distance": "far_tvd",
    "far_attention_jsd": "far_jsd",
    "far_lambda": "far_lambda",
}
"""Of the adversary with the best F1 among those whose mean JSD is above 0.4 (table 4's rule)."""
OWN = ("against", "base_seed", "lambda", "guide", "guided_by", "seeds")


def uniform(rows: Columns, known: Known) -> list[Ours]:  # noqa: ARG001 one shape for all
    """Table 2: F1 with trained and with uniform attention, their difference, and the distances of the two."""
    own = apart(rows, (*OWN, "distribution"))
    plain = where(own, _plain(own))
    found = [*_f1(where(plain, plain["distribution"] != "uniform"), {"split": "test"})]
    found += _f1(where(plain, plain["distribution"] == "uniform"), {"split": "test", **UNIFORM})
    found += _distances(where(own, own["against"] == "uniform"), UNIFORM)
    for metric in ("f1_positive", "accuracy"):
        ends = [f"{metric}_gap{end}" for end in ("", "_low", "_high")]
        tables = [{g.name: g for _, g in groups(where(own, own["measure"] == end), ())} for end in ends]
        for name, group in tables[0].items():
            low, high = (float(table[name].values[0, 0]) for table in tables[1:])
            one = group.single(ends[0], UNIFORM, float(group.values[0, 0]))
            seeds = next(iter(set(where(own, own["measure"] == ends[0])["seeds"])))
            found.append(replace(one, low=low, high=high, n_seeds=int(seeds)))
    return found


def seed_variance(rows: Columns, known: Known) -> list[Ours]:
    """Of each text the largest JSD from the first seed's attention to another's: the mean over texts."""
    own = apart(rows, OWN)
    chosen = where(own, (own["against"] == "seed") & (own["measure"] == "attention_jsd"))
    found = []
    for by in ((), ("class",)):
        for column, group in groups(chosen, by):
            with np.errstate(invalid="ignore"):
                largest = np.where(np.isnan(group.values), -np.inf, group.values).max(0)
            interval = percentile(largest[np.isfinite(largest)], seed=0, resamples=RESAMPLES)
            keys = _class(column, group, known)
            if keys is not None:
                one = group.ours("seed_jsd", keys, interval=interval, spread=None)
                found.append(one)
    return found


def guides(rows: Columns, known: Known) -> list[Ours]:  # noqa: ARG001 one shape for all
    """Table 3: F1 of the token-wise model by whose attention guides it."""
    own = apart(rows, (*OWN, "distribution"))
    found: list[Ours] = []
    for guide in dict.fromkeys(own["guide"].astype(str)):
        if guide:
            weight = {"lambda": "0.001"} if guide == "adversary" else {}
            found += _f1(where(own, own["guide"] == guide), {"guide": guide, **weight})
    return found


def trained_adversary(rows: Columns, known: Known) -> list[Ours]:
    """Tables 4 and 5: F1, TVD and JSD by λ; the form of the curve; the best adversary that is far away."""
    own = apart(rows, (*OWN, "distribution"))
    found = [*_f1(where(own, _plain(own) & (own["distribution"] != "uniform")), {"split": "test"})]
    opposed = where(own, own["against"] == "adversary")
    for weight in dict.fromkeys(opposed["lambda"].astype(str)):
        if weight:
            keys, chosen = {"lambda": canonical(weight)}, where(opposed, opposed["lambda"] == weight)
            found += [*_f1(chosen, keys), *_distances(chosen, keys)]
    for measure, metric in FAR.items():
        for _, group in groups(where(opposed, opposed["measure"] == measure), ()):
            found.append(group.over_seeds(metric, {}))
    areas = where(opposed, opposed["measure"] == "chord_area")
    for column, group in groups(areas, ("class",)):
        keys_of = _class(column, group, known)
        if keys_of is not None:
            found.append(group.over_seeds("chord_area", keys_of))
    return found


def _plain(rows: Columns) -> np.ndarray:
    """Of the models themselves: neither compared with others nor guided."""
    return np.asarray((rows["against"] == "") & (rows["guide"] == "") & (rows["seeds"] == ""))


def _f1(rows: Columns, keys: Mapping[str, str]) -> Iterator[Ours]:
    chosen = where(rows, (rows["measure"] == "f1_positive") & (rows["split"] == "test"))
    for _, group in groups(chosen, ()):
        yield group.over_seeds("f1_positive", keys)


def _distances(rows: Columns, keys: Mapping[str, str]) -> Iterator[Ours]:
    """The mean over texts and seeds, with an interval over texts, and over seeds where there are three."""
    for measure, metric in DISTANCES.items():
        for _, group in groups(where(rows, rows["measure"] == measure), ()):
            interval = crossed(group.values, seed=0, resamples=RESAMPLES)
            values = group.by_seed()
            spread = float(values.std()) if len(values) > 1 else None
            yield group.ours(metric, keys, interval=interval, spread=spread)


def _class(column: Mapping[str, str], group: Group, known: Known) -> dict[str, str] | None:
    """The key of a class by its number; none of all classes together, nothing for one that is not known."""
    name = column.get("class", "None")
    if name == "None":
        return {}
    order = list(known.classes.get(group.dataset, ()))
    return {"class": str(order.index(name))} if name in order else None
