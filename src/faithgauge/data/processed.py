"""The form in which Jain & Wallace keep a data set: one CSV file with text, label and exp_split.

Those who may not pass on their texts pass on this form among themselves, so it is read where it is found.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from faithgauge.data.columns import SPLIT_NAMES
from faithgauge.data.files import Member
from faithgauge.data.sheet import long_fields
from faithgauge.errors import DataError
from faithgauge.types import Example, Split


def read_processed(member: Member, n_classes: int) -> dict[Split | None, list[Example]]:
    """The examples by split, under None where no column says which; a tab may part the columns."""
    text = member.text()
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    splits: dict[Split | None, list[Example]] = {}
    try:
        with long_fields():
            _check_columns(rows.fieldnames or (), member.origin)
            for number, row in enumerate(rows, 1):
                split, example = _example(number, row, n_classes, origin=member.origin)
                splits.setdefault(split, []).append(example)
    except csv.Error as error:
        raise DataError(
            f"{member.origin}, line {rows.line_num}: expected complete rows, found {error}"
        ) from error
    return splits


def _check_columns(names: Sequence[str], origin: str) -> None:
    columns = [name for name in names if name]
    if not {"text", "label"} <= set(columns):
        raise DataError(
            f"{origin}: expected the columns text, label and, if there is a split, exp_split, "
            f"found {', '.join(columns) or 'none'}; rename them"
        )


def _example(
    number: int, row: Mapping[str, Any], n_classes: int, *, origin: str
) -> tuple[Split | None, Example]:
    if None in (*row, *row.values()):  # csv's way to say that a row has too many cells, or too few
        raise DataError(
            f"{origin}, row {number}: expected a cell for each column and no more, found "
            f"{'more' if None in row else 'fewer'}; correct the row"
        )
    split, label = row.get("exp_split"), row["label"]
    if label not in map(str, range(n_classes)) or (split is not None and split not in SPLIT_NAMES):
        raise DataError(
            f"{origin}, row {number}: expected a label below {n_classes} and train, dev or test, found "
            f"{label!r:.40} and {split!r:.40}; correct the row"
        )
    example = Example(row["text"], int(label), f"row-{number}")
    return None if split is None else SPLIT_NAMES[split], example
