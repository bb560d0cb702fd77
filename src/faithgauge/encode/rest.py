"""Encoded splits on disk: one ``.npy`` per array, opened memory-mapped, and a JSON file of facts.

A folder appears with everything in it or not at all: it is filled under another name and renamed at the end.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithgauge.errors import DataError
from faithgauge.types import Encoded, Ragged

FORMAT = 1
FACTS = "corpus.json"
_ARRAYS = [field.name for field in dataclasses.fields(Encoded)]


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into, which becomes `folder` if nothing goes wrong and else is removed."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(
            f"{folder}: expected a new or empty folder, found files in it; remove it or name another"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield partial
        partial.chmod(0o755)
        partial.replace(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def write_split(folder: Path, encoded: Encoded) -> None:
    folder.mkdir()
    for name in _ARRAYS:
        array = getattr(encoded, name)
        if isinstance(array, Ragged):
            np.save(folder / f"{name}.npy", array.values)
            np.save(folder / f"{name}.offsets.npy", array.offsets)
        elif array is not None:
            np.save(folder / f"{name}.npy", array)


def share_split(source: Path, folder: Path, *, ids: Ragged) -> None:
    """A split with other ids of the same tokens: the other arrays are hard links, or copies where that fails.

    Nobody changes an array of a stored split, and a study that masks the same texts fifty times would
    otherwise keep fifty copies of all but the ids.
    """
    folder.mkdir()
    np.save(folder / "ids.npy", ids.values)
    for file in sorted(source.glob("*.npy")):
        if file.name != "ids.npy":
            try:
                (folder / file.name).hardlink_to(file)
            except OSError:  # another file system, or one without links
                shutil.copyfile(file, folder / file.name)


def read_split(folder: Path) -> Encoded:
    arrays: dict[str, Any] = {}
    for name in _ARRAYS:
        if (folder / f"{name}.offsets.npy").exists():
            arrays[name] = Ragged(_open(folder / f"{name}.npy"), _open(folder / f"{name}.offsets.npy"))
        elif name == "labels":
            arrays[name] = _open(folder / f"{name}.npy")
    if not {"ids", "spans", "texts"} <= set(arrays):
        raise DataError(
            f"{folder}: expected ids, spans and texts, found {sorted(arrays)}; encode the data again"
        )
    return Encoded(**arrays)


def write_facts(folder: Path, facts: Mapping[str, Any]) -> None:
    text = json.dumps({"format": FORMAT, **facts}, ensure_ascii=False, indent=1)
    (folder / FACTS).write_text(text, encoding="utf-8")


def read_facts(folder: Path) -> dict[str, Any]:
    file = folder / FACTS
    try:
        facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"{folder}: expected a folder of encoded data, found no {FACTS} in it") from error
    except (OSError, ValueError) as error:
        raise DataError(
            f"{file}: expected JSON, found a damaged file ({error}); encode the data again"
        ) from error
    if (version := facts.pop("format", None)) != FORMAT:
        raise DataError(
            f"{file}: expected encoded data of format {FORMAT}, found {version}; update faithgauge or encode "
            "the data again"
        )
    return facts


def _open(file: Path) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{file}: expected an array, found a damaged file ({error}); encode the data again"
        ) from error
    return array
