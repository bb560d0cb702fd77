"""The texts of an audit in few bytes, for the script of the page: a score is one or two printable characters.

Scores are told as parts of the strongest one of their text: a code of two characters has 3,871 steps to
either side of zero, which is more than the three digits that a page shows; where all texts would be too long
for a page it is one character with 43 steps. Spans are counted as a browser counts, in units of UTF-16. Texts
that do not fit are left out, the last ones first, and counted: the file of the audit has them all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from faithgauge.report.audit import Audit

ALPHABET = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in "\"&'<>\\")[:88]
"""Printable, and the same in JSON and in HTML."""
STEPS = {1: 43, 2: 3871}
"""To either side of zero, for scores of one and of two characters; the last code is that of no score."""
LIMIT = 1_600_000
"""Characters that the texts of a page may take."""
SCORED, OTHER = "explanations", "adversarial"
NUMBERS = ("disagreement", "jsd", "confidence")
_MORE = len(ALPHABET) // 2


Maps = Sequence[tuple[str, str]]
"""The heat maps of every text: what they are in the audit's file, and their name."""


def packed(audit: Audit, *, limit: int = LIMIT) -> dict[str, Any]:
    """The texts as `page.js` reads them; `left_out` is how many of them did not fit."""
    maps = _maps(audit)
    signed = {name: yes for one in audit.instances for name, yes in (one.get("signed") or {}).items()}
    classes = _classes(audit)
    width, rows = 2, _fitting(audit.instances, maps, classes, width=2, limit=limit)
    if len(rows) < len(audit.instances):
        width, rows = 1, _fitting(audit.instances, maps, classes, width=1, limit=limit)
    return {
        "alphabet": ALPHABET,
        "width": width,
        "steps": STEPS[width],
        "classes": classes,
        "numbers": NUMBERS,
        "maps": [
            {"name": name, "signed": bool(signed.get(name)) and kind == SCORED, "other": kind == OTHER}
            for kind, name in maps
        ],
        "rows": rows,
        "left_out": len(audit.instances) - len(rows),
    }


def scores(values: Iterable[float | None], top: float, *, width: int) -> str:
    """Scores as codes: round(steps · score / top) + steps, and the code after the last for no score."""
    steps, size = STEPS[width], len(ALPHABET)
    numbers = np.array([np.nan if value is None else value for value in values], np.float64)
    with np.errstate(invalid="ignore"):
        part = np.rint(numbers / (top or 1.0) * steps) + steps
    codes = np.where(np.isfinite(part), np.clip(part, 0, 2 * steps), 2 * steps + 1).astype(int)
    if width == 1:
        return "".join(ALPHABET[code] for code in codes)
    return "".join(ALPHABET[code // size] + ALPHABET[code % size] for code in codes)


def spans(text: str, places: Sequence[Sequence[int]]) -> str:
    """Where tokens are: for each how far it starts from the end of the one before, and its length.

    Numbers have the digits of base 44, the lowest first; all but the last digit of a number are 44 higher.
    How far is counted 0, −1, 1, −2, 2 … since tokens may overlap.
    """
    unit = _units(text)
    digits, end = [], 0
    for a, b in places:
        start, stop = (unit[min(max(place, 0), len(text))] for place in (a, max(a, b)))
        far = start - end
        digits += [2 * far if far >= 0 else -2 * far - 1, stop - start]
        end = stop
    return "".join(map(_varied, digits))


def _fitting(
    instances: Sequence[Mapping[str, Any]], maps: Maps, classes: list[str], *, width: int, limit: int
) -> list[list[Any]]:
    """The first texts, as many as the limit has room for."""
    found, used = [], 0
    for one in instances:
        row = _row(one, maps, classes, width=width)
        used += len(json.dumps(row, ensure_ascii=False))
        if used > limit:
            break
        found.append(row)
    return found


def _row(one: Mapping[str, Any], maps: Maps, classes: list[str], *, width: int) -> list[Any]:
    place = {name: i for i, name in enumerate(classes)}
    likely = one.get("probabilities") or {}
    numbers = one.get("numbers") or {}
    text, pair = one.get("text"), one.get("text_pair")
    evidence = one.get("evidence")
    return [
        one.get("id"),
        text,
        pair,
        place.get(str(one.get("label")), -1),
        place.get(str(one.get("gold")), -1) if one.get("gold") is not None else -1,
        [_short(likely.get(name)) for name in classes],
        [_short(numbers.get(name)) for name in NUMBERS],
        spans(text, one["spans"]) if text is not None and one.get("spans") else None,
        spans(pair, one["pair_spans"]) if pair is not None and one.get("pair_spans") else None,
        [*_scored(one, maps, width)],
        None if evidence is None else "".join("01"[bool(flag)] for flag in evidence),
    ]


def _scored(one: Mapping[str, Any], maps: Maps, width: int) -> Iterator[list[Any] | None]:
    """For each map the strongest score, the codes, and those of the second text."""
    for kind, name in maps:
        own = (one.get(kind) or {}).get(name)
        if own is None:
            yield None
            continue
        others = (one.get(f"pair_{kind}") or {}).get(name) or []
        top = max((abs(x) for x in (*own, *others) if x is not None and np.isfinite(x)), default=0.0)
        codes = scores(own, top, width=width)
        yield [_short(top), codes, *([scores(others, top, width=width)] if others else [])]


def _maps(audit: Audit) -> list[tuple[str, str]]:
    """Explainers in the order of their verdicts, then those without; other attention beside attention."""
    named = {name for one in audit.instances for name in one.get(SCORED) or {}}
    others = {(OTHER, name): None for one in audit.instances for name in one.get(OTHER) or {}}
    first = [name for name in audit.explainers if name in named]
    own = [(SCORED, name) for name in (*first, *sorted(named - set(first)))]
    place = next((i for i, (_, name) in enumerate(own, 1) if name.startswith("attention")), len(own))
    return [*own[:place], *others, *own[place:]]


def _classes(audit: Audit) -> list[str]:
    said = [str(name) for name in audit.part("data").get("classes") or ()]
    found = {str(one.get(key)) for one in audit.instances for key in ("label", "gold") if one.get(key)}
    return [*said, *sorted(found - set(said))]


def _units(text: str) -> Sequence[int]:
    """By place in Python the place in UTF-16, of every character and of the end."""
    if all(one <= "\uffff" for one in text):
        return range(len(text) + 1)
    return [0, *np.cumsum([1 + (one > "\uffff") for one in text]).tolist()]


def _varied(number: int) -> str:
    digits = []
    while True:
        number, digit = divmod(number, _MORE)
        digits.append(ALPHABET[digit + (_MORE if number else 0)])
        if not number:
            return "".join(digits)


def _short(value: Any) -> float | None:
    """Four digits are more than is shown."""
    if value is None or not np.isfinite(value):
        return None
    return float(f"{value:.4g}")
