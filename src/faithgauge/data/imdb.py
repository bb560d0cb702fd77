"""Large Movie Review Dataset: 25,000 + 25,000 film reviews, binary sentiment.

The official distribution has no validation split, so 15 % of train are held out. Jain & Wallace drew
theirs from the word ids that keras distributed then (``imdb_full.pkl``), reviews of fewer than 400 tokens
only. It is read from a split file over the reviews (``jain_wallace_split.tsv``: path, label, jw_split,
keras_len) or, where there is none, drawn again from ``imdb_full.pkl`` and ``imdb_word_index.json`` by their
random state; the texts are then the tokens joined by blanks. keras' later ``imdb.npz`` is another file and
is not read.

Differs: the Recursive ROAR code draws its own split of the same sizes by a random state that is not known;
its variant is Jain & Wallace's split without reviews of at most 6 tokens.
"""

from __future__ import annotations

import csv
import io
import json
import pickle
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Download, Found, Published, Source
from faithgauge.data.files import Files, Member
from faithgauge.data.splits import cut_validation, sklearn_split
from faithgauge.errors import DataError
from faithgauge.types import Example, Split

_REVIEW = re.compile(r"(?:^|/)((?:train|test)/(?:neg|pos)/\d+_\d+\.txt)$")
_PARTS = ("train/neg", "train/pos", "test/neg", "test/pos")
_IN_EACH_PART = 12_500
_SPLITS: Mapping[str, Split] = {"train": "train", "dev": "validation", "test": "test"}
_SPLIT_FILE = "jain_wallace_split.tsv"
_KERAS = ("imdb_full.pkl", "imdb_word_index.json")
# The split itself holds no review of 400 tokens or more by its authors' count.
_LENGTHS: Mapping[str, range] = {
    "jain-wallace-2019": range(sys.maxsize),
    "wiegreffe-pinter-2019": range(sys.maxsize),
    "recursive-roar-2022": range(7, sys.maxsize),
    "neely-2022": range(241),
}


def read(files: Files, variant: str) -> Found:
    """The official split, or Jain & Wallace's with the variant's bounds of length."""
    if not variant:
        return _official(files)
    member = files.read(_SPLIT_FILE)
    if member is not None:
        return _by_split_file(files, member, _LENGTHS[variant])
    ids, words = (files.read(name) for name in _KERAS)
    if ids is not None and words is not None:
        return _by_keras(ids, words, _LENGTHS[variant])
    return Found({}, missing=(f"{_SPLIT_FILE} beside the reviews, or {' and '.join(_KERAS)}",))


def _official(files: Files) -> Found:
    reviews = _reviews(files)
    train = [_example(path, text) for path, text in reviews.items() if path.startswith("train/")]
    test = [_example(path, text) for path, text in reviews.items() if path.startswith("test/")]
    missing = _missing(reviews)
    if not train:
        return Found({"test": test} if test else {}, missing)
    kept, held, note = cut_validation(train, seed=0)
    return Found({"train": kept, "validation": held, "test": test}, missing, notes=(note,))


def _reviews(files: Files) -> dict[str, str]:
    """Every review by its path from ``train/`` or ``test/`` on, in the order of path and number."""
    found = {}
    for member in files.walk(_REVIEW):
        path = _REVIEW.search(member.name)
        if path is not None:
            found[path[1]] = member.text()
    return dict(sorted(found.items(), key=_place))


def _place(item: tuple[str, str]) -> tuple[str, int]:
    folder, _, name = item[0].rpartition("/")
    return folder, int(name.partition("_")[0])


def _example(path: str, text: str) -> Example:
    return Example(text, int("/pos/" in path), path.removesuffix(".txt"))


def _missing(reviews: Mapping[str, str]) -> tuple[str, ...]:
    counts = Counter(path.rpartition("/")[0] for path in reviews)
    return tuple(
        f"{_IN_EACH_PART - counts[part]} of the {_IN_EACH_PART} reviews in aclImdb/{part}"
        for part in _PARTS
        if counts[part] < _IN_EACH_PART
    )


def _by_split_file(files: Files, member: Member, lengths: range) -> Found:
    reviews = _reviews(files)
    splits: dict[Split, list[Example]] = {split: [] for split in _SPLITS.values()}
    absent = 0
    rows = csv.DictReader(io.StringIO(member.text()), delimiter="\t", quoting=csv.QUOTE_NONE)
    for number, row in enumerate(rows, 2):
        path, split, length = _row(row, f"{member.origin}, row {number}")
        if split is None or length not in lengths:
            continue
        if path in reviews:
            splits[split].append(_example(path, reviews[path]))
        else:
            absent += 1
    missing = (f"{absent} reviews that {_SPLIT_FILE} names",) if absent else ()
    return Found({split: examples for split, examples in splits.items() if examples}, missing)


