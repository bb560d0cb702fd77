"""The jobs that say what came of removing tokens and training again: curves, their areas, and what seeds add.

The models and masked data are those of `jobs`; nothing here runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from faithgauge.engine.job import Here, Job
from faithgauge.types import Split


@dataclass(frozen=True, eq=False)
class Curves(Job):
    """How well one model does with more and more tokens masked, by explainer, and the area below random.

    `steps` and `masks` are by explainer and by step, a fraction or a count of tokens as it is written:
    evaluations, and the masked data they were trained on. `full` is the model on whole texts, `floor` that
    on texts of which everything is masked; with `ends_at_floor` it is the last step of every curve.
    """

    full: Job
    floor: Job
    steps: Mapping[str, Mapping[str, Job]]
    masks: Mapping[str, Mapping[str, Job]]
    splits: tuple[Split, ...] = ("test",)
    metric: str | None = None
    ends_at_floor: bool = True
    setting: Mapping[str, Any] = field(default_factory=dict)

    def run(self, here: Here) -> None:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class OverSeeds(Job):
    """What the curves of several seeds say together: means, intervals, and tests against random."""

    curves: tuple[Job, ...]
