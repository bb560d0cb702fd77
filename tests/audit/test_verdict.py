"""Every rule of the verdict, on both sides of each limit."""

from __future__ import annotations

from math import nan
from typing import Any

import pytest

from faithgauge.audit.verdict import (
    DELTA,
    LEAST_SEEDS,
    LEAST_TEXTS,
    RULES,
    Difference,
    Standing,
    judge,
    standing,
)


def difference(low: float = 0.1, high: float = 0.2, **other: Any) -> Difference:
    return Difference(
        **{"what": "masking", "low": low, "high": high, "p": 0.001, "n": 100, "seeds": 3, **other}
    )


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (difference(0.001, 0.2), "above"),
        (difference(0.0, 0.2), "open"),
        (difference(0.001, 0.2, p=0.049), "above"),
        (difference(0.001, 0.2, p=0.05), "open"),
        (difference(-0.3, -0.001), "below"),
        (difference(-0.3, 0.0), "open"),
        (difference(-0.02, 0.02), "level"),
        (difference(-0.021, 0.02), "open"),
        (difference(-0.02, 0.021), "open"),
        (difference(0.001, 0.02), "level"),  # better than random, by too little to matter
        (difference(0.001, 0.021), "above"),
        (difference(n=LEAST_TEXTS), "above"),
        (difference(n=LEAST_TEXTS - 1), "few texts"),
        (difference(nan, nan), "few texts"),
        (difference(seeds=LEAST_SEEDS), "above"),
        (difference(seeds=LEAST_SEEDS - 1), "few seeds"),
    ],
)
def test_where_an_interval_lies(one: Difference, expected: Standing) -> None:
    assert DELTA == 0.02
    assert standing(one) == expected


def test_one_model_that_is_given_needs_no_other_seeds() -> None:
    assert standing(difference(seeds=1), least_seeds=1) == "above"


def verdict(*found: Difference, beats: bool | None = True, **other: Any) -> str:
    return judge(found, model_beats_constant=beats, **other).verdict


def test_all_tests_must_support_and_one_is_enough_to_refute() -> None:
    below, level, unsure = difference(-0.2, -0.1), difference(-0.01, 0.01), difference(-0.1, 0.1)
    other = difference(what="deletion")
    assert verdict(difference(), other) == "supported"
    assert verdict(other, below) == "not supported"
    assert verdict(other, Difference("x", -0.01, 0.01, 0.9, 100, 3)) == "not supported"
    assert verdict(level) == "not supported"
    assert verdict(other, unsure) == "undecided"
    assert verdict(Difference("x", -0.1, 0.1, 0.9, 100, 3), below) == "not supported"


def test_a_model_that_knows_nothing_leaves_nothing_to_explain_whatever_the_tests_say() -> None:
    for one in (difference(), difference(-0.2, -0.1), difference(n=3)):
        found = judge([one], model_beats_constant=False)
        assert found.verdict == "undecided"
        assert "naming one class" in found.reasons[0]
    assert verdict(difference(), beats=None) == "undecided"


def test_too_little_is_said_with_its_number() -> None:
    found = judge([difference(n=7)], model_beats_constant=None)
    assert (found.verdict, found.reasons) == ("undecided", ("Too few texts: 7, of 30 that are needed.",))
    found = judge([difference(seeds=2)], model_beats_constant=True)
    assert found.reasons == ("Too few seeds: 2, of 3 that are needed.",)
    assert judge([], model_beats_constant=True).reasons == ("No test that decides was run.",)


def test_tests_of_attention_lower_what_is_supported_and_nothing_else() -> None:
    why = ["Uniform attention does as well."]
    assert verdict(difference(), lowered_by=why) == "undecided"
    assert judge([difference()], model_beats_constant=True, lowered_by=why).reasons == tuple(why)
    assert verdict(difference(-0.2, -0.1), lowered_by=why) == "not supported"


def test_what_holm_takes_away_is_said() -> None:
    (reason,) = judge([difference(p=0.06)], model_beats_constant=True).reasons
    assert "so many explainers" in reason


def test_the_rules_that_are_told_have_the_limits_of_the_code() -> None:
    told = " ".join(rule.when for rule in RULES)
    for number in ("30 texts", "3 seeds", "±0.02", "95 %"):
        assert number in told
