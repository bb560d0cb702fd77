"""Splits: shares by label, copies on one side, and scikit-learn's indices from the same number."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from faithgauge.data.splits import cut_validation, sample, sklearn_split, split
from faithgauge.seeds import generator
from faithgauge.types import Example


def examples(labels: list[int], texts: list[str] | None = None) -> list[Example]:
    texts = texts or [f"text {i}" for i in range(len(labels))]
    return [Example(text, label, str(i)) for i, (text, label) in enumerate(zip(texts, labels, strict=True))]


def labels_of(part: list[Example]) -> dict[int, int]:
    return dict(Counter(example.label for example in part))


def test_twenty_examples_of_two_labels_become_14_3_and_3() -> None:
    # Label 0 is due 7/1.5/1.5 and gets 7/2/1; label 1 is due 7/1.5/1.5 and what is left over, so 7/1/2.
    splits, _ = split(examples([0] * 10 + [1] * 10), seed=0)
    assert labels_of(splits["train"]) == {0: 7, 1: 7}
    assert labels_of(splits["validation"]) == {0: 2, 1: 1}
    assert labels_of(splits["test"]) == {0: 1, 1: 2}


def test_what_rounding_takes_from_one_label_the_next_gives_back() -> None:
    # Three of each of 100 labels: each is due 2.1/.45/.45, together 210/45/45.
    splits, _ = split(examples([i // 3 for i in range(300)]), seed=3)
    assert [len(splits[name]) for name in ("train", "validation", "test")] == [210, 45, 45]


def test_a_label_with_one_example_is_learnt() -> None:
    splits, _ = split(examples([0] * 20 + [1] + [2]), seed=1)
    assert {1, 2} <= set(labels_of(splits["train"]))


def test_the_sentence_says_seed_sizes_and_copies() -> None:
    texts = [f"text {i // 2}" for i in range(20)]
    _, notes = split(examples([0] * 20, texts), seed=7)
    assert notes == (
        "no split was given: 70/15/15 % by label with seed 7, train/validation/test 14/4/2",
        "10 repeated texts stand on the side of their first copy",
    )


def test_each_part_keeps_the_order_of_the_file() -> None:
    splits, _ = split(examples([i % 2 for i in range(50)]), seed=5)
    for part in splits.values():
        rows = [int(example.id) for example in part]
        assert rows == sorted(rows)


def test_another_seed_is_another_split_and_the_same_seed_the_same() -> None:
    rows = examples([i % 2 for i in range(100)])
    assert split(rows, seed=1) == split(rows, seed=1)
    assert split(rows, seed=1)[0]["test"] != split(rows, seed=2)[0]["test"]


def test_the_test_rows_of_seed_0_stay_what_they_are() -> None:
    """A change here changes everybody's splits: it belongs under "Numbers changed"."""
    # In the order drawn, label 0 goes t t t t t t v e t v and label 1 t t t t t t e t v e.
    random = generator(0, "split")
    zeros, ones = random.permutation(10), 10 + random.permutation(10)
    splits, _ = split(examples([0] * 10 + [1] * 10), seed=0)
    assert {int(one.id) for one in splits["test"]} == {zeros[7], ones[6], ones[9]} == {6, 13, 14}


def test_validation_is_cut_from_train_by_label() -> None:
    kept, held, note = cut_validation(examples([0] * 40 + [1] * 60), seed=0)
    assert labels_of(kept) == {0: 34, 1: 51}
    assert labels_of(held) == {0: 6, 1: 9}
    assert note == "validation is 15% of train, cut by label with seed 0: 15 of 100"


def test_the_validation_rows_of_seed_0_stay_what_they_are() -> None:
    """Drawn for a purpose of their own: they are not those of a split of the same examples."""
    # 8.5 of 10 are due to what is kept and 1.5 to what is held: the first eight are kept, then one is held.
    random = generator(0, "validation")
    order = random.permutation(10)
    _, held, _ = cut_validation(examples([0] * 10), seed=0)
    assert {int(one.id) for one in held} == {order[8]} == {7}


