"""One job computed in this process, with all it needs: the way of a command that waits for one result.

What is stored is not computed again, what was interrupted goes on, and a second process with the same job
waits for the first: only the lock of the worker is taken.
"""

from __future__ import annotations

from pathlib import Path

from faithgauge import errors
from faithgauge.engine.job import Job, for_travel, in_order, key_of
from faithgauge.engine.store import Store
from faithgauge.engine.work import Ticket, work
from faithgauge.errors import FaithgaugeError, JobError


def compute(job: Job, store: Store, *, threads: int = 1) -> Path:
    """The folder of the job's result; what goes wrong in a job is raised as it was raised there."""
    store.prepare()
    for one in [] if store.has(key_of(job)) else in_order([job]):
        key = key_of(one)
        if store.has(key):
            continue
        outcome = work(Ticket(store.root, key, for_travel(one), threads))
        if outcome.status != "done":
            kind = getattr(errors, outcome.error, None)
            if isinstance(kind, type) and issubclass(kind, FaithgaugeError):
                raise kind(outcome.reason)
            raise JobError(f"{outcome.reason}; its log: {outcome.log}")
    return store.checked(key_of(job))
