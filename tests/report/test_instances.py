"""The texts of a page in few bytes: what is written can be read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from audits import Made, write_audit
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.report.audit import Audit, opened
from faithgauge.report.instances import ALPHABET, STEPS, packed, scores, spans


def read_scores(codes: str, top: float, *, width: int) -> list[float | None]:
    """As `page.js` reads them."""
    found: list[float | None] = []
    for i in range(0, len(codes), width):
        value = 0
        for character in codes[i : i + width]:
            value = value * len(ALPHABET) + ALPHABET.index(character)
        found.append(None if value == 2 * STEPS[width] + 1 else (value - STEPS[width]) / STEPS[width] * top)
    return found


def read_spans(codes: str) -> list[list[int]]:
    numbers, number, unit, half = [], 0, 1, len(ALPHABET) // 2
    for character in codes:
        digit = ALPHABET.index(character)
        number += digit % half * unit
        unit *= half
        if digit < half:
            numbers.append(number)
            number, unit = 0, 1
    found, end = [], 0
    for far, length in zip(numbers[::2], numbers[1::2], strict=True):
        start = end + (-(far + 1) // 2 if far % 2 else far // 2)
        end = start + length
        found.append([start, end])
    return found


def audit_of(*instances: dict[str, object]) -> Audit:
    return Audit(Path("audit"), {"format": 1}, None, instances)


def test_the_characters_of_codes_are_their_own_in_json_and_in_html() -> None:
    assert len(set(ALPHABET)) == len(ALPHABET) == 88
    assert not set(ALPHABET) & set("\"&'<>\\")
    for width, steps in STEPS.items():
        assert 2 * steps + 2 <= len(ALPHABET) ** width


@pytest.mark.parametrize("width", [1, 2])
@given(st.lists(st.none() | st.floats(-3, 3), max_size=20))
def test_scores_are_read_as_they_were_to_half_a_step(width: int, values: list[float | None]) -> None:
    read = read_scores(scores(values, 3.0, width=width), 3.0, width=width)
    assert [value is None for value in read] == [value is None for value in values]
    for value, again in zip(values, read, strict=True):
        if value is not None and again is not None:
            assert abs(value - again) <= 3.0 / STEPS[width] / 2 + 1e-9


def test_the_strongest_scores_are_exact_and_zero_stays_zero() -> None:
    assert read_scores(scores([0.5, -0.5, 0.0, float("nan")], 0.5, width=2), 0.5, width=2) == [
        0.5,
        -0.5,
        0.0,
        None,
    ]
    assert read_scores(scores([0.0], 0.0, width=2), 0.0, width=2) == [0.0]


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 5000)).map(sorted), max_size=20))
def test_spans_are_read_as_they_were(places: list[list[int]]) -> None:
    assert read_spans(spans("x" * 5000, places)) == [list(place) for place in places]


def test_spans_count_as_a_browser_does() -> None:
    assert read_spans(spans("😀 é 👩‍👧", [[0, 1], [2, 3], [4, 7]])) == [[0, 2], [3, 4], [5, 10]]


def test_a_text_of_a_class_that_nobody_named_is_shown_all_the_same() -> None:
    found = packed(audit_of({"id": "1", "label": "b", "gold": "a", "probabilities": {"b": 0.9}}))
    assert found["classes"] == ["a", "b"]
    assert found["rows"] == [
        ["1", None, None, 1, 0, [None, 0.9], [None, None, None], None, None, [], None],
    ]


def test_what_an_explainer_lacks_is_a_hole() -> None:
    one = {"id": "1", "explanations": {"a": [0.5, None]}}
    other = {"id": "2", "explanations": {"b": [1.0]}, "signed": {"b": True}}
    found = packed(audit_of(one, other))
    assert [(m["name"], m["signed"], m["other"]) for m in found["maps"]] == [
        ("a", False, False),
        ("b", True, False),
    ]
    (first, second) = (row[9] for row in found["rows"])
    assert first[1] is None
    assert second[0] is None
    assert first[0][0] == 0.5


def test_other_attention_stands_beside_attention() -> None:
    one = {"explanations": {"lime": [1.0], "attention": [1.0]}, "adversarial": {"exact": [1.0]}}
    audit = audit_of(one)
    assert [m["name"] for m in packed(audit)["maps"]] == ["attention", "exact", "lime"]


def test_texts_that_do_not_fit_are_rounded_then_left_out_and_counted(tmp_path: Path) -> None:
    audit = opened(write_audit(tmp_path, Made(texts=40)))
    whole = packed(audit)
    assert (whole["width"], len(whole["rows"]), whole["left_out"]) == (2, 40, 0)
    rounded = packed(audit, limit=36_000)
    assert (rounded["width"], len(rounded["rows"]), rounded["left_out"]) == (1, 40, 0)
    some = packed(audit, limit=10_000)
    assert some["width"] == 1
    assert len(some["rows"]) + some["left_out"] == 40
    assert 0 < len(some["rows"]) < 40
