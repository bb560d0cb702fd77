"""Verdicts as cards: a word, why, and every test as a sentence with its number on a line.

Tests of the same name and measure share one scale, over all explainers and over all audits of a page, so that
their lines can be compared by eye.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from faithgauge.report.audit import VERDICTS, Audit

ICONS = {"supported": "✓", "undecided": "?", "not supported": "✕"}
KINDS = {"supported": "good", "undecided": "unsure", "not supported": "bad"}
PLOTTED = ("value", "low", "high", "baseline")
Scales = Mapping[tuple[Any, Any], tuple[float, float]]


def cards(audit: Audit, scale: Scales) -> list[dict[str, Any]]:
    """What each card says, those that are supported first."""
    return [
        {
            "explainer": one.get("explainer"),
            **word(one.get("verdict")),
            "reasons": one.get("reasons") or [],
            "tests": [shown(test, scale) for test in one.get("tests") or []],
        }
        for one in audit.verdicts
    ]


def word(verdict: Any) -> dict[str, Any]:
    """A verdict with its sign and its colour."""
    said = str(verdict or "undecided")
    return {"verdict": said, "icon": ICONS.get(said, "?"), "kind": KINDS.get(said, "unsure")}


def counted(audit: Audit) -> list[dict[str, Any]]:
    """How many explainers have each verdict."""
    said = [one.get("verdict") for one in audit.verdicts]
    return [{**word(one), "n": said.count(one)} for one in VERDICTS if one in said]


def shown(test: Mapping[str, Any], scale: Scales) -> dict[str, Any]:
    """A test with its numbers in writing, and their places on the line in percent."""
    ends = scale.get((test.get("test"), test.get("measure")))
    places = {name: _place(test.get(name), ends) for name in PLOTTED}
    written = {name: written_number(test.get(name)) for name in PLOTTED}
    label = " · ".join(
        str(part).replace("_", " ") for part in (test.get("test"), test.get("measure")) if part
    )
    return {**test, "label": label, "at": places, "written": written}


def scales(audits: Iterable[Audit]) -> dict[tuple[Any, Any], tuple[float, float]]:
    """By test and measure, the least and the largest number of any line, with a little room."""
    found: dict[tuple[Any, Any], list[float]] = {}
    for audit in audits:
        every = [test for one in audit.verdicts for test in one.get("tests") or []]
        for test in (*every, *audit.list("model_tests")):
            own = found.setdefault((test.get("test"), test.get("measure")), [])
            own += [float(test[name]) for name in PLOTTED if _is_number(test.get(name))]
    ends = {key: (min(own), max(own)) for key, own in found.items() if own}
    return {
        key: (low - (room := (high - low or abs(high) or 1.0) * 0.06), high + room)
        for key, (low, high) in ends.items()
    }


def written_number(value: Any) -> str | None:
    """With three decimals below 10 and fewer above, and a real minus; None for what is no number."""
    if isinstance(value, str):
        return value
    if not _is_number(value):
        return None
    number = float(value)
    decimals = 3 if abs(number) < 10 else 1 if abs(number) < 1000 else 0
    text = f"{number:,.{decimals}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", "−")


def fragment(audit: Audit) -> str:
    """The verdicts as a part of a page, with their style, for a notebook."""
    from faithgauge.report.page import rendered

    return rendered("fragment.html", audit=audit, cards=cards(audit, scales([audit])), counted=counted(audit))


def _place(value: Any, ends: tuple[float, float] | None) -> float | None:
    if ends is None or not _is_number(value):
        return None
    low, high = ends
    return round(100 * (float(value) - low) / (high - low), 2)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def rows_of(audits: Sequence[Audit]) -> list[dict[str, Any]]:
    """For a page of several audits: each explainer with its verdict in each, None where it has none."""
    names = dict.fromkeys(name for audit in audits for name in audit.explainers)
    found = []
    for name in names:
        verdicts = [next((v for v in audit.verdicts if v.get("explainer") == name), None) for audit in audits]
        found.append({"explainer": name, "verdicts": [v and word(v.get("verdict")) for v in verdicts]})
    return found
