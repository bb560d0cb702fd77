"""What the attention of a model withstands without any training: permuted, adversarial by search, exactly.

How often it is permuted, which ε are allowed, and how is searched, is the table ``[attack]`` of a study.
"""

from __future__ import annotations

from faithgauge import attacking
from faithgauge.engine.job import Job
from faithgauge.errors import ConfigError, FaithgaugeError
from faithgauge.plans.grid import Cell


def permutation(cell: Cell) -> list[Job]:
    """How far the output moves when the attention of each text is put in random order, in the median."""
    _refuse_closed(cell, "permutation")
    study = cell.study
    return [
        attacking.Permute(
            cell.model, cell.data, split, study.attack.permutations, study.instances, cell.model.train.seed
        )
        for split in study.splits
    ]


def adversarial_search(cell: Cell) -> list[Job]:
    """How far from its own attention a search gets for each text while the output stays within ε."""
    _refuse_closed(cell, "adversarial_search")
    if 0 in cell.study.attack.epsilon:
        raise ConfigError(
            "the test 'adversarial_search' expected every epsilon above 0, found 0: no step of a search "
            "lands on the very same output; ask exact_adversary"
        )
    return _adversaries(cell, attacking.SearchAdversary)


def exact_adversary(cell: Cell) -> list[Job]:
    """How far one can get at all: the number itself, not what a search finds, or its bounds."""
    _refuse_closed(cell, "exact_adversary")
    return _adversaries(cell, attacking.ExactAdversary)


def _adversaries(
    cell: Cell, kind: type[attacking.SearchAdversary] | type[attacking.ExactAdversary]
) -> list[Job]:
    study, plan = cell.study, cell.study.attack
    return [
        kind(
            cell.model,
            cell.data,
            split,
            plan.search(),
            plan.epsilon,
            study.instances,
            cell.model.train.seed,
        )
        for split in study.splits
    ]


def _refuse_closed(cell: Cell, test: str) -> None:
    """A model of the user's own that does not show its attention, or how it decodes, before it is trained."""
    if not cell.study.factory:
        return
    from faithgauge.models.classifier import Shape
    from faithgauge.models.readout import refuse_closed
    from faithgauge.models.store import make

    try:
        refuse_closed(make(cell.study.factory, Shape(8, ("0", "1"), "single")))
    except FaithgaugeError as error:
        raise type(error)(f"the test {test!r}: {error}") from error
