from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from fakes import EOS, SOS, batch_of, encode, some_split, some_texts
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.encode.batching import collate, parts, reading_batches, training_batches

lengths_of_texts = st.lists(st.integers(1, 40), max_size=60).map(lambda sizes: np.array(sizes, np.int64))


def test_a_batch_is_padded_to_its_longest_text() -> None:
    batch = batch_of([[SOS, 7, EOS], [SOS, 8, 9, 10, EOS]])
    assert batch.ids.tolist() == [[SOS, 7, EOS, 0, 0], [SOS, 8, 9, 10, EOS]]
    assert batch.lengths.tolist() == [3, 5]
    assert len(batch) == 2


def test_special_tokens_are_valid_and_not_maskable() -> None:
    batch = batch_of([[SOS, 7, EOS], [SOS, 8, 9, 10, EOS]])
    assert batch.valid.tolist() == [[True] * 3 + [False] * 2, [True] * 5]
    assert batch.maskable.tolist() == [
        [False, True, False, False, False],
        [False, True, True, True, False],
    ]


def test_a_batch_holds_the_rows_that_were_asked_for_in_their_order() -> None:
    batch = collate(encode([[4], [5, 6], [7]], [0, 1, 2]), np.array([2, 0, 2]))
    assert batch.ids.tolist() == [[7], [4], [7]]
    assert batch.labels is not None
    assert batch.rows is not None
    assert batch.labels.tolist() == [2, 0, 2]
    assert batch.rows.tolist() == [2, 0, 2]


def test_the_second_texts_are_padded_by_themselves() -> None:
    batch = batch_of([[4], [5, 6, 7]], pairs=[[8, 9], [SOS, 4]])
    assert batch.pair is not None
    assert batch.pair.ids.tolist() == [[8, 9], [SOS, 4]]
    assert batch.pair.lengths.tolist() == [2, 2]
    assert batch.pair.maskable.tolist() == [[True, True], [False, True]]
    assert batch.pair.valid.all()


def test_candidates_become_a_flag_for_each_class() -> None:
    batch = batch_of([[4], [5], [6]], candidates=[[3, 0], [2], []], classes=4)
    assert batch.candidates is not None
    assert batch.candidates.tolist() == [
        [True, False, False, True],
        [False, False, True, False],
        [False, False, False, False],
    ]


def test_what_a_data_set_does_not_have_is_none_in_its_batches() -> None:
    batch = batch_of([[4]])
    assert batch.pair is None
    assert batch.candidates is None


def test_a_batch_without_rows_is_empty() -> None:
    batch = collate(encode([[4], [5]]), np.zeros(0, np.int64))
    assert len(batch) == 0


def test_a_batch_of_a_memory_mapped_split_is_a_copy(tmp_path: Path) -> None:
    np.save(tmp_path / "ids.npy", np.array([4, 5, 6], np.int32))
    in_memory = encode([[4, 5], [6]])
    mapped = replace(in_memory.ids, values=np.load(tmp_path / "ids.npy", mmap_mode="r"))
    batch = collate(replace(in_memory, ids=mapped), np.array([0, 1]))
    batch.ids.add_(1)
    assert mapped.values.tolist() == [4, 5, 6]


@given(lengths_of_texts, st.integers(1, 9), st.integers(0, 3), st.integers(0, 3))
def test_an_epoch_sees_every_row_once(lengths: np.ndarray, size: int, seed: int, epoch: int) -> None:
    batches = training_batches(lengths, size, seed=seed, epoch=epoch)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))


@given(lengths_of_texts, st.integers(1, 9))
def test_all_batches_are_full_but_the_one_with_the_longest(lengths: np.ndarray, size: int) -> None:
    batches = training_batches(lengths, size, seed=0, epoch=0)
    rest = [batch for batch in batches if len(batch) != size]
    assert len(rest) == (len(lengths) % size > 0)
    for batch in rest:
        assert len(batch) == len(lengths) % size
        assert lengths[batch].max() == lengths.max()


@given(lengths_of_texts, st.integers(1, 9))
def test_the_lengths_of_a_batch_stand_side_by_side_when_all_are_sorted(
    lengths: np.ndarray, size: int
) -> None:
    found = sorted(
        sorted(lengths[batch].tolist()) for batch in training_batches(lengths, size, seed=1, epoch=2)
    )
    ordered = sorted(lengths.tolist())
    expected = sorted(ordered[i : i + size] for i in range(0, len(ordered), size))
    assert found == expected


def test_the_same_epoch_has_the_same_batches() -> None:
    lengths = some_split(50).ids.lengths()
    one, two = (training_batches(lengths, 8, seed=3, epoch=4) for _ in range(2))
    assert [batch.tolist() for batch in one] == [batch.tolist() for batch in two]


def test_another_epoch_or_seed_has_other_batches() -> None:
    lengths = some_split(50).ids.lengths()
    first, *others = (
        [batch.tolist() for batch in training_batches(lengths, 8, seed=seed, epoch=epoch)]
        for seed, epoch in ((0, 0), (0, 1), (1, 0))
    )
    for other in others:
        assert other != first, "another order"
        assert {frozenset(batch) for batch in other} != {frozenset(batch) for batch in first}, "other company"


def test_batches_come_in_any_order_of_length() -> None:
    lengths = np.arange(1, 101)
    longest = [batch.max() for batch in training_batches(lengths, 10, seed=0, epoch=0)]
    assert longest != sorted(longest)
    assert sorted(longest) == list(range(9, 100, 10))


@given(lengths_of_texts, st.integers(1, 100))
def test_reading_sees_every_row_once_and_keeps_to_its_places(lengths: np.ndarray, tokens: int) -> None:
    batches = list(reading_batches(lengths, tokens))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= tokens


def test_reading_fills_its_places_by_hand() -> None:
    # 2+2+3 = three rows of 3 = 9 places; a fourth row of 4 would make 16.
    batches = list(reading_batches(np.array([3, 2, 9, 4, 2]), 12))
    assert [batch.tolist() for batch in batches] == [[1, 4, 0], [3], [2]]


@given(lengths_of_texts.filter(len), st.integers(1, 100))
def test_no_reading_batch_has_room_for_the_next_row(lengths: np.ndarray, tokens: int) -> None:
    batches = list(reading_batches(lengths, tokens))
    for batch, following in pairwise(batches):
        assert (len(batch) + 1) * lengths[following[0]] > tokens


def test_nothing_encoded_gives_no_batches() -> None:
    assert training_batches(np.zeros(0, np.int64), 4, seed=0, epoch=0) == []
    assert list(reading_batches(np.zeros(0, np.int64))) == []


@pytest.mark.parametrize("n", [1, 7])
def test_what_a_batch_holds_is_what_the_texts_hold(n: int) -> None:
    texts = some_texts(n, seed=n)
    batch = batch_of(texts)
    for i, text in enumerate(texts):
        assert batch.ids[i, : len(text)].tolist() == text
        assert torch.equal(batch.ids[i][batch.valid[i]], torch.tensor(text))


def test_a_batch_with_one_long_text_goes_in_parts() -> None:
    rows, lengths = np.array([3, 0, 2, 1]), np.array([5, 100, 4, 3])
    assert [part.tolist() for part in parts(rows, lengths, 100)] == [[3, 2, 0], [1]]


def test_a_batch_that_fits_stays_as_it_is() -> None:
    rows, lengths = np.array([3, 0, 2]), np.array([5, 100, 4, 3])
    assert [part.tolist() for part in parts(rows, lengths, 15)] == [[3, 0, 2]]
