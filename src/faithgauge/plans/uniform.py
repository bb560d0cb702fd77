"""What attention is worth to a model: how well it does, and how well its like with uniform attention."""

from __future__ import annotations

from dataclasses import replace

from faithgauge import jobs
from faithgauge.engine.job import Job
from faithgauge.plans.grid import Cell


def uniform_performance(cell: Cell) -> list[Job]:
    """The metrics of the model, and of the same one trained with uniform attention, on validation and test.

    Of a transformer it is that of every head; queries and keys are then of no use, all else is as ever.

    Paper: neely-2022, appendix A; wiegreffe-pinter-2019, section 3.2.
    """
    flat = replace(cell.model, model=replace(cell.model.model, distribution="uniform"))
    return [jobs.Evaluate(cell.model, cell.data), jobs.Evaluate(flat, cell.data)]
