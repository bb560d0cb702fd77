"""Quora Question Pairs: do two questions ask the same (Iyer et al. 2017)?

Quora released one table without a split, ``quora_duplicate_questions.tsv``. The split that is in general use
is that of Wang et al. (2017), ``{train,dev,test}.tsv`` (label, question, question, id; tokens parted by
blanks): plain ``quora`` is this one, and also reads a re-formatting of it as ``.txt`` (question, question,
label). Half of its validation and test pairs are duplicates, against 37 % of all. Neely et al. split the
released table by themselves: ``quora@neely-2022``. Where the training part is not at hand,
``quora@dev`` trains on the validation part.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Download, Found, Published, Source
from faithgauge.data.files import Files, Member
from faithgauge.data.splits import DEV, instead_of_train, sklearn_split
from faithgauge.errors import DataError
from faithgauge.types import Example, Split

NEELY = "neely-2022"
CLASSES = ("different", "duplicate")
RELEASED = "quora_duplicate_questions.tsv"
TOO_LONG = 200

_PARTITION: dict[Split, tuple[str, str]] = {
    "train": ("train.tsv", "train.txt"),
    "validation": ("dev.tsv", "dev.txt"),
    "test": ("test.tsv", "test.txt"),
}
_HEADER = ["id", "qid1", "qid2", "question1", "question2", "is_duplicate"]
_TOKEN = re.compile(r"\w+|[^\w\s]")


def _read(files: Files, variant: str) -> Found:
    if variant == NEELY:
        return _released(files)
    found = _partition(files)
    return instead_of_train(found, of="validation part of Wang et al.") if variant == DEV else found


def _partition(files: Files) -> Found:
    splits: dict[Split, list[Example]] = {}
    missing = []
    for split, names in _PARTITION.items():
        member = files.read(*names)
        if member is None:
            missing.append(f"{split}: no file {names[0]} of the partition of Wang et al.")
        else:
            splits[split] = _pairs(member, split)
    notes = ["the split of Wang et al. (2017); its validation and test pairs are half duplicates"]
    if missing and files.read(RELEASED) is not None:
        notes.append(f"{RELEASED} is here but has no split: quora@{NEELY} reads it")
    return Found(splits, tuple(missing), tuple(notes))


def _pairs(member: Member, split: Split) -> list[Example]:
    examples = []
    width = 0
    for row, line in member.lines():
        if not line.strip():
            continue
        where = f"{member.origin}, line {row}"
        cells = line.split("\t")
        width = width or len(cells)
        if width not in (3, 4) or len(cells) != width:
            raise DataError(
                f"{where}: expected {width if width in (3, 4) else '3 or 4'} columns between tabs (label, "
                f"question, question, id; or question, question, label), found {len(cells)}; fetch it again"
            )
        first, second, label = cells if width == 3 else (cells[1], cells[2], cells[0])
        examples.append(Example(first, _label(label, where), f"{split}-{row}", second))
    return examples


def _label(cell: str, where: str) -> int:
    if cell not in ("0", "1"):
        raise DataError(
            f"{where}: expected the label 0 (different) or 1 (duplicate), found {cell[:40]!r}; "
            "the columns are in another order or the file is damaged: fetch it again"
        )
    return int(cell)


def _released(files: Files) -> Found:
    """80/10/10 of the released table in scikit-learn's random order, then without the long pairs.

    The paper states no seed, so that its own test pairs cannot be drawn again.
    """
    member = files.read(RELEASED)
    if member is None:
        return Found({}, tuple(f"{split}: no file {RELEASED}" for split in _PARTITION))
    rows = list(_table(member))
    examples = [example for example in rows if example.text.strip() and (example.text_pair or "").strip()]
    rest, test = sklearn_split(len(examples), 0.1, 0)
    train, validation = sklearn_split(len(rest), 1 / 9, 0)
    order = {"train": rest[train], "validation": rest[validation], "test": test}
    splits = {
        split: [examples[i] for i in order[split] if not _too_long(examples[i])] for split in _PARTITION
    }
    n_long = len(examples) - sum(map(len, splits.values()))
    notes = (
        "80/10/10 split with seed 0: the paper's own is not known",
        f"{len(rows) - len(examples)} pairs with an empty question are left out",
        f"{n_long} pairs of {TOO_LONG} tokens or more are left out",
    )
    return Found(splits, (), notes)


def _table(member: Member) -> Iterator[Example]:
    header, width = "", len(_HEADER)
    for row, cells in _rows(member):
        where = f"{member.origin}, line {row}"
        if not header:
            header = ", ".join(cells)
            if cells != _HEADER:
                raise DataError(
                    f"{where}: expected the columns {', '.join(_HEADER)}, found {header[:80]!r}; "
                    "fetch the file again"
                )
        elif len(cells) != width:
            raise DataError(
                f"{where}: expected {width} columns between tabs, found {len(cells)}; "
                "the file is truncated or damaged: fetch it again"
            )
        else:
            yield Example(cells[3], _label(cells[5], where), f"pair-{cells[0]}", cells[4])


def _rows(member: Member) -> Iterator[tuple[int, list[str]]]:
    """The rows of the released table, in which a quoted question may hold line breaks."""
    reader = csv.reader(io.StringIO(member.text(), newline=""), delimiter="\t")
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise DataError(
            f"{member.origin}, line {reader.line_num}: expected a table with tabs ({error}); fetch it again"
        ) from error


def _too_long(pair: Example) -> bool:
    return len(_TOKEN.findall(pair.text)) + len(_TOKEN.findall(pair.text_pair or "")) >= TOO_LONG


_WHY = (
    "before the long pairs are left out; the released table has 404,287 pairs with two questions, "
    "the paper's sizes add up to 404,286; plain quora is the split of Wang et al."
)
_MIRROR = "https://allennlp.s3.amazonaws.com/datasets/quora-question-paraphrase/"

SOURCE = Source(
    name="quora",
    task="pair",
    classes=CLASSES,
    summary="Question pairs of Quora: do they ask the same?",
    home="https://quoradata.quora.com/First-Quora-Dataset-Release-Question-Pairs",
    licence="Quora's terms: non-commercial use",
    read=_read,
    sizes={
        "": {"train": 384_348, "validation": 10_000, "test": 10_000},
        DEV: {"train": 8_500, "validation": 1_500, "test": 10_000},
    },
    variants={
        NEELY: f"80/10/10 of the released table, pairs of {TOO_LONG} tokens or more left out, "
        "words not tokenised beforehand",
        DEV: "trains on 85 % of the validation part, validates on the rest: a substitute",
    },
    published=(
        Published(NEELY, "train", 323_426, why=_WHY),
        Published(NEELY, "validation", 40_429, why=_WHY),
        Published(NEELY, "test", 40_431, why=_WHY),
    ),
    downloads=(
        *(Download(f"{_MIRROR}{name}.tsv", f"{name}.tsv") for name in ("train", "dev", "test")),
        Download(
            f"http://qim.fs.quoracdn.net/{RELEASED}",
            RELEASED,
            "md5:b6d5672bd9dc1e66ab2bb020ebeafb8d",
        ),
    ),
    encoding={
        "": EncodeConfig(words="whitespace", min_df=2),
        DEV: EncodeConfig(words="whitespace", min_df=2),
        NEELY: EncodeConfig(words="plain", min_df=1),
    },
)
