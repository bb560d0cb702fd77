"""From evaluations of retrained models to result rows: curves, their areas, and what several seeds say.

A row of a curve has its step in the column `fraction`, or as `count` in its setting where tokens are counted.
The arithmetic is that of `faithfulness.roar` and `stats`; here it gets its coordinates.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithgauge import results
from faithgauge.errors import DataError
from faithgauge.faithfulness.masking import Amount
from faithgauge.faithfulness.roar import faithfulness
from faithgauge.faithfulness.sparsity import sparsity
from faithgauge.measured import about
from faithgauge.models.store import Trained
from faithgauge.stats.above_zero import above_zero
from faithgauge.stats.holm import holm
from faithgauge.stats.interval import bca, student
from faithgauge.stats.rank import kendall, spearman
from faithgauge.types import Ragged, Split

Row = dict[str, Any]

RANDOM, NULL = "random", "random_2"
SYNTHETIC = "roar-synthetic"
SIGNIFICANT = 0.05
UNDEFINED = "no text has a score that is not 0"
AREAS = ("faithfulness", "masked_training_curve")
"""The measures that are areas below random: of models trained again, and of one trained on masked texts."""
WHERE = ("dataset", "split", "model", "seed")


@dataclass(frozen=True)
class Evaluated:
    """What an evaluation says of one split: its coordinates, its setting, and the metrics."""

    where: Row
    setting: Mapping[str, Any]
    metrics: Mapping[str, float]


def evaluated(folder: Path, split: str) -> Evaluated:
    """Read back what `Evaluate` wrote."""
    rows = [row for row in rows_of(folder) if row["split"] == split]
    if not rows:
        raise DataError(f"expected an evaluation on {split}, found none; the data have no such split")
    where = {name: rows[0][name] for name in WHERE}
    return Evaluated(where, json.loads(rows[0]["setting"]), {row["measure"]: row["value"] for row in rows})


def main_metric(metrics: Mapping[str, float], wanted: str | None) -> str:
    """The one whose curve is measured: F1 (macro) where there are two classes, accuracy where more."""
    return wanted or ("accuracy" if isnan(metrics["f1_positive"]) else "f1_macro")


def curve_rows(points: Mapping[str, Mapping[str, Evaluated]], setting: Mapping[str, Any]) -> Iterator[Row]:
    """Every metric at every step of every explainer."""
    for explainer, steps in points.items():
        for step, one in steps.items():
            own = {"explainer": explainer, **_step(one, step, setting)}
            for measure, value in one.metrics.items():
                yield own | {"measure": measure, "value": value, "reason": _reason(value)}


def area_rows(
    points: Mapping[str, Mapping[str, Evaluated]],
    floor: Evaluated,
    *,
    setting: Mapping[str, Any],
    metric: str,
    name: str,
) -> Iterator[Row]:
    """The area of each explainer below random, as it is and clipped."""
    curves = {label: _curve(steps, metric) for label, steps in points.items()}
    for label, curve in curves.items():
        if label != RANDOM:
            area = faithfulness(curve, curves[RANDOM], floor.metrics[metric])
            own = floor.where | {
                "explainer": label,
                "versus": RANDOM,
                "setting": _text({**floor.setting, **setting, "metric": metric}),
                "reason": area.reason,
            }
            yield own | {"measure": name, "value": area.value}
            yield own | {"measure": f"{name}_clipped", "value": area.clipped}


def unscored_row(full: Evaluated, explainer: str, texts: int, *, setting: Mapping[str, Any]) -> Row:
    """How many texts had a token without a score, which was masked after all others."""
    own = {"explainer": explainer, "setting": _text({**full.setting, **setting})}
    return full.where | own | {"measure": "unscored_texts", "value": float(texts), "reason": None}


def sparsity_rows(
    trained: Trained,
    split: Split,
    explainer: str,
    *,
    scores: Ragged,
    steps: tuple[Sequence[int], Sequence[float]],
    setting: Mapping[str, Any],
) -> Iterator[Row]:
    """The mean over texts of what the most important tokens have, by count and by fraction.

    How many texts have no such share, as all their scores are 0, is a row of its own.
    """
    counts, fractions = steps
    amounts = [*(Amount(count=n) for n in counts), *(Amount(x) for x in fractions)]
    found = sparsity(scores, amounts)
    for amount, values in zip(amounts, found, strict=True):
        known = values[~np.isnan(values)]
        counted = {} if amount.count is None else {"count": amount.count}
        yield about(trained, split, {**setting, **counted}) | {
            "explainer": explainer,
            "fraction": amount.fraction,
            "measure": "sparsity",
            "value": float(known.mean()) if len(known) else nan,
            "reason": None if len(known) else UNDEFINED,
        }
    undefined = {"explainer": explainer, "measure": "sparsity_undefined", "reason": None}
    yield about(trained, split, setting) | undefined | {"value": float(np.isnan(found[0]).sum())}


def shortcut(full: Iterable[Row], cheap: Iterable[Row], name: str) -> Iterator[Row]:
    """By explainer the area of a cheaper road less that of the full one, and the correlation of their ranks.

    The second random order takes no part in the correlation: an explainer is to be told from others.
    """
    ours, theirs = (
        {(row["split"], row["explainer"]): row for row in rows if row["measure"] in AREAS}
        for rows in (full, cheap)
    )
    for split in dict.fromkeys(split for split, _ in ours):
        pairs = {label: (ours[split, label], theirs[split, label]) for s, label in ours if s == split}
        where = next(iter(pairs.values()))[1]
        setting = _text({**json.loads(where["setting"]), "shortcut": name})
        same = {key: where[key] for key in WHERE} | {"setting": setting}
        for label, (own, other) in pairs.items():
            reason = other["reason"] or own["reason"]
            error = other["value"] - own["value"]
            yield same | {"explainer": label, "measure": "shortcut_error", "value": error, "reason": reason}
        ranked = [pair for label, pair in pairs.items() if label != NULL]
        first, second = (np.array([pair[side]["value"] for pair in ranked]) for side in (0, 1))
        for measure, correlation in (("shortcut_kendall_tau", kendall), ("shortcut_spearman", spearman)):
            ends = np.array([0, len(ranked)])
            found = correlation(Ragged(first, ends), Ragged(second, ends))
            reason = None if found.reasons()[0] is None else "fewer than two explainers have different areas"
            yield same | {"measure": measure, "value": float(found.value[0]), "reason": reason}


def synthetic_rows(curves: Mapping[str, Sequence[float]], seed: int) -> Iterator[Row]:
    """Accuracy by the share of the features that are removed, for each order of their removal."""
    where = {"dataset": SYNTHETIC, "split": "test", "model": "logistic", "seed": seed, "measure": "accuracy"}
    for name, curve in curves.items():
        masking = "recursive" if name == "recursive_roar" else "plain"
        own = {"explainer": name if name in ("truth", "worst") else "weights"}
        for i, value in enumerate(curve):
            step = {"fraction": i / (len(curve) - 1), "setting": _text({"masking": masking})}
            yield where | own | step | {"value": value, "reason": None}


def rows_of(folder: Path) -> list[Row]:
    """The rows that a job wrote."""
    rows: list[Row] = results.read(folder / results.ROWS, "").drop_columns("job").to_pylist()
    return rows


def over_seeds(rows: Iterable[Row]) -> Iterator[Row]:
    """Of what `curve_rows` and `area_rows` say of each seed: means, intervals, and tests against random.

    Intervals are those of the bootstrap over seeds, corrected (BCa), and Student's (``_student``). At each
    step between the first and the last it is tested whether the random curve is above that of the explainer
    (`below_random`) or below it: masking may have told the label (`class_leakage`, 1 where significant). All
    tests of one kind and one data set are adjusted together, after Holm.
    """
    every = list(rows)
    areas: dict[tuple[str, ...], list[Row]] = {}
    for row in every:
        if row["measure"].removesuffix("_clipped") in AREAS:
            areas.setdefault((row["split"], row["measure"], row["explainer"]), []).append(row)
    for own in areas.values():
        yield from _summary(own)
    for split in dict.fromkeys(row["split"] for row in every):
        yield from _tests([row for row in every if row["split"] == split])


def leakage(gold: Iterable[Row], predicted: Iterable[Row], explainers: Collection[str]) -> Iterator[Row]:
    """What the curves of both labels, those of the same seeds, say of the gold label.

    `leakage` is, at each step, how much better models do that were trained on texts masked by explanations of
    the gold label, the mean over seeds with Student's interval; `leakage_p_holm` asks whether it is above 0,
    adjusted for all explainers and steps of a split. `leakage_area` is how much more faithful an explainer
    looks where the predicted label is explained. `explainers` are those that ask for a class.
    """
    ours, theirs = _by_place(gold), _by_place(predicted)
    tested: list[tuple[Row, float]] = []
    for place in (place for place in ours if place[-1] in explainers):
        gaps = np.array([row["value"] - theirs[place][seed]["value"] for seed, row in ours[place].items()])
        rows = [*ours[place].values(), *theirs[place].values()]
        where = _of_all(list(ours[place].values()))
        where["setting"] = _text({**json.loads(where["setting"]), "against": "predicted"})
        if place[1] is None:
            yield from _gap("leakage_area", where, -gaps, rows)
        else:
            yield from _gap("leakage", where, gaps, rows)
            tested.append((where, above_zero(gaps.tolist())))
    for split in dict.fromkeys(where["split"] for where, _ in tested):
        own = [one for one in tested if one[0]["split"] == split]
        for (where, _), p in zip(own, holm([p for _, p in own]), strict=True):
            yield where | {
                "measure": "leakage_p_holm",
                "value": p,
                "reason": "one seed" if isnan(p) else None,
            }


def _gap(name: str, where: Row, gaps: NDArray[np.float64], rows: Sequence[Row]) -> Iterator[Row]:
    """The mean of these over seeds, with Student's interval; `rows` are those that they come of."""
    found = student(gaps)
    missing = "; ".join(sorted({row["reason"] for row in rows if row["reason"]})) or "one seed"
    for end, value in {"": found.value, "_low": found.low, "_high": found.high}.items():
        yield where | {"measure": name + end, "value": value, "reason": missing if isnan(value) else None}


