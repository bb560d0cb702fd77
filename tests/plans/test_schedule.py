"""How long runs take with so many workers, by hand and beside the engine itself."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from engine.toys import Sum

from faithgauge.engine.job import Job, key_of
from faithgauge.engine.run import graph, run
from faithgauge.engine.store import Store
from faithgauge.engine.work import Outcome, Ticket, work
from faithgauge.plans.schedule import wall
from faithgauge.seeds import generator


def chain(name: int, length: int, start: tuple[Job, ...] = ()) -> Job:
    job: Job = Sum(name, start)
    for step in range(1, length):
        job = Sum(name + step, (job,))
    return job


def every(targets: list[Job], seconds: float = 1.0) -> dict[str, float]:
    return dict.fromkeys(graph(targets), seconds)


def test_a_chain_is_not_shared_out() -> None:
    targets = [chain(10, 4)]
    assert [wall(graph(targets), every(targets), workers) for workers in (1, 2, 9)] == [4, 4, 4]


@pytest.mark.parametrize(("workers", "steps"), [(1, 15), (2, 9), (3, 6), (5, 3), (9, 3)])
def test_five_chains_of_three_are_shared_out_as_whole_chains(workers: int, steps: int) -> None:
    """Two workers take two chains each, and one of them a fifth."""
    targets = [chain(10 * i, 3) for i in range(1, 6)]
    assert wall(graph(targets), every(targets), workers) == steps


def test_what_begins_first_is_what_stands_first() -> None:
    """After a job that all need: the long chain first, 1 + 4; last, when the others have ended, 1 + 2 + 4."""
    start = Sum(1)
    short, long = [chain(10 * i, 2, (start,)) for i in (1, 2)], chain(50, 4, (start,))
    for targets, seconds in (([long, *short], 5), ([*short, long], 7)):
        assert wall(graph(targets), every(targets), 2) == seconds


def test_of_what_nothing_is_known_takes_no_time() -> None:
    targets = [chain(10, 3)]
    assert wall(graph(targets), {key_of(targets[0]): 2.0}, 2) == 2
    assert wall({}, {}, 2) == 0


@dataclass
class Clock:
    """An executor for which every job takes the time that is written: the clock goes on to the next end."""

    slots: int
    seconds: dict[str, float]
    now: float = 0.0
    running: list[tuple[float, int, Ticket]] = field(default_factory=list)
    sent: int = 0

    def submit(self, ticket: Ticket) -> None:
        self.sent += 1
        heapq.heappush(self.running, (self.now + self.seconds[ticket.key], self.sent, ticket))

    def wait_any(self, seconds: float) -> list[Outcome]:
        self.now, _, ticket = heapq.heappop(self.running)
        return [work(ticket)]

    def close(self, *, abandon: bool = False) -> None:
        assert not abandon


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("draw", range(4))
def test_it_is_what_the_engine_does(tmp_path: Path, workers: int, draw: int) -> None:
    """Thirty jobs, each with some of those before it as inputs, of any length."""
    random = generator(draw, "jobs")
    made: list[Job] = []
    for i in range(30):
        inputs = random.choice(len(made), min(len(made), int(random.integers(3))), replace=False)
        made.append(Sum(i, tuple(made[j] for j in inputs)))
    seconds = {key_of(job): float(random.random()) for job in made}
    clock = Clock(workers, seconds)
    run(made, Store(tmp_path), clock)
    assert wall(graph(made), seconds, workers) == pytest.approx(clock.now)
