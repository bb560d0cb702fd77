"""Masking the most important tokens."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.errors import ConfigError
from faithgauge.faithfulness import masking
from faithgauge.faithfulness.masking import Amount, Masked, checked_fractions, masked, removable
from faithgauge.types import Encoded, Ragged

NAN = float("nan")
MASK = 9
Texts = list[list[int]]


def split_of(texts: Texts, special: tuple[int, ...] = (2, 3)) -> Encoded:
    """Texts of these ids, of which 2 and 3 are special."""
    ids = np.array([one for text in texts for one in text], np.int32)
    offsets = np.cumsum([0, *map(len, texts)])
    spans = np.where(np.isin(ids, special)[:, None], -1, [[0, 1]]).astype(np.int32)
    none = Ragged(np.zeros(0, np.uint8), np.zeros(len(texts) + 1, np.int64))
    return Encoded(Ragged(ids, offsets), Ragged(spans, offsets), np.zeros(len(texts), np.int64), none)


def run(texts: Texts, scores: list[list[float]], amount: Amount) -> Masked:
    flat = np.array([one for text in scores for one in text], np.float32)
    return masked(split_of(texts), flat, amount, mask=MASK)


def mask(ids: list[int], scores: list[float], fraction: float) -> list[int]:
    return run([ids], [scores], Amount(fraction)).ids.values.tolist()


def test_half_of_four_tokens_are_the_two_highest_and_special_ones_stay() -> None:
    assert mask([2, 4, 5, 6, 7, 3], [NAN, 0.1, 0.4, 0.2, 0.3, NAN], 0.5) == [2, 4, 9, 6, 9, 3]


def test_special_tokens_stay_even_if_they_have_a_score() -> None:
    assert mask([2, 4, 5, 3], [9.0, 0.1, 0.4, 8.0], 1) == [2, 9, 9, 3]


def test_equal_scores_go_by_position() -> None:
    assert mask([4, 5, 6], [0.2, 0.2, 0.2], 0.67) == [9, 9, 6]


def test_the_number_of_tokens_is_rounded_down() -> None:
    assert mask([4, 5, 6], [3, 2, 1], 0.66) == [9, 5, 6]


def test_a_text_with_too_few_tokens_for_the_fraction_stays_as_it_is() -> None:
    assert mask([4, 5, 6], [3, 2, 1], 0.3) == [4, 5, 6]


@pytest.mark.parametrize("n", [1, 7, 10, 20, 100, 300, 3000])
def test_the_number_masked_is_the_floor_in_integers(n: int) -> None:
    sizes = np.array([n])
    assert [int(Amount(p / 100).of(sizes)[0]) for p in range(101)] == [p * n // 100 for p in range(101)]


def test_the_papers_float32_is_one_token_short_of_53_percent_of_100() -> None:
    assert Amount(0.53, rounding="float32").of(np.array([100])).tolist() == [52]
    assert Amount(0.53).of(np.array([100])).tolist() == [53]


def test_a_count_is_that_many_tokens_or_all_of_a_shorter_text() -> None:
    found = run([[4, 5, 6], [4]], [[1, 3, 2], [1]], Amount(count=2))
    assert found.ids.values.tolist() == [4, 9, 9, 9]


def test_what_is_masked_already_counts_and_stays_masked() -> None:
    assert mask([9, 5, 6, 7], [0.0, 0.5, 0.9, 0.1], 0.5) == [9, 5, 9, 7]
    assert mask([9, 9, 6, 7], [0.0, 0.5, 0.9, 0.1], 0.25) == [9, 9, 6, 7]


def test_a_score_below_zero_is_less_important_than_none() -> None:
    assert mask([4, 5], [-3.0, 0.0], 0.5) == [4, 9]


def test_tokens_without_a_score_come_last_and_their_texts_are_counted() -> None:
    found = run(
        [[4, 5, 6, 7], [4, 5], [2, 9, 3], [4, 5]],
        [[NAN, -5, NAN, 1], [NAN, NAN], [NAN, NAN, NAN], [1, 2]],
        Amount(0.75),
    )
    assert found.ids.values.tolist() == [9, 9, 6, 9, 9, 5, 2, 9, 3, 4, 9]
    assert found.unscored == 2  # what is masked already needs no score


def test_a_text_of_special_tokens_and_one_of_no_token_have_nothing_to_mask() -> None:
    found = run([[2, 3], [], [4]], [[NAN, NAN], [], [1]], Amount(1.0))
    assert found.ids.values.tolist() == [2, 3, 9]
    assert found.unscored == 0


def joined(texts: Texts, segments: list[list[int]]) -> Encoded:
    """Rows of both texts of a pair: `segments` says which of them each token belongs to."""
    own = split_of(texts)
    return replace(own, segments=Ragged(np.concatenate([*map(np.array, segments)]), own.ids.offsets))


def test_of_a_pair_in_one_row_half_of_the_first_text_is_masked_and_nothing_of_the_second() -> None:
    """[CLS] 4 5 6 7 [SEP] 8 4 [SEP]: half of four tokens, though the second has the highest."""
    rows = joined([[2, 4, 5, 6, 7, 3, 8, 4, 3]], [[0, 0, 0, 0, 0, 0, 1, 1, 1]])
    scores = np.array([9, 0.1, 0.4, 0.2, 0.3, 9, 5, 6, 9], np.float32)
    found = masked(rows, scores, Amount(0.5), mask=MASK)
    assert found.ids.values.tolist() == [2, 4, 9, 6, 9, 3, 8, 4, 3]
    all_of_it = masked(rows, scores, Amount(1.0), mask=MASK)
    assert all_of_it.ids.values.tolist() == [2, 9, 9, 9, 9, 3, 8, 4, 3]


def test_a_second_text_neither_lacks_scores_nor_counts_as_masked() -> None:
    """The mask in the second text is a word of its own; of the first text one of two tokens goes."""
    rows = joined([[2, 4, 5, 3, 9, 6, 3], [2, 7, 3, 8, 3]], [[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1]])
    scores = np.array([NAN, 0.1, 0.4, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN], np.float32)
    found = masked(rows, scores, Amount(0.5), mask=MASK)
    assert found.ids.values.tolist() == [2, 4, 9, 3, 9, 6, 3, 2, 7, 3, 8, 3]
    assert found.unscored == 1  # the second pair, whose first text has no scores
    assert removable(rows).tolist() == [*map(bool, [0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0])]


def test_the_texts_themselves_are_not_changed() -> None:
    encoded = split_of([[4, 5]])
    masked(encoded, np.array([1.0, 2.0]), Amount(1.0), mask=MASK)
    assert encoded.ids.values.tolist() == [4, 5]


def test_tokens_put_in_order_a_few_at_a_time_are_masked_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    texts = [[int(one) for one in rng.integers(2, 9, length)] for length in rng.integers(0, 9, 200)]
    scores = [[float(one) for one in rng.integers(0, 4, len(text))] for text in texts]
    whole = run(texts, scores, Amount(0.4))
    monkeypatch.setattr(masking, "AT_ONCE", 7)
    parts = run(texts, scores, Amount(0.4))
    assert parts.ids.values.tolist() == whole.ids.values.tolist()


@given(st.data())
def test_it_is_what_one_text_after_the_other_gives(data: st.DataObject) -> None:
    texts = data.draw(st.lists(st.lists(st.integers(2, 9), max_size=8), min_size=1, max_size=6))
    number = st.sampled_from([-1.0, 0.0, 0.5, 0.5, 2.0, NAN])
    scores = [data.draw(st.lists(number, min_size=len(t), max_size=len(t))) for t in texts]
    tenths = data.draw(st.integers(0, 10))
    found = run(texts, scores, Amount(tenths / 10)).ids
    for i, (text, own) in enumerate(zip(texts, scores, strict=True)):
        assert found.row(i).tolist() == slowly(text, own, tenths)


def slowly(text: list[int], scores: list[float], tenths: int) -> list[int]:
    places = [i for i, one in enumerate(text) if one not in (2, 3)]

    def first(i: int) -> tuple[bool, float, int]:
        return (text[i] != MASK, math.inf if math.isnan(scores[i]) else -scores[i], i)

    chosen = sorted(places, key=first)[: tenths * len(places) // 10]
    return [MASK if i in chosen else one for i, one in enumerate(text)]


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12), st.integers(0, 10), st.integers(0, 10))
def test_masked_sets_are_nested(scores: list[float], one: int, other: int) -> None:
    less, more = sorted((one / 10, other / 10))
    ids = list(range(10, 10 + len(scores)))
    few, many = mask(ids, scores, less), mask(ids, scores, more)
    assert all(b == MASK for a, b in zip(few, many, strict=True) if a == MASK)
    assert many.count(MASK) == round(more * 10) * len(scores) // 10


@pytest.mark.parametrize(
    ("fractions", "message"),
    [
        ((0.1, 1.0), r"expected fractions from 0, the unmasked texts, upwards, found 0.1, 1"),
        ((), "found none"),
        ((0.0, 0.5, 0.2), "in rising order up to at most 1, found 0, 0.5, 0.2"),
        ((0.0, 0.5, 0.5), "in rising order"),
        ((0.0, 1.5), "at most 1"),
        ((0.0,), "between 0 and 1"),
        ((0.0, 1.0), "between 0 and 1, such as 0, 0.1 … 1, found 0, 1"),
    ],
)
def test_fractions_begin_with_0_and_rise(fractions: tuple[float, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        checked_fractions(fractions)
