"""The form in which Jain & Wallace keep a data set: one CSV file with text, label and exp_split.

Those who may not pass on their texts pass on this form among themselves, so it is read where it is found.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from faithgauge.data.files import Member
from faithgauge.errors import DataError
from faithgauge.types import Example, Split

_SPLITS: Mapping[str, Split] = {
    "train": "train",
    "dev": "validation",
    "val": "validation",
    "valid": "validation",
    "validation": "validation",
    "test": "test",
}


def read_processed(member: Member, n_classes: int) -> dict[Split | None, list[Example]]:
    """The examples by split, under None where no column says which; a tab may part the columns."""
    text = member.text()
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns = [name for name in rows.fieldnames or () if name]
    if not {"text", "label"} <= set(columns):
        raise DataError(
            f"{member.origin}: expected the columns text, label and, if there is a split, exp_split, "
            f"found {', '.join(columns) or 'none'}; rename them"
        )
    splits: dict[Split | None, list[Example]] = {}
    try:
        for number, row in enumerate(rows, 1):
            split, label = row.get("exp_split"), row["label"]
            if label not in map(str, range(n_classes)) or (split is not None and split not in _SPLITS):
                raise DataError(
                    f"{member.origin}, row {number}: expected a label below {n_classes} and train, dev or "
                    f"test, found {label!r:.40} and {split!r:.40}; correct the row"
                )
            example = Example(row["text"], int(label), f"row-{number}")
            splits.setdefault(None if split is None else _SPLITS[split], []).append(example)
    except csv.Error as error:
        raise DataError(
            f"{member.origin}, line {rows.line_num}: expected complete rows, found {error}"
        ) from error
    return splits
