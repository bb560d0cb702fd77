"""What a worker does with one job, in whatever process or on whatever machine it runs.

It takes the job's second lock first, so that a worker that outlived its coordinator and one that was sent by
the next coordinator never compute the same key at once; whoever comes second finds the result stored.
"""

from __future__ import annotations

import contextlib
import errno
import io
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from traceback import format_exception
from typing import Literal

from faithgauge.engine.job import File, Job, Reference, facts, files_of, key_of
from faithgauge.engine.provenance import watch
from faithgauge.engine.store import LOG, PROVENANCE, Store, write_json
from faithgauge.errors import DataError, FaithgaugeError, JobError

PROGRESS_EVERY = 0.5
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Ticket:
    """One job on its way to a worker: the job with references for inputs, its key, and where the store is."""

    root: Path
    key: str
    job: Job
    threads: int = 1


@dataclass(frozen=True)
class Outcome:
    """How it ended: `reason` is one line, `log` the file with the rest, `error` the class of an exception."""

    key: str
    status: Literal["done", "failed", "died"]
    reason: str = ""
    log: Path | None = None
    error: str = ""


@dataclass
class Place:
    """The `Here` of a job that runs."""

    store: Store
    key: str
    folder: Path
    partial: Path
    threads: int = 1
    used: list[str] = field(default_factory=list)
    _told: float = field(default_factory=time.monotonic)

    def path(self, job: Job | Reference) -> Path:
        self.used.append(job.key if isinstance(job, Reference) else key_of(job))
        return self.store.checked(self.used[-1])

    def progress(self, done: float, total: float, text: str = "") -> None:
        if time.monotonic() - self._told > PROGRESS_EVERY:
            self._told = time.monotonic()
            with contextlib.suppress(OSError):  # what only informs must not end a job
                self.partial.mkdir(parents=True, exist_ok=True)
                write_json(self.partial / "progress.json", {"done": done, "total": total, "text": text})


def work(ticket: Ticket) -> Outcome:
    """Compute one job and commit its result; whatever goes wrong is the outcome, never an exception."""
    try:
        store = Store(ticket.root)
        with store.claim(f"{ticket.key}.work", wait=True) or contextlib.nullcontext():
            return Outcome(ticket.key, "done") if store.has(ticket.key) else _compute(store, ticket)
    except (OSError, FaithgaugeError) as error:  # there is no store, or it cannot be written
        return Outcome(ticket.key, "failed", _one_line(error))


def failed(store: Store, key: str, *, reason: str, log: str) -> Outcome:
    """The outcome of a job that failed; its log is kept if there is a place to keep it."""
    try:
        return Outcome(key, "failed", reason, store.fail(key, reason, log.rstrip("\n") + "\n"))
    except OSError as error:
        return Outcome(key, "failed", f"{reason}; and its log could not be written: {_one_line(error)}")


def _compute(store: Store, ticket: Ticket) -> Outcome:
    key, output, measured = ticket.key, io.StringIO(), watch()
    try:
        _refuse_what_changed(ticket)
        with store.computing(key) as folder:
            place = Place(store, key, folder, store.partial(key), ticket.threads)
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                ticket.job.run(place)
            if output.getvalue():
                (folder / LOG).write_text(output.getvalue(), encoding="utf-8")
            write_json(folder / PROVENANCE, {**measured(), "inputs": place.used})
            store.commit(key, folder, facts(ticket.job))
    except (Exception, SystemExit) as error:  # the job's own code may raise anything
        text = _one_line(error) if isinstance(error, FaithgaugeError) else "".join(format_exception(error))
        outcome = failed(store, key, reason=_one_line(error), log=output.getvalue() + text)
        return replace(outcome, error=type(error).__name__)
    return Outcome(key, "done")


def _refuse_what_changed(ticket: Ticket) -> None:
    """A result must not be stored under the key of other code, or of what a file held before."""
    if key_of(ticket.job) != ticket.key:
        raise JobError(
            f"expected the key {ticket.key[:12]}, found {key_of(ticket.job)[:12]}: this worker has another "
            "version of the code than its coordinator; install the same on both"
        )
    for file in files_of(ticket.job):
        if not file.path.is_file() or File.of(file.path).sha256 != file.sha256:
            raise DataError(f"{file.path}: expected the file of the plan, found another or none; run again")


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and (error.errno in _FULL or "requested and" in text):  # numpy's words
        return f"no space is left on the disk: free some and run again ({text})"
    return text if isinstance(error, FaithgaugeError) else f"{type(error).__name__}: {text}".rstrip(": ")
