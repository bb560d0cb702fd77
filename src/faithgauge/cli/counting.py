"""How far some work over many texts has come: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from faithgauge.cli.output import err, printable


@contextmanager
def counting(noun: str) -> Iterator[Callable[[str, float, float], None]]:
    """A function that takes what is worked on, how many are done, and of how many, for a bar of each."""
    if not err.is_terminal:
        yield lambda _what, _done, _total: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
    )
    with Progress(*columns, TextColumn(noun), TimeRemainingColumn(), console=err, transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: float, total: float) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(printable(what), total=total)
            progress.update(tasks[what], completed=done)

        yield show
