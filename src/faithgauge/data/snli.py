"""SNLI: does the second sentence follow from the first, contradict it, or neither (Bowman et al. 2015).

Read from ``snli_1.0_{train,dev,test}.jsonl``, loose, compressed or in ``snli_1.0.zip``. Pairs whose five
annotators did not agree have the gold label ``-`` and are left out, as in every paper. The classes stand in
the order in which Jain & Wallace number them: 0 neutral, 1 contradiction, 2 entailment. `read_pairs` reads
one file of this format, in which MultiNLI is distributed as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Download, Found, Published, Source
from faithgauge.data.files import Files, Member
from faithgauge.errors import DataError
from faithgauge.types import Example, Split

NLI_CLASSES = ("neutral", "contradiction", "entailment")
NO_GOLD = "-"

# The keys of the distribution, and those of the common re-formatting of it.
_KEYS = (("gold_label", "sentence1", "sentence2"), ("label", "premise", "hypothesis"))


def read_nli(files: Files, names: Mapping[Split, tuple[str, ...]]) -> Found:
    """The splits whose file is there, under one of its `names`; the first name is the official one."""
    splits: dict[Split, list[Example]] = {}
    missing, notes = [], []
    for split, endings in names.items():
        member = files.read(*endings)
        if member is None:
            missing.append(f"{split}: no file {endings[0]}")
            continue
        splits[split], without_gold = read_pairs(member, split)
        if without_gold:
            notes.append(f"{split}: {without_gold} pairs without a gold label are left out")
    return Found(splits, tuple(missing), tuple(notes))


def read_pairs(member: Member, split: Split) -> tuple[list[Example], int]:
    """The labelled pairs of one JSON Lines file, and how many were left out for want of a gold label."""
    examples, without_gold = [], 0
    for row, line in member.lines():
        if not line.strip():
            continue
        where = f"{member.origin}, line {row}"
        label, text, text_pair = _fields(line, where)
        if label == NO_GOLD:
            without_gold += 1
        else:
            examples.append(Example(text, nli_label(label, where), f"{split}-{row}", text_pair))
    return examples, without_gold


def nli_label(name: str, where: str) -> int:
    """The number of a label of natural language inference."""
    if name not in NLI_CLASSES:
        raise DataError(
            f"{where}: expected one of the labels {', '.join(NLI_CLASSES)}, found {name!r}; "
            "fetch the file again from its official address"
        )
    return NLI_CLASSES.index(name)


def _fields(line: str, where: str) -> tuple[str, str, str]:
    try:
        item = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{where}: expected one complete JSON object, found {line[-20:]!r} at its end ({error.msg}); "
            "the file is truncated or damaged: fetch it again"
        ) from error
    for keys in _KEYS:
        if isinstance(item, dict) and all(isinstance(item.get(key), str) for key in keys):
            label, first, second = (item[key] for key in keys)
            return label, first, second
    found = ", ".join(map(repr, item)) or "nothing" if isinstance(item, dict) else type(item).__name__
    raise DataError(
        f"{where}: expected the texts {', '.join(map(repr, _KEYS[0]))}, found {found}; fetch the file again"
    )


def _read(files: Files, variant: str) -> Found:
    del variant  # there is only the official one
    return read_nli(
        files,
        {
            "train": ("snli_1.0_train.jsonl",),
            "validation": ("snli_1.0_dev.jsonl",),
            "test": ("snli_1.0_test.jsonl",),
        },
    )


def _counts(neutral: int, contradiction: int, entailment: int) -> dict[str, int]:
    return dict(zip(NLI_CLASSES, (neutral, contradiction, entailment), strict=True))


_UNLABELLED = "counts the pairs without a gold label, which no model is trained or tested on"

SOURCE = Source(
    name="snli",
    task="pair",
    classes=NLI_CLASSES,
    summary="Natural language inference on image captions: neutral, contradiction or entailment",
    home="https://nlp.stanford.edu/projects/snli/",
    licence="CC BY-SA 4.0",
    read=_read,
    sizes={"": {"train": 549_367, "validation": 9_842, "test": 9_824}},
    published=(
        Published("jain-wallace-2019", "train", 549_367, _counts(182_764, 183_187, 183_416)),
        Published("jain-wallace-2019", "test", 9_824, _counts(3_219, 3_237, 3_368)),
        Published("recursive-roar-2022", "train", 549_367),
        Published("recursive-roar-2022", "validation", 9_842),
        Published("recursive-roar-2022", "test", 9_824),
        Published("neely-2022", "train", 550_152, why=_UNLABELLED),
        Published("neely-2022", "validation", 10_000, why=_UNLABELLED),
        Published("neely-2022", "test", 10_000, why=_UNLABELLED),
    ),
    downloads=(
        Download(
            "https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
            "snli_1.0.zip",
            "sha256:afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e",
        ),
    ),
    encoding={"": EncodeConfig(words="jain-wallace", min_df=3)},
)
