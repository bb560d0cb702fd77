"""Result rows: one row is one measurement, and every table and figure is a group-by of these rows.

A job that measures writes them to ``rows.parquet``; here they are read from the store into one table in a
stated order, so that the same results give the same bytes whoever computed them.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithgauge.engine.job import Job, key_of
from faithgauge.engine.store import Store
from faithgauge.errors import DataError

if TYPE_CHECKING:
    import pyarrow

ROWS = "rows.parquet"
COLUMNS = {
    "dataset": "string",
    "split": "string",
    "model": "string",
    "explainer": "string",
    "versus": "string",
    "measure": "string",
    "fraction": "double",
    "seed": "int64",
    "example": "string",
    "class": "string",
    "class_of": "string",
    "setting": "string",
    "value": "double",
    "reason": "string",
    "job": "string",
}
"""Every column and its type; `setting` is the canonical JSON of every coordinate that has no column."""
ORDER = ("job", "example", "measure", "versus", "setting")
FORMATS = ("table", "csv", "parquet", "json")


def store_root(folder: str | Path | None = None) -> Path:
    """Where results are kept: in the folder that is named, else that of FAITHGAUGE_STORE, else the user's."""
    from platformdirs import user_data_path

    named = folder or os.environ.get("FAITHGAUGE_STORE") or user_data_path("faithgauge") / "store"
    return Path(named).expanduser().absolute()


def schema() -> pyarrow.Schema:
    import pyarrow

    return pyarrow.schema([(name, getattr(pyarrow, _ARROW[kind])()) for name, kind in COLUMNS.items()])


def write(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Rows as a file in a job's folder; a column that is left out is null. The job is known by its place."""
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(list(rows), schema()), path)


def write_parts(parts: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Rows in sets of columns, in each of which a single value stands for all rows; written as they come."""
    import pyarrow
    from pyarrow import parquet

    with parquet.ParquetWriter(path, schema()) as writer:
        for part in parts:
            sizes = {len(column) for column in part.values() if _is_column(column)}
            if len(sizes) != 1 or not set(part) <= set(COLUMNS):
                raise ValueError(f"a part has columns of lengths {sorted(sizes)}, named {', '.join(part)}")
            (size,) = sizes
            arrays = [_array(part.get(field.name), size, field.type) for field in schema()]
            if size:
                writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema()))


def _is_column(value: object) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str)


def _array(value: Any, size: int, kind: Any) -> Any:
    import pyarrow

    if value is None:
        return pyarrow.nulls(size, kind)
    if _is_column(value):
        return pyarrow.array(value, kind)
    return pyarrow.repeat(pyarrow.scalar(value, kind), size)


def stored(jobs: Iterable[Job], store: Store) -> pyarrow.Table:
    """The rows of those jobs that have some and are stored, by job, example, measure, versus, setting."""
    import pyarrow

    there = [key for key in keys(jobs) if store.has(key) and (store.place(key) / ROWS).exists()]
    parts = [read(store.checked(key) / ROWS, key) for key in there]
    return in_order(pyarrow.concat_tables([schema().empty_table(), *parts]).combine_chunks())


def read(path: Path, key: str) -> pyarrow.Table:
    """The rows that one job wrote, with every column, and its key."""
    import pyarrow
    from pyarrow import parquet

    table = parquet.read_table(path)
    unknown = [name for name in table.column_names if name not in COLUMNS]
    if unknown:
        raise DataError(f"{path}: expected the columns of result rows, found {', '.join(unknown)}")
    columns = []
    for field in schema():
        own = table.column(field.name) if field.name in table.column_names else None
        if field.name == "job":
            columns.append(pyarrow.array([key] * len(table), field.type))
        elif own is None:
            columns.append(pyarrow.nulls(len(table), field.type))
        else:
            columns.append(own.cast(field.type).combine_chunks())
    return pyarrow.Table.from_arrays(columns, schema=schema())


def in_order(table: pyarrow.Table) -> pyarrow.Table:
    rest = [name for name in COLUMNS if name not in ORDER]
    return table.sort_by([(name, "ascending") for name in (*ORDER, *rest)])


def keys(jobs: Iterable[Job]) -> list[str]:
    return sorted({key_of(job) for job in jobs})


def csv(table: pyarrow.Table) -> bytes:
    """As CSV: a null is an empty field, a value that is not a number is ``nan``, all others are exact."""
    import csv as written

    target = io.StringIO()
    writer = written.writer(target, lineterminator="\n")
    writer.writerow(table.column_names)
    for batch in table.to_batches(max_chunksize=10_000):
        writer.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    return target.getvalue().encode()


def parquet(table: pyarrow.Table) -> bytes:
    from pyarrow import parquet as written

    target = io.BytesIO()
    written.write_table(table, target)
    return target.getvalue()


def documents(table: pyarrow.Table) -> list[dict[str, Any]]:
    """As rows for JSON, in which what is not a number is null, and `setting` is an object."""
    rows: list[dict[str, Any]] = table.to_pylist()
    for row in rows:
        row["setting"] = json.loads(row["setting"] or "{}")
        row["value"] = None if row["value"] is None or not math.isfinite(row["value"]) else row["value"]
    return rows


_ARROW = {"string": "string", "double": "float64", "int64": "int64"}
