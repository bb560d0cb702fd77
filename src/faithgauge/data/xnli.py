"""XNLI, English part: a test of natural language inference without training texts (Conneau et al. 2018).

Read from ``xnli.dev.tsv`` and ``xnli.test.tsv`` of ``XNLI-1.0.zip`` (a table with a header, fifteen
languages), or from ``dev-en.tsv`` and ``test-en.tsv`` of the XTREME form (premise, hypothesis, label, no
header). There is no train split: its authors train on MultiNLI. The classes are those of SNLI, in its order:
neutral, contradiction, entailment.
"""

from __future__ import annotations

from collections.abc import Iterable

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Download, Found, Source
from faithgauge.data.files import Files, Member
from faithgauge.data.snli import NLI_CLASSES, nli_label
from faithgauge.errors import DataError
from faithgauge.types import Example, Split

XNLI_ZIP = Download(
    "https://dl.fbaipublicfiles.com/XNLI/XNLI-1.0.zip",
    "XNLI-1.0.zip",
    "sha256:4ba1d5e1afdb7161f0f23c66dc787802ccfa8a25a3ddd3b165a35e50df346ab1",
)

_NAMES: dict[Split, tuple[str, str]] = {
    "validation": ("xnli.dev.tsv", "dev-en.tsv"),
    "test": ("xnli.test.tsv", "test-en.tsv"),
}
_COLUMNS = ("gold_label", "sentence1", "sentence2")
_XTREME = ("sentence1", "sentence2", "gold_label")


def read_english(files: Files, wanted: Iterable[Split] = ("validation", "test")) -> Found:
    """The English pairs of the wanted splits."""
    splits: dict[Split, list[Example]] = {}
    missing = []
    for split in wanted:
        member = files.read(*_NAMES[split])
        if member is None:
            missing.append(f"{split}: no file {_NAMES[split][0]}")
        else:
            splits[split] = _pairs(member, split)
    return Found(splits, tuple(missing))


def _pairs(member: Member, split: Split) -> list[Example]:
    header: tuple[str, ...] = _XTREME
    examples = []
    for row, line in member.lines():
        if not line.strip():
            continue
        where = f"{member.origin}, line {row}"
        cells = line.split("\t")
        if row == 1 and "gold_label" in cells:
            header = _header(cells, where)
            continue
        if len(cells) != len(header):
            raise DataError(
                f"{where}: expected {len(header)} columns between tabs, found {len(cells)}; "
                "the file is truncated or damaged: fetch it again"
            )
        cell = dict(zip(header, cells, strict=True))
        if cell.get("language", "en") == "en":
            label, first, second = (cell[column] for column in _COLUMNS)
            examples.append(Example(first, nli_label(label, where), f"{split}-{row}", second))
    if not examples:
        raise DataError(f"{member.origin}: expected English pairs, found none; fetch the file again")
    return examples


def _header(cells: list[str], where: str) -> tuple[str, ...]:
    lacking = [column for column in ("language", *_COLUMNS) if column not in cells]
    if lacking:
        raise DataError(
            f"{where}: expected the column {lacking[0]!r}, found {', '.join(cells)}; fetch the file again"
        )
    return tuple(cells)


def _read(files: Files, variant: str) -> Found:
    del variant  # there is only the official one
    found = read_english(files)
    return Found(found.splits, found.missing, ("XNLI has no training texts: train on mnli",))


SOURCE = Source(
    name="xnli",
    task="pair",
    classes=NLI_CLASSES,
    summary="English part of XNLI: validation and test pairs for models trained on MultiNLI",
    home="https://github.com/facebookresearch/XNLI",
    licence="CC BY-NC 4.0",
    read=_read,
    sizes={"": {"validation": 2_490, "test": 5_010}},
    downloads=(XNLI_ZIP,),
    encoding={"": EncodeConfig(words="plain", min_df=1)},
)
