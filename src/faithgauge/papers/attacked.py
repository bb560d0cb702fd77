"""From the rows of permuted and adversarial attention to numbers as papers print or plot them.

Texts are plotted against their largest attention, by the class that is predicted: so numbers are made for all
texts, for each class, and for each quarter of [0, 1] that the largest attention of a text lies in. Numbers of
the exact adversary, and of an ε that is not the printed one, say so in their keys and take no part in claims
about the search.

Paper: jain-wallace-2019, section 4.2, figures 3 to 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from faithgauge.papers.cells import Ours
from faithgauge.papers.tidy import RESAMPLES, Columns, Group, Known, _ratio, groups, varied, where
from faithgauge.stats.interval import crossed

Floats = NDArray[np.float64]

FAR = 0.6
"""The JSD from which on adversarial attention counts as entirely different; it is at most ln 2 = 0.69."""
QUESTIONS = ("cnn", "babi")
PRINTED = {"questions": 0.05, "texts": 0.01}
"""The ε in print: of question answering, and of everything else."""
QUARTERS = ("0–0.25", "0.25–0.5", "0.5–0.75", "0.75–1")
MEASURES = ("epsilon_max_jsd", "epsilon_max_jsd_lower", "epsilon_max_jsd_upper")


def permutation(rows: Columns, known: Known) -> list[Ours]:
    """The median over texts of the median change of the output; by class, and by largest attention too."""
    found: list[Ours] = []
    for group, keys, largest in _grouped(rows, known, ("permutation_tvd",)):
        for quarter, inside in _quarters(largest):
            values = np.where(inside, group.values, np.nan)
            found += _number(group, "permutation_tvd", keys | quarter, values=values, of=_median)
    return found


def adversarial(rows: Columns, known: Known, *, adversary: str) -> list[Ours]:
    """Of the ε-max JSD the mean, the share of texts for which it is far, and how it goes with attention.

    The mean is also told by the largest attention of the texts; the correlation is Spearman's.
    """
    mark = f'"adversary":"{adversary}"'
    own = where(rows, np.array([mark in setting for setting in rows["setting"]], dtype=bool))
    found: list[Ours] = []
    for group, keys, largest in _grouped(own, known, MEASURES):
        metric = keys.pop("measure")
        if adversary != "search":
            keys["adversary"] = adversary
        for quarter, inside in _quarters(largest):
            values = np.where(inside, group.values, np.nan)
            found += _number(group, metric, keys | quarter, values=values, of=_mean)
        far = np.where(np.isnan(group.values), np.nan, group.values >= FAR)
        share = metric.replace("epsilon_max_jsd", "adversarial_share")
        found += _number(group, share, keys, values=far, of=_mean)
        pair = keys | {"measure_a": "max_attention", "measure_b": metric}
        found += _number(group, "spearman", pair, values=group.values, of=partial(_spearman, largest))
    return found


adversarial_search = partial(adversarial, adversary="search")
exact_adversary = partial(adversarial, adversary="exact")


def _grouped(
    rows: Columns, known: Known, measures: tuple[str, ...]
) -> Iterator[tuple[Group, dict[str, str], Floats]]:
    """The values of all texts and of those of each class, with keys and the texts' largest attention."""
    chosen = where(rows, np.isin(rows["measure"].astype(str), measures))
    beside = {**chosen, "value": _largest(chosen, rows)}
    for by in (("measure",), ("measure", "class")):
        for (own, group), (_, largest) in zip(groups(chosen, by), groups(beside, by), strict=True):
            keys = {**varied(group.setting), **_of_epsilon(group), "measure": own["measure"]}
            if "class" in own:
                order = list(known.classes.get(group.dataset, ()))
                if own["class"] not in order:
                    continue
                keys["class"] = str(order.index(own["class"]))
            if "side" in group.setting:
                keys["side"] = str(group.setting["side"])
            if "permuted" in group.setting:  # of a transformer
                keys["permuted"] = str(group.setting["permuted"])
            if measures == ("permutation_tvd",):
                del keys["measure"]
            yield group, keys, largest.values