def _by_place(rows: Iterable[Row]) -> dict[tuple[Any, ...], dict[int, Row]]:
    """By split, step (None of an area) and explainer the rows of all seeds, but for the steps they share."""
    every = list(rows)
    metrics = {row["split"]: json.loads(row["setting"])["metric"] for row in every if row["measure"] in AREAS}
    found: dict[tuple[Any, ...], dict[int, Row]] = {}
    for row in every:
        step = None
        if row["measure"] not in AREAS:
            step = _place(row) if row["measure"] == metrics.get(row["split"]) else 0.0
        if step != 0 and row.get("fraction") != 1:
            found.setdefault((row["split"], step, row["explainer"]), {})[row["seed"]] = row
    return found


def _summary(rows: Sequence[Row]) -> Iterator[Row]:
    values = np.array([row["value"] for row in rows], np.float64)
    corrected, usual = bca(values, seed=0), student(values)
    numbers = {
        "mean": corrected.value,
        "low": corrected.low,
        "high": corrected.high,
        "student_low": usual.low,
        "student_high": usual.high,
    }
    reasons = {row["reason"] for row in rows if row["reason"]}
    missing = "; ".join(sorted(reasons)) or "one seed"
    for name, value in numbers.items():
        yield _of_all(rows) | {
            "measure": f"{rows[0]['measure']}_{name}",
            "value": value,
            "reason": missing if isnan(value) else None,
        }


