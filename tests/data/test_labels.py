"""Names and order of classes."""

from __future__ import annotations

import math

import pytest

from faithgauge.data.labels import names, ordered


def test_the_same_number_is_the_same_class_however_it_is_written():
    assert names([1, 1.0, "1", " 1.0 ", "+1", 10, "-1"]) == ["1", "1", "1", "1", "1", "10", "-1"]


def test_numbers_beside_words_stay_as_they_are_written():
    assert names(["1.0", "one"]) == ["1.0", "one"]


def test_truth_values_have_names():
    assert names([True, False]) == ["true", "false"]


@pytest.mark.parametrize("value", [None, "", "  ", "nan", "NaN", math.nan, "<NA>", "null"])
def test_what_says_nothing_is_a_missing_label(value: object):
    assert names([value, "none"]) == [None, "none"]


def test_numbers_are_in_the_order_of_numbers():
    assert ordered(["10", "2", "-1", "2.5"]) == (("-1", "2", "2.5", "10"), "by number")


@pytest.mark.parametrize(
    ("first", "last"),
    [("negative", "positive"), ("No", "Yes"), ("False", "True"), ("not duplicate", "duplicate"), ("-", "+")],
)
def test_the_positive_one_of_a_known_pair_is_class_1(first: str, last: str):
    for classes in ([first, last], [last, first]):
        assert ordered(classes) == ((first, last), "from the negative to the positive")


def test_other_classes_are_in_the_order_of_the_alphabet_whatever_their_case():
    assert ordered(["cat", "Bird", "ant"]) == (("ant", "Bird", "cat"), "by the alphabet")
