"""The folder of an audit, as it is read: what it found, its result rows, and the texts it shows.

What is not there is a hole and not an error: an audit whose jobs failed has a page too. Only `audit.json`
must be there, for without it nobody knows what was done.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithgauge.errors import DataError
from faithgauge.report.rows import Rows, read

FORMAT = 1
DOCUMENT, RESULTS, INSTANCES = "audit.json", "results.parquet", "instances.jsonl"
VERDICTS = ("supported", "undecided", "not supported")
"""In the order in which a page tells them."""


@dataclass(frozen=True)
class Audit:
    """What one audit found. `rows` is None, and `instances` are none, where their file is missing."""

    folder: Path
    document: Mapping[str, Any]
    rows: Rows | None
    instances: Sequence[Mapping[str, Any]]

    @property
    def title(self) -> str:
        return str(self.document.get("title") or self.folder.name)

    @property
    def verdicts(self) -> list[Mapping[str, Any]]:
        """Those that are supported first, else in the order of the audit."""
        order = {word: place for place, word in enumerate(VERDICTS)}
        return sorted(self.list("verdicts"), key=lambda one: order.get(str(one.get("verdict")), len(order)))

    @property
    def explainers(self) -> list[str]:
        """In the order of their verdicts."""
        return [str(one.get("explainer")) for one in self.verdicts]

    def list(self, name: str) -> list[Mapping[str, Any]]:
        """A part of the document that is a list; empty where there is none."""
        found = self.document.get(name)
        return list(found) if isinstance(found, list) else []

    def part(self, name: str) -> Mapping[str, Any]:
        """A part of what the document says of data and model."""
        about = self.document.get("about")
        found = about.get(name) if isinstance(about, dict) else None
        return found if isinstance(found, dict) else {}

    def _repr_html_(self) -> str:
        from faithgauge.report.cards import fragment

        return fragment(self)


def opened(folder: Path) -> Audit:
    """The audit in a folder, which may also be named by one of its files."""
    folder = folder.parent if folder.is_file() else folder
    document = _document(folder / DOCUMENT)
    rows = read(folder / RESULTS) if (folder / RESULTS).exists() else None
    return Audit(folder, document, rows, _instances(folder / INSTANCES))


def _document(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        raise DataError(
            f"{path.parent}: expected the folder of an audit, found no {DOCUMENT} in it; "
            "name the folder that faithgauge audit wrote to"
        )
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path}: expected JSON, found {error}; run the audit again") from error
    version = found.get("format") if isinstance(found, dict) else None
    if not isinstance(version, int):
        raise DataError(f"{path}: expected an audit with its format, found none; run the audit again")
    if version > FORMAT:
        raise DataError(
            f"{path}: expected format {FORMAT} or older, found {version}; "
            "it was written by a newer faithgauge: upgrade to read it, or run the audit again"
        )
    return dict(found)


def _instances(path: Path) -> list[Mapping[str, Any]]:
    if not path.exists():
        return []
    found: list[Mapping[str, Any]] = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    found.append(dict(json.loads(line)))
                except (ValueError, TypeError) as error:
                    raise DataError(
                        f"{path}, line {number}: expected one text as a JSON object, found {error}; "
                        "run the audit again"
                    ) from error
    return found