def _tests(rows: Sequence[Row]) -> Iterator[Row]:
    """Each explainer against random at each step that is not shared, over the seeds of one split."""
    metric = next(json.loads(row["setting"])["metric"] for row in rows if row["measure"] in AREAS)
    points: dict[str, dict[Any, dict[int, Row]]] = {}
    for row in rows:
        if row["measure"] == metric:
            place = points.setdefault(row["explainer"], {}).setdefault(_place(row), {})
            place[row["seed"]] = row
    random = points.pop(RANDOM)
    ends = (min(random), max(random)) if any(row["fraction"] == 1 for row in rows) else (min(random),)
    cases = [
        (list(own.values()), [random[step][seed]["value"] - row["value"] for seed, row in own.items()])
        for steps in points.values()
        for step, own in steps.items()
        if step not in ends
    ]
    below = [above_zero(gaps) for _, gaps in cases]
    above = [above_zero([-gap for gap in gaps]) for _, gaps in cases]
    adjusted = zip(cases, below, holm(below), holm(above), strict=True)
    for (own, gaps), p, p_below, p_above in adjusted:
        numbers = {
            "below_random": float(np.mean(gaps)),
            "below_random_p": p,
            "below_random_p_holm": float(p_below),
            "above_random_p_holm": float(p_above),
            "class_leakage": nan if isnan(p_above) else float(p_above <= SIGNIFICANT),
        }
        for measure, value in numbers.items():
            reason = "one seed" if isnan(value) else None
            yield _of_all(own) | {"versus": RANDOM, "measure": measure, "value": value, "reason": reason}


def _of_all(rows: Sequence[Row]) -> Row:
    """The coordinates that the rows of several seeds have in common."""
    setting = {**json.loads(rows[0]["setting"]), "seeds": len(rows)}
    same = {name: rows[0].get(name) for name in (*WHERE, "explainer", "versus", "fraction")}
    return same | {"seed": None, "setting": _text(setting)}


def _place(row: Row) -> float:
    """The step of a row."""
    return float(json.loads(row["setting"])["count"] if row["fraction"] is None else row["fraction"])


def _step(one: Evaluated, step: str, setting: Mapping[str, Any]) -> Row:
    counted = setting.get("by") == "count"
    more = {**one.setting, **setting, **({"count": int(float(step))} if counted else {})}
    return one.where | {"fraction": None if counted else float(step), "setting": _text(more)}


def _curve(steps: Mapping[str, Evaluated], metric: str) -> dict[float, float]:
    return {float(step): one.metrics[metric] for step, one in steps.items()}


def _reason(value: float) -> str | None:
    return "not defined for these labels" if isnan(value) else None


def _text(setting: Mapping[str, Any]) -> str:
    return json.dumps(setting, sort_keys=True, separators=(",", ":"))
