"""Labelled texts from the rows of sheets: examples, classes, splits, and the sentences that say how.

A row that cannot be read is an error with its place. Only rows that say themselves that they have no label
are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from faithgauge.config import DataConfig
from faithgauge.data.columns import MOST_CLASSES, SPLIT_NAMES, Columns, choose, is_range
from faithgauge.data.dataset import Dataset, Splits
from faithgauge.data.labels import names, ordered
from faithgauge.data.sheet import Sheet, normal
from faithgauge.data.splits import cut_validation, split
from faithgauge.errors import ConfigError, DataError
from faithgauge.types import SPLITS, Example, Split, Task

Part = tuple[Split | None, Sheet]
"""A sheet and the split that all of it belongs to, if it does."""

_NOT_AGREED = "-"
"""What stands in a column `gold_label` where the annotators did not agree."""


def dataset(
    name: str, parts: Sequence[Part], config: DataConfig, *, more_notes: Sequence[str] = ()
) -> Dataset:
    """The data set of some sheets; `more_notes` are what their reader has to say of them."""
    parts = sorted(parts, key=lambda part: SPLITS.index(part[0] or "train"))
    columns = _columns(parts, config)
    values, classes, order = _labels([sheet for _, sheet in parts], columns.label)
    by_split: dict[Split | None, list[Example]] = {}
    for (whole, sheet), numbers in zip(parts, values, strict=True):
        for i, label in enumerate(numbers):
            if label is not None:
                own = _split_of(sheet, columns.split, i) if columns.split else whole
                by_split.setdefault(own, []).append(example(sheet, columns, i, label=label))
    splits, split_notes = _splits(by_split, config.seed)
    left_out = sum(label is None for numbers in values for label in numbers)
    notes = [_said(columns, parts[0][1]), f"classes {order}: {_few(classes)}", *split_notes, *more_notes]
    if left_out:
        notes.append(f"{left_out} examples without a label (-1 or '-') are left out")
    task: Task = "single" if columns.text_pair is None else "pair"
    return Dataset(name, "", task, classes, splits, notes=tuple(notes))


def example(sheet: Sheet, columns: Columns, i: int, *, label: int) -> Example:
    """Row i with a label that is known already."""
    text = _text(sheet, columns.text, i)
    return Example(
        text=text,
        label=label,
        id=f"{Path(sheet.origin).name}:{sheet.rows[i]}",
        text_pair=None if columns.text_pair is None else _text(sheet, columns.text_pair, i),
        evidence=_evidence(sheet, columns.evidence, i, len(text)),
    )


def class_names(sheet: Sheet, column: str) -> list[str | None]:
    """Each label of a column as the name of its class; None where there is none."""
    stated = sheet.class_names.get(column)
    if not stated:
        return names(sheet.columns[column])
    numbers = _stated(sheet, column, stated)
    return [None if number is None else stated[number] for number in numbers]


def _columns(parts: Sequence[Part], config: DataConfig) -> Columns:
    """The columns of the first sheet, which all others must have as well."""
    columns = choose(parts[0][1], config)
    if parts[0][0] is not None:
        if config.split is not None:
            raise ConfigError(f"split {config.split!r}: the files are the splits here; leave the column out")
        columns = replace(columns, split=None)
    for _, sheet in parts[1:]:
        for use, column in columns.named().items():
            if column not in sheet.columns and use != "evidence":
                found = ", ".join(map(repr, sheet.columns))
                raise DataError(
                    f"{sheet.origin}: expected a column {column!r} ({use}), found {found}; rename it"
                )
    return columns


def _labels(sheets: Sequence[Sheet], column: str) -> tuple[list[list[int | None]], tuple[str, ...], str]:
    """By sheet the number of each label (None: there is none to be had), the classes, and their order."""
    stated = sheets[0].class_names.get(column)
    if stated:
        return [_stated(sheet, column, stated) for sheet in sheets], stated, "as the file numbers them"
    values = [value for sheet in sheets for value in sheet.columns[column]]
    found = iter(names(values))
    named = [[next(found) for _ in sheet.columns[column]] for sheet in sheets]
    for sheet, own in zip(sheets, named, strict=True):
        for i, name in enumerate(own):
            if name is None or not isinstance(sheet.columns[column][i], str | int | float):
                raise DataError(
                    f"{sheet.place(i)}: expected a label in column {column!r}, found "
                    f"{sheet.columns[column][i]!r}; fill it in or remove the {sheet.unit}"
                )
    unlabelled = {_NOT_AGREED} if normal(column) == "gold_label" else set()
    classes, order = ordered({name for own in named for name in own if name is not None} - unlabelled)
    _refuse_other_than_classes(classes, len(values), column, sheets[0].origin)
    number = {name: i for i, name in enumerate(classes)}
    return [[number.get(name or "") for name in own] for own in named], classes, order


def _stated(sheet: Sheet, column: str, classes: Sequence[str]) -> list[int | None]:
    """Numbers of classes that the file itself names; -1 is how it says that a label is not public."""
    numbers: list[int | None] = []
    for i, value in enumerate(sheet.columns[column]):
        if not isinstance(value, int) or not -1 <= value < len(classes):
            raise DataError(
                f"{sheet.place(i)}: expected a class number below {len(classes)} in column {column!r}, found "
                f"{value!r}; correct it or remove the {sheet.unit}"
            )
        numbers.append(None if value < 0 else value)
    return numbers


def _refuse_other_than_classes(classes: Sequence[str], rows: int, column: str, origin: str) -> None:
    if len(classes) < 2:
        raise DataError(
            f"{origin}: column {column!r} holds one class only, {_few(classes)!r}; expected two or more; "
            "give the column of the labels with --label"
        )
    if len(classes) > MOST_CLASSES or (len(classes) > 10 and len(classes) > rows / 2):
        raise DataError(
            f"{origin}: column {column!r} holds {len(classes)} different values in {rows} rows; expected "
            "classes; give the column of the labels with --label"
        )


def _text(sheet: Sheet, column: str, i: int) -> str:
    value = sheet.columns[column][i]
    if not isinstance(value, str) or not value.strip():
        found = "an empty one" if value is None or value != value or isinstance(value, str) else repr(value)
        raise DataError(
            f"{sheet.place(i)}: expected a text in column {column!r}, found {found}; "
            f"fill it in or remove the {sheet.unit}"
        )
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"{sheet.place(i)}: expected Unicode text in column {column!r}, found half a character "
                f"(\\u{ord(value[error.start]):04x}); write the file again as UTF-8"
            ) from error
    return value


def _evidence(sheet: Sheet, column: str | None, i: int, length: int) -> tuple[tuple[int, int], ...] | None:
    ranges = None if column is None or column not in sheet.columns else sheet.columns[column][i]
    if ranges is None:
        return None
    if not isinstance(ranges, list) or not all(is_range(r) and 0 <= r[0] < r[1] <= length for r in ranges):
        raise DataError(
            f"{sheet.place(i)}: expected evidence as [[start, end], …] within 0 to {length}, "
            f"found {ranges!r}; correct it"
        )
    return tuple((start, end) for start, end in ranges)


def _split_of(sheet: Sheet, column: str, i: int) -> Split:
    value = sheet.columns[column][i]
    found = SPLIT_NAMES.get(normal(str(value)))
    if found is None:
        raise DataError(
            f"{sheet.place(i)}: expected train, validation or test in column {column!r}, found {value!r}; "
            f"correct it or remove the {sheet.unit}"
        )
    return found


def _splits(found: Mapping[Split | None, list[Example]], seed: int) -> tuple[Splits, tuple[str, ...]]:
    """The splits that were given, and those we make of what was not."""
    given: dict[Split, list[Example]] = {name: found[name] for name in SPLITS if name in found}
    if len(given) == 0 or list(given) == ["train"]:
        return split([example for examples in found.values() for example in examples], seed)
    if "test" in given and "train" in given and "validation" not in given:
        train, validation, note = cut_validation(given["train"], seed)
        return {"train": train, "validation": validation, "test": given["test"]}, (note,)
    lacking = [name for name in SPLITS if name not in given]
    return given, tuple(f"there is no {name} split" for name in lacking)


def _said(columns: Columns, sheet: Sheet) -> str:
    """Which column was read as what."""
    said = ", ".join(f"{use} from column {column!r}" for use, column in columns.named().items())
    return said.replace("text_pair", "second text") + (
        "" if sheet.header else " (no header: numbered from 0)"
    )


def _few(names: Sequence[str]) -> str:
    return ", ".join(names if len(names) <= 20 else [*names[:20], f"… ({len(names)})"])
