"""The run loop: which job may start, what to do when one ends, and what that means for the others.

    todo → running → done | failed;   a failed job blocks its descendants, and nothing else

Only the loop decides; executors only compute. Running again is resuming: what is stored is done.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from faithgauge.engine.job import Job, for_travel, in_order, inputs_of, key_of
from faithgauge.engine.store import Claim, Store
from faithgauge.engine.work import Outcome, Ticket, failed
from faithgauge.errors import DataError

RETRIES = 2
"""How often a job is sent again whose worker died."""
PATIENCE = 0.2
"""Seconds between two looks at a job that another coordinator computes."""

Status = Literal["todo", "running", "done", "cached", "failed", "blocked"]
What = Literal["cached", "started", "done", "failed", "blocked", "retried", "elsewhere"]


class Executor(Protocol):
    """Computes tickets somewhere. `slots` is how many it takes at once."""

    slots: int

    def submit(self, ticket: Ticket) -> None: ...

    def wait_any(self, seconds: float) -> list[Outcome]:
        """What has ended, after at most so many seconds; a worker's death is an outcome too."""

    def close(self, *, abandon: bool = False) -> None:
        """Let the workers go; with `abandon` at once, whatever they do."""


@dataclass(frozen=True)
class Event:
    """Something happened to one job."""

    what: What
    key: str
    kind: str
    reason: str = ""
    log: Path | None = None


@dataclass(slots=True)
class Node:
    """One key of the graph, and where it stands; it waits for so many inputs, and feeds what needs it."""

    key: str
    job: Job
    inputs: tuple[str, ...]
    status: Status = "todo"
    reason: str = ""
    log: Path | None = None
    waits: int = 0
    feeds: list[str] = field(default_factory=list)
    tries: int = 0


Graph = dict[str, Node]


def graph(targets: Iterable[Job]) -> Graph:
    """Every job the targets need, by key, each after its inputs; equal jobs are one node."""
    nodes: Graph = {}
    for job in in_order(list(targets)):
        inputs = tuple(dict.fromkeys(key_of(one) for one in inputs_of(job)))
        nodes.setdefault(key_of(job), Node(key_of(job), job, inputs))
    return nodes


def needed(nodes: Graph, targets: Iterable[Job], store: Store) -> Graph:
    """The targets, and of the rest what has to be computed for them, or is stored and used for that.

    What is stored has the status "cached" from here on, the others "todo".
    """
    wanted = [key_of(job) for job in targets]
    seen: set[str] = set()
    while wanted:
        key = wanted.pop()
        if key not in seen:
            seen.add(key)
            nodes[key].status = "cached" if store.has(key) else "todo"
            wanted.extend(nodes[key].inputs if nodes[key].status == "todo" else ())
    return {key: node for key, node in nodes.items() if key in seen}


def run(
    targets: Iterable[Job], store: Store, executor: Executor, *,
    threads: int = 1, on_event: Callable[[Event], None] = lambda _: None
) -> Graph:  # fmt: skip
    """Compute what is not stored of the targets and their inputs; the graph says how each job ended."""
    targets = list(targets)
    wanted = needed(graph(targets), targets, store)
    try:
        store.prepare()
        store.sweep()
    except OSError as error:
        if any(node.status == "todo" for node in wanted.values()):
            raise DataError(f"{store.root}: expected a store that can be written, found {error}") from error
    loop = _Loop(wanted, store, executor, threads, on_event)
    try:
        loop.go()
    finally:
        executor.close(abandon=bool(loop.claims))
        for claim in loop.claims.values():
            claim.release()
        with contextlib.suppress(OSError):
            store.sweep()
    return wanted


@dataclass
class _Loop:
    wanted: Graph
    store: Store
    executor: Executor
    threads: int
    on_event: Callable[[Event], None]
    ready: deque[Node] = field(default_factory=deque)
    elsewhere: dict[str, bool] = field(default_factory=dict)
    claims: dict[str, Claim] = field(default_factory=dict)

    def go(self) -> None:
        for node in self.wanted.values():
            if node.status == "cached":
                self._end(node, "cached")
                continue
            inputs = [self.wanted[key] for key in node.inputs if self.wanted[key].status != "cached"]
            node.waits = len(inputs)
            for one in inputs:
                one.feeds.append(node.key)
            if not inputs:
                self.ready.appendleft(node)
        while self.ready or self.claims:
            waiting = self._start()
            if self.claims:
                for outcome in self.executor.wait_any(PATIENCE if waiting else 1.0):
                    self._ended(self.wanted[outcome.key], outcome)
            elif waiting:
                time.sleep(PATIENCE)
            self.ready.extendleft(waiting)

    def _start(self) -> list[Node]:
        """Fill the slots; returns what cannot start because another coordinator sees to it."""
        waiting = []
        while self.ready and len(self.claims) < self.executor.slots:
            node = self.ready.pop()
            try:
                claim = self.store.claim(node.key)
            except OSError as error:
                self._ended(node, Outcome(node.key, "failed", f"its lock cannot be made: {error}"))
                continue
            if claim is not None:
                self.claims[node.key] = claim
                self._claimed(node)
                continue
            waiting.append(node)
            if node.key not in self.elsewhere:
                # A failure from before says nothing of what is computed there now.
                self.elsewhere[node.key] = self.store.failure(node.key) is None
                self._tell("elsewhere", node)
        return waiting

    def _claimed(self, node: Node) -> None:
        """Send it, unless another coordinator has computed it, or has just tried and failed."""
        failure = self.store.failure(node.key) if self.elsewhere.get(node.key) else None
        if self.store.has(node.key):
            self._end(node, "cached")
        elif failure is not None:
            self._ended(node, Outcome(node.key, "failed", *failure))
        else:
            self.store.forget(node.key)
            node.status = "running"
            self._tell("started", node)
            self._submit(node)

    def _submit(self, node: Node) -> None:
        self.executor.submit(Ticket(self.store.root, node.key, for_travel(node.job), self.threads))

    def _ended(self, node: Node, outcome: Outcome) -> None:
        if outcome.status == "died" and node.tries < RETRIES:
            node.tries += 1
            self._tell("retried", node, outcome.reason)
            self._submit(node)
            return
        if outcome.status == "died":
            reason = f"its worker died {RETRIES + 1} times: {outcome.reason}"
            outcome = failed(self.store, node.key, reason=reason, log=reason)
        node.reason, node.log = outcome.reason, outcome.log
        self._end(node, "done" if outcome.status == "done" else "failed")

    def _end(self, node: Node, status: Literal["cached", "done", "failed"]) -> None:
        """What was waiting for it may start, or never will."""
        if node.key in self.claims:
            self.claims.pop(node.key).release()
        self._mark(node, status, node.reason)
        below, node.feeds = node.feeds, []
        while below:
            fed = self.wanted[below.pop()]
            fed.waits -= 1
            if status == "failed" and fed.status == "todo":
                self._mark(fed, "blocked", f"needs {type(node.job).__name__} {node.key[:12]}, which failed")
                below.extend(fed.feeds)
            elif fed.waits == 0 and fed.status == "todo":
                self.ready.append(fed)

    def _mark(self, node: Node, status: Literal["cached", "done", "failed", "blocked"], reason: str) -> None:
        node.status, node.reason = status, reason
        self._tell(status, node, reason)

    def _tell(self, what: What, node: Node, reason: str = "") -> None:
        self.on_event(Event(what, node.key, type(node.job).__name__, reason, node.log))
