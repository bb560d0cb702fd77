"""The folder of an audit: refused before anything is computed, written whole or not at all.

audit.json         the verdicts, every number behind them, what was left out, what failed
results.parquet    the result rows
instances.jsonl    the explained texts, one a line
cite.bib           the works behind the tests and explainers
report.html …      what `report` makes of these
"""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from faithgauge import results
from faithgauge.errors import ConfigError, DataError
from faithgauge.registry import locate

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow

FORMAT = 1
AUDIT, ROWS, INSTANCES, CITE, REPORT = (
    "audit.json",
    "results.parquet",
    "instances.jsonl",
    "cite.bib",
    "report.html",
)
WRITE = "faithgauge.report.write:write"
"""What makes the page, its tables and its charts of a folder."""


def refuse_folder(folder: Path) -> None:
    """Only a new or empty folder, or that of an earlier audit, is written to."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ConfigError(f"--out {folder}: expected a folder, found a file; choose another")
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise ConfigError(f"--out {folder}: expected a place that can be written to; choose another")
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / AUDIT).is_file():
            raise ConfigError(
                f"--out {folder}: expected a new folder or that of an earlier audit, found other files; "
                "choose another"
            )
        read(folder)


def read(folder: Path) -> dict[str, Any]:
    """The document of an audit."""
    path = folder / AUDIT
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        version = found["format"]
    except FileNotFoundError as error:
        raise DataError(f"{folder}: expected the folder of an audit, found no {AUDIT} in it") from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(
            f"{path}: expected the document of an audit, found a damaged file; audit again"
        ) from error
    if version != FORMAT:
        raise DataError(
            f"{path}: expected an audit of format {FORMAT}, found {version!r}; choose another folder, or "
            "update faithgauge: pip install --upgrade faithgauge"
        )
    return dict(found)


def write(
    folder: Path,
    document: Mapping[str, Any],
    rows: pyarrow.Table,
    *,
    instances: Iterable[Mapping[str, Any]],
    bibtex: str,
) -> Path:
    """All files of an audit and its page; returns the page."""
    with _replacing(folder) as new:
        (new / ROWS).write_bytes(results.parquet(rows))
        with (new / INSTANCES).open("w", encoding="utf-8") as file:
            for one in instances:
                file.write(_text(one) + "\n")
        (new / CITE).write_text(bibtex, encoding="utf-8")
        (new / AUDIT).write_text(_text(document, indent=1) + "\n", encoding="utf-8")
        make = cast("Callable[..., Path]", locate(WRITE))
        page = make(new, charts=True)
        place = page.relative_to(new)
    return folder / place


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """A new folder beside it, which takes its place when all is written; what was there goes only then."""
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    old = new.with_name(new.name + ".old")
    try:
        yield new
        new.chmod(0o755)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    except BaseException:
        if old.exists() and not folder.exists():
            old.rename(folder)
        shutil.rmtree(new, ignore_errors=True)
        raise


def _text(document: Mapping[str, Any], indent: int | None = None) -> str:
    """As JSON, in which a number that is not finite is null."""
    return json.dumps(_finite(document), ensure_ascii=False, allow_nan=False, indent=indent)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _finite(one) for name, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value
