"""How long a run takes from the first job to the last, if so many jobs run at once."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping

from faithgauge.engine.run import Graph


def wall(nodes: Graph, seconds: Mapping[str, float], workers: int) -> float:
    """The seconds of a run of these jobs: each after its inputs, in the order of the engine.

    A chain is not shared out: of five chains of an hour two workers make three hours. Of a job that is not
    in `seconds` nothing is known, and it takes none.
    """
    waits = {key: sum(one in nodes for one in node.inputs) for key, node in nodes.items()}
    feeds: dict[str, list[str]] = {key: [] for key in nodes}
    for key, node in nodes.items():
        for one in node.inputs:
            if one in nodes:
                feeds[one].append(key)
    ready = deque(key for key in nodes if not waits[key])
    ready.reverse()
    running: list[tuple[float, int, str]] = []
    now, started = 0.0, 0
    while ready or running:
        while ready and len(running) < workers:
            key, started = ready.pop(), started + 1
            heapq.heappush(running, (now + seconds.get(key, 0.0), started, key))
        now, _, key = heapq.heappop(running)
        for fed in reversed(feeds[key]):
            waits[fed] -= 1
            if not waits[fed]:
                ready.append(fed)
    return now
