"""Names of classes from the values of a label column, and the order in which they are numbered."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{0,15})?")
"""A label, or a cell, that counts as a number."""

_MISSING = frozenset({"", "nan", "null", "<na>", "#n/a"})

LAST = {
    "positive": ("negative",),
    "pos": ("neg",),
    "yes": ("no",),
    "y": ("n",),
    "true": ("false",),
    "t": ("f",),
    "good": ("bad",),
    "like": ("dislike",),
    "agree": ("disagree",),
    "favor": ("against",),
    "correct": ("incorrect", "wrong"),
    "right": ("wrong",),
    "relevant": ("irrelevant", "not_relevant"),
    "duplicate": ("not_duplicate", "different"),
    "acceptable": ("unacceptable",),
    "happy": ("unhappy", "sad"),
    "spam": ("ham", "not_spam"),
    "+": ("-",),
}
"""Of two classes with these names, the one before the colon is class 1."""


def names(values: Sequence[object]) -> list[str | None]:
    """Each label as the name of its class; None where it is missing.

    If all are numbers, 1, "1" and 1.0 are the same class. White space around a name does not count.
    """
    texts = [_text(value) for value in values]
    different = {text for text in texts if text is not None}
    if all(NUMBER.fullmatch(text) for text in different):
        spelt = {text: _number(text) for text in different}
        return [None if text is None else spelt[text] for text in texts]
    return texts


def ordered(classes: Iterable[str]) -> tuple[tuple[str, ...], str]:
    """The classes in order, and what that order is."""
    alphabetical = sorted(set(classes), key=lambda name: (name.casefold(), name))
    if all(NUMBER.fullmatch(name) for name in alphabetical):
        return tuple(sorted(alphabetical, key=float)), "by number"
    if len(alphabetical) == 2:
        for first, last in (alphabetical, alphabetical[::-1]):
            if _spelling(first) in LAST.get(_spelling(last), ()):
                return (first, last), "from the negative to the positive"
    return tuple(alphabetical), "by the alphabet"


def _text(value: object) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value).strip()
    return None if text.lower() in _MISSING else text


def _number(text: str) -> str:
    return str(int(text)) if "." not in text else f"{float(text):.15g}"


def _spelling(name: str) -> str:
    return re.sub(r"[\s_-]+", "_", name.lower()) if len(name) > 1 else name.lower()
