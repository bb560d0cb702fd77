"""The jobs that attack the attention of a trained model, and train nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faithgauge import results
from faithgauge.config import SearchConfig
from faithgauge.engine.job import Here, Job
from faithgauge.jobs import corpus_of, trained_of
from faithgauge.types import Split

if TYPE_CHECKING:
    from faithgauge.attacked import Attack


@dataclass(frozen=True, eq=False)
class Permute(Job):
    """How far the output of each text moves, in the median, when its attention is permuted."""

    model: Job
    data: Job
    split: Split = "test"
    permutations: int = 100
    instances: int | None = None
    seed: int = 0

    def run(self, here: Here) -> None:
        from faithgauge.attacked import permuting

        _write(here, self, permuting(self.permutations, self.seed), {"permutations": self.permutations})


@dataclass(frozen=True, eq=False)
class PermuteHeads(Permute):
    """As `Permute`, of a transformer: all of its heads, in the last layer and in all layers."""

    def run(self, here: Here) -> None:
        from faithgauge.attacked import measured_of
        from faithgauge.attacked_heads import permuting_heads
        from faithgauge.explain.split import sample

        of = measured_of(trained_of(here, self.model), corpus_of(here, self.data), self.split)
        rows = sample(len(of.encoded), self.instances)
        parts = permuting_heads(of, rows, self.permutations, seed=self.seed, on_progress=here.progress)
        results.write_parts(parts, here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class _Adversary(Job):
    """What is asked of either adversary of a text; `how` and `seed` are those of the search.

    ``adversarial-SPLIT.npy`` has the furthest attention for the first ε, flat as the ids are.
    """

    model: Job
    data: Job
    split: Split = "test"
    how: SearchConfig = field(default_factory=SearchConfig)
    epsilon: tuple[float, ...] = (0.01,)
    instances: int | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class SearchAdversary(_Adversary):
    """How far from the attention of each text a search gets while the output stays within each ε."""

    def run(self, here: Here) -> None:
        from faithgauge.attacked import changed, searching

        setting = {"adversary": "search", **changed(self.how)}
        _write(here, self, searching(self.how, self.epsilon, self.seed), setting)


@dataclass(frozen=True, eq=False)
class ExactAdversary(_Adversary):
    """How far from the attention of each text one can get at all; bounds where that is not known.

    A lower bound is what the search finds.
    """

    def run(self, here: Here) -> None:
        from faithgauge.attacked import exactly

        _write(here, self, exactly(self.how, self.epsilon, self.seed), {"adversary": "exact"})


def _write(here: Here, job: Permute | _Adversary, how: Attack, setting: dict[str, Any]) -> None:
    from faithgauge.attacked import attack, measured_of
    from faithgauge.explain.split import sample

    trained, corpus = trained_of(here, job.model), corpus_of(here, job.data)
    of = measured_of(trained, corpus, job.split)
    rows = sample(len(of.encoded), job.instances)
    progress: Callable[[float, float], None] = here.progress
    parts = attack(of, rows, how, setting=setting, folder=here.folder, on_progress=progress)
    results.write_parts(parts, here.folder / results.ROWS)
