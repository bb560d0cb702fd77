"""The executor of local processes: one worker per slot, spawned once, one job at a time.

Only tickets and outcomes go through the pipes; data go through the store and the page cache. A worker watches
its coordinator and ends with it, so one that is killed leaves nobody behind.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from faithgauge.engine.environment import environment
from faithgauge.engine.work import Outcome, Ticket, work

GRACE = 2.0
"""Seconds that workers get to end by themselves."""


class Processes:
    def __init__(self, workers: int, threads: int = 1) -> None:
        self.slots = workers
        self._threads = threads
        self._idle: list[tuple[BaseProcess, Connection]] = []
        self._busy: dict[Connection, tuple[BaseProcess, Ticket]] = {}

    def submit(self, ticket: Ticket) -> None:
        process, pipe = self._idle.pop() if self._idle else self._spawn()
        try:
            pipe.send(ticket)
        except BrokenPipeError:  # it died while it was idle
            pipe.close()
            process.join(GRACE)
            process, pipe = self._spawn()
            pipe.send(ticket)
        self._busy[pipe] = (process, ticket)

    def wait_any(self, seconds: float) -> list[Outcome]:
        ready = wait(list(self._busy), timeout=seconds)
        outcomes = []
        for pipe, (process, ticket) in list(self._busy.items()):
            # A process that a dead worker left behind may hold its pipe open: then not even an end comes.
            if pipe in ready or not process.is_alive():
                del self._busy[pipe]
                outcomes.append(self._outcome(process, pipe, ticket))
        return outcomes

    def close(self, *, abandon: bool = False) -> None:
        workers = [(process, pipe) for pipe, (process, _) in self._busy.items()] + self._idle
        for process, pipe in workers:
            pipe.close()
            if abandon:
                process.terminate()
        until = time.monotonic() + GRACE
        for process, _ in workers:
            process.join(max(0.0, until - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()
        self._idle.clear()
        self._busy.clear()

    def _outcome(self, process: BaseProcess, pipe: Connection, ticket: Ticket) -> Outcome:
        try:
            outcome: Outcome | str = pipe.recv() if pipe.poll() else ""
        except (EOFError, OSError):
            outcome = ""
        if outcome:
            self._idle.append((process, pipe))
            return outcome if isinstance(outcome, Outcome) else Outcome(ticket.key, "failed", outcome)
        pipe.close()
        process.join(GRACE)
        return Outcome(ticket.key, "died", _epitaph(process.exitcode))

    def _spawn(self) -> tuple[BaseProcess, Connection]:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,), daemon=True)
        # Ctrl-C reaches all processes of a terminal; the coordinator says what it means. A worker takes the
        # mask over when it starts; here the signal waits for that moment.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with environment(self._threads):
                process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()
        return process, ours


def _serve(pipe: Connection) -> None:
    """The life of a worker."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    while True:
        try:
            ticket = pipe.recv()
        except (EOFError, OSError):
            return
        except Exception as error:  # its code cannot be imported here, say
            pipe.send(f"the job cannot be read by its worker: {type(error).__name__}: {error}")
            continue
        outcome = work(ticket)
        with contextlib.suppress(OSError):  # nobody is left to hear it; the result is stored
            pipe.send(outcome)


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _epitaph(code: int | None) -> str:
    if code is not None and code < 0:
        return f"killed by signal {-code} ({signal.Signals(-code).name})"
    return f"ended with exit code {code}"
