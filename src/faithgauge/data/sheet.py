"""Rows and columns of a file as they stand in it: CSV, TSV, JSON lines, a JSON list, Parquet, Arrow tables.

Nothing is known here of texts and labels, except that a first line made of usual column names is a header.
A damaged file is an error with its line; nothing is repaired or left out.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from faithgauge.data.files import Member, read_bytes
from faithgauge.data.labels import NUMBER
from faithgauge.errors import DataError

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Sheet:
    """A file as columns of equal length; `rows` are the numbers by which its `unit` (line, row) is counted.

    `class_names` are those that a Parquet file or a saved data set states for a column of numbers.
    """

    origin: str
    columns: Mapping[str, Sequence[object]]
    rows: Sequence[int]
    unit: str = "line"
    header: bool = True
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def place(self, i: int) -> str:
        return f"{self.origin}, {self.unit} {self.rows[i]}"


class _Dialect(NamedTuple):
    delimiter: str
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
    escape: str | None = None


# In this order a file may be read: with quotes doubled inside quotes, with them escaped too, without quoting.
_COMMA = [_Dialect(mark, escape=escape) for mark in ",;\t|" for escape in (None, "\\")]
_TAB = [_Dialect("\t"), _Dialect("\t", quoting=csv.QUOTE_NONE)]
_DELIMITED = {".csv": _COMMA, ".tsv": _TAB, ".tab": _TAB, ".txt": _TAB + _COMMA}
_KINDS = (*_DELIMITED, ".jsonl", ".ndjson", ".json", ".parquet")
# What Excel takes for a delimiter, said in a first line that is no row.
_SEPARATOR = re.compile(r'("?)sep=([^\w"\\\r\n])\1[ \t]*(?=[\r\n]|$)', re.IGNORECASE)


def kind(path: Path) -> str | None:
    """The ending of a file that can be read, without that of its compression; None for any other."""
    name = re.sub(r"\.(gz|xz)$", "", path.name.lower())
    return next((ending for ending in _KINDS if name.endswith(ending)), None)


def read_sheet(path: Path, names: Collection[str]) -> Sheet:
    """The rows of one file; `names` are column names by which a first line is known as a header."""
    ending = kind(path)
    if ending is None:
        raise DataError(
            f"{path}: expected a file ending in {' '.join(_KINDS)}, or one with .gz or .xz after it"
        )
    member = Member(path.name, str(path), read_bytes(path))
    if not member.data.strip():
        raise DataError(f"{path}: the file is empty; expected labelled texts")
    if ending == ".parquet":
        sheet = _parquet(member)
    elif ending in _DELIMITED:
        sheet = _delimited(member, _DELIMITED[ending], names)
    else:
        sheet = _objects(member, ending)
    if not sheet.rows:
        raise DataError(f"{path}: expected labelled texts, found no rows")
    return sheet


@contextmanager
def long_fields() -> Iterator[None]:
    """Inside, csv reads fields of any length, since a document is one field; outside it has its own limit."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def from_arrow(table: pyarrow.Table, origin: str) -> Sheet:
    """The columns of a table that can hold texts, labels or evidence, others left aside."""
    import pyarrow.types as arrow

    plain = (arrow.is_string, arrow.is_large_string, arrow.is_integer, arrow.is_floating, arrow.is_boolean)
    listed = (arrow.is_list, arrow.is_large_list)
    kept = (*plain, *listed, arrow.is_dictionary, arrow.is_null)
    _refuse_twice(table.column_names, origin)
    columns = {
        column.name: table.column(column.name).to_pylist()
        for column in table.schema
        if any(is_kind(column.type) for is_kind in kept)
    }
    stated = json.loads((table.schema.metadata or {}).get(b"huggingface", b"{}"))
    features: dict[str, Any] = stated.get("info", {}).get("features", {})
    class_names = {
        name: tuple(feature["names"])
        for name, feature in features.items()
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
    }
    return Sheet(origin, columns, range(1, table.num_rows + 1), "row", class_names=class_names)


def _parquet(member: Member) -> Sheet:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(io.BytesIO(member.data))
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(
            f"{member.origin}: expected a complete Parquet file ({reason}); write it again"
        ) from error
    return from_arrow(table, member.origin)


