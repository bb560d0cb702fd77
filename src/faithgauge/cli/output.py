"""What a command prints: results on standard output, everything else on standard error.

With ``--json`` standard output holds one JSON document and nothing else, so logs and progress go through
`err`. Words that come from data or from the user are made `printable` first: an escape sequence in a review
must not reach the terminal.
"""

from __future__ import annotations

import json
import math
import re
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import PurePath

from rich.console import Console
from rich.text import Text

out = Console(highlight=False, markup=False, emoji=False)
err = Console(highlight=False, markup=False, emoji=False, stderr=True)

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = {"Cc", "Cs", "Zl", "Zp"}
_DIRECTION = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def emit(document: object) -> None:
    """One JSON document on standard output; a number that is not finite becomes null.

    On a terminal it is indented, elsewhere it is one line.
    """
    indent = 2 if sys.stdout.isatty() else None
    plain = _plain(document)
    text = json.dumps(plain, allow_nan=False, ensure_ascii=not _unicode(), indent=indent)
    if _SURROGATE.search(text):  # bytes of a name that are no UTF-8 would come out as they went in
        text = json.dumps(plain, allow_nan=False, indent=indent)
    sys.stdout.write(text + "\n")


def report(message: str) -> None:
    """One ``error: …`` line on standard error; long lines are left whole, so that paths can be copied."""
    line = Text().append("error: ", "bold red").append(printable(" ".join(message.split())))
    err.print(line, soft_wrap=True)


def coloured(console: Console) -> bool:
    """Whether colours reach the reader: a terminal that has some, and NO_COLOR is not set."""
    return console.color_system is not None and not console.no_color


def printable(text: str) -> str:
    """The text with every control character but the line break written as an escape, a tab as a blank."""
    return "".join(printable_character(character) for character in text)


def printable_character(character: str) -> str:
    if character == "\t":
        return " "
    if character != "\n" and (unicodedata.category(character) in _ESCAPED or character in _DIRECTION):
        return character.encode("unicode_escape", "surrogatepass").decode("ascii")
    return character


def _plain(value: object) -> object:
    """The value in the types of JSON. Arrays and tensors are known by their `tolist`, scalars have it too."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    raise TypeError(f"{type(value).__name__} has no place in a JSON document")


def _unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
