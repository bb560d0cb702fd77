"""From numbers to a word: may an explanation be believed? The rules, and nothing else.

An explanation says which tokens a model used. A test that decides measures how much more the model's output
hangs on the tokens that the explanation puts first than on tokens in random order. One such test that finds
no more than random refutes the explanation; it takes all of them to support it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Literal

Verdict = Literal["supported", "not supported", "undecided"]
Standing = Literal["above", "below", "level", "open", "few texts", "few seeds"]

DELTA = 0.02
"""A probability that differs by no more than this is the same for all who look at it."""
SIGNIFICANT = 0.05
LEAST_SEEDS = 3
"""With fewer models of one kind nobody knows how models of this kind differ."""
LEAST_TEXTS = 30
"""With fewer texts a bootstrap interval is shorter than it should be."""
SHARE_OF_CAP = 0.5
"""An adversary that reaches less of what AtteFa can be than this has changed the attention at little cost."""

NO_MODEL = "the model does no better than always naming one class, so there is nothing to explain"


@dataclass(frozen=True)
class Rule:
    """A word, and when it is said."""

    word: str
    when: str


RULES = (
    Rule(
        "supported",
        "The model beats the constant predictor, and in every test that decides (comprehensiveness and "
        "sufficiency, by masking and, if they were run, by deletion and by recursive ROAR) the 95 % interval "
        "of the difference from random lies above 0, after Holm's correction for the number of explainers.",
    ),
    Rule(
        "not supported",
        "The model beats the constant predictor, and in at least one test that decides the 95 % interval of "
        f"the difference from random lies below 0, or within ±{DELTA:g} of it.",
    ),
    Rule(
        "undecided",
        f"Anything else: fewer than {LEAST_TEXTS} texts, or fewer than {LEAST_SEEDS} seeds of a model that "
        "is trained here; an interval that covers 0 and reaches further; a model no better than the constant "
        "predictor.",
    ),
    Rule(
        "supported → undecided, attention alone",
        "The model does no better with its attention than with uniform attention; or attention in random "
        f"order moves its output by less than {DELTA:g}; or an adversary with other attention says nearly "
        f"the same: it keeps the output within {DELTA:g} and attends further away than other seeds do, or "
        f"its AtteFa is below {SHARE_OF_CAP:g} of the cap.",
    ),
)
"""Tests of attention can only lower the word for attention. Agreement, stability and known evidence are told,
and decide nothing. Random is judged like any explainer, against random orders drawn independently of it."""


@dataclass(frozen=True)
class Difference:
    """How much better than random an explanation does in one test that decides; `p` is Holm's."""

    what: str
    low: float
    high: float
    p: float = nan
    n: int = 0
    seeds: int = 0


@dataclass(frozen=True)
class Judged:
    """The word for one explanation, and in sentences why."""

    verdict: Verdict
    reasons: tuple[str, ...]


def standing(one: Difference, *, least_seeds: int = LEAST_SEEDS, delta: float = DELTA) -> Standing:
    """Where the interval lies; what is too small to tell comes first, what is too little to matter next."""
    if one.n < LEAST_TEXTS or isnan(one.low) or isnan(one.high):
        return "few texts"
    if one.seeds < least_seeds:
        return "few seeds"
    if one.high < 0:
        return "below"
    if one.low >= -delta and one.high <= delta:
        return "level"
    return "above" if one.low > 0 and one.p < SIGNIFICANT else "open"


def judge(
    found: Sequence[Difference],
    *,
    model_beats_constant: bool | None,
    least_seeds: int = LEAST_SEEDS,
    lowered_by: Sequence[str] = (),
    delta: float = DELTA,
) -> Judged:
    """The word for an explanation from all tests that decide; `lowered_by` says why it may not be supported.

    `model_beats_constant` is None where too few texts or seeds leave even that open.
    """
    where = {one.what: standing(one, least_seeds=least_seeds, delta=delta) for one in found}
    if model_beats_constant is False:
        return Judged("undecided", (f"{NO_MODEL[0].upper()}{NO_MODEL[1:]}.",))
    if not found:
        return Judged("undecided", ("No test that decides was run.",))
    for word, why in _TOO_LITTLE.items():
        if word in where.values():
            counted = min((one.n if word == "few texts" else one.seeds) for one in found)
            return Judged("undecided", (why.format(counted, least_seeds),))
    if model_beats_constant is None:
        return Judged("undecided", ("It is open whether the model beats always naming one class.",))
    against = [what for what, word in where.items() if word in ("below", "level")]
    if against:
        return Judged("not supported", tuple(_SAID[where[what]].format(what, delta) for what in against))
    unsure = [one for one in found if where[one.what] == "open"]
    if unsure:
        return Judged("undecided", tuple(_open(one) for one in unsure))
    if lowered_by:
        return Judged("undecided", tuple(lowered_by))
    return Judged("supported", tuple(_SAID["above"].format(one.what) for one in found))


_TOO_LITTLE = {
    "few texts": f"Too few texts: {{0}}, of {LEAST_TEXTS} that are needed.",
    "few seeds": "Too few seeds: {0}, of {1} that are needed.",
}
_SAID = {
    "above": "{0}: better than random order.",
    "below": "{0}: worse than random order.",
    "level": "{0}: no more than {1:g} away from random order.",
}


def _open(one: Difference) -> str:
    if one.low > 0:
        return (
            f"{one.what}: better than random order, but not beyond doubt when so many explainers are tried."
        )
    return f"{one.what}: the interval covers random order."
