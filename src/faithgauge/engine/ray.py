"""The executor of a Ray cluster: one that runs already, by its address, or one of this machine.

All of its machines see the store under the same path, and have the same faithgauge. Ray moves only tickets
and outcomes; a job whose worker or machine is lost is reported as died, and the run loop sends it again.
"""

from __future__ import annotations

import os
from typing import Any

from faithgauge.engine.environment import variables
from faithgauge.engine.work import Outcome, Ticket, work
from faithgauge.errors import ConfigError, UnsupportedError


class Ray:
    def __init__(self, workers: int, threads: int = 1, address: str | None = None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault(
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0"
        )  # the default to come, without a warning
        try:
            import ray
        except ImportError as error:
            raise UnsupportedError("Ray is not installed: pip install 'faithgauge[ray]'") from error
        self.slots = workers
        self._ray: Any = ray
        self._threads, self._address = threads, address
        self._ours = False
        self._tasks: dict[Any, Ticket] = {}

    def submit(self, ticket: Ticket) -> None:
        if not self._ray.is_initialized():
            self._connect()
        # Ray's own retries would hide a worker's death.
        options = {"num_cpus": self._threads, "max_retries": 0}
        own = {"env_vars": variables(self._threads)}
        self._tasks[self._ray.remote(**options, runtime_env=own)(work).remote(ticket)] = ticket

    def wait_any(self, seconds: float) -> list[Outcome]:
        ended, _ = self._ray.wait(list(self._tasks), timeout=seconds)
        return [self._outcome(task) for task in ended]

    def close(self, *, abandon: bool = False) -> None:
        if abandon:
            for task in self._tasks:
                self._ray.cancel(task, force=True)
        self._tasks.clear()
        if self._ours:
            self._ray.shutdown()
            self._ours = False

    def _connect(self) -> None:
        cores = None if self._address else self.slots * self._threads
        try:
            address = self._address or "local"
            quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error"}
            self._ray.init(address=address, num_cpus=cores, **quiet)
        except (ConnectionError, ValueError, RuntimeError) as error:
            found = " ".join(str(error).split())
            raise ConfigError(
                f"expected a Ray cluster at {self._address or 'this machine'}: {found}"
            ) from error
        # Ray prints news of dead workers on standard output, where only the result belongs; we tell them.
        self._ray._private.worker._worker_logs_enabled = False
        self._ours = True

    def _outcome(self, task: Any) -> Outcome:
        ticket, errors = self._tasks.pop(task), self._ray.exceptions
        try:
            outcome: Outcome = self._ray.get(task)
            return outcome
        except errors.RayTaskError as error:  # the job could not even be read there
            return Outcome(ticket.key, "failed", str(error.cause or error).strip().splitlines()[-1])
        except errors.RayError as error:
            return Outcome(
                ticket.key, "died", f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
            )
