"""Verdict cards: words with a sign, numbers on one scale, and the same in a notebook."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import Any

import pytest
from audits import HOSTILE, Made, write_audit

from faithgauge.report.audit import Audit, opened
from faithgauge.report.cards import cards, counted, rows_of, scales, shown, written_number


def audit_of(*tests: dict[str, Any], verdict: str = "supported", explainer: str = "lime") -> Audit:
    verdicts = [{"explainer": explainer, "verdict": verdict, "tests": list(tests)}]
    return Audit(Path("a"), {"format": 1, "verdicts": verdicts}, None, ())


def test_numbers_of_one_test_share_a_scale_over_all_audits() -> None:
    first = {"test": "erasure", "measure": "m", "value": 0.2, "low": 0.0, "high": 0.4, "baseline": 0.0}
    second = first | {"value": 1.0, "low": 0.9, "high": 1.0}
    found = scales([audit_of(first), audit_of(second)])
    assert found == {("erasure", "m"): (pytest.approx(-0.06), pytest.approx(1.06))}
    assert shown(first, found)["at"] == pytest.approx(
        {"value": 23.21, "low": 5.36, "high": 41.07, "baseline": 5.36}
    )


def test_a_test_without_a_number_has_no_place() -> None:
    test = {"test": "erasure", "measure": "m", "value": None, "low": nan, "n": 3}
    found = shown(test, scales([audit_of(test)]))
    assert set(found["at"].values()) == {None}
    assert set(found["written"].values()) == {None}
    assert found["label"] == "erasure · m"


def test_all_numbers_alike_still_have_a_scale() -> None:
    test = {"test": "t", "measure": "m", "value": 0.0, "low": 0.0, "high": 0.0}
    assert shown(test, scales([audit_of(test)]))["at"]["value"] == 50.0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.500"),
        (-0.25, "−0.250"),
        (-0.0001, "0.000"),
        (0, "0.000"),
        (12.34, "12.3"),
        (-1234.5, "−1,234"),
        (nan, None),
        (None, None),
        (True, None),
        ("0.51 (majority)", "0.51 (majority)"),
    ],
)
def test_numbers_are_short_and_have_a_real_minus(value: Any, text: str | None) -> None:
    assert written_number(value) == text


def test_supported_comes_first_and_every_word_has_a_sign_of_its_own() -> None:
    verdicts = [{"explainer": w, "verdict": w} for w in ("not supported", "undecided", "supported")]
    audit = Audit(Path("a"), {"format": 1, "verdicts": verdicts}, None, ())
    found = cards(audit, {})
    assert [one["verdict"] for one in found] == ["supported", "undecided", "not supported"]
    assert [one["icon"] for one in found] == ["✓", "?", "✕"]
    assert len({one["kind"] for one in found}) == 3
    assert [(one["verdict"], one["n"]) for one in counted(audit)] == [
        ("supported", 1),
        ("undecided", 1),
        ("not supported", 1),
    ]


def test_side_by_side_an_explainer_that_was_not_judged_has_no_verdict() -> None:
    found = rows_of([audit_of(explainer="a"), audit_of(explainer="b", verdict="undecided")])
    assert [(row["explainer"], [v and v["verdict"] for v in row["verdicts"]]) for row in found] == [
        ("a", ["supported", None]),
        ("b", [None, "undecided"]),
    ]


def test_a_notebook_shows_the_cards_and_nothing_that_runs(tmp_path: Path) -> None:
    verdicts = [{"explainer": HOSTILE[0], "verdict": "supported", "reasons": [HOSTILE[2]], "tests": []}]
    audit = opened(write_audit(tmp_path, Made(texts=4, explainers=("random",), seeds=1), verdicts=verdicts))
    html = audit._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;window.injected = 1&lt;/script&gt;" in html
    assert "1 supported" in html
