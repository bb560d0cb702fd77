"""From a study to its jobs: data set × model × word vectors × training × seed, and on each the tests.

What two cells have in common (the encoded data of one data set, say) is one job, made once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithgauge import jobs
from faithgauge.engine.job import Job, key_of
from faithgauge.errors import FaithgaugeError, UnsupportedError
from faithgauge.plans import inputs
from faithgauge.plans.study import Study
from faithgauge.registry import Table
from faithgauge.settings import PRETRAINED, Settings

if TYPE_CHECKING:
    from faithgauge.explain.asked import Asked


@dataclass(frozen=True)
class Cell:
    """One point of the grid: encoded data, the training on them, and the study that asks.

    `given` are explanations from elsewhere, by label, which tests of explanations take beside the study's.
    """

    data: jobs.Prepare
    model: jobs.Train
    study: Study
    given: Mapping[str, Job] = field(default_factory=dict)

    @property
    def pretrained(self) -> Path | None:
        """Where the pretrained encoder lies, if the model is a transformer that is trained here."""
        return getattr(self.model, "place", None)

    def refuse_heads(self, test: str, instead: str) -> None:
        """What is about one attention over the tokens cannot be asked of a transformer, which has many."""
        if self.pretrained is not None:
            raise UnsupportedError(
                f"the test {test!r} expected a model with one attention over the tokens, found "
                f"{self.model.model.encoder}, which has one for each token, head and layer; {instead}"
            )


def performance(cell: Cell) -> list[Job]:
    """How well each model predicts the labels, on each of the study's `splits`."""
    return [jobs.Evaluate(cell.model, cell.data, cell.study.splits)]


def explanations(cell: Cell) -> list[Job]:
    """The scores of every token by each of the study's `explainers`."""
    return list(explained(cell).values())


def sizes(cell: Cell) -> list[Job]:
    """How many texts the splits of each data set have; nothing is trained."""
    return [jobs.Count(cell.data)]


TESTS: Table[Callable[[Cell], list[Job]]] = Table(
    "test",
    {
        "performance": performance,
        "sizes": sizes,
        "majority": "faithgauge.plans.audit:majority",
        "explanations": explanations,
        "agreement": "faithgauge.plans.agreement:agreement",
        "stability": "faithgauge.plans.agreement:stability",
        "erasure": "faithgauge.plans.erasure:erasure",
        "deletion": "faithgauge.plans.erasure:deletion",
        "evidence": "faithgauge.plans.erasure:evidence",
        "uniform": "faithgauge.plans.retrained:uniform",
        "uniform_performance": "faithgauge.plans.uniform:uniform_performance",
        "seed_variance": "faithgauge.plans.retrained:seed_variance",
        "guides": "faithgauge.plans.retrained:guides",
        "trained_adversary": "faithgauge.plans.adversaries:trained_adversary",
        "attefa": "faithgauge.plans.adversaries:attefa",
        "permutation": "faithgauge.plans.attacks:permutation",
        "adversarial_search": "faithgauge.plans.attacks:adversarial_search",
        "exact_adversary": "faithgauge.plans.attacks:exact_adversary",
        "roar": "faithgauge.plans.roar:roar",
        "recursive_roar": "faithgauge.plans.roar:recursive_roar",
        "sparsity": "faithgauge.plans.roar:sparsity",
        "masked_training": "faithgauge.plans.roar:masked_training",
        "roar_shortcuts": "faithgauge.plans.roar:roar_shortcuts",
        "roar_synthetic": "faithgauge.plans.roar:roar_synthetic",
        "recursive_roar_by_count": "faithgauge.plans.roar:recursive_roar_by_count",
        "attefa_heads": "faithgauge.plans.heads:attefa_heads",
    },
    group="faithgauge.tests",
)
"""What can be asked of the models of a study: from a cell to the jobs that answer."""


def explained(cell: Cell, seed: int | None = None) -> dict[str, Job]:
    """By label the explanations of a cell, or of the same cell with another seed."""
    from faithgauge.explain.asked import asked

    study, model = cell.study, cell.model
    if seed is not None:
        model = with_seed(model, seed)
    wanted = [asked(text) for text in study.explainers]
    if cell.pretrained is not None:
        _refuse_what_lacks(cell.pretrained, wanted)
    own: dict[str, Job] = {
        one.label: jobs.Explain(model, cell.data, one.text, study.splits, study.instances, model.train.seed)
        for one in wanted
    }
    return own | (dict(cell.given) if seed is None else {})


def _refuse_what_lacks(place: Path, wanted: Iterable[Asked]) -> None:
    """What explainers need of a pretrained encoder, which is looked at without its weights."""
    from faithgauge.explain.split import refuse_what_model_lacks
    from faithgauge.models.pretrained import outline

    for one in wanted:
        refuse_what_model_lacks(outline(place), one)


def with_seed(model: jobs.Train, seed: int) -> jobs.Train:
    """The same training with another seed."""
    return replace(model, train=replace(model.train, seed=seed))


def jobs_of(study: Study) -> list[Job]:
    """The jobs whose results the study asks for, in the order of its grid; what they need hangs on them."""
    return targets_of(study, cells(study))


def targets_of(study: Study, points: Iterable[Cell]) -> list[Job]:
    """The jobs that answer the study's tests at these points of its grid."""
    tests = [TESTS[name] for name in study.tests]
    try:
        found = [job for cell in points for test in tests for job in test(cell)]
    except FaithgaugeError as error:
        raise type(error)(f"{study.path.name}: {error}") from error
    return list({key_of(job): job for job in found}.values())


def cells(study: Study) -> list[Cell]:
    """The points of the grid; every file, of texts or of word vectors, is hashed once."""
    data: dict[Any, jobs.Prepare] = {}
    start: dict[Any, jobs.Train] = {}
    found = []
    for chosen in map(_completed, study.settings):
        own = (chosen.data, _frozen(chosen.encode))
        if own not in data:
            data[own] = inputs.prepare(chosen.data, chosen.encode)
        whole = chosen.model if chosen.model.encoder.startswith(PRETRAINED) else None
        if (chosen.vectors, whole) not in start:
            start[chosen.vectors, whole] = inputs.training(data[own], chosen, study.factory)
        model = replace(start[chosen.vectors, whole], data=data[own], train=chosen.train)
        found.append(Cell(data[own], model if whole else replace(model, model=chosen.model), study))
    return found


def _completed(chosen: Settings) -> Settings:
    """With what a pretrained encoder decides of the encoding."""
    if not chosen.model.encoder.startswith(PRETRAINED):
        return chosen
    from faithgauge.models.pretrained import completed

    return completed(chosen)


def _frozen(values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(values.items()))
