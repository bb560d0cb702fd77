"""How far the explanations of each model agree, and how far each agrees with itself when trained again.

For every model the study's explainers are computed on the same texts and compared in pairs. Where there are
several seeds each can also be compared with itself on the model of the next one: more than that nobody should
expect of another explainer.
"""

from __future__ import annotations

from faithgauge import jobs
from faithgauge.engine.job import Job
from faithgauge.errors import ConfigError
from faithgauge.plans.grid import Cell, explained

MEASURES = ("kendall_tau", "kendall_p", "spearman", "pearson", "overlap_fraction")


def agreement(cell: Cell) -> list[Job]:
    """Rank correlation and overlap of every two of the study's `explainers`, text by text."""
    if len(cell.study.explainers) < 2:
        found = ", ".join(cell.study.explainers)
        raise ConfigError(f"the test 'agreement' compares explainers: expected two or more, found {found}")
    own = explained(cell)
    return [jobs.Agree(cell.model, cell.data, own, MEASURES, split) for split in cell.study.splits]


def stability(cell: Cell) -> list[Job]:
    """The agreement of each explainer with itself on the model of the study's next seed."""
    seeds, own = cell.study.seeds, cell.model.train.seed
    if len(seeds) < 2:
        raise ConfigError(f"the test 'stability' compares seeds: expected two or more, found {own} alone")
    following = seeds[(seeds.index(own) + 1) % len(seeds)]
    if len(seeds) == 2 and own == seeds[1]:  # the same two once more
        return []
    again, setting = explained(cell, following), {"again_seed": following}
    first = {label: job for label, job in explained(cell).items() if label in again}
    return [
        jobs.Agree(cell.model, cell.data, first, MEASURES, split, again, setting)
        for split in cell.study.splits
    ]
