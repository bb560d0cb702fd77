"""ERASER's movie reviews: long film reviews, and the phrases that people marked as speaking for the label.

Read in the form of the benchmark: ``{train,val,test}.jsonl`` has one review a line, its label and its
evidence as ranges of tokens, and ``docs/`` has the texts, in which tokens stand between white space. The
evidence of an example is the characters from the first to the last token of each range. It is human: it says
what a person would point at, which need not be what a model used. The reviews are Pang & Lee's; train and
validation bear the marks of Zaidan et al., who did not ask for all that speaks for the label (8 % of the
tokens in train), test was marked more fully (30 %).

Paper: deyoung2020; zaidan2007; pang2004.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Download, Found, Source
from faithgauge.data.files import Files, Member
from faithgauge.errors import DataError
from faithgauge.types import Example, Split

_FILES: Mapping[Split, str] = {"train": "train.jsonl", "validation": "val.jsonl", "test": "test.jsonl"}
_LABELS = {"NEG": 0, "POS": 1}
_DOCUMENT = re.compile(r"(^|/)docs/[^/.][^/]*\.txt$")


def read(files: Files, variant: str) -> Found:
    """The reviews of the three files whose text is there."""
    del variant  # there is only the official one
    members = {split: files.read(name) for split, name in _FILES.items()}
    missing = [f"{split}: no file {_FILES[split]}" for split, member in members.items() if member is None]
    texts = {}
    if any(members.values()):
        texts = {PurePosixPath(one.name).name: one.text() for one in files.walk(_DOCUMENT)}
    splits: dict[Split, list[Example]] = {}
    for split, member in members.items():
        if member is None:
            continue
        splits[split], absent = _reviews(member, texts)
        if absent:
            missing.append(f"{split}: docs/ lacks the texts of {absent} reviews")
    return Found({split: rows for split, rows in splits.items() if rows}, tuple(missing))


def _reviews(member: Member, texts: Mapping[str, str]) -> tuple[list[Example], int]:
    """The examples of one file, and how many have no text."""
    examples, absent = [], 0
    for row, line in member.lines():
        if not line.strip():
            continue
        where = f"{member.origin}, line {row}"
        name, label, ranges = _fields(line, where)
        if name in texts:
            text = texts[name]
            evidence = _characters(text, ranges, where)
            examples.append(Example(text, label, name.removesuffix(".txt"), evidence=evidence))
        else:
            absent += 1
    return examples, absent


def _fields(line: str, where: str) -> tuple[str, int, list[tuple[int, int]]]:
    """The name of the review, its label, and the ranges of tokens that are its evidence."""
    try:
        review: dict[str, Any] = json.loads(line)
        name, label = review["annotation_id"], _LABELS[review["classification"]]
        spans = [span for group in review["evidences"] for span in group if span["docid"] == name]
        return name, label, [(int(span["start_token"]), int(span["end_token"])) for span in spans]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{where}: expected a review with annotation_id, classification (NEG or POS) and evidences, "
            f"found {line[:60]!r}; fetch the file again"
        ) from error


def _characters(text: str, ranges: list[tuple[int, int]], where: str) -> tuple[tuple[int, int], ...]:
    """Ranges of tokens, ends not included, as ranges of characters in order; empty ones say nothing."""
    tokens = [found.span() for found in re.finditer(r"\S+", text)]
    for start, end in ranges:
        if not 0 <= start <= end <= len(tokens):
            raise DataError(
                f"{where}: expected evidence within the {len(tokens)} tokens of its text, found tokens "
                f"{start} to {end}; the texts are of another version: fetch both again"
            )
    marked = sorted({(start, end) for start, end in ranges if start < end})
    return tuple((tokens[start][0], tokens[end - 1][1]) for start, end in marked)


SOURCE = Source(
    name="movies",
    task="single",
    classes=("negative", "positive"),
    summary="film reviews with the phrases that people marked as evidence, binary sentiment (ERASER)",
    home="https://www.eraserbenchmark.com/",
    licence="not stated by its authors; made for research",
    read=read,
    sizes={"": {"train": 1600, "validation": 200, "test": 199}},
    downloads=(Download("https://www.eraserbenchmark.com/zipped/movies.tar.gz", "movies.tar.gz"),),
    encoding={"": EncodeConfig(words="whitespace", min_df=2)},
    folders=("eraser_movies",),
)
