"""Numbers beside those of random orders: how they are told apart, put together and chosen from."""

from __future__ import annotations

import numpy as np

from faithgauge.faithfulness.against import DEFINED, NO_TOKEN, AgainstRandom, joined, taken

NAN = float("nan")


def found(*values: float, random: float = 1.0) -> AgainstRandom:
    """One measure of one explainer."""
    value = np.array([[values]])
    reason = np.where(np.isnan(value), NO_TOKEN, DEFINED).astype(np.int8)
    return AgainstRandom(("m",), ("a",), value, np.full((1, len(values)), random), reason)


def test_the_difference_is_how_much_higher_than_random_each_text_is() -> None:
    assert found(3, 0.5).difference.tolist() == [[[2, -0.5]]]


def test_one_measure_of_one_explainer_comes_with_its_reasons() -> None:
    value, random, reasons = found(3, NAN).of("m", "a")
    assert value[0] == 3
    assert random.tolist() == [1, 1]
    assert reasons == [None, "no token"]


def test_batches_are_joined_one_after_the_other_and_texts_taken_in_any_order() -> None:
    both = joined([found(3, NAN), found(5, random=2)])
    assert both.difference[0, 0, [0, 2]].tolist() == [2, 3]
    chosen = taken(both, np.array([2, 1]))
    assert chosen.value[0, 0, 0] == 5
    assert chosen.random.tolist() == [[2, 1]]
    assert chosen.of("m", "a")[2] == [None, "no token"]
