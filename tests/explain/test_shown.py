"""Flat scores of a split, put back on the texts."""

from __future__ import annotations

from math import isnan, nan

import numpy as np
from fakes import EOS, SOS, encode

from faithgauge.explain.asked import asked
from faithgauge.explain.given import Given
from faithgauge.explain.shown import Found, explanations
from faithgauge.explain.split import Scores
from faithgauge.types import Example

TEXTS = [Example("-abc", 1, "t1", "-xy"), Example("-de", -1, "t2", "-z")]
"""Token i of `encode` stands at character i, and special tokens nowhere."""
ENCODED = encode([[SOS, 4, 5, 6, EOS], [SOS, 7, 8, EOS]], [1, -1], pairs=[[SOS, 9, 10, EOS], [SOS, 11, EOS]])
SCORES = Scores(
    np.array([nan, 1, 2, 3, nan, nan, 4, nan, nan], np.float32),
    np.array([nan, 5, 6, nan, nan, 7, nan], np.float32),
    np.array([0.5, nan], np.float32),
)
ONE_TEXT = Scores(np.arange(9, dtype=np.float32))
FOUND = Found(
    {"a": asked("random:target=gold"), "b": asked("random:target=0")},
    {"a": SCORES, "b": ONE_TEXT},
    {"mine": Given(ONE_TEXT, {1: "too short"})},
)
FIRST, SECOND = explanations(
    TEXTS, ENCODED, FOUND, classes=("no", "yes"), likely=np.array([[0.25, 0.75], [0.75, 0.25]])
)


def test_tokens_are_the_characters_of_their_spans_without_special_ones() -> None:
    assert (FIRST.tokens, FIRST.spans) == (("a", "b", "c"), ((1, 2), (2, 3), (3, 4)))
    assert (SECOND.tokens, SECOND.pair_tokens) == (("d", "e"), ("z",))
    assert FIRST.pair_spans == ((1, 2), (2, 3))


def test_each_text_has_its_own_scores() -> None:
    assert FIRST.scores == {"a": (1, 2, 3), "b": (1, 2, 3), "mine": (1, 2, 3)}
    assert SECOND.scores["a"][0] == 4
    assert isnan(SECOND.scores["a"][1])
    assert (SECOND.scores["b"], SECOND.scores["mine"]) == ((6, 7), (6, 7))


def test_second_texts_have_scores_of_those_that_have_some() -> None:
    assert FIRST.pair_scores == {"a": (5, 6)}
    assert SECOND.pair_scores == {"a": (7,)}


def test_without_scores_of_second_texts_they_are_not_there() -> None:
    found = Found({"b": asked("random")}, {"b": ONE_TEXT}, {})
    first, _ = explanations(TEXTS, ENCODED, found, classes=("no", "yes"), likely=np.eye(2))
    assert (first.pair_tokens, first.pair_spans, first.pair_scores) == ((), (), {})
    assert first.text_pair == "-xy"


def test_label_gold_class_and_what_is_explained_are_names() -> None:
    assert (FIRST.label, FIRST.gold) == ("yes", "yes")
    assert (SECOND.label, SECOND.gold) == ("no", None)
    assert FIRST.probabilities == {"no": 0.25, "yes": 0.75}
    assert FIRST.targets == {"a": "yes", "b": "no"}


def test_errors_and_reasons_belong_to_their_texts() -> None:
    assert (FIRST.errors, SECOND.errors) == ({"a": 0.5}, {})
    assert (FIRST.reasons, SECOND.reasons) == ({}, {"mine": "too short"})
