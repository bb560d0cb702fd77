"""What the jobs of an audit may take, before any has run: how often each reads its texts, at a tried pace.

Where the store has a job that differs in nothing but its seed, its time is taken instead. The estimates are
made to choose by, not to promise: on a machine that does other work they are too low.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from faithgauge import auditing, jobs, judging
from faithgauge.encode.corpus import Corpus
from faithgauge.engine.job import Job, inputs_of, key_of
from faithgauge.engine.run import Graph
from faithgauge.engine.store import Store
from faithgauge.explain.readings import readings

START = 6.0
"""Seconds until the workers have begun."""
EACH = 0.3
"""Seconds of any job beside its own work: inputs checked, model and data opened, results stored."""
ORDERS = 10
"""Random orders that an erasure asks about beside the explanations."""
ASKED = 30
"""Texts that it asks about for each order: 15 sizes, without the first tokens and with nothing else."""
PAIR = 5e-4
"""Seconds for the agreement of two explanations of a text, with its floor."""
PROBED = 32

Cost = Callable[[Job], float]


@dataclass(frozen=True)
class Pace:
    """Seconds for each token: read, and trained on."""

    read: float
    train: float


@dataclass(frozen=True)
class Load:
    """How many tokens each split has, and the mean length of a measured text."""

    tokens: Mapping[str, float]
    texts: Mapping[str, int]
    measured: str

    @classmethod
    def of(cls, corpus: Corpus, measured: str) -> Load:
        lengths = {name: one.ids.lengths() for name, one in corpus.splits.items()}
        for name, one in corpus.splits.items():
            if one.pair_ids is not None:
                lengths[name] = lengths[name] + one.pair_ids.lengths()
        tokens: dict[str, float] = {name: float(own.sum()) for name, own in lengths.items()}
        return cls(tokens, {name: len(own) for name, own in lengths.items()}, measured)

    def mean(self) -> float:
        return self.tokens[self.measured] / max(self.texts[self.measured], 1)

    def explained(self, instances: int | None) -> float:
        n = self.texts[self.measured]
        return self.mean() * min(instances or n, n)


def estimate(load: Load, pace: Pace) -> Cost:
    """The seconds of any job on these texts at this pace."""

    def seconds(job: Job) -> float:
        whole = sum(load.tokens.values())
        if isinstance(job, jobs.Train):
            texts = (
                load.tokens.get("train", 0.0) * pace.train + load.tokens.get("validation", 0.0) * pace.read
            )
            return EACH + job.train.epochs * texts * (1.5 if job.adversary else 1.0)
        if isinstance(job, jobs.Explain):
            there = load.explained(job.instances)
            return EACH + there * readings(job.explainer, load.mean()) * pace.read
        if isinstance(job, jobs.Erase):
            some = _instances(job.explanations)
            return EACH + load.explained(some) * ASKED * (len(job.explanations) + ORDERS) * pace.read
        if isinstance(job, jobs.Agree):
            pairs = len(job.explanations) * (1 if job.again else (len(job.explanations) - 1) / 2)
            some = _instances(job.explanations)
            texts = load.explained(some) / max(load.mean(), 1)
            return EACH + pairs * texts * PAIR + load.tokens[load.measured] * pace.read
        if isinstance(job, jobs.Answer | jobs.Evaluate):
            return EACH + whole * pace.read
        if isinstance(job, judging.Surpass | judging.Gauge):
            return EACH + 1.0
        return EACH if isinstance(job, auditing.Take | auditing.Hit) else EACH + 0.3

    return seconds


def stored_or(cost: Cost, store: Store, nodes: Graph) -> Cost:
    """Nothing for what is stored; the time of a job that differs in its seed alone; else the estimate."""
    from faithgauge.plans.history import History

    history = History(store, nodes)

    def seconds(job: Job) -> float:
        key = key_of(job)
        if store.has(key):
            return 0.0
        known = history.cost(key) if key in nodes else None
        return known.seconds if known is not None and known.fields == 0 else cost(job)

    return seconds


def total(nodes: Iterable[Job], cost: Cost, workers: int) -> float:
    """Seconds of a run of these jobs, each after its inputs: the work shared out, or its longest chain."""
    until: dict[str, float] = {}
    work = longest = 0.0
    for job in nodes:
        if (key := key_of(job)) not in until:
            own = cost(job)
            until[key] = own + max((until.get(key_of(one), 0.0) for one in inputs_of(job)), default=0.0)
            work, longest = work + own, max(longest, until[key])
    return max(work / max(workers, 1), longest) + (START if work > 0 else 0.0)


def pace_of(model: Any, corpus: Corpus, measured: str) -> Pace:
    """How fast this model reads and learns here, tried on a few of its texts with one thread."""
    import numpy as np
    import torch

    from faithgauge.encode.batching import collate

    encoded = corpus.splits[measured]  # type: ignore[index]
    lengths = encoded.ids.lengths()
    near = np.argsort(np.abs(lengths - np.median(lengths)), kind="stable")[:PROBED]
    batch = collate(encoded, np.sort(near), classes=len(corpus.classes))
    tokens = float(lengths[near].sum())
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            read = _quickest(lambda: model(batch))
        wanted = [one for one in model.parameters() if one.requires_grad]

        def learn() -> None:
            loss = model(batch).logits.float().pow(2).mean()
            if wanted and loss.requires_grad:
                torch.autograd.grad(loss, wanted, allow_unused=True)

        learnt = _quickest(learn)
    finally:
        torch.set_num_threads(threads)
    return Pace(read / tokens, 1.3 * max(learnt, 3 * read) / tokens)


def memory(vocabulary: int, size: int) -> float:
    """Bytes of one worker: its libraries, and word vectors with their gradient and the moments of Adam."""
    return 0.75e9 + 4.0 * vocabulary * size * 5


def _quickest(work: Callable[[], object]) -> float:
    spent = []
    for _ in range(3):
        # Of this process alone: what else the machine does now says nothing of the time when it does not.
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return max(min(spent), 1e-6)


def _instances(explanations: Mapping[str, Job]) -> int | None:
    own = [one.instances for one in explanations.values() if isinstance(one, jobs.Explain | auditing.Take)]
    return own[0] if own else None
