"""JSON documents, error lines, and words that must not drive the terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from faithgauge.cli.output import coloured, emit, printable, report


@dataclass(frozen=True)
class Point:
    x: float
    at: Path


def test_a_document_is_one_line_where_the_output_is_not_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    emit({"ok": True, "n": 3, "labels": ["a", None]})
    assert capsys.readouterr().out == '{"ok": true, "n": 3, "labels": ["a", null]}\n'


@pytest.mark.parametrize(
    "number", [float("nan"), float("inf"), -np.inf, np.float32("nan"), np.float64("nan")]
)
def test_a_number_that_is_not_finite_becomes_null(capsys: pytest.CaptureFixture[str], number: float) -> None:
    emit([number])
    assert capsys.readouterr().out == "[null]\n"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(7), 7),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array([0.5, np.nan]), [0.5, None]),
        (Path("runs") / "a", "runs/a"),
        (Point(float("inf"), Path("b")), {"x": None, "at": "b"}),
        ({1: (2, 3)}, {"1": [2, 3]}),
        ("größer", "größer"),
    ],
)
def test_numpy_paths_and_dataclasses_are_written_plainly(
    capsys: pytest.CaptureFixture[str], value: Any, expected: Any
) -> None:
    emit(value)
    assert json.loads(capsys.readouterr().out) == expected


def test_half_a_character_is_written_as_an_escape_so_that_the_document_is_utf_8() -> None:
    """As it comes from a file's name that is no UTF-8, where Python writes such bytes as they came."""
    code = "from faithgauge.cli.output import emit; emit({'file': 'caf\\udce9.csv', 'label': 'größer'})"
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8:surrogateescape"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert json.loads(done.stdout.decode("utf-8")) == {"file": "caf\udce9.csv", "label": "größer"}


def test_a_value_without_a_place_in_json_is_refused_before_anything_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(TypeError, match="set has no place in a JSON document"):
        emit({"labels": {1, 2}})
    assert capsys.readouterr().out == ""


def test_an_error_is_one_whole_line_without_markup(capsys: pytest.CaptureFixture[str]) -> None:
    path = "/data/" + "long name/" * 20 + "[red]x[/red].csv"
    report(f"{path}: expected\n  a header")
    assert capsys.readouterr().err == f"error: {path}: expected a header\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("bell\a, back\b", r"bell\x07, back\x08"),
        ("c1 \x9b31m", r"c1 \x9b31m"),
        ("tab\tand\nline", "tab and\nline"),
        ("over\r", r"over\r"),
        ("\u202egnorw", r"\u202egnorw"),
        ("half \ud800", r"half \ud800"),
        ("para\u2029graph", r"para\u2029graph"),
        ("naïve 日本 👩‍🔬 [bold]", "naïve 日本 👩‍🔬 [bold]"),
    ],
)
def test_control_characters_are_shown_and_not_sent(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_colour_is_off_without_a_terminal_and_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert coloured(Console(force_terminal=True))
    assert not coloured(Console(force_terminal=False))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not coloured(Console(force_terminal=True))
