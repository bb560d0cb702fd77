"""bAbI tasks 1 to 3: where is someone or something, after one, two or three facts (Weston et al. 2015).

Read from ``tasks_1-20_v1-2.tar.gz`` or the folder unpacked from it, part ``en-10k``. Every question is one
example: the text is all that was told before it in its story, without full stops and joined by ``" . "``, and
the second text is the question without its mark, as Jain & Wallace prepared them. The facts that support the
answer are known and stand in `evidence`. The classes are the 36 words of the three tasks, among which the
papers' models choose; only the six places are ever the answer.

The official training part is split 85/15 with the random state of Jain & Wallace's code. Its questions are
kept as they are, a few of them repeated. Where ``en-10k`` lacks the training file of a task, the smaller one
of ``en`` and the held-out part of ``en-valid-10k`` stand in for it, each distinct question once.
"""

from __future__ import annotations

from functools import partial

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Download, Found, Published, Source
from faithgauge.data.files import Files, Member
from faithgauge.data.splits import sklearn_split
from faithgauge.errors import DataError
from faithgauge.types import Example, Split

_WORDS = (
    ". Daniel John Mary Sandra Where apple back bathroom bedroom before discarded down dropped football "
    "garden got grabbed hallway is journeyed kitchen left milk moved office picked put the there to took "
    "travelled up was went"
)
CLASSES = tuple(_WORDS.split())
RANDOM_STATE = 16377
VALIDATION = 0.15

_TASKS = {1: "qa1_single-supporting-fact", 2: "qa2_two-supporting-facts", 3: "qa3_three-supporting-facts"}
_Facts = dict[int, tuple[int, int]]


def _read(files: Files, variant: str, *, task: int) -> Found:
    del variant  # there is only the official one
    name = _TASKS[task]
    train, test = files.read(f"en-10k/{name}_train.txt"), files.read(f"en-10k/{name}_test.txt")
    splits: dict[Split, list[Example]] = {}
    missing, notes = [], []
    if train is not None:
        splits |= _divided(_questions(train, "train"))
    else:
        missing.append(f"train: no file en-10k/{name}_train.txt")
        distinct = _stand_in(files, task)
        if distinct:
            splits |= _divided(distinct)
            notes.append(
                f"train and validation: {len(distinct)} distinct questions of en/{name}_train.txt and "
                f"en-valid-10k/qa{task}_valid.txt stand in for the 10,000 of en-10k"
            )
    if test is not None:
        splits["test"] = _questions(test, "test")
    else:
        missing.append(f"test: no file en-10k/{name}_test.txt")
    return Found(splits, tuple(missing), tuple(notes), substituted=bool(notes))


def _divided(examples: list[Example]) -> dict[Split, list[Example]]:
    train, validation = sklearn_split(len(examples), VALIDATION, RANDOM_STATE)
    return {"train": [examples[i] for i in train], "validation": [examples[i] for i in validation]}


def _stand_in(files: Files, task: int) -> list[Example]:
    smaller = files.read(f"en/{_TASKS[task]}_train.txt")
    held_out = files.read(f"en-valid-10k/qa{task}_valid.txt")
    examples = _questions(smaller, "en") if smaller is not None else []
    examples += _questions(held_out, "en-valid") if held_out is not None else []
    return list({(example.text, example.text_pair): example for example in reversed(examples)}.values())[::-1]


def _questions(member: Member, part: str) -> list[Example]:
    """Every question of a file, with the story so far; line numbers start anew with every story."""
    examples = []
    story, facts = "", _Facts()
    for row, line in member.lines():
        if not line.strip():
            continue
        where = f"{member.origin}, line {row}"
        number, _, text = line.partition(" ")
        if not number.isdecimal() or not text:
            raise DataError(f"{where}: expected a number, a blank and a sentence, found {line[:40]!r}")
        if number == "1":
            story, facts = "", _Facts()
        if "\t" in text:
            examples.append(_example(text, story, facts, where=where, part=f"{part}-{row}"))
            continue
        text = text.rstrip()
        if not text.endswith("."):
            raise DataError(f"{where}: expected a sentence with a full stop, found {text[-40:]!r}")
        start = len(story) + 3 if story else 0
        story = f"{story} . {text[:-1]}" if story else text[:-1]
        facts[int(number)] = (start, len(story))
    return examples


def _example(text: str, story: str, facts: _Facts, *, where: str, part: str) -> Example:
    cells = text.split("\t")
    if len(cells) != 3:
        raise DataError(
            f"{where}: expected question, answer and supporting facts between tabs, "
            f"found {len(cells)} columns; fetch the file again"
        )
    question, answer, numbers = (cell.strip() for cell in cells)
    if answer not in CLASSES:
        raise DataError(f"{where}: expected an answer among the words of tasks 1 to 3, found {answer!r}")
    supporting = [int(number) if number.isdecimal() else -1 for number in numbers.split()]
    unknown = [number for number in supporting if number not in facts]
    if unknown or not supporting:
        raise DataError(f"{where}: expected the line numbers of earlier sentences, found {numbers!r}")
    evidence = tuple(sorted(facts[number] for number in set(supporting)))
    return Example(story, CLASSES.index(answer), part, question.removesuffix("?"), evidence)


_WHOLE = "counts all 10,000 training questions, of which 1,500 are held out for validation"


def _source(task: int) -> Source:
    return Source(
        name=f"babi-{task}",
        task="pair",
        classes=CLASSES,
        summary=f"bAbI task {task}: questions about a story, answered by {task} supporting fact(s)",
        home="https://research.fb.com/downloads/babi/",
        licence="CC BY 3.0",
        read=partial(_read, task=task),
        sizes={"": {"train": 8_500, "validation": 1_500, "test": 1_000}},
        published=(
            Published("jain-wallace-2019", "train", 10_000, why=_WHOLE),
            Published("jain-wallace-2019", "test", 1_000),
            Published("recursive-roar-2022", "train", 8_500),
            Published("recursive-roar-2022", "validation", 1_500),
            Published("recursive-roar-2022", "test", 1_000),
        ),
        downloads=(
            # The authors' own address no longer answers; this is the copy that Keras has always used.
            Download(
                "https://s3.amazonaws.com/text-datasets/babi_tasks_1-20_v1-2.tar.gz",
                "tasks_1-20_v1-2.tar.gz",
            ),
        ),
        encoding={"": EncodeConfig(words="babi", min_df=1)},
        folders=("babi",),
    )


BABI_1 = _source(1)
BABI_2 = _source(2)
BABI_3 = _source(3)
