"""Who learns and who is asked: splits for texts that came without one, and the splits of the papers.

Our own split is seeded and stratified by label, and puts texts that are equal to the letter on one side, so
that no test text was seen in training. The papers split with scikit-learn and a number; `sklearn_split` draws
the same indices from the same number, so that their test texts are ours.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from faithgauge.data.dataset import Found, Splits
from faithgauge.seeds import generator
from faithgauge.types import SPLITS, Example

DEV = "dev"
"""The variant of a data set that trains on its validation part."""
SHARES = (0.70, 0.15, 0.15)
VALIDATION = 0.15


def split(examples: Sequence[Example], seed: int) -> tuple[Splits, tuple[str, ...]]:
    """Train, validation and test in shares of 70, 15 and 15 %, and the sentences that say so."""
    parts = _divide(examples, SHARES, generator(seed, "split"))
    sizes = "/".join(str(len(part)) for part in parts)
    notes = [f"no split was given: 70/15/15 % by label with seed {seed}, train/validation/test {sizes}"]
    repeated = len(examples) - len({_key(example) for example in examples})
    if repeated:
        notes.append(f"{repeated} repeated texts stand on the side of their first copy")
    return dict(zip(SPLITS, parts, strict=True)), tuple(notes)


def cut_validation(
    train: Sequence[Example], seed: int, share: float = VALIDATION
) -> tuple[list[Example], list[Example], str]:
    """What is left of train, the part of it that is held out, and the sentence that says so."""
    kept, held = _divide(train, (1 - share, share), generator(seed, "validation"))
    note = f"validation is {share:.0%} of train, cut by label with seed {seed}: {len(held)} of {len(train)}"
    return kept, held, note


def sample(examples: Sequence[Example], at_most: int, seed: int) -> list[Example]:
    """So many of the examples at most, in their order: drawn by label in proportion, one of each label first.

    A smaller sample of the same seed is part of a larger one.
    """
    labels = np.array([example.label for example in examples], np.int64)
    random = generator(seed, "sample")
    place = np.zeros(len(labels))
    for label in np.unique(labels):
        members = random.permutation(np.flatnonzero(labels == label))
        place[members] = np.arange(len(members)) / len(members)
    chosen = np.sort(np.argsort(place, kind="stable")[:at_most])
    return [examples[row] for row in chosen.tolist()]


def instead_of_train(found: Found, *, of: str) -> Found:
    """The data set with its validation part in place of both train and validation, for want of a train part.

    Numbers of it stand beside no published ones.
    """
    if "validation" not in found.splits:
        return replace(found, substituted=True)
    train, validation, note = cut_validation(found.splits["validation"], 0)
    missing = tuple(text for text in found.missing if not text.startswith("train:"))
    notes = (*found.notes, f"the {of} stands for train and validation: {note.replace('of train', 'of it')}")
    splits = {**found.splits, "train": train, "validation": validation}
    return replace(found, splits=splits, missing=missing, notes=notes, substituted=True)


def sklearn_split(
    n: int,
    test_size: float | None,
    random_state: int,
    *,
    stratify: Sequence[Hashable] | None = None,
    train_size: float | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The indices of scikit-learn's ``train_test_split(range(n), …)``, train and test, in its order."""
    n_train, n_test = _sizes(n, test_size, train_size)
    random = np.random.RandomState(random_state)
    if stratify is None:
        order = random.permutation(n)
        return order[n_test : n_test + n_train], order[:n_test]
    _, labels = np.unique(np.asarray(stratify), return_inverse=True)
    counts = np.bincount(labels)
    of_train = _apportion(counts, n_train, random)
    of_test = _apportion(counts - of_train, n_test, random)
    train: list[NDArray[np.int64]] = []
    test: list[NDArray[np.int64]] = []
    for label, count in enumerate(counts):
        members = np.flatnonzero(labels == label)[random.permutation(count)]
        train.append(members[: of_train[label]])
        test.append(members[of_train[label] : of_train[label] + of_test[label]])
    return random.permutation(np.concatenate(train)), random.permutation(np.concatenate(test))


def _key(example: Example) -> tuple[str, str | None]:
    return example.text, example.text_pair


def _divide(
    examples: Sequence[Example], shares: Sequence[float], random: np.random.Generator
) -> list[list[Example]]:
    """Shares of every label, equal texts together; what rounding leaves over the next label makes good."""
    copies: dict[tuple[str, str | None], list[int]] = {}
    for row, example in enumerate(examples):
        copies.setdefault(_key(example), []).append(row)
    by_label: dict[int, list[list[int]]] = {}
    for rows in copies.values():
        by_label.setdefault(examples[rows[0]].label, []).append(rows)
    side = np.zeros(len(examples), np.int64)
    due = np.zeros(len(shares))
    for label in sorted(by_label):
        groups = [by_label[label][i] for i in random.permutation(len(by_label[label]))]
        groups.sort(key=len, reverse=True)
        due += np.asarray(shares) * sum(map(len, groups))
        for place, rows in enumerate(groups):
            # Every label is known to train, however rare it is.
            target = 0 if place == 0 else int(np.argmax(np.round(due, 9)))
            side[rows] = target
            due[target] -= len(rows)
    return [[examples[row] for row in np.flatnonzero(side == part).tolist()] for part in range(len(shares))]


def _sizes(n: int, test_size: float | None, train_size: float | None) -> tuple[int, int]:
    if train_size is None:
        n_test = ceil((0.25 if test_size is None else test_size) * n)
        return n - n_test, n_test
    n_train = floor(train_size * n)
    return n_train, n - n_train if test_size is None else ceil(test_size * n)


def _apportion(counts: NDArray[np.int64], draws: int, random: np.random.RandomState) -> NDArray[np.int64]:
    """`draws` shared out in proportion to `counts`; the largest remainders get one more, ties by lot."""
    exact = counts / counts.sum() * draws
    shares = np.floor(exact)
    left = int(draws - shares.sum())
    remainders = exact - shares
    for remainder in np.unique(remainders)[::-1]:
        if left <= 0:
            break
        tied = np.flatnonzero(remainders == remainder)
        lucky = random.choice(tied, size=min(len(tied), left), replace=False)
        shares[lucky] += 1
        left -= len(lucky)
    return np.asarray(shares, np.int64)
