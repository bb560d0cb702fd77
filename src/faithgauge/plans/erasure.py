"""What the model itself says of each explanation: tests by erasing tokens, and by known evidence.

Neither trains anything. Every measure of an explainer comes with its difference from random orders of the
same texts, which is the number to read.
"""

from __future__ import annotations

from faithgauge import jobs
from faithgauge.engine.job import Job
from faithgauge.plans.grid import Cell, explained


def erasure(cell: Cell) -> list[Job]:
    """What becomes of the prediction when tokens are masked in the order of each explanation."""
    own = explained(cell)
    return [jobs.Erase(cell.model, cell.data, own, split) for split in cell.study.splits]


def deletion(cell: Cell) -> list[Job]:
    """The same with tokens deleted instead of masked."""
    own = explained(cell)
    return [jobs.Erase(cell.model, cell.data, own, split, by="delete") for split in cell.study.splits]


def evidence(cell: Cell) -> list[Job]:
    """How well each explanation finds the tokens that are known to decide the label, where data say so."""
    own = explained(cell)
    return [jobs.Find(cell.model, cell.data, own, split) for split in cell.study.splits]
