"""AG News: news items in four classes, or world against business as the papers use them.

Read from ``train.csv`` and ``test.csv`` of Zhang et al. (class, title, description; no header). The
official texts are title and description; 15 % of train are held out for validation. Jain & Wallace keep
classes 1 and 3 and the description only, and hold out 15 % of train by their random state.

Differs: their code drops the items of the smallest and the largest number of tokens of each split, which
leaves 1900/1898 in test where 1900/1900 are printed; here they stay.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Download, Found, Published, Source
from faithgauge.data.files import Files, Member
from faithgauge.data.splits import cut_validation, sklearn_split
from faithgauge.errors import DataError
from faithgauge.types import Example, Split

_CLASSES = ("world", "sports", "business", "science and technology")
_BINARY = ("world", "business")
_ADDRESS = "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv"


def read(files: Files, variant: str) -> Found:
    """Four classes with titles, or two of them without."""
    train, test = (files.read(f"{part}.csv") for part in ("train", "test"))
    missing = tuple(
        f"{part}.csv, {items} items" if member is None else ""
        for part, items, member in (("train", 120_000, train), ("test", 7_600, test))
    )
    items = _binary if variant else _titled
    splits: dict[Split, list[Example]] = {}
    notes = []
    if train is not None:
        examples = list(items(train, "train"))
        if variant:
            kept, held = sklearn_split(len(examples), 0.15, 16377)
            splits["train"], splits["validation"] = ([examples[i] for i in part] for part in (kept, held))
        else:
            splits["train"], splits["validation"], note = cut_validation(examples, seed=0)
            notes.append(note)
    if test is not None:
        splits["test"] = list(items(test, "test"))
    classes = _BINARY if variant else _CLASSES
    return Found(splits, tuple(filter(None, missing)), tuple(notes), classes=classes)


def _titled(member: Member, part: str) -> Iterator[Example]:
    for row, label, title, description in _rows(member):
        yield Example(f"{title} {description}".strip(), label - 1, f"{part}-{row}")


def _binary(member: Member, part: str) -> Iterator[Example]:
    for row, label, _, description in _rows(member):
        if label in (1, 3):
            yield Example(description, int(label == 3), f"{part}-{row}")


def _rows(member: Member) -> Iterator[tuple[int, int, str, str]]:
    rows = csv.reader(io.StringIO(member.text(), newline=""), strict=True)
    try:
        for number, row in enumerate(rows, 1):
            if len(row) != 3 or row[0] not in ("1", "2", "3", "4"):
                raise DataError(
                    f"{member.origin}, row {number}: expected class 1 to 4, title and description, "
                    f"found {row!r:.80}; fetch the file again"
                )
            yield number, int(row[0]), row[1], row[2]
    except csv.Error as error:
        raise DataError(
            f"{member.origin}, line {rows.line_num}: expected complete quoted rows, found {error}; "
            "fetch the file again"
        ) from error


_BINARY_SIZE: Mapping[Split, int] = {"train": 51000, "validation": 9000, "test": 3800}
_BOTH = {"world": 1900, "business": 1900}
_BEFORE = "that is before 15 % of it are held out for validation"
_TWO = "they use two of the four classes (agnews@jain-wallace-2019)"
_CLEANED = EncodeConfig(words="jain-wallace", min_df=5)
_VARIANT = "world against business, descriptions only, their random state"


SOURCE = Source(
    name="agnews",
    task="single",
    classes=_CLASSES,
    summary="news items by topic (AG News); world against business in the papers",
    home="http://groups.di.unipi.it/~gulli/AG_corpus_of_news_articles.html",
    licence="non-commercial research use",
    read=read,
    sizes={
        "": {"train": 102000, "validation": 18000, "test": 7600},
        "jain-wallace-2019": _BINARY_SIZE,
        "wiegreffe-pinter-2019": _BINARY_SIZE,
        "attefa": _BINARY_SIZE,
    },
    variants={
        "jain-wallace-2019": _VARIANT,
        "wiegreffe-pinter-2019": "as jain-wallace-2019",
        "attefa": "as jain-wallace-2019",
    },
    published=(
        *(
            published
            for paper in ("jain-wallace-2019", "wiegreffe-pinter-2019")
            for published in (
                Published(paper, "train", 60000, {"world": 30000, "business": 30000}, _BEFORE),
                Published(paper, "test", 3800, _BOTH, _TWO),
            )
        ),
        Published("attefa", "train", 51000, {"world": 25508, "business": 25492}, _TWO),
        Published("attefa", "test", 3800, _BOTH, _TWO),
    ),
    downloads=(
        Download(f"{_ADDRESS}/train.csv", "train.csv", "md5:b1a00f826fdfbd249f79597b59e1dc12"),
        Download(f"{_ADDRESS}/test.csv", "test.csv", "md5:d52ea96a97a2d943681189a97654912d"),
    ),
    encoding={
        "": EncodeConfig(words="plain", min_df=5),
        "jain-wallace-2019": _CLEANED,
        "wiegreffe-pinter-2019": _CLEANED,
        "attefa": _CLEANED,
    },
    folders=("ag_news", "ag_news_csv"),
)
