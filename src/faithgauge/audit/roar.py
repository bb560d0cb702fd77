"""The numbers of an audit for ROAR: what a model loses that is trained without what it is said to use."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import numpy as np
from scipy.stats import ttest_1samp

from faithgauge.audit.numbers import Floats, Known, Number, number, range_of
from faithgauge.audit.rows import Rows
from faithgauge.stats.holm import holm
from faithgauge.stats.interval import student

NULL = "random_2"
RANDOM = "random"


def recursive_roar(rows: Rows, known: Known) -> list[Number]:
    """The share of what can be lost that is lost beyond random order, one number a seed, and its p-value."""
    found = _areas(rows, known, "faithfulness", "Trained again without its first words the model loses")
    found = [replace(one, p=_p(_values(rows, one.explainer, "faithfulness"))) for one in found]
    corrected = holm([one.p for one in found])
    return [replace(one, p=p) for one, p in zip(found, corrected, strict=True)]


def masked_training(rows: Rows, known: Known) -> list[Number]:
    """The same from one model that was trained on masked texts, an estimate."""
    said = "A model that knows masked texts loses without its first words"
    return _areas(rows, known, "masked_training_curve", said)


def _areas(rows: Rows, known: Known, measure: str, words: str) -> list[Number]:
    found, texts = [], len(rows.texts("right"))
    for explainer in known.explainers:
        values = _values(rows, explainer, measure)
        if not len(values) or np.isnan(values).all():
            continue
        one = student(values)
        kind = "more" if one.value > 0 else "less"
        ends = "" if isnan(one.low) else f" {range_of(one)}"
        said = f"{words} {abs(one.value):.1%} {kind} of what it can lose than in random order{ends}."
        found.append(
            replace(number(measure, one, (0.0, "random order"), sentence=said, explainer=explainer), n=texts)
        )
    return found


def _values(rows: Rows, explainer: str, measure: str) -> Floats:
    """One for each seed; random is held against the other random order."""
    return rows.whole(measure, NULL if explainer == RANDOM else explainer, RANDOM)


def _p(values: Floats) -> float:
    """Of Student's test that the mean over seeds is 0; nan of fewer than two seeds, or of equal ones."""
    there = values[~np.isnan(values)]
    if len(there) < 2 or np.ptp(there) == 0:
        return float("nan")
    return float(ttest_1samp(there, 0.0).pvalue)
