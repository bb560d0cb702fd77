"""CNN question answering: which entity of a news story fills the gap in a question (Hermann et al. 2015).

Read from ``{train,dev,test}.txt`` of Chen et al.'s ``cnn.tar.gz`` (question, answer and story on a line each,
an empty line between two questions), or from the original files ``{training,validation,test}/*.question``
(address, story, question, answer and names, an empty line between two of them), or from a sample in the JSON
form of the jack project (``*.jtr.json``), whose `meta` names its split. The text is the story, the second
text the question with ``@placeholder`` for the gap. Names are anonymous, ``@entity0`` and so on, numbered
anew in every story: the classes are these numbers, the `candidates` of a question those of its story.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Download, Found, Published, Source
from faithgauge.data.files import Files, Member
from faithgauge.errors import DataError
from faithgauge.types import Example, Split

# More than any story has (at most 527: Hermann et al., Table 1), so that a class is the same in every split.
N_ENTITIES = 1000
CLASSES = tuple(f"@entity{number}" for number in range(N_ENTITIES))

_CHEN: dict[Split, str] = {"train": "train.txt", "validation": "dev.txt", "test": "test.txt"}
_FOLDERS: dict[str, Split] = {"training": "train", "validation": "validation", "test": "test"}
_META: dict[str, Split] = {"cnn_train": "train", "cnn_dev": "validation", "cnn_test": "test"}
_QUESTION_FILE = re.compile(r"(^|/)(training|validation|test)/[^/]+\.question$")
_SAMPLE = re.compile(r"\.jtr\.json$")
_ENTITY = re.compile(r"(?<!\S)@entity(\d+)(?!\S)")


def _read(files: Files, variant: str) -> Found:
    del variant  # there is only the official one
    splits = _chen(files) or _original(files)
    sample = {} if splits else _sample(files)
    missing = [f"{split}: no file {name}" for split, name in _CHEN.items() if split not in splits]
    notes = [f"{split}: a sample of {len(rows)} questions" for split, rows in sample.items()]
    return Found(splits or sample, tuple(missing), tuple(notes))


def _chen(files: Files) -> dict[Split, list[Example]]:
    splits: dict[Split, list[Example]] = {}
    for split, name in _CHEN.items():
        member = files.read(name)
        if member is not None:
            splits[split] = [
                _example(story, question, answer, where=f"{member.origin}, line {row}", name=f"{split}-{row}")
                for row, question, answer, story in _blocks(member)
            ]
    return splits


def _blocks(member: Member) -> Iterator[tuple[int, str, str, str]]:
    """The number of the first line, question, answer and story; what follows in the block is not needed."""
    block: list[str] = []
    row = 0
    for row, line in member.lines():
        if line.strip():
            block.append(line)
        elif block:
            yield _block(member, row - len(block), block)
            block = []
    if block:
        yield _block(member, row + 1 - len(block), block)


def _block(member: Member, row: int, block: list[str]) -> tuple[int, str, str, str]:
    if len(block) < 3:
        raise DataError(
            f"{member.origin}, line {row}: expected a question, its answer and the story on a line each, "
            f"found {len(block)} lines; the file is truncated or damaged: fetch it again"
        )
    return row, block[0].strip(), block[1].strip(), block[2].strip()


def _original(files: Files) -> dict[Split, list[Example]]:
    splits: dict[Split, list[Example]] = {}
    for member in files.walk(_QUESTION_FILE):
        path = PurePosixPath(member.name)
        parts = member.text().replace("\r\n", "\n").strip().split("\n\n")
        if len(parts) < 4:
            raise DataError(
                f"{member.origin}: expected address, story, question and answer with empty lines between "
                f"them, found {len(parts)} parts; fetch it again"
            )
        example = _example(*parts[1:4], where=member.origin, name=path.stem)
        splits.setdefault(_FOLDERS[path.parent.name], []).append(example)
    # An archive keeps its files in any order; the split is the same wherever it comes from.
    return {split: sorted(rows, key=lambda example: example.id) for split, rows in splits.items()}


def _sample(files: Files) -> dict[Split, list[Example]]:
    splits: dict[Split, list[Example]] = {}
    for member in files.walk(_SAMPLE):
        document = _document(member)
        split = _META.get(str(document.get("meta")))
        if split is None:
            raise DataError(
                f"{member.origin}: expected the meta {', '.join(_META)}, found {document.get('meta')!r}"
            )
        rows = splits.setdefault(split, [])
        for number, instance in enumerate(document["instances"], 1):
            where = f"{member.origin}, instance {number}"
            rows += [
                _example(story, question, answer, where=where, name=name.removesuffix(".question"))
                for story, question, answer, name in _asked(instance, where)
            ]
    return splits


def _document(member: Member) -> dict[str, Any]:
    try:
        document = json.loads(member.text())
    except json.JSONDecodeError as error:
        raise DataError(f"{member.origin}, line {error.lineno}: expected JSON ({error.msg})") from error
    if not isinstance(document, dict) or not isinstance(document.get("instances"), list):
        raise DataError(f"{member.origin}: expected a JSON object with a list of instances")
    return document


def _asked(instance: Any, where: str) -> list[tuple[str, str, str, str]]:
    """Story, question, answer and name of every question of one story."""
    try:
        story = instance["support"]["text"]
        rows = [(story, q["question"], q["answers"][0]["text"], q["id"]) for q in instance["questions"]]
    except (KeyError, IndexError, TypeError):
        rows = [(None, None, None, None)]
    if not all(isinstance(cell, str) for row in rows for cell in row):
        raise DataError(
            f"{where}: expected the texts of support and of questions with id, question and answers; "
            "the file is damaged"
        )
    return rows


def _example(story: str, question: str, answer: str, *, where: str, name: str) -> Example:
    candidates = tuple(sorted({int(number) for number in _ENTITY.findall(story)}))
    if candidates and candidates[-1] >= N_ENTITIES:
        raise DataError(
            f"{where}: expected entities below @entity{N_ENTITIES}, found @entity{candidates[-1]}"
        )
    asked = _ENTITY.fullmatch(answer)
    if asked is None or int(asked[1]) not in candidates:
        raise DataError(
            f"{where}: expected the answer to be an entity of the story, found {answer[:40]!r}; "
            "the file is damaged: fetch it again"
        )
    return Example(story, int(asked[1]), name, question, candidates=candidates)


SOURCE = Source(
    name="cnn",
    task="cloze",
    classes=CLASSES,
    summary="News stories of CNN and questions with a gap, filled by one of the story's anonymous entities",
    home="https://github.com/deepmind/rc-data",
    licence="script Apache 2.0; the stories are CNN's",
    read=_read,
    sizes={"": {"train": 380_298, "validation": 3_924, "test": 3_198}},
    published=(
        Published("jain-wallace-2019", "train", 380_298),
        Published("jain-wallace-2019", "test", 3_198),
    ),
    downloads=(Download("http://cs.stanford.edu/~danqi/data/cnn.tar.gz", "cnn.tar.gz"),),
    encoding={"": EncodeConfig(words="whitespace", min_df=8)},
    folders=("cnn_qa",),
)