def test_pairs_are_copies_only_if_both_texts_are_equal() -> None:
    rows = [Example("same", 0, str(i), text_pair=f"other {i}") for i in range(20)]
    _, notes = split(rows, seed=0)
    assert len(notes) == 1


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 3)), min_size=1, max_size=60),
    seed=st.integers(0, 2**32),
)
def test_nothing_is_lost_copies_stay_together_and_every_label_is_learnt(
    rows: list[tuple[str, int]], seed: int
) -> None:
    given_rows = examples([label for _, label in rows], [text for text, _ in rows])
    splits, _ = split(given_rows, seed)
    parts = list(splits.values())
    assert sorted(int(one.id) for part in parts for one in part) == list(range(len(rows)))
    for i, part in enumerate(parts):
        for other in parts[i + 1 :]:
            assert not {one.text for one in part} & {one.text for one in other}
    # A text that bears two labels counts as its first one.
    first = dict(reversed(rows))
    assert {first[one.text] for one in splits["train"]} == set(first.values())


@settings(max_examples=60)
@given(counts=st.lists(st.integers(1, 40), min_size=1, max_size=6), seed=st.integers(0, 99))
def test_without_copies_no_part_is_further_than_its_rounding_from_its_share(
    counts: list[int], seed: int
) -> None:
    rows = examples([label for label, n in enumerate(counts) for _ in range(n)])
    splits, _ = split(rows, seed)
    # A label's first example goes to train whatever is due there: at most one too many for each label.
    for name, share in (("validation", 0.15), ("test", 0.15)):
        assert len(splits[name]) <= share * len(rows) + 1
        assert len(splits[name]) >= share * len(rows) - 1 - len(counts)


@pytest.mark.parametrize("seed", [0, 1378, 13478, 16377])
@pytest.mark.parametrize("n", [7, 100, 1933])
@pytest.mark.parametrize("share", [0.15, 0.2, 0.33])
def test_the_indices_are_those_of_scikit_learn(n: int, share: float, seed: int) -> None:
    expected = train_test_split(np.arange(n), test_size=share, random_state=seed)
    for ours, theirs in zip(sklearn_split(n, share, seed), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("n", [10, 21516])
def test_a_share_of_train_leaves_the_rest_to_test(n: int) -> None:
    expected = train_test_split(np.arange(n), train_size=0.2, random_state=1378)
    for ours, theirs in zip(sklearn_split(n, None, 1378, train_size=0.2), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@settings(max_examples=80)
@given(
    labels=st.lists(st.integers(0, 4), min_size=20, max_size=120).map(lambda xs: xs + [0, 1, 2, 3, 4] * 2),
    share=st.sampled_from([0.15, 0.2, 0.5]),
    seed=st.integers(0, 2**31),
)
def test_stratified_indices_are_those_of_scikit_learn(labels: list[int], share: float, seed: int) -> None:
    n = len(labels)
    expected = train_test_split(np.arange(n), test_size=share, random_state=seed, stratify=labels)
    for ours, theirs in zip(sklearn_split(n, share, seed, stratify=labels), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_labels_for_stratification_may_be_words() -> None:
    words = ["b", "a", "a", "b"] * 10
    numbers = [1, 0, 0, 1] * 10
    for ours, theirs in zip(
        sklearn_split(40, 0.2, 3, stratify=words), sklearn_split(40, 0.2, 3, stratify=numbers), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_a_sample_takes_of_each_label_in_proportion_and_keeps_the_order() -> None:
    every = examples([0] * 6 + [1] * 3)
    for seed in range(5):
        chosen = sample(every, 6, seed)
        assert labels_of(chosen) == {0: 4, 1: 2}
        assert [int(one.id) for one in chosen] == sorted(int(one.id) for one in chosen)
        assert labels_of(sample(every, 2, seed)) == {0: 1, 1: 1}


def test_a_smaller_sample_is_part_of_a_larger_one_and_of_few_examples_all_are_taken() -> None:
    every = examples([0, 1, 1, 1, 0, 1, 1, 0, 1, 1])
    ids = [{one.id for one in sample(every, n, 3)} for n in range(1, 12)]
    assert all(small < large for small, large in pairwise(ids[:10]))
    assert sample(every, 10, 3) == sample(every, 99, 3) == every
    assert sample(every, 4, 3) != sample(every, 4, 4)
