"""What the attention of a model withstands without any training: permuted, adversarial by search, exactly.

How often it is permuted, which ε are allowed, and how is searched, is the table ``[attack]`` of a study.
"""

from __future__ import annotations

from faithgauge import attacking
from faithgauge.engine.job import Job
from faithgauge.errors import ConfigError, FaithgaugeError
from faithgauge.plans.grid import Cell, refuse_transformer


def permutation(cell: Cell) -> list[Job]:
    """How far the output moves when the attention of each text is put in random order, in the median.

    median_p TVD(ŷ(α_π(p)), ŷ(α)), where π(p) is the p-th random order of the maskable tokens

    Paper: jain-wallace-2019, section 4.2.1 and algorithm 2.
    Range: [0, 1].
    """
    _refuse_closed(cell, "permutation")
    study = cell.study
    return [
        attacking.Permute(
            cell.model, cell.data, split, study.attack.permutations, study.instances, cell.model.train.seed
        )
        for split in study.splits
    ]


def adversarial_search(cell: Cell) -> list[Job]:
    """How far from its own attention a search gets for each text while the output stays within ε.

    max JSD(α, α̂) among the distributions α that Adam finds and that have TVD(ŷ(α), ŷ(α̂)) ≤ ε, with α̂ itself

    Paper: jain-wallace-2019, section 4.2.2 and algorithm 3.
    Differs: what ends beyond ε is moved back towards α̂, unless `over` is "discard"; ε is the same in the
        search and in what is reported, where the papers' code has 0.01 and 0.05.
    Range: [0, ln 2].
    """
    _refuse_closed(cell, "adversarial_search")
    if 0 in cell.study.attack.epsilon:
        raise ConfigError(
            "the test 'adversarial_search' expected every epsilon above 0, found 0: no step of a search "
            "lands on the very same output; ask exact_adversary"
        )
    return _adversaries(cell, attacking.SearchAdversary)


def exact_adversary(cell: Cell) -> list[Job]:
    """How far one can get at all: the number itself, not what a search finds, or its bounds.

    max JSD(α, α̂) over the distributions α on the maskable tokens with TVD(ŷ(α), ŷ(α̂)) ≤ ε

    It is known where the decoder is linear and has one output, for the largest value is then at a vertex of
    the simplex cut by a slab: one token inside of it, or two mixed on its boundary. With more classes it is
    bounded from above by the smallest such maximum over the log-odds of two classes, and from below by the
    search; with any other decoder from below alone.

    Paper: jain-wallace-2019, section 4.2.2, what algorithm 3 estimates.
    Differs: exact, so never below a search.
    Range: [0, ln 2].
    Cost: O(tokens²) for each text, times the pairs of classes.
    """
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
    """A model that does not show its attention, or how it decodes, before it is trained."""
    refuse_transformer(cell, test)
    if not cell.study.factory:
        return
    from faithgauge.models.classifier import Shape
    from faithgauge.models.readout import refuse_closed
    from faithgauge.models.store import make

    try:
        refuse_closed(make(cell.study.factory, Shape(8, ("0", "1"), "single")))
    except FaithgaugeError as error:
        raise type(error)(f"the test {test!r}: {error}") from error
