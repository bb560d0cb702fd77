"""The jobs that compare models which were trained again with the one that they were trained for.

What each model says of every text is an `Answer` (see `jobs`), so that nothing here runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from faithgauge import results
from faithgauge.engine.job import Here, Job
from faithgauge.jobs import corpus_of
from faithgauge.types import Split


@dataclass(frozen=True, eq=False)
class Compare(Job):
    """How far the answers of a model are from those of the one it is compared with, text by text."""

    base: Job
    other: Job
    data: Job
    split: Split = "test"
    setting: Mapping[str, Any] = field(default_factory=dict)

    def run(self, here: Here) -> None:
        from faithgauge import comparing

        corpus = corpus_of(here, self.data)
        base, other = (comparing.kept(here.path(job), corpus) for job in (self.base, self.other))
        encoded = corpus.splits[self.split]
        parts = comparing.distances(base, other, encoded, split=self.split, setting=self.setting)
        results.write_parts(parts, here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class Surpass(Job):
    """How much better models do than others of the same seeds: the difference and its interval."""

    base: tuple[Job, ...]
    others: tuple[Job, ...]
    data: Job
    split: Split = "test"

    def run(self, here: Here) -> None:
        from faithgauge import comparing

        corpus = corpus_of(here, self.data)
        base, others = (
            [comparing.kept(here.path(job), corpus) for job in jobs] for jobs in (self.base, self.others)
        )
        parts = comparing.gaps(base, others, corpus.splits[self.split], split=self.split)
        results.write_parts(parts, here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class Gauge(Job):
    """AtteFa from the answers of a model and of its adversaries, by the start of each."""

    base: Job
    adversaries: Mapping[str, Job]
    data: Job
    split: Split = "test"
    select_on: Split = "validation"
    setting: Mapping[str, Any] = field(default_factory=dict)

    def run(self, here: Here) -> None:
        from faithgauge import comparing

        corpus = corpus_of(here, self.data)
        adversaries = {
            start: comparing.kept(here.path(job), corpus) for start, job in self.adversaries.items()
        }
        parts = comparing.attefa_rows(
            comparing.kept(here.path(self.base), corpus),
            adversaries,
            corpus,
            split=self.split,
            select_on=self.select_on,
            setting=self.setting,
        )
        results.write_parts(parts, here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class Sweep(Job):
    """The curve of the adversaries of all weights λ: convex or concave, and the best of those far away."""

    base: Job
    adversaries: tuple[Job, ...]
    weights: tuple[float, ...]
    data: Job
    split: Split = "test"
    setting: Mapping[str, Any] = field(default_factory=dict)

    def run(self, here: Here) -> None:
        from faithgauge import comparing

        corpus = corpus_of(here, self.data)
        kept = [comparing.kept(here.path(job), corpus) for job in self.adversaries]
        parts = comparing.sweep(
            comparing.kept(here.path(self.base), corpus),
            dict(zip(self.weights, kept, strict=True)),
            corpus.splits[self.split],
            split=self.split,
            setting=self.setting,
        )
        results.write_parts(parts, here.folder / results.ROWS)
