"""How a training shows its progress: a live bar on a terminal, one line per epoch elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from faithgauge.train.fit import Event


@contextmanager
def training_progress(split: str, metric: str) -> Iterator[Callable[[Event], None]]:
    """A function that takes the events of one training; all it prints goes to standard error.

    It is the standard error of the start: a job that runs in this process has its own sent to a log.
    """
    console = terminal()
    if not console.is_terminal:
        yield _lines(console, split, metric)
        return
    columns = (
        TextColumn("epoch {task.fields[epoch]}"),
        BarColumn(bar_width=None),
        TextColumn("loss {task.fields[loss]:.4f}{task.fields[judged]}"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=False, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        task = progress.add_task("", total=None, epoch="", loss=0.0, judged="")
        yield _bar(progress, task, metric)


def terminal() -> Console:
    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False)


def _bar(progress: Progress, task: TaskID, metric: str) -> Callable[[Event], None]:
    def show(event: Event) -> None:
        done = (event.epoch - 1) * event.steps + event.step
        progress.update(
            task,
            completed=done,
            total=event.epochs * event.steps,
            epoch=f"{event.epoch}/{event.epochs}",
            loss=event.loss,
        )
        if event.metrics:
            progress.update(task, judged=f"  {metric} {event.metrics[metric]:.4f}")

    return show


def _lines(console: Console, split: str, metric: str) -> Callable[[Event], None]:
    started, first = time.monotonic(), None

    def show(event: Event) -> None:
        nonlocal first
        first = event.epoch if first is None else first
        if not event.metrics:
            return
        passed = time.monotonic() - started
        left = passed / (event.epoch - first + 1) * (event.epochs - event.epoch)
        console.print(
            f"epoch {event.epoch}/{event.epochs}  loss {event.loss:.4f}  "
            f"{split} {metric} {event.metrics[metric]:.4f}  {passed:.0f} s, {left:.0f} s left",
            soft_wrap=True,
        )

    return show
