"""The executor that computes in the coordinator's own process, one job after the other."""

from __future__ import annotations

from faithgauge.engine.work import Outcome, Ticket, work


class Inline:
    slots = 1

    def __init__(self) -> None:
        self._sent: list[Ticket] = []

    def submit(self, ticket: Ticket) -> None:
        self._sent.append(ticket)

    def wait_any(self, seconds: float) -> list[Outcome]:  # noqa: ARG002 it waits as long as the job takes
        return [work(self._sent.pop(0))] if self._sent else []

    def close(self, *, abandon: bool = False) -> None:  # noqa: ARG002 nothing runs when this is called
        self._sent.clear()
