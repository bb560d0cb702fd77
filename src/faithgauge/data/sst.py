"""Stanford Sentiment Treebank, binary: sentences of film reviews, neutral ones left out.

Read from the trees in Penn Treebank form; only the label of the whole sentence counts, 0 and 1 are negative,
3 and 4 positive. A text is the leaves of its tree joined by blanks, nothing unescaped.

Differs: Jain & Wallace filter by length after their own cleaning, strictly on both sides, so that besides the
short sentences the longest one of each split goes too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Download, Found, Published, Source
from faithgauge.data.files import Files, Member
from faithgauge.errors import DataError
from faithgauge.types import Example, Split

_FILES: Mapping[Split, str] = {"train": "train.txt", "validation": "dev.txt", "test": "test.txt"}
_LEAF = re.compile(r"\([0-4] ([^()]+)\)")
_FULL_SIZE: Mapping[Split, int] = {"train": 6920, "validation": 872, "test": 1821}


def read(files: Files, variant: str) -> Found:
    """The sentences of the three files, filtered as the variant says."""
    splits: dict[Split, list[Example]] = {}
    missing = []
    for split, name in _FILES.items():
        member = files.read(name)
        if member is None:
            missing.append(f"{name}, the trees of {split}")
        else:
            splits[split] = _FILTERS[variant](_sentences(member, split))
    return Found(splits, tuple(missing))


def _sentences(member: Member, split: Split) -> list[Example]:
    examples = []
    for row, line in enumerate(member.text().splitlines(), 1):
        tree = line.strip()
        if not tree:
            continue
        words = _LEAF.findall(tree)
        if not re.match(r"\([0-4] ", tree) or tree.count("(") != tree.count(")") or not words:
            raise DataError(
                f"{member.origin}, row {row}: expected a tree like '(3 (2 Very) (4 good))', "
                f"found {tree[:40]!r}; fetch the file again"
            )
        if tree[1] != "2":
            examples.append(Example(" ".join(words), int(tree[1] in "34"), f"{split}-{row}"))
    return examples


def _jain_wallace(examples: list[Example]) -> list[Example]:
    """More than five words after their cleaning, and fewer than the longest sentence of the split has."""
    lengths = [len(_cleaned(example.text).split()) for example in examples]
    longest = max(lengths, default=0)
    return [example for example, n in zip(examples, lengths, strict=True) if 5 < n < longest]


def _cleaned(text: str) -> str:
    """Their cleaning as far as it changes the number of words."""
    return re.sub(r"\W", " ", text.replace("-LRB-", "").replace("-RRB-", " "))


def _recursive_roar(examples: list[Example]) -> list[Example]:
    return [example for example in examples if len(example.text.split()) > 5]


def _all(examples: list[Example]) -> list[Example]:
    return examples


_FILTERS: Mapping[str, Callable[[list[Example]], list[Example]]] = {
    "": _all,
    "attefa": _all,
    "jain-wallace-2019": _jain_wallace,
    "wiegreffe-pinter-2019": _jain_wallace,
    "recursive-roar-2022": _recursive_roar,
    "neely-2022": _jain_wallace,  # their bound of 240 words is beyond the longest sentence
}
_JAIN_WALLACE_SIZE: Mapping[Split, int] = {"train": 6355, "validation": 821, "test": 1725}
_FILTERED = "they leave out sentences of at most 5 words and the longest of each split"
_SHORT = "they leave out sentences of at most 5 tokens"
_NOT_FILTERED = "they do not filter by length"
_FIVE_CLASSES = "that is the set with five classes, though their task is binary"
_CLEANED = EncodeConfig(words="jain-wallace-sst")


SOURCE = Source(
    name="sst",
    task="single",
    classes=("negative", "positive"),
    summary="sentences of film reviews, binary sentiment (Stanford Sentiment Treebank)",
    home="https://nlp.stanford.edu/sentiment/",
    licence="not stated by its authors; made for research",
    read=read,
    sizes={
        "": _FULL_SIZE,
        "attefa": _FULL_SIZE,
        "jain-wallace-2019": _JAIN_WALLACE_SIZE,
        "wiegreffe-pinter-2019": _JAIN_WALLACE_SIZE,
        "recursive-roar-2022": {"train": 6579, "validation": 848, "test": 1776},
        "neely-2022": _JAIN_WALLACE_SIZE,
    },
    variants={
        "jain-wallace-2019": "more than 5 words after their cleaning, without the longest of each split",
        "wiegreffe-pinter-2019": "as jain-wallace-2019",
        "attefa": "as the official split, with the cleaning of jain-wallace-2019",
        "recursive-roar-2022": "more than 5 tokens",
        "neely-2022": "as jain-wallace-2019; none is longer than 240 words",
    },
    published=(
        *(
            published
            for paper in ("jain-wallace-2019", "wiegreffe-pinter-2019")
            for published in (
                Published(paper, "train", 6355, {"negative": 3034, "positive": 3321}, _FILTERED),
                Published(paper, "test", 1725, {"negative": 863, "positive": 862}, _FILTERED),
            )
        ),
        Published("attefa", "train", 6920, {"negative": 3310, "positive": 3610}, _NOT_FILTERED),
        Published("attefa", "test", 1821, {"negative": 912, "positive": 909}, _NOT_FILTERED),
        Published("recursive-roar-2022", "train", 6579, why=_SHORT),
        Published("recursive-roar-2022", "validation", 848, why=_SHORT),
        Published("recursive-roar-2022", "test", 1776, why=_SHORT),
        Published("neely-2022", "train", 8544, why=_FIVE_CLASSES),
        Published("neely-2022", "validation", 1101, why=_FIVE_CLASSES),
        Published("neely-2022", "test", 2210, why=_FIVE_CLASSES),
    ),
    downloads=(
        Download("https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip", "trainDevTestTrees_PTB.zip"),
    ),
    encoding={
        "": EncodeConfig(words="whitespace"),
        "attefa": _CLEANED,
        "jain-wallace-2019": _CLEANED,
        "wiegreffe-pinter-2019": _CLEANED,
        "recursive-roar-2022": _CLEANED,
        "neely-2022": _CLEANED,
    },
)
