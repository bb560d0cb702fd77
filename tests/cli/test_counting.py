"""The bars of work over many texts."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from faithgauge.cli.counting import counting


def test_on_a_terminal_there_is_a_bar_for_each_thing_that_is_worked_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = io.StringIO()
    terminal = Console(file=file, force_terminal=True, width=80, highlight=False)
    monkeypatch.setattr(sys.modules["faithgauge.cli.counting"], "err", terminal)
    with counting("texts") as show:
        show("attention", 5, 10)
        show("attention", 10, 10)
        show("li\x1bme", 1, 10)
    written = file.getvalue()
    for part in ("attention", "10/10", "1/10", "texts", "li\\x1bme"):
        assert part in written


def test_elsewhere_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with counting("texts") as show:
        show("attention", 5, 10)
    assert capsys.readouterr() == ("", "")