def _delimited(member: Member, dialects: Sequence[_Dialect], names: Collection[str]) -> Sheet:
    """The rows by the first dialect that gives each row the same number of fields, two or more.

    One column is enough if its first line is a usual name. Where none fits, the first one's problem is told.
    """
    text, problems = member.text(), []
    if said := _SEPARATOR.match(text):
        text = text[said.end() :]  # the end of the line stays, so that lines keep their numbers
        dialects = [_Dialect(said[2], escape=escape) for escape in (None, "\\")]
    if not text.strip():
        raise DataError(f"{member.origin}: expected labelled texts, found no rows")
    for dialect in dialects:
        try:
            numbered = list(_parse(text, dialect, member.origin))
        except DataError as problem:
            problems.append(problem)
            continue
        if len(numbered[0][1]) > 1 or normal(numbered[0][1][0]) in names:
            return _sheet(numbered, names, member.origin)
        problems.append(
            DataError(
                f"{member.origin}: expected columns of texts and labels, found one column; "
                f"separate columns by {dialect.delimiter!r}"
            )
        )
    raise problems[0]


def _parse(text: str, dialect: _Dialect, origin: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=dialect.delimiter,
        quoting=dialect.quoting,
        escapechar=dialect.escape,
        strict=True,
    )
    width, line = 0, 1
    try:
        with long_fields():
            for row in reader:
                if row and width and len(row) != width:
                    raise DataError(
                        f"{origin}, line {line}: expected {width} fields as before, found {len(row)}; "
                        f"quote a field that holds {dialect.delimiter!r}"
                    )
                if row:
                    width = len(row)
                    yield line, row
                line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{origin}, line {line}: {error}; close quoted fields, and double the quotes in them"
        ) from error


def _sheet(numbered: list[tuple[int, list[str]]], names: Collection[str], origin: str) -> Sheet:
    lines, rows = [line for line, _ in numbered], [row for _, row in numbered]
    columns = list(zip(*rows, strict=True))
    header = _has_header(columns, names)
    if header:
        head = [column[0].strip() for column in columns]
        _refuse_twice([name for name in head if name], f"{origin}, line {lines[0]}")
        named = {
            name or str(i): column[1:] for i, (name, column) in enumerate(zip(head, columns, strict=True))
        }
        return Sheet(origin, named, lines[1:])
    return Sheet(origin, {str(i): column for i, column in enumerate(columns)}, lines, header=False)


def _has_header(columns: Sequence[Sequence[str]], names: Collection[str]) -> bool:
    """Usual names make a header; a cell that comes again below, or is a number, does not."""
    first = [column[0].strip() for column in columns]
    usual = sum(normal(cell) in names for cell in first)
    if usual >= 2:
        return True
    comes_again = any(cell and cell in column[1:] for cell, column in zip(first, columns, strict=True))
    if usual or comes_again:
        return not comes_again
    return not any(NUMBER.fullmatch(cell) for cell in first)


def normal(name: str) -> str:
    """A column name in one spelling: lower case, words joined by ``_``."""
    return re.sub(r"[\s_-]+", "_", name.strip().lower())


def _refuse_twice(names: Sequence[str], origin: str) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise DataError(f"{origin}: column {name!r} stands there twice; rename one of them")


def _objects(member: Member, ending: str) -> Sheet:
    text = member.text()
    is_list = ending == ".json" and text.lstrip().startswith("[")
    unit, numbered = ("row", _list(text, member)) if is_list else ("line", _lines(text, member))
    names: dict[str, None] = {}
    for row, item in numbered:
        if not isinstance(item, dict):
            raise DataError(f"{member.origin}, {unit} {row}: expected an object {{…}}, found {_shown(item)}")
        names.update(dict.fromkeys(item))
    columns = {name: [item.get(name) for _, item in numbered] for name in names}
    return Sheet(member.origin, columns, [row for row, _ in numbered], unit)


def _list(text: str, member: Member) -> list[tuple[int, Any]]:
    try:
        return list(enumerate(json.loads(text), start=1))
    except (json.JSONDecodeError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise DataError(f"{member.origin}, line {line}: expected a list of objects: {error}") from error


def _lines(text: str, member: Member) -> list[tuple[int, Any]]:
    numbered = []
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            numbered.append((line, json.loads(content)))
        except (json.JSONDecodeError, RecursionError) as error:
            reason = getattr(error, "msg", "too many brackets")
            raise DataError(
                f"{member.origin}, line {line}: expected one JSON object on each line, found "
                f"{_shown(content)} ({reason}); correct the line"
            ) from error
    return numbered


def _shown(value: object) -> str:
    text = str(value).strip()
    return repr(text if len(text) <= 40 else f"{text[:37]}…")