def _largest(chosen: Columns, rows: Columns) -> Floats:
    """The largest attention of the text of each row, from the rows of the same job that say it."""
    beside = where(rows, rows["measure"] == "max_attention")
    known = dict(zip(_texts(beside), beside["value"].tolist(), strict=True))
    return np.array([known.get(text, np.nan) for text in _texts(chosen)], dtype=np.float64)


def _texts(rows: Columns) -> Iterator[tuple[str, str, str]]:
    side = ["second" if '"side":"second"' in setting else "first" for setting in rows["setting"]]
    return zip(rows["job"].tolist(), rows["example"].tolist(), side, strict=True)


def _of_epsilon(group: Group) -> dict[str, str]:
    """ε is a key where it is not the one in print."""
    epsilon = group.setting.get("epsilon")
    kind = "questions" if group.dataset.startswith(QUESTIONS) else "texts"
    return {} if epsilon in (None, PRINTED[kind]) else {"epsilon": str(epsilon)}


def _quarters(largest: Floats) -> Iterator[tuple[dict[str, str], NDArray[np.bool_]]]:
    """All texts, then those of each quarter; a largest attention of 1 is in the last one."""
    yield {}, np.ones(largest.shape, bool)
    which = np.minimum(np.nan_to_num(largest, nan=-1) * len(QUARTERS), len(QUARTERS) - 1)
    for number, name in enumerate(QUARTERS):
        yield {"max_attention": name}, (which >= number) & (which < number + 1)


def _number(
    group: Group,
    metric: str,
    keys: Mapping[str, str],
    *,
    values: Floats,
    of: Callable[[Floats], tuple[Floats, Callable[[Floats], Floats]]],
) -> list[Ours]:
    """One number with its interval over texts and seeds; none where no text has a value."""
    columns, statistic = of(values)
    there = np.asarray(~np.isnan(columns).any(-1, keepdims=True))
    seeds, texts = (np.flatnonzero(there[..., 0].any(axis=axis)) for axis in (1, 0))
    if not len(seeds):
        return []
    used = np.ix_(seeds, texts)
    table = np.concatenate([np.where(there, columns, 0.0), there], -1)[used]
    interval = crossed(table, seed=0, statistic=statistic, resamples=RESAMPLES)
    counted = replace(group, values=np.where(there[..., 0], values, np.nan)[used])
    return [counted.ours(metric, keys, interval=interval, spread=None)]


def _mean(values: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    return values[..., None], _ratio


def _median(values: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    def statistic(drawn: Floats) -> Floats:
        """From (resample, instance, [value, is there])."""
        count = drawn[..., 1].sum(1).astype(np.int64)
        ordered = np.sort(np.where(drawn[..., 1] > 0, drawn[..., 0], np.inf), axis=1)
        middle = np.stack([np.maximum(count - 1, 0) // 2, count // 2], -1)
        both = np.take_along_axis(ordered, np.minimum(middle, ordered.shape[1] - 1), 1)
        return np.where(count > 0, both.mean(1), np.nan)

    return values[..., None], statistic


def _spearman(largest: Floats, values: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Of ranks among all texts, which are not ranked anew when texts are drawn again."""
    there = ~(np.isnan(largest) | np.isnan(values))
    ranks = np.full((2, *values.shape), np.nan)
    for seed, own in enumerate(there):
        for axis, of in enumerate((largest, values)):
            if own.any():
                rank = rankdata(of[seed, own])
                ranks[axis, seed, own] = rank - rank.mean()
    x, y = ranks

    def statistic(drawn: Floats) -> Floats:
        """From (resample, instance, [x, y, x², y², xy, is there])."""
        sums = drawn.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            x, y, xx, yy, xy = (sums[:, :5] / sums[:, 5:]).T
            spread = np.sqrt(np.maximum(xx - x * x, 0) * np.maximum(yy - y * y, 0))
            correlation: Floats = (xy - x * y) / spread
        return correlation

    return np.stack([x, y, x * x, y * y, x * y], -1), statistic
