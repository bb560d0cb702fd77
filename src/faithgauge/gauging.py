"""The job that gauges the attention of a transformer by its adversaries, head by head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import Any

from faithgauge import results
from faithgauge.engine.job import Here, Job
from faithgauge.jobs import corpus_of, trained_of
from faithgauge.types import Split

BASE = "base model"
"""In the column `versus`: what an adversary is compared with."""


@dataclass(frozen=True, eq=False)
class GaugeHeads(Job):
    """AtteFa of a transformer from its adversaries, by the start of each.

    Both forms are told: of the heads after the best matching of those of each layer, so that heads in another
    order are the same attention, and of the rollouts.
    """

    base: Job
    adversaries: Mapping[str, Job]
    data: Job
    split: Split = "test"
    setting: Mapping[str, Any] = field(default_factory=dict)

    def run(self, here: Here) -> None:
        results.write_parts(self._parts(here), here.folder / results.ROWS)

    def _parts(self, here: Here) -> Iterator[dict[str, Any]]:
        from faithgauge.faithfulness.attefa import attefa
        from faithgauge.measured import about
        from faithgauge.train.heads import heads_apart
        from faithgauge.train.metrics import metrics

        base, encoded = trained_of(here, self.base), corpus_of(here, self.data).splits[self.split]
        for start, job in self.adversaries.items():
            other = trained_of(here, job)
            apart = heads_apart(other.classifier, base.classifier, encoded)  # type: ignore[arg-type]
            moved, heads, rolled = (float(one.mean()) for one in (apart.tvd, apart.heads, apart.rollout))
            classes = len(base.classes)
            values = {
                **metrics(apart.probability, encoded.labels),
                "output_distance": moved,
                "heads_jsd": heads,
                "rollout_jsd": rolled,
                "attefa_heads": attefa(moved, heads, classes=classes),
                "attefa_rollout": attefa(moved, rolled, classes=classes),
            }
            reasons = ["not defined for these numbers" if isnan(one) else None for one in values.values()]
            where = about(other, self.split, {**self.setting, "start": start})
            yield where | {
                "versus": BASE,
                "measure": [*values],
                "value": [*values.values()],
                "reason": reasons,
            }
