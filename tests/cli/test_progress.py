from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress

from faithgauge.cli import progress
from faithgauge.cli.progress import training_progress
from faithgauge.train.fit import Event

EVENTS = [
    Event(1, 2, 1, 2, 0.9, {}),
    Event(1, 2, 2, 2, 0.8, {}),
    Event(1, 2, 2, 2, 0.8, {"roc_auc": 0.5, "loss": 0.7}),
    Event(2, 2, 1, 2, 0.6, {}),
    Event(2, 2, 2, 2, 0.5, {}),
    Event(2, 2, 2, 2, 0.5, {"roc_auc": 0.75, "loss": 0.6}),
]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def lines(events: Sequence[Event], clock: list[float], seconds: float) -> None:
    with training_progress("validation", "roc_auc") as show:
        for event in events:
            clock[0] += seconds
            show(event)


def test_where_there_is_no_terminal_every_epoch_is_a_line_on_standard_error(
    capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    lines(EVENTS, clock, 10)
    assert capsys.readouterr() == (
        "",
        "epoch 1/2  loss 0.8000  validation roc_auc 0.5000  30 s, 30 s left\n"
        "epoch 2/2  loss 0.5000  validation roc_auc 0.7500  60 s, 0 s left\n",
    )


def test_the_time_left_of_a_training_that_went_on_counts_its_own_epochs(
    capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    """Epoch 7 of 10 took 30 s; 3 are left."""
    lines([Event(7, 10, 2, 2, 0.8, {}), Event(7, 10, 2, 2, 0.8, {"roc_auc": 0.5})], clock, 15)
    assert capsys.readouterr().err == "epoch 7/10  loss 0.8000  validation roc_auc 0.5000  30 s, 90 s left\n"


def test_a_value_that_is_no_number_is_shown_as_such(
    capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    lines([Event(1, 1, 1, 1, 0.8, {"roc_auc": float("nan")})], clock, 1)
    assert "validation roc_auc nan" in capsys.readouterr().err


def test_without_an_epoch_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with training_progress("validation", "roc_auc"):
        pass
    assert capsys.readouterr() == ("", "")


def shown(monkeypatch: pytest.MonkeyPatch, events: Sequence[Event], width: int = 80) -> list[str]:
    """What stood on the terminal, one entry per time that it was drawn."""
    terminal = Console(force_terminal=True, file=io.StringIO(), width=width, color_system=None)
    monkeypatch.setattr(progress, "terminal", lambda: terminal)
    drawn = []
    with training_progress("validation", "roc_auc") as show:
        for event in events:
            show(event)
            terminal.file.seek(0)  # type: ignore[attr-defined]
            terminal.file.truncate()
            _bars(show)[0].refresh()
            drawn.append(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.file.getvalue()).strip())  # type: ignore[attr-defined]
    return drawn


def _bars(show: Any) -> list[Progress]:
    return [cell.cell_contents for cell in show.__closure__ if isinstance(cell.cell_contents, Progress)]


def test_on_a_terminal_a_bar_shows_epoch_loss_metric_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = shown(monkeypatch, EVENTS)
    # How much time is left depends on the machine.
    assert [re.sub(r"[-:0-9]{7}$", "TIME", re.sub(r"[━╸╺ ]+", " ", line)) for line in drawn] == [
        "epoch 1/2 loss 0.9000 TIME",
        "epoch 1/2 loss 0.8000 TIME",
        "epoch 1/2 loss 0.8000 roc_auc 0.5000 TIME",
        "epoch 2/2 loss 0.6000 roc_auc 0.5000 TIME",
        "epoch 2/2 loss 0.5000 roc_auc 0.5000 TIME",
        "epoch 2/2 loss 0.5000 roc_auc 0.7500 TIME",
    ]
    assert (drawn[0][-7:], drawn[-1][-7:]) == ("-:--:--", "0:00:00")


def test_the_bar_is_as_full_as_the_training_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 steps in all: 1, 2, 2 (the epoch is judged), 3, 4, 4 are done."""
    assert [done(monkeypatch, event) for event in EVENTS] == [0.25, 0.5, 0.5, 0.75, 1, 1]


def done(monkeypatch: pytest.MonkeyPatch, event: Event) -> float:
    """The share of the task that is done after one event."""
    terminal = Console(force_terminal=True, file=io.StringIO(), width=80, color_system=None)
    monkeypatch.setattr(progress, "terminal", lambda: terminal)
    with training_progress("validation", "roc_auc") as show:
        show(event)
        (bar,) = _bars(show)
        return float(bar.tasks[0].percentage) / 100


def test_the_bar_fits_on_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(len(line) <= 60 for line in shown(monkeypatch, EVENTS, width=60))


def test_the_bar_goes_to_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = Console(force_terminal=True, stderr=True, width=80)
    monkeypatch.setattr(progress, "terminal", lambda: screen)
    with training_progress("validation", "roc_auc") as show:
        show(EVENTS[0])
    out, err = capsys.readouterr()
    assert out == ""
    assert "epoch 1/2" in err
