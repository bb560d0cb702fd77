"""Files that a command writes: refused before anything is computed, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from faithgauge.errors import ConfigError


def refuse_place(option: str, target: Path | None, endings: Collection[str] = ()) -> None:
    """A file that could not be written, or whose name has none of these endings, is an error."""
    if target is None:
        return
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        raise ConfigError(
            f"{option} {target}: expected a file in a folder that can be written; choose another place"
        )
    if endings and target.suffix not in endings:
        raise ConfigError(f"{option} {target}: expected a name ending in {' or '.join(endings)}; rename it")


@contextmanager
def writing(target: Path) -> Iterator[Path]:
    """The place to write to, which takes the place of `target` when all is written."""
    new = target.with_name(target.name + ".new")
    try:
        yield new
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)
