"""A study as it is written: the tables of a TOML file, after the changes of the command line.

Keys that are not known are refused here, with the nearest that is; values are left to those who use them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faithgauge.errors import ConfigError
from faithgauge.registry import unknown

Keys = Mapping[str, Sequence[str]]
"""The known keys of each table; those that stand at the top of the file are under ""."""


@dataclass
class Places:
    """Where a value stands, for messages: in the file, or on the command line."""

    file: str
    changed: set[tuple[str, str]] = field(default_factory=set)

    def of(self, table: str, key: str) -> str:
        if (table, key) in self.changed:
            return f"--set {table}.{key}".replace(" .", " ")
        return f"{self.file}: [{table}] {key}" if table else f"{self.file}: {key}"


def read_tables(path: Path, known: Keys, changes: Sequence[str]) -> tuple[dict[str, Any], Places]:
    """The tables of the file after the changes, and where each value stands."""
    written = _parsed(path)
    places = Places(path.name)
    _refuse_unknown_keys(written, known, places)
    for change in changes:
        _change(written, " ".join(change.split("\n")), known, places)
    return written, places


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        line = re.search(r"\(at line (\d+), column (\d+)\)", message)
        place = f"{path}, line {line[1]}, column {line[2]}" if line else str(path)
        text = message.partition(" (at ")[0]
        raise ConfigError(f"{place}: expected TOML, found an error: {text[:1].lower()}{text[1:]}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: expected a study file in TOML, found bytes that are not UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{path}: expected a study file, found none ({error.strerror})") from error


def _refuse_unknown_keys(written: Mapping[str, Any], known: Keys, places: Places) -> None:
    for name, value in written.items():
        if name not in known and name not in known[""]:
            raise ConfigError(f"{places.file}: {_unknown_key(name, '', known)}")
        if name in known and not isinstance(value, dict):
            raise ConfigError(f"{places.file}: {name}: expected a table [{name}], found {value!r}")
        for key in value if name in known else ():
            if key not in known[name]:
                raise ConfigError(f"{places.file}: [{name}] {_unknown_key(key, name, known)}")


def _unknown_key(key: str, table: str, known: Keys) -> str:
    """Where it belongs if it is known elsewhere, else the nearest key of its table."""
    if (table, key) == ("train", "seed"):
        return "seed: seeds stand at the top of the file: seeds = [0, 1, 2]"
    for home, keys in known.items():
        if key in keys and home != table:
            where = f"in [{home}]" if home else "at the top of the file"
            return f"unknown key {key!r}: it belongs {where}"
    return unknown("key", key, known[table] if table else [*known[""], *filter(None, known)])


def _change(written: dict[str, Any], change: str, known: Keys, places: Places) -> None:
    name, equals, text = change.partition("=")
    name = name.strip()
    if not equals:
        raise ConfigError(f"--set {change}: expected KEY=VALUE, such as train.epochs=2")
    paths = [f"{table}.{key}" if table else key for table, keys in known.items() for key in keys]
    if name not in paths:
        raise ConfigError(f"--set {change}: {unknown('key', name, paths)}")
    table, _, key = name.rpartition(".")
    (written.setdefault(table, {}) if table else written)[key] = _value(text.strip(), change)
    places.changed.add((table, key))


def _value(text: str, change: str) -> Any:
    """A TOML value; a single word needs no quotes, as a shell would take them away."""
    if re.fullmatch(r"[A-Za-z_./~][\w./@~-]*", text) and text not in ("true", "false", "inf", "nan"):
        return text
    try:
        (value,) = tomllib.loads(f"value = {text}").values()
    except ValueError as error:
        raise ConfigError(
            f'--set {change}: expected a TOML value (2, 0.5, true, word, "text", [1, 2]), found {text!r}'
        ) from error
    return value
