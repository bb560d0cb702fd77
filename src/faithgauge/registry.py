"""Tables from a name to the thing it names.

Everything a user can choose by name (data sets, encoders, explainers …) stands in one `Table`. An entry
is the thing itself or the place where it is written, ``"package.module:attribute"``, which is imported
when it is first asked for. Other packages add entries through an entry-point group.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar, cast

from faithgauge.errors import ConfigError

Entry = TypeVar("Entry")


class Table(Mapping[str, Entry], Generic[Entry]):
    """An ordered, read-only mapping whose unknown names are answered with the nearest known one."""

    def __init__(self, noun: str, entries: Mapping[str, Entry | str], *, group: str | None = None) -> None:
        self.noun = noun
        self._entries = dict(entries)
        self._group = group

    def __getitem__(self, name: str) -> Entry:
        entries = self._all()
        if name not in entries:
            raise ConfigError(unknown(self.noun, name, entries))
        entry = entries[name]
        if isinstance(entry, str):
            entry = cast("Entry", locate(entry))
            self._entries[name] = entry
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __contains__(self, name: object) -> bool:
        return name in self._all()

    def _all(self) -> dict[str, Entry | str]:
        if self._group is not None:
            for point in importlib.metadata.entry_points(group=self._group):
                self._entries.setdefault(point.name, point.value)
            self._group = None
        return self._entries


def unknown(noun: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a name that is not there: the nearest one if there is one, else all of them."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names)}"
    return f"unknown {noun} {name!r}: {hint}"


def locate(place: str) -> object:
    """The object at ``"package.module:attribute"``."""
    module_name, _, attribute = place.partition(":")
    if not module_name or not attribute:
        raise ConfigError(f"expected 'package.module:attribute', found {place!r}")
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        raise ConfigError(f"cannot import {module_name!r} of {place!r}: {error}") from error
    except AttributeError as error:
        raise ConfigError(f"module {module_name!r} has no {attribute!r}") from error
