"""How a run shows itself: a live view on a terminal, one line per event elsewhere, an event log in a file.

The view is written to the standard error of the start, because a job that runs in this process has standard
output and error sent to its log.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Console, Group
from rich.table import Table as Grid
from rich.text import Text

from faithgauge.cli.output import printable
from faithgauge.cli.studies import duration
from faithgauge.errors import ConfigError

if TYPE_CHECKING:
    from faithgauge.engine.run import Event

Show = Literal["all", "some", "none"]
ENDS = ("done", "cached", "failed", "blocked")
MOST_SHOWN = 12
"""Running jobs that the live view lists."""


@dataclass
class Watch:
    """What has happened so far; `texts` describes every job, `kinds` counts those to be done by kind."""

    texts: Mapping[str, str]
    left: Counter[str]
    slots: int
    partial: Callable[[str], Path]
    counts: Counter[str] = field(default_factory=Counter)
    running: dict[str, tuple[str, float]] = field(default_factory=dict)
    spent: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    started: float = field(default_factory=time.monotonic)

    @property
    def total(self) -> int:
        return self.left.total() + self.ended

    @property
    def ended(self) -> int:
        return sum(self.counts[name] for name in ENDS)

    def take(self, event: Event) -> float | None:
        """Count an event; the seconds of a job that has just ended."""
        self.counts[event.what] += 1
        if event.what == "started":
            self.running[event.key] = (event.kind, time.monotonic())
        if event.what not in ENDS:
            return None
        self.left[event.kind] -= 1
        _, since = self.running.pop(event.key, ("", None))
        if since is None:
            return None
        seconds = time.monotonic() - since
        if event.what == "done":
            self.spent[event.kind].append(seconds)
        return seconds

    def tenth(self, event: Event) -> str:
        """How far it is, where another tenth of the jobs has just ended; else nothing."""
        now, before = (10 * n // max(self.total, 1) for n in (self.ended, self.ended - 1))
        if event.what not in ENDS or event.what == "cached" or now == before:
            return ""
        left = self.seconds_left()
        rest = "" if left is None or self.ended == self.total else f", about {duration(left)} left"
        return f"{self.ended} of {self.total} jobs{rest}"

    def seconds_left(self) -> float | None:
        """What is left at the mean time of each kind so far, over all slots; None before anything is done."""
        every = [seconds for spent in self.spent.values() for seconds in spent]
        if not every:
            return None
        mean = {kind: sum(spent) / len(spent) for kind, spent in self.spent.items()}
        work = sum(n * mean.get(kind, sum(every) / len(every)) for kind, n in self.left.items())
        now = time.monotonic()
        under_way = sum(min(now - since, mean.get(kind, 0.0)) for kind, since in self.running.values())
        return max(work - under_way, 0.0) / max(min(self.slots, self.left.total()), 1)


@contextmanager
def watching(watch: Watch, log: Path | None, show: Show = "all") -> Iterator[Callable[[Event], None]]:
    """A function that takes the events of a run, shows them, and writes them to `log`.

    Where there is no terminal, "all" is a line for each event, "some" one for each tenth of the jobs. "none"
    shows what fails, and no more.
    """
    from rich.live import Live

    console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
    with ExitStack() as stack:
        record = _recorder(log, watch, stack)
        if console.is_terminal and show != "none":
            stack.enter_context(
                Live(
                    console=console,
                    get_renderable=lambda: view(watch),
                    refresh_per_second=4,
                    redirect_stdout=False,
                    redirect_stderr=False,
                    transient=True,
                )
            )

        def on_event(event: Event) -> None:
            seconds = watch.take(event)
            record(event, seconds)
            every = show == "all" and not console.is_terminal
            if every or event.what in ("failed", "retried", "elsewhere"):
                for text in lines(event, watch, seconds):
                    console.print(text, soft_wrap=True)
            elif show == "some" and not console.is_terminal and (said := watch.tenth(event)):
                console.print(said, soft_wrap=True)

        yield on_event


def lines(event: Event, watch: Watch, seconds: float | None) -> list[str]:
    """One event in words. Of what was stored already only the number is told, before what comes next."""
    if event.what == "cached":
        return []
    said = []
    if watch.counts["cached"] and watch.counts.total() == watch.counts["cached"] + 1:
        said.append(f"{watch.counts['cached']} of {watch.total} jobs are stored already")
    text = f"{event.what:9} {event.kind:9} {event.key[:12]}  {watch.texts.get(event.key, '')}".rstrip()
    if event.what in ENDS:
        text = f"{watch.ended:>{len(str(watch.total))}}/{watch.total}  {text}"
    if seconds is not None:
        text += f"  {duration(seconds)}"
    if event.what == "elsewhere":
        text += "  another run computes it: waiting"
    if event.reason:
        text += f": {event.reason}"
    return [printable(line.replace("\n", " ")) for line in (*said, text)]


def view(watch: Watch) -> Group:
    """The live view: how far, how fast, how long, and what each running job says of itself."""
    from rich.progress_bar import ProgressBar

    now = time.monotonic()
    bar = ProgressBar(total=max(watch.total, 1), completed=watch.ended, width=40)
    minutes = max(now - watch.started, 1e-9) / 60
    left = watch.seconds_left()
    waiting = watch.left.total() - len(watch.running)
    words = [
        *(f"{watch.counts[name]} {name}" for name in ENDS if watch.counts[name] or name == "done"),
        f"{len(watch.running)} running",
        f"{max(waiting, 0)} todo",
    ]
    pace = f"{watch.counts['done'] / minutes:.1f} jobs/min, " if watch.counts["done"] else ""
    rest = "time left unknown" if left is None else f"about {duration(left)} left"
    grid = Grid(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0), expand=False)
    for _ in range(2):
        grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    grid.add_column(no_wrap=True, justify="right")
    for key, (kind, since) in list(watch.running.items())[:MOST_SHOWN]:
        said = _progress(watch.partial(key) / "progress.json")
        grid.add_row(kind, Text(printable(watch.texts.get(key, ""))), said, duration(now - since))
    head = Grid.grid(padding=(0, 2, 0, 0))
    head.add_row(f"{watch.ended}/{watch.total}", bar)
    summary = Text(f"{', '.join(words)}; {pace}{rest}", no_wrap=True, overflow="ellipsis")
    return Group(grid, head, summary)


def _progress(path: Path) -> Text:
    """What a running job last told of itself."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        part = f"{100 * told['done'] / told['total']:.0f} %" if told["total"] else ""
        return Text(printable(f"{part} {told['text']}".strip()))
    except (OSError, ValueError, KeyError, TypeError):
        return Text("")


def _recorder(log: Path | None, watch: Watch, stack: ExitStack) -> Callable[[Event, float | None], None]:
    """Writes each event as a line of JSON, at once."""
    if log is None:
        return lambda event, seconds: None  # noqa: ARG005 nobody wants to know
    try:
        file = stack.enter_context(log.open("a", encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"--events {log}: expected a file to write to ({error.strerror})") from error

    def record(event: Event, seconds: float | None) -> None:
        said = {
            "time": time.time(),
            "event": event.what,
            "job": event.key,
            "kind": event.kind,
            "what": watch.texts.get(event.key, ""),
            "seconds": seconds,
            "reason": event.reason or None,
            "log": str(event.log) if event.log else None,
        }
        file.write(json.dumps({name: value for name, value in said.items() if value is not None}) + "\n")
        file.flush()

    return record
