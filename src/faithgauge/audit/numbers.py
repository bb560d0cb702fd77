"""From result rows to the numbers of an audit: each with its interval, what it is held against, a sentence.

A difference is turned so that higher is better. Intervals are over texts, and over seeds from three seeds on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from faithgauge.audit.rows import Rows
from faithgauge.audit.verdict import DELTA, SHARE_OF_CAP
from faithgauge.stats.holm import holm
from faithgauge.stats.interval import Interval, crossed, crossed_p, student

RESAMPLES = 1_999
RANDOM, BASE = "random order", "base model"
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Number:
    """One measured number; `baseline` is what it is held against, `against` what that is.

    `n` counts texts, or models where the number is one of whole models. `p` is Holm's, of those that decide.
    """

    measure: str
    value: float
    low: float
    high: float
    baseline: float
    against: str
    n: int
    seeds: int
    sentence: str
    explainer: str = ""
    p: float = nan
    test: str = ""
    says_not: str = ""


@dataclass(frozen=True)
class Known:
    """What rows do not say of themselves: the explainers that are judged, in order, and the classes."""

    explainers: tuple[str, ...]
    classes: tuple[str, ...] = ()


def masking(rows: Rows, known: Known) -> list[Number]:
    """How much more the output depends on the first tokens of an explanation than on random ones."""
    return _erasing(rows, known, "mask")


def deleting(rows: Rows, known: Known) -> list[Number]:
    """The same with tokens deleted instead of masked."""
    return _erasing(rows, known, "delete")


def _erasing(rows: Rows, known: Known, by: str) -> list[Number]:
    done = {"mask": "masked", "delete": "deleted"}[by]
    found = []
    for measure, sign, words in (
        ("comprehensiveness", 1, f"With its first words {done} the output falls by {{0}} {{1}}"),
        ("sufficiency", -1, f"With all but its first words {done} the output falls by {{0}} {{2}}"),
    ):
        numbers = []
        for explainer in known.explainers:
            table = sign * rows.by_text(measure, explainer, RANDOM, erased_by=by)
            if not table.size:
                continue
            one = interval(table)
            p = crossed_p(table, seed=0, resamples=RESAMPLES)
            kind = ("more", "less") if one.value > 0 else ("less", "more")
            said = words.format(f"{abs(one.value):.3f}", *kind)
            numbers.append(
                number(
                    measure,
                    one,
                    (0.0, RANDOM),
                    sentence=f"{said} than in random order {range_of(one)}.",
                    explainer=explainer,
                )
            )
            numbers[-1] = replace(numbers[-1], p=p)
        corrected = holm([one.p for one in numbers])
        found += [replace(one, p=p) for one, p in zip(numbers, corrected, strict=True)]
    return found


def evidence(rows: Rows, known: Known) -> list[Number]:
    """How much of the known evidence an explanation puts first, beyond what a random order does."""
    found = []
    for explainer in known.explainers:
        if (table := rows.by_text("evidence_recall", explainer, RANDOM)).size:
            one = interval(table)
            whole = float(np.nanmean(rows.by_text("evidence_recall", explainer)))
            said = f"It puts {whole:.0%} of the known evidence first, {one.value:+.2f} beside random order"
            found.append(
                number(
                    "evidence_recall",
                    one,
                    (0.0, RANDOM),
                    sentence=f"{said} {range_of(one)}.",
                    explainer=explainer,
                )
            )
    return found


def agreement(rows: Rows, known: Known) -> list[Number]:
    """How far each explanation agrees with the others, beside what it agrees with itself of another seed."""
    pairs = {pair: rows.by_text("kendall_tau", *pair) for pair in rows.pairs("kendall_tau")}
    found = []
    for explainer in known.explainers:
        own = [
            table
            for pair, table in pairs.items()
            if explainer in pair and pair[0] != pair[1] and not _silent(pair, explainer)
        ]
        if not own:
            continue
        one = interval(_mean_of(own))
        again = pairs.get((explainer, explainer))
        floor = 0.0 if again is None else float(np.nanmean(again))
        said = f"Kendall's τ with the other explanations is {one.value:.2f} on average {range_of(one)}"
        beside = "" if again is None else f", with itself of another seed {floor:.2f}"
        against = "random order" if again is None else "itself, another seed"
        found.append(
            number("kendall_tau", one, (floor, against), sentence=f"{said}{beside}.", explainer=explainer)
        )
    return found


def stability(rows: Rows, known: Known) -> list[Number]:
    """How far an explanation agrees with itself when the model is trained again with another seed."""
    found = []
    for explainer in known.explainers:
        if (table := rows.by_text("kendall_tau", explainer, explainer)).size:
            one = interval(table)
            said = f"Kendall's τ with itself, of another seed's model, is {one.value:.2f} {range_of(one)}."
            found.append(number("kendall_tau_again", one, (0.0, RANDOM), sentence=said, explainer=explainer))
    return found


def performance(rows: Rows, known: Known) -> list[Number]:
    """How well the model recognises the classes, beside always naming one of them."""
    right = rows.by_text("right")
    if not right.size:
        return []
    names = np.array(rows.classes("right"))
    classes = [name for name in known.classes or tuple(dict.fromkeys(names)) if (names == name).any()]
    one_hot = np.stack([names == name for name in classes], -1).astype(np.float64)
    table = np.concatenate(
        [right[..., None] * one_hot, np.broadcast_to(one_hot, (len(right), *one_hot.shape))], -1
    )
    one = crossed(table, seed=0, statistic=_balanced, resamples=RESAMPLES)
    one = replace(one, n=right.size)
    constant = 1 / len(classes)
    accuracy, most = float(right.mean()), float(one_hot.mean(0).max())
    said = (
        f"The model recognises {one.value:.0%} of each class on average {range_of(one)}; always naming "
        f"one class does {constant:.0%}. It is right on {accuracy:.1%} of "
        f"the texts; {most:.1%} of them are of the largest class."
    )
    return [number("balanced_accuracy", one, (constant, "constant predictor"), sentence=said)]


def uniform(rows: Rows, known: Known) -> list[Number]:  # noqa: ARG001
    """How much better the model does with its attention than with uniform attention."""
    for name in ("f1_positive", "accuracy"):
        ends = [rows.whole(f"{name}_gap{end}", "", BASE) for end in ("", "_low", "_high")]
        if all(len(end) for end in ends):
            (value, low, high), n = (float(end[0]) for end in ends), _texts(rows)
            seeds = (rows.told(f"{name}_gap", "seeds", BASE) or [1])[0]
            said = (
                f"With its attention the model does {value:+.3f} beside uniform attention ({_named(name)}, "
                f"{low:+.3f} to {high:+.3f})."
            )
            one = Number(f"{name}_gap", value, low, high, 0.0, "uniform attention", n, int(seeds), said)
            return [one]
    return []


def seed_variance(rows: Rows, known: Known) -> list[Number]:  # noqa: ARG001
    """How far the attention of models of other seeds is from that of the first."""
    table = rows.by_text("attention_jsd", "", BASE, against="seed")
    if not table.size:
        return []
    one, moved = interval(table), rows.by_text("output_distance", "", BASE, against="seed")
    said = (
        f"Trained again with another seed, the model's attention moves by {one.value:.3f} {range_of(one)} "
        f"(Jensen–Shannon, at most 0.693) and its output by {np.nanmean(moved):.3f}."
    )
    return [number("attention_jsd", one, (0.0, "the same attention"), sentence=said)]


def trained_adversary(rows: Rows, known: Known) -> list[Number]:  # noqa: ARG001
    """How far the attention of an adversary gets that says nearly the same, beside that of other seeds."""
    seeds = rows.by_text("attention_jsd", "", BASE, against="seed")
    usual = float(np.nanmean(seeds)) if seeds.size else nan
    found = []
    for weight in rows.told("attention_jsd", "lambda", BASE):
        here = {"against": "adversary", "lambda": weight}
        one = interval(rows.by_text("attention_jsd", "", BASE, **here))
        moved = interval(rows.by_text("output_distance", "", BASE, **here))
        beside = "" if isnan(usual) else f"; that of other seeds is {usual:.3f} away"
        said = (
            f"An adversary (λ {weight:g}) attends {one.value:.3f} away {range_of(one)}{beside}, and its "
            f"output moves by {moved.value:.3f}, at most {moved.high:.3f}."
        )
        name = "attention_jsd" if moved.high <= DELTA else "attention_jsd_at_a_cost"
        found.append(number(name, one, (usual, "other seeds"), sentence=said))
    return found


def attefa(rows: Rows, known: Known) -> list[Number]:  # noqa: ARG001
    """AtteFa as a share of what it can be: what it costs to make a model attend elsewhere."""
    values = rows.whole("attefa_adjusted", "", BASE)
    known_values = values[~np.isnan(values)]
    if not len(values):
        return []
    one, cap = student(values), float(np.nanmean(rows.whole("attefa_cap", "", BASE)))
    if not len(known_values):
        said = "AtteFa has no number here: the constant predictor moves no less than its attention."
    else:
        raw = float(np.nanmean(rows.whole("attefa_best", "", BASE)))
        said = (
            f"AtteFa is {raw:.2f} of at most {cap:.2f}: the best adversary pays {one.value:.0%} of what the "
            f"constant predictor pays for attending elsewhere{'' if isnan(one.low) else ' ' + range_of(one)}."
        )
    return [number("attefa_adjusted", one, (SHARE_OF_CAP, "half of its cap"), sentence=said)]


def guides(rows: Rows, known: Known) -> list[Number]:  # noqa: ARG001
    """Whether the attention helps a model that reads one word at a time."""
    for name in ("f1_positive", "accuracy"):
        guided, even = rows.whole(name, guide="base"), rows.whole(name, guide="uniform")
        if len(guided) and len(guided) == len(even) and not np.isnan(guided).all():
            one = student(guided - even)
            said = (
                f"A model that reads word by word does {one.value:+.3f} with this attention beside uniform "
                f"weights ({_named(name)}{'' if isnan(one.low) else ', ' + _ends(one)})."
            )
            return [number(f"{name}_guided", one, (0.0, "uniform weights"), sentence=said)]
    return []


def _balanced(drawn: Floats) -> Floats:
    """The mean over classes of the share that is right, from (resample, text, [right, there] by class)."""
    sums = drawn.sum(axis=1)
    classes = sums.shape[-1] // 2
    with np.errstate(invalid="ignore", divide="ignore"):
        recall = sums[:, :classes] / sums[:, classes:]
    found: Floats = np.nansum(recall, -1) / np.maximum((~np.isnan(recall)).sum(-1), 1)
    return found


def interval(table: Floats) -> Interval:
    return crossed(table, seed=0, resamples=RESAMPLES)


def number(
    measure: str, one: Interval, held: tuple[float, str], *, sentence: str, explainer: str = ""
) -> Number:
    """A number `held` against a baseline; `n` is that of texts: those of several seeds count once."""
    n = one.n // max(one.n_seeds, 1)
    return Number(measure, one.value, one.low, one.high, *held, n, one.n_seeds, sentence, explainer)


def _mean_of(tables: Sequence[Floats]) -> Floats:
    """The mean over pairs where any has a number."""
    whole = np.stack(tables)
    there = (~np.isnan(whole)).sum(0)
    found: Floats = np.where(there > 0, np.nansum(whole, 0) / np.maximum(there, 1), nan)
    return found


def _silent(pair: tuple[str, str], explainer: str) -> bool:
    """Random agrees with nobody: it is left out of the mean of the others."""
    (other,) = set(pair) - {explainer}
    return other.partition(":")[0] == "random"


def _texts(rows: Rows) -> int:
    return len(rows.texts("right"))


def _named(metric: str) -> str:
    return {"f1_positive": "F1", "accuracy": "accuracy"}[metric]


def range_of(one: Interval) -> str:
    return f"({_ends(one)})" if not isnan(one.low) else "(no interval)"


def _ends(one: Interval) -> str:
    return f"{one.low:.3f} to {one.high:.3f}"