def _row(row: Mapping[str, Any], where: str) -> tuple[str, Split | None, int]:
    path = _REVIEW.search(row.get("path") or "")
    name, length = row.get("jw_split"), row.get("keras_len") or ""
    if path is None or name not in (*_SPLITS, "unused") or not length.isdigit():
        raise DataError(
            f"{where}: expected path, label, jw_split (train, dev, test or unused) and keras_len, "
            f"found {list(row.values())!r:.80}; compare it with the header"
        )
    return path[1], _SPLITS.get(name), int(length)


def _by_keras(ids: Member, words: Member, lengths: range) -> Found:
    """Their own way: 20 % of the short training reviews for dev, 20 % of the short test reviews kept."""
    (train, train_labels), (test, test_labels) = _unpickle(ids)
    by_id = {number: word for word, number in json.loads(words.text()).items()}
    short = [row for row, review in enumerate(train) if len(review) < 400]
    kept, dev = sklearn_split(len(short), None, 1378, train_size=0.8)
    short_test = [row for row, review in enumerate(test) if len(review) < 400]
    kept_test, _ = sklearn_split(len(short_test), None, 1378, train_size=0.2)

    def examples(part: str, rows: Sequence[int]) -> list[Example]:
        reviews, labels = (train, train_labels) if part == "train" else (test, test_labels)
        return [
            Example(" ".join(by_id[i] for i in reviews[row]), int(labels[row]), f"{part}/{row}")
            for row in rows
            if len(reviews[row]) in lengths
        ]

    return Found(
        {
            "train": examples("train", [short[i] for i in kept]),
            "validation": examples("train", [short[i] for i in dev]),
            "test": examples("test", [short_test[i] for i in kept_test]),
        },
        notes=("the texts are keras' tokens joined by blanks",),
    )


class _Plain(pickle.Unpickler):
    """Lists, tuples, numbers and strings; anything that would have to be imported is refused."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _unpickle(member: Member) -> Any:
    try:
        data = _Plain(io.BytesIO(member.data), encoding="latin-1").load()
        (train, train_labels), (test, test_labels) = data
        if len(train) != len(train_labels) or len(test) != len(test_labels):
            raise ValueError("reviews and labels differ in number")
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise DataError(
            f"{member.origin}: expected lists of word ids and labels, nothing else ({error}); fetch it again"
        ) from error
    return data


_JAIN_WALLACE_SIZE: Mapping[Split, int] = {"train": 17212, "validation": 4304, "test": 4363}
_TOKENS = EncodeConfig(words="keras", min_df=10)
_LONG = "they use only reviews of fewer than 400 tokens, of those in test a fifth"
_PRINT = "their Table 1 prints all of train; their code uses the 17212 of fewer than 400 tokens"
_BEFORE = "that is before they leave out reviews of more than 240 tokens"
_OWN_DRAW = "their code draws a split of its own and leaves out reviews of at most 6 tokens"


SOURCE = Source(
    name="imdb",
    task="single",
    classes=("negative", "positive"),
    summary="film reviews, binary sentiment (Large Movie Review Dataset)",
    home="https://ai.stanford.edu/~amaas/data/sentiment/",
    licence="not stated by its authors; made for research",
    read=read,
    sizes={
        "": {"train": 21250, "validation": 3750, "test": 25000},
        "jain-wallace-2019": _JAIN_WALLACE_SIZE,
        "wiegreffe-pinter-2019": _JAIN_WALLACE_SIZE,
        "recursive-roar-2022": {"train": 17212, "validation": 4304, "test": 4361},
        "neely-2022": {"train": 13427, "validation": 3318, "test": 3482},
    },
    variants={
        "jain-wallace-2019": "their split of the reviews of fewer than 400 tokens",
        "wiegreffe-pinter-2019": "as jain-wallace-2019",
        "recursive-roar-2022": "as jain-wallace-2019, without reviews of at most 6 tokens",
        "neely-2022": "as jain-wallace-2019, without reviews of more than 240 tokens",
    },
    published=(
        *(
            published
            for paper in ("jain-wallace-2019", "wiegreffe-pinter-2019")
            for published in (
                Published(paper, "train", 25000, {"negative": 12500, "positive": 12500}, _PRINT),
                Published(paper, "test", 4356, {"negative": 2184, "positive": 2172}, _LONG),
            )
        ),
        Published("attefa", "train", 17212, {"negative": 8673, "positive": 8539}, _LONG),
        Published("attefa", "test", 4363, {"negative": 2189, "positive": 2174}, _LONG),
        Published("recursive-roar-2022", "train", 17212, why=_LONG),
        Published("recursive-roar-2022", "validation", 4304, why=_LONG),
        Published("recursive-roar-2022", "test", 4362, why=_OWN_DRAW),
        Published("neely-2022", "train", 17212, why=_BEFORE),
        Published("neely-2022", "validation", 4304, why=_BEFORE),
        Published("neely-2022", "test", 4363, why=_BEFORE),
    ),
    downloads=(
        Download(
            "https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
            "aclImdb_v1.tar.gz",
            "md5:7c2ac02c03563afcf9b574c7e56c153a",
        ),
    ),
    encoding={
        "": EncodeConfig(words="plain", min_df=10),
        **dict.fromkeys(_LENGTHS, _TOKENS),
    },
)
