"""An audit from beginning to end: planned, computed by whoever calls, judged and written."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from faithgauge.audit.ask import Ready
from faithgauge.audit.costs import estimate, memory, stored_or, total
from faithgauge.audit.document import Telling, finish
from faithgauge.audit.plan import SEEDS as SEEDS
from faithgauge.audit.plan import Choice, Planned, Wanted, plan, time_text
from faithgauge.audit.table import AUDITED
from faithgauge.engine.job import Job, in_order, key_of
from faithgauge.engine.run import Graph, graph
from faithgauge.engine.store import Store
from faithgauge.errors import ConfigError
from faithgauge.registry import unknown

BUDGET, BUDGET_OF_DEMO = "10m", "2m"
DEMO: Mapping[str, Any] = {"encoder": "bilstm", "embed_size": 50, "hidden_size": 32, "epochs": 6}
"""The model of an audit without arguments: small enough for two minutes."""
_UNITS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class Bill:
    """What is about to be computed: jobs that are not stored, seconds, and bytes of each worker."""

    jobs: int
    stored: int
    seconds: float
    memory: float


def seconds_of(budget: str) -> float:
    """A time such as ``90s``, ``10m`` or ``1.5h``; a number alone is of seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", budget.strip())
    if found is None or float(found[1]) <= 0:
        raise ConfigError(f"--budget {budget}: expected a time such as 90s, 10m or 1h")
    return float(found[1]) * _UNITS[found[2] or "s"]


def planned(ready: Ready, wanted: Wanted, store: Store) -> Planned:
    """What fits into the time, and of what does not why, and what it would take."""
    for name in wanted.tests or ():
        if name not in AUDITED:
            raise ConfigError(unknown("test of an audit", name, AUDITED))
    every = Choice(tuple(AUDITED), ready.here.explainers, wanted.seeds or SEEDS, ready.here.texts)
    able = replace(every, tests=tuple(name for name in AUDITED if _possible(ready, name, every)))
    nodes = graph([job for own in ready.targets(able).values() for job in own])
    cost = stored_or(estimate(ready.load, ready.pace), store, nodes)
    found = plan(wanted, ready.here, ready.targets, cost=cost)
    if not ready.adopted or ready.wish.retrain:
        return found
    return replace(found, left_out={**found.left_out, **_by_training(ready, found, wanted)})


def bill(ready: Ready, found: Planned, store: Store) -> Bill:
    nodes = in_order(found.targets)
    keys = {key_of(job) for job in nodes}
    stored = sum(store.has(key) for key in keys)
    size = memory(len(ready.corpus.tokenizer.vocabulary), ready.embed_size)
    return Bill(len(keys) - stored, stored, found.seconds, size)


def carry_out(
    ready: Ready,
    found: Planned,
    compute: Callable[[list[Job]], Graph],
    *,
    store: Store,
    out: Path,
    telling: Telling,
) -> tuple[dict[str, Any], Path]:
    """Compute the jobs and write the folder; the document of the audit, and its page."""
    started = time.monotonic()
    ended = compute(found.targets)
    minutes = (time.monotonic() - started) / 60
    return finish(ready, found, ended, store=store, out=out, telling=replace(telling, minutes=minutes))


def _possible(ready: Ready, name: str, choice: Choice) -> bool:
    """Whether jobs can be made of a test: not where it needs what is not there."""
    entry = AUDITED[name]
    cells = ready.trained if entry.trains else ready.adopted or ready.trained
    if not cells or ("seeds" in entry.needs and choice.seeds < 2):
        return False
    if "attention" in entry.needs and not ready.here.attention:
        return False
    return "explainers" not in entry.needs or len(choice.explainers) > 1


def _by_training(ready: Ready, found: Planned, wanted: Wanted) -> dict[str, str]:
    """What tests of a given model would take that need others to be trained."""
    told = {}
    cost = estimate(ready.load, ready.pace)
    for name, why in found.left_out.items():
        if not AUDITED[name].trains if name in AUDITED else True:
            continue
        if not ready.trained:
            told[name] = f"{why}, {ready.untrainable}"
        elif why.startswith("needs models"):
            choice = replace(found.choice, tests=(name,), seeds=wanted.seeds or SEEDS)
            jobs = [job for own in ready.targets(choice).values() for job in own]
            told[name] = (
                f"{why}: about {time_text(total(in_order(jobs), cost, wanted.workers))}; --retrain does it"
            )
    return told
