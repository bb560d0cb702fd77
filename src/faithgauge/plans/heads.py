"""AtteFa of a transformer, whose attention is many: adversaries of all heads, compared once matched."""

from __future__ import annotations

from dataclasses import replace

from faithgauge import gauging, jobs
from faithgauge.config import AdversaryConfig
from faithgauge.engine.job import Job
from faithgauge.errors import ConfigError
from faithgauge.plans.adversaries import adversary
from faithgauge.plans.grid import Cell, with_seed
from faithgauge.plans.starts import read_start


def attefa_heads(cell: Cell) -> list[Job]:
    """AtteFa of a pretrained transformer, from adversaries that start fresh or at their base.

    Paper: attefa, eqs. 4 to 7, which leaves more than one head open.
    """
    if not cell.model.model.encoder.startswith("hf:"):
        raise ConfigError(
            "the test 'attefa_heads' is for transformers: expected an encoder hf:PLACE, found "
            f"{cell.model.model.encoder}; choose the test 'attefa'"
        )
    plan = cell.study.adversary
    base = cell.model if plan.base_seed == "own" else with_seed(cell.model, cell.study.seeds[0])
    found: dict[str, Job] = {}
    for text in plan.starts:
        start, draw = read_start(text)
        if start not in ("fresh", "base"):
            raise ConfigError(
                f"the test 'attefa_heads' starts adversaries fresh or at their base: found {text!r}; "
                "leave it out"
            )
        how = AdversaryConfig(start=start, draw=draw)
        found[text] = replace(adversary(cell, how, base), base=base)
    setting = {"against": "adversary", "base_seed": base.train.seed}
    gauged: list[Job] = [
        gauging.GaugeHeads(base, found, cell.data, split, setting) for split in cell.study.splits
    ]
    return [*gauged, jobs.Evaluate(base, cell.data, cell.study.splits)]
