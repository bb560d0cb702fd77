"""MIMIC-III discharge summaries: diabetes or not, and chronic against acute anemia.

Read from the files that credentialed users have, ``NOTEEVENTS.csv.gz`` and ``DIAGNOSES_ICD.csv.gz``, as
Jain & Wallace do: the summaries of an admission without erroneous ones, reports before addenda, by date,
joined by blanks. Diabetes: ICD-9 250.00 among the codes, on the admissions of three public lists
(``{train,dev,test}_50_hadm_ids.csv``). Anemia: 285.1 (acute) or 285.2 (chronic) but not both; a stratified
fifth is test by their random state. Their processed CSV files are read as well.

Differs: the paper calls acute 0 and chronic 1; its code and its counts make acute 1, and so it is here. A
dev split of anemia is drawn from train as the Recursive ROAR code does. The variants bound the length; their
tokens are counted by a rule near to spaCy's, so that a text at a bound may fall on its other side.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Download, Found, Published, Source
from faithgauge.data.files import Files, open_lines
from faithgauge.data.processed import read_processed
from faithgauge.data.sheet import long_fields
from faithgauge.data.splits import cut_validation, sklearn_split
from faithgauge.errors import DataError
from faithgauge.types import Example, Split

_NOTES, _CODES = "NOTEEVENTS.csv", "DIAGNOSES_ICD.csv"
_LISTS: Mapping[Split, str] = {
    "train": "train_50_hadm_ids.csv",
    "validation": "dev_50_hadm_ids.csv",
    "test": "test_50_hadm_ids.csv",
}
_DE_IDENTIFIED = re.compile(r"\[\*\*.*?\*\*\]", re.DOTALL)
_REPEATED = re.compile(r"([^a-zA-Z0-9\s])(\s*\1\s*)+")
_TOKEN = re.compile(r"\w+(?:[.,:/]\w+)*|[^\w\s]")
_LENGTHS: Mapping[tuple[str, str], range] = {
    ("diabetes", "jain-wallace-2019"): range(7, 4000),
    ("diabetes", "wiegreffe-pinter-2019"): range(7, 4000),
    ("anemia", "jain-wallace-2019"): range(1, 4000),
    ("anemia", "wiegreffe-pinter-2019"): range(1, 4000),
    ("anemia", "recursive-roar-2022"): range(4001),
}

Admission = tuple[int, int]
"""Subject and stay, in the order of which admissions stand."""


def read_diabetes(files: Files, variant: str) -> Found:
    """Whether the admission is coded as diabetes, on the public lists of admissions."""
    found = _processed(files, "diabetes") or _diabetes(files)
    return _bounded(found, _LENGTHS.get(("diabetes", variant)))


def read_anemia(files: Files, variant: str) -> Found:
    """Which of the two anemias an admission is coded as."""
    found = _processed(files, "anemia") or _anemia(files)
    return _bounded(found, _LENGTHS.get(("anemia", variant)))


def _processed(files: Files, task: str) -> Found | None:
    member = files.read(f"{task}_dataset.csv", f"mimic_{task}_dataset.csv")
    if member is None:
        return None
    by_split = read_processed(member, 2)
    if None in by_split:
        raise DataError(
            f"{member.origin}: expected the column exp_split with train, dev and test, found none"
        )
    splits: dict[Split, list[Example]] = {name: part for name, part in by_split.items() if name is not None}
    missing = tuple(f"the {name} rows of {member.name}" for name in ("train", "test") if name not in splits)
    if "train" not in splits or "validation" in splits:
        return Found(splits, missing)
    splits["train"], splits["validation"], note = cut_validation(splits["train"], seed=0)
    return Found(splits, missing, notes=(note,))


def _diabetes(files: Files) -> Found:
    lists = {split: files.read(name) for split, name in _LISTS.items()}
    paths, missing = _paths(files)
    missing += tuple(_LISTS[split] for split, member in lists.items() if member is None)
    if paths is None or missing:
        return Found({}, missing)
    split_of: dict[int, Split] = {}
    for split, member in lists.items():
        if member is not None:
            split_of |= dict.fromkeys(map(int, re.findall(r"^\d+", member.text(), re.MULTILINE)), split)
    codes = _codes(paths[_CODES], split_of.__contains__)
    texts = _summaries(paths[_NOTES], codes)
    splits: dict[Split, list[Example]] = {split: [] for split in _LISTS}
    for admission in sorted(texts):
        label = int(any(code.startswith("25000") for code in codes[admission]))
        splits[split_of[admission[1]]].append(Example(texts[admission], label, _id(admission)))
    absent = len(split_of) - len(texts)
    return Found(splits, (f"{absent} admissions that the lists name",) if absent else ())


def _anemia(files: Files) -> Found:
    paths, missing = _paths(files)
    if paths is None:
        return Found({}, missing)
    codes = _codes(paths[_CODES], lambda _: True)
    acute = {one for one, its in codes.items() if any(code.startswith("2851") for code in its)}
    chronic = {one for one, its in codes.items() if any(code.startswith("2852") for code in its)}
    texts = _summaries(paths[_NOTES], acute ^ chronic)
    in_order = sorted(texts, key=lambda admission: (admission in acute, admission))
    examples = [Example(texts[one], int(one in acute), _id(one)) for one in in_order]
    labels = [example.label for example in examples]
    if min(labels.count(0), labels.count(1)) < 5:
        return Found({}, ("discharge summaries with the codes 285.1 and 285.2",))
    rest, test = sklearn_split(len(labels), 0.2, 12939, stratify=labels)
    kept, held = sklearn_split(len(rest), 0.15, 13448, stratify=[labels[i] for i in rest])
    rows: Mapping[Split, Sequence[int]] = {
        "train": sorted(rest[kept]),
        "validation": sorted(rest[held]),
        "test": sorted(test),
    }
    return Found({split: [examples[i] for i in part] for split, part in rows.items()})


def _paths(files: Files) -> tuple[dict[str, Path] | None, tuple[str, ...]]:
    found = {name: files.path(name) for name in (_NOTES, _CODES)}
    there = {name: path for name, path in found.items() if path is not None}
    missing = tuple(f"{name}.gz of MIMIC-III" for name in found if name not in there)
    return (None if missing else there), missing


def _codes(path: Path, wanted: Callable[[int], bool]) -> dict[Admission, list[str]]:
    codes: dict[Admission, list[str]] = {}
    for admission, (code,) in _rows(path, ("ICD9_CODE",)):
        if code and wanted(admission[1]):
            codes.setdefault(admission, []).append(code)
    return codes


def _summaries(path: Path, wanted: Collection[Admission]) -> dict[Admission, str]:
    """Of the wanted admissions only, so that the two million other notes never stand in memory."""
    columns = ("CATEGORY", "DESCRIPTION", "CHARTDATE", "ISERROR", "TEXT")
    notes: dict[Admission, list[tuple[bool, str, str]]] = {}
    for admission, (category, kind, date, error, text) in _rows(path, columns):
        if admission in wanted and category.strip() == "Discharge summary" and not error:
            notes.setdefault(admission, []).append((kind != "Report", date, text))
    return {
        admission: " ".join(text for *_, text in sorted(its, key=lambda note: note[:2])).strip()
        for admission, its in notes.items()
    }


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[Admission, list[str]]]:
    """Admission and the wanted columns of every row that has an admission."""
    rows = csv.reader(open_lines(path), strict=True)
    try:
        with long_fields():
            header = [name.strip().upper() for name in next(rows, [])]
            wanted = ("SUBJECT_ID", "HADM_ID", *columns)
            if not set(wanted) <= set(header):
                raise DataError(
                    f"{path}: expected the columns {', '.join(wanted)}, found {', '.join(header)!r:.80}"
                )
            places = [header.index(name) for name in wanted]
            for row in rows:
                if len(row) != len(header):
                    raise DataError(
                        f"{path}, line {rows.line_num}: expected {len(header)} columns, found {len(row)}"
                    )
                subject, stay, *rest = (row[i] for i in places)
                if stay:
                    yield (int(subject), int(float(stay))), rest
    except (csv.Error, ValueError) as error:
        raise DataError(f"{path}, line {rows.line_num}: expected rows of MIMIC-III, found {error}") from error


def _id(admission: Admission) -> str:
    return f"{admission[0]}-{admission[1]}"


def _bounded(found: Found, lengths: range | None) -> Found:
    if lengths is None:
        return found
    splits = {
        split: [example for example in part if _tokens(example.text) in lengths]
        for split, part in found.splits.items()
    }
    note = f"texts of {lengths[0]} to {lengths[-1]} tokens, counted by a rule near to spaCy's"
    return Found(splits, found.missing, (*found.notes, note), found.substituted)


def _tokens(text: str) -> int:
    return len(_TOKEN.findall(_REPEATED.sub(r"\1 ", _DE_IDENTIFIED.sub(" DE ", text))))


_ACCESS = (
    "MIMIC-III is for credentialed users: complete the training and sign the agreement at "
    "https://physionet.org/content/mimiciii/1.4/, then put NOTEEVENTS.csv.gz and DIAGNOSES_ICD.csv.gz "
    "into the folder mimic, which serves diabetes and anemia"
)
_FOLDERS = ("mimic", "mimic-iii", "mimic-iii-clinical-database-1.4")
_ADDRESS = "https://raw.githubusercontent.com/successar/AttentionExplanation/master/preprocess/MIMIC"
_ENCODING = EncodeConfig(words="mimic", min_df=5)
_BOUND = "they leave out texts of 4000 tokens and more"
_NO_DEV = "that is before 15 % are held out for validation, without texts of 4000 tokens and more"
_OWN_WORDS = "they leave out texts of more than 4000 tokens, by tokens of their own"
_FULL = "that is without a bound of length"
_SWAPPED = "the paper calls acute 0, but these counts fit its code, where acute is 1"


def _printed(
    train: tuple[int, int], test: tuple[int, int], classes: tuple[str, str], why: tuple[str, str]
) -> Iterator[Published]:
    for paper in ("jain-wallace-2019", "wiegreffe-pinter-2019"):
        yield Published(paper, "train", sum(train), dict(zip(classes, train, strict=True)), why[0])
        yield Published(paper, "test", sum(test), dict(zip(classes, test, strict=True)), why[1])


_DIABETES = ("no diabetes", "diabetes")
_ANEMIA = ("chronic", "acute")
_source = partial(
    Source,
    task="single",
    home="https://physionet.org/content/mimiciii/1.4/",
    licence="PhysioNet Credentialed Health Data License 1.5.0",
    encoding={"": _ENCODING},
    folders=_FOLDERS,
    access=_ACCESS,
)


DIABETES = _source(
    name="diabetes",
    classes=_DIABETES,
    summary="discharge summaries, coded as diabetes or not (MIMIC-III)",
    read=read_diabetes,
    sizes={
        "": {"train": 8066, "validation": 1573, "test": 1729},
        "jain-wallace-2019": {"train": 7734, "test": 1614},
        "wiegreffe-pinter-2019": {"train": 7734, "test": 1614},
        "attefa": {"train": 8066, "validation": 1573, "test": 1729},
        "recursive-roar-2022": {"train": 8066, "validation": 1573, "test": 1729},
    },
    variants={
        "jain-wallace-2019": "texts of 7 to 3999 tokens",
        "wiegreffe-pinter-2019": "as jain-wallace-2019",
        "attefa": "as the official split",
        "recursive-roar-2022": "as the official split",
    },
    published=(
        *_printed((6381, 1353), (1295, 319), _DIABETES, (_BOUND, _BOUND)),
        Published("attefa", "train", 8066, {"no diabetes": 6650, "diabetes": 1416}, _FULL),
        Published("attefa", "test", 1729, {"no diabetes": 1389, "diabetes": 340}, _FULL),
        Published("recursive-roar-2022", "train", 8066, why=_FULL),
        Published("recursive-roar-2022", "validation", 1573, why=_FULL),
        Published("recursive-roar-2022", "test", 1729, why=_FULL),
    ),
    downloads=tuple(Download(f"{_ADDRESS}/{name}", name) for name in _LISTS.values()),
)

ANEMIA = _source(
    name="anemia",
    classes=_ANEMIA,
    summary="discharge summaries, chronic against acute anemia (MIMIC-III)",
    read=read_anemia,
    sizes={
        "": {"train": 4654, "validation": 822, "test": 1369},
        "jain-wallace-2019": {"test": 1262},
        "wiegreffe-pinter-2019": {"test": 1262},
        "attefa": {"train": 4654, "validation": 822, "test": 1369},
        "recursive-roar-2022": {"train": 4262, "validation": 729, "test": 1242},
    },
    variants={
        "jain-wallace-2019": "texts of fewer than 4000 tokens",
        "wiegreffe-pinter-2019": "as jain-wallace-2019",
        "attefa": "as the official split",
        "recursive-roar-2022": "texts of at most 4000 tokens",
    },
    published=(
        *_printed((1847, 3251), (460, 802), _ANEMIA, (f"{_NO_DEV}; {_SWAPPED}", f"{_BOUND}; {_SWAPPED}")),
        Published("attefa", "train", 4654, {"chronic": 1742, "acute": 2912}, _FULL),
        Published("attefa", "test", 1369, {"chronic": 512, "acute": 857}, _FULL),
        Published("recursive-roar-2022", "train", 4262, why=_OWN_WORDS),
        Published("recursive-roar-2022", "validation", 729, why=_OWN_WORDS),
        Published("recursive-roar-2022", "test", 1242, why=_OWN_WORDS),
    ),
)
