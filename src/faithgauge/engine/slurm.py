"""The executor of a SLURM cluster, through submitit: one SLURM job for each of ours.

All machines see the store under the same path, and have the same faithgauge. What SLURM should know besides,
it reads from its own variables: ``SBATCH_ACCOUNT``, ``SBATCH_TIMELIMIT``, ``SBATCH_MEM_PER_CPU`` … It is
tested with submitit's local executor (address ``"local"``), which starts the same jobs as processes of this
machine; not on a cluster.
"""

from __future__ import annotations

import shutil
import time
import uuid
from pathlib import Path
from typing import Any, Literal

from faithgauge.engine.environment import environment
from faithgauge.engine.store import Claim, Store
from faithgauge.engine.work import Outcome, Ticket, work
from faithgauge.errors import UnsupportedError

MINUTES = 24 * 60
"""The time limit of a job, where ``SBATCH_TIMELIMIT`` gives no other."""
GRACE = 3.0
"""Seconds that cancelled jobs get to end."""


class Slurm:
    def __init__(self, workers: int, threads: int = 1, address: str | None = None) -> None:
        try:
            import submitit
        except ImportError as error:
            raise UnsupportedError("submitit is not installed: pip install 'faithgauge[slurm]'") from error
        if address != "local" and shutil.which("sbatch") is None:
            raise UnsupportedError(
                "expected SLURM, found no sbatch; use a login node, or --executor processes"
            )
        self.slots = workers
        self._submitit: Any = submitit
        self._threads, self._address = threads, address
        self._jobs: list[tuple[Any, Ticket]] = []
        self._executor: Any = None
        self._folder = Path()
        self._claim: Claim | None = None

    def submit(self, ticket: Ticket) -> None:
        if self._executor is None:
            self._open(ticket.root)
        with environment(self._threads):
            self._jobs.append((self._executor.submit(work, ticket), ticket))

    def wait_any(self, seconds: float) -> list[Outcome]:
        until = time.monotonic() + seconds
        while not (ended := [one for one in self._jobs if one[0].done()]) and time.monotonic() < until:
            time.sleep(0.05)
        self._jobs = [one for one in self._jobs if one not in ended]
        return [self._outcome(job, ticket) for job, ticket in ended]

    def close(self, *, abandon: bool = False) -> None:
        if abandon:
            for job, _ in self._jobs:
                job.cancel(check=False)
            until = time.monotonic() + GRACE
            while time.monotonic() < until and not all(job.done() for job, _ in self._jobs):
                time.sleep(0.05)
        self._jobs.clear()
        if self._claim is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._claim.release()
        self._executor = self._claim = None

    def _open(self, root: Path) -> None:
        """A folder for submitit, under a lock: the store's sweep leaves it alone while this process lives."""
        name = f"slurm-{uuid.uuid4().hex}"
        self._claim = Store(root).claim(f"{name}.work")
        self._folder = root / "tmp" / name
        local = self._address == "local"
        executor = self._submitit.AutoExecutor(self._folder, cluster="local" if local else "slurm")
        executor.update_parameters(name="faithgauge", timeout_min=MINUTES, cpus_per_task=self._threads)
        if self._address is not None and not local:
            executor.update_parameters(slurm_partition=self._address)
        self._executor = executor

    def _outcome(self, job: Any, ticket: Ticket) -> Outcome:
        errors = self._submitit.core.utils
        status: Literal["failed", "died"]
        try:
            outcome: Outcome = job.result()
            return outcome
        except errors.FailedJobError as error:  # the job could not even be read there
            status, lines = "failed", str(error).partition("\n----")[2].partition("\n----")[0].splitlines()
        except errors.UncompletedJobError:
            status, lines = "died", (job.stderr() or "").splitlines()
        said = next((line for line in reversed(lines) if line.strip()), "it said nothing")
        return Outcome(ticket.key, status, f"SLURM job {job.job_id} ({job.state}): {said}")
