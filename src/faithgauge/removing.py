"""The jobs that say what came of removing tokens and training again, and those of a chain that may end early.

The models and masked data are those of `jobs`; what is measured of them is written by `removed`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from faithgauge import jobs, results
from faithgauge.engine.job import Here, Job, later
from faithgauge.types import Split

if TYPE_CHECKING:
    from faithgauge.removed import Evaluated

STOPPED = "stopped"
"""The file that alone is in the result of a job that had nothing to do, as its chain had ended."""


@dataclass(frozen=True, eq=False)
class Curves(Job):
    """How well one model does with more and more tokens masked, by explainer, and the area below random.

    `steps` and `masks` are by explainer and by step, a fraction or a count of tokens as it is written:
    evaluations, and the masked data they are of. `full` is the model on whole texts, `floor` that on texts of
    which everything is masked; with `ends_at_floor` it is the last step of every curve. Where a chain has
    ended, the floor stands for what would have followed. `area` is the name of the measure.
    """

    full: Job
    floor: Job
    steps: Mapping[str, Mapping[str, Job]]
    masks: Mapping[str, Mapping[str, Job]]
    splits: tuple[Split, ...] = ("test",)
    metric: str | None = None
    ends_at_floor: bool = True
    area: str = "faithfulness"
    setting: Mapping[str, Any] = field(default_factory=dict)

    def run(self, here: Here) -> None:
        from faithgauge import removed

        rows: list[dict[str, Any]] = []
        for split in self.splits:
            full, floor = (removed.evaluated(here.path(job), split) for job in (self.full, self.floor))
            points = self._points(here, split, full=full, floor=floor)
            metric = removed.main_metric(full.metrics, self.metric)
            rows += removed.curve_rows(points, self.setting)
            rows += removed.area_rows(points, floor, setting=self.setting, metric=metric, name=self.area)
            for label, unscored in self._unscored(here, split).items():
                rows.append(removed.unscored_row(full, label, unscored, setting=self.setting))
        results.write(rows, here.folder / results.ROWS)

    def _points(
        self, here: Here, split: Split, *, full: Evaluated, floor: Evaluated
    ) -> dict[str, dict[str, Evaluated]]:
        from faithgauge.removed import evaluated

        found: dict[str, dict[str, Evaluated]] = {}
        for label, steps in self.steps.items():
            found[label] = {"0": full}
            for step, job in sorted(steps.items(), key=lambda item: float(item[0])):
                folder = here.path(job)
                found[label][step] = floor if (folder / STOPPED).exists() else evaluated(folder, split)
            if self.ends_at_floor:
                found[label]["1"] = floor
        return found

    def _unscored(self, here: Here, split: Split) -> dict[str, int]:
        """By explainer the texts that had, at some step, a token that it gave no score."""
        found: dict[str, int] = {}
        for label, steps in self.masks.items():
            files = [here.path(job) / jobs.MASKED for job in steps.values()]
            facts = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()]
            found[label] = max((one[split]["unscored"] for one in facts), default=0)
        return found


@dataclass(frozen=True, eq=False)
class OverSeeds(Job):
    """What the curves of several seeds say together: means, intervals, and tests against random."""

    curves: tuple[Job, ...]

    def run(self, here: Here) -> None:
        from faithgauge import removed

        rows = [row for job in self.curves for row in removed.rows_of(here.path(job))]
        results.write(list(removed.over_seeds(rows)), here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class Leakage(Job):
    """What explaining the gold label tells the next models: the curves of both labels, by seed."""

    gold: tuple[Job, ...]
    predicted: tuple[Job, ...]
    explainers: tuple[str, ...]

    def run(self, here: Here) -> None:
        from faithgauge import removed

        gold, predicted = (
            [row for job in own for row in removed.rows_of(here.path(job))]
            for own in (self.gold, self.predicted)
        )
        results.write(list(removed.leakage(gold, predicted, self.explainers)), here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class Shortcut(Job):
    """How far the areas of a cheaper road are from those of the full one, and whether it ranks alike."""

    full: Job
    cheap: Job
    name: str

    def run(self, here: Here) -> None:
        from faithgauge import removed

        full, cheap = (removed.rows_of(here.path(job)) for job in (self.full, self.cheap))
        results.write(list(removed.shortcut(full, cheap, self.name)), here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class Sparse(Job):
    """The share of all importance that the most important tokens have, by count and by fraction."""

    model: Job
    data: Job
    explanations: Mapping[str, Job]
    counts: tuple[int, ...]
    fractions: tuple[float, ...]
    split: Split = "test"
    label: Literal["gold", "predicted"] | None = later(None)

    def run(self, here: Here) -> None:
        import numpy as np

        from faithgauge import removed
        from faithgauge.types import Ragged

        trained, corpus = jobs.trained_of(here, self.model), jobs.corpus_of(here, self.data)
        setting = {"label": self.label} if self.label else {}
        rows: list[dict[str, Any]] = []
        for label, job in self.explanations.items():
            flat = np.load(here.path(job) / f"scores-{self.split}.npy", mmap_mode="r", allow_pickle=False)
            scores = Ragged(flat, corpus.splits[self.split].ids.offsets)
            steps = (self.counts, self.fractions)
            rows += removed.sparsity_rows(
                trained, self.split, label, scores=scores, steps=steps, setting=setting
            )
        results.write(rows, here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class Synthetic(Job):
    """ROAR by the weights of a linear model of sixteen numbers, four of which are known to be important."""

    seed: int = 0

    def run(self, here: Here) -> None:
        from faithgauge.papers.recursive_roar_2022.synthetic import curves, problem
        from faithgauge.removed import synthetic_rows

        results.write(list(synthetic_rows(curves(problem(self.seed)), self.seed)), here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class AtFloor(Job):
    """Whether a chain of masking and training has ended: its `last` model is no better than the floor.

    Asked is the metric of the curves on validation, and no better is better by `tolerance` at most.
    """

    last: Job
    floor: Job
    tolerance: float
    metric: str | None = None

    def run(self, here: Here) -> None:
        from faithgauge import removed

        folder = here.path(self.last)
        ended = (folder / STOPPED).exists()
        if not ended:
            last, floor = (removed.evaluated(here.path(job), "validation") for job in (self.last, self.floor))
            metric = removed.main_metric(floor.metrics, self.metric)
            ended = last.metrics[metric] <= floor.metrics[metric] + self.tolerance
        if ended:
            (here.folder / STOPPED).touch()


class _Unless:
    """A job of a chain, which is done unless the chain has ended (`stop`, an `AtFloor`)."""

    def run(self: Any, here: Here) -> None:
        if (here.path(self.stop) / STOPPED).exists():
            (here.folder / STOPPED).touch()
        else:
            super().run(here)  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class ExplainOn(_Unless, jobs.Explain):
    """An explanation in a chain that may have ended."""

    stop: Job | None = later(None)


@dataclass(frozen=True, eq=False)
class MaskOn(_Unless, jobs.Mask):
    """Masked data in a chain that may have ended."""

    stop: Job | None = later(None)


@dataclass(frozen=True, eq=False)
class TrainOn(_Unless, jobs.Train):
    """A training in a chain that may have ended."""

    stop: Job | None = later(None)


@dataclass(frozen=True, eq=False)
class EvaluateOn(_Unless, jobs.Evaluate):
    """An evaluation in a chain that may have ended."""

    stop: Job | None = later(None)
