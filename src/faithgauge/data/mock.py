"""AtteFa's synthetic texts: sentiment words of one polarity among copies of the word "something".

They tell how a test of attention behaves as more of the tokens carry the label, because which tokens do is
known. Paper: attefa, section 4.1 and Table 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from faithgauge.config import DataConfig
from faithgauge.data.dataset import Dataset, Published
from faithgauge.data.files import Files, Member
from faithgauge.errors import ConfigError, DataError
from faithgauge.seeds import generator
from faithgauge.types import Example, Split

Ints = NDArray[np.int64]

FILLER = "something"
CLASSES = ("negative", "positive")
SIZES: dict[Split, int] = {"train": 8000, "validation": 1000, "test": 1000}
AMOUNTS: dict[str, int | Fraction] = {
    "mock-1": 1,
    "mock-2": 2,
    "mock-5": 5,
    "mock-10": 10,
    "mock-1q": Fraction(1, 4),
    "mock-2q": Fraction(1, 2),
    "mock-3q": Fraction(3, 4),
    "mock-4q": Fraction(1),
}
"""How many tokens of each text are informative, or which part of them."""

PUBLISHED = (
    Published("attefa", "train", 8000, {"negative": 4000, "positive": 4000}),
    Published("attefa", "test", 1000, {"negative": 500, "positive": 500}),
)


def mock(config: DataConfig, name: str) -> Dataset:
    """8,000 training and 1,000 test texts of 50 to 100 tokens, half of them positive, in random order.

    k informative tokens, or the share s of n tokens rounded to the nearest whole number (halves up), stand at
    random places of each text. Each is drawn on its own from the words of the label's polarity; all others
    are "something". Lengths are drawn uniformly, ends included, so that a text has 75 tokens on average.

    Paper: attefa, section 4.1. Differs: the paper has no validation split; ours is 1,000 further texts of
    the same rule. Its words are those of a public lexicon (`config.lexicon`), ours by default a small list.
    """
    check_seed(config.seed)
    words, notes = _words(config)
    splits = {split: _texts(words, name, split, config.seed) for split in SIZES}
    notes = (
        *notes,
        f"generated with seed {config.seed}: 50 to 100 tokens a text, 75 on average",
        "the validation split is our addition: 1,000 further texts of the same rule",
    )
    return Dataset(name, "", "single", CLASSES, splits, notes=notes)


def check_seed(seed: int) -> None:
    if seed < 0:
        raise ConfigError(f"seed {seed}: expected a whole number that is not negative")


def balanced(n: int, rng: np.random.Generator) -> Ints:
    """Labels 0 and 1 in random order, n // 2 of them 1."""
    return (rng.random(n).argsort() < n // 2).astype(np.int64)


def word_list(name: str) -> list[str]:
    """The words of one of the lists beside this module, one a line."""
    return (resources.files("faithgauge.data") / "words" / f"{name}.txt").read_text(encoding="utf-8").split()


def _texts(words: Sequence[Sequence[str]], name: str, split: Split, seed: int) -> list[Example]:
    rng = generator(seed, name, split)
    labels = balanced(SIZES[split], rng)
    lengths = rng.integers(50, 101, size=len(labels))
    amounts = _amounts(AMOUNTS[name], lengths)
    tokens = np.arange(lengths.max())
    order = np.where(tokens < lengths[:, None], rng.random((len(labels), len(tokens))), 2.0)
    informative = order.argsort(axis=1).argsort(axis=1) < amounts[:, None]
    vocabulary = np.array([FILLER, *words[0], *words[1]], dtype=object)
    first = np.where(labels == 0, 1, 1 + len(words[0]))
    count = np.where(labels == 0, len(words[0]), len(words[1]))
    drawn = first[:, None] + (rng.random(order.shape) * count[:, None]).astype(np.int64)
    ids = np.where(informative, drawn, 0)
    ends = np.cumsum(np.array([len(word) for word in vocabulary])[ids] + 1, axis=1) - 1
    return [
        Example(
            text=" ".join(vocabulary[ids[i, :n]]),
            label=int(labels[i]),
            id=f"{split}:{i}",
            evidence=tuple((end - len(vocabulary[k]), end) for k, end in _chosen(ids[i], ends[i])),
        )
        for i, n in enumerate(lengths.tolist())
    ]


def _amounts(amount: int | Fraction, lengths: Ints) -> Ints:
    if isinstance(amount, int):
        return np.full_like(lengths, amount)
    return (2 * amount.numerator * lengths + amount.denominator) // (2 * amount.denominator)


def _chosen(ids: Ints, ends: Ints) -> list[tuple[int, int]]:
    where = ids.nonzero()[0]
    return list(zip(ids[where].tolist(), ends[where].tolist(), strict=True))


def _words(config: DataConfig) -> tuple[list[list[str]], tuple[str, ...]]:
    if config.lexicon is None:
        lists = [word_list(name) for name in CLASSES]
        return lists, (
            f"words: {len(lists[1])} positive and {len(lists[0])} negative ones of faithgauge's own",
        )
    members = [_lexicon_file(config.lexicon, f"{name}-words.txt") for name in CLASSES]
    read = [_lexicon_words(member) for member in members]
    both = set(read[0]) & set(read[1])
    lists = [[word for word in words if word not in both] for words in read]
    for member, words in zip(members, lists, strict=True):
        if not words:
            raise DataError(f"{member.origin}: expected one word a line, found none; give another lexicon")
    note = f"words: {len(lists[1])} positive and {len(lists[0])} negative ones of {config.lexicon}"
    return lists, (f"{note}, {len(both)} that stand in both lists left out" if both else note,)


def _lexicon_file(folder: Path, name: str) -> Member:
    member = Files(folder).read(name)
    if member is None:
        raise DataError(f"{folder}: expected positive-words.txt and negative-words.txt, {name} is not there")
    return member


def _lexicon_words(member: Member) -> list[str]:
    """One word a line, ``;`` before a comment; Hu and Liu's own negative file is latin-1."""
    try:
        text = member.text()
    except DataError:
        text = member.text("latin-1")
    lines = (line.strip() for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if line and not line.startswith(";")))
