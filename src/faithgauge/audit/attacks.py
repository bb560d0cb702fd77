"""The numbers of an audit for attacks that train nothing: permuted attention, and the exact adversary."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import numpy as np

from faithgauge.audit.numbers import Floats, Known, Number, interval, number, range_of
from faithgauge.audit.rows import Rows
from faithgauge.audit.verdict import DELTA


def permutation(rows: Rows, known: Known) -> list[Number]:  # noqa: ARG001
    """How far the output moves in the median when the attention of a text is put in random order."""
    table = _of_first(rows, "permutation_tvd")
    if not table.size or np.isnan(table).all():
        return []
    one = interval(table)
    said = f"With attention in random order the output of a text moves by {one.value:.3f} {range_of(one)}."
    return [number("permutation_tvd", one, (DELTA, "no difference that matters"), sentence=said)]


def exact_adversary(rows: Rows, known: Known) -> list[Number]:  # noqa: ARG001
    """How far from a text's attention another one is that leaves its output within ε; of ln 2 at most."""
    seeds = rows.by_text("attention_jsd", "", "base model", against="seed")
    usual = float(np.nanmean(seeds)) if seeds.size else nan
    for measure, words in (("epsilon_max_jsd", "reaches"), ("epsilon_max_jsd_lower", "reaches at least")):
        table = _of_first(rows, measure, adversary="exact")
        if table.size and not np.isnan(table).all():
            one = interval(table)
            beside = "" if isnan(usual) else f"; that of other seeds is {usual:.3f} away"
            said = (
                f"Another attention that leaves the output within {DELTA:g} {words} a distance of "
                f"{one.value:.3f} {range_of(one)} of at most 0.693{beside}."
            )
            return [number(measure, one, (0.0 if isnan(usual) else usual, "other seeds"), sentence=said)]
    return []


def _of_first(rows: Rows, measure: str, **setting: Any) -> Floats:
    """Of pairs, whose texts are attacked one by one, the first texts."""
    return rows.by_text(measure, side=None, **setting)
