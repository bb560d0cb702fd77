"""The study of an audit: models of some seeds, or one that is there already, and what is asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from faithgauge import auditing, jobs
from faithgauge.config import AdversaryPlan, AttackPlan, RoarPlan
from faithgauge.engine.job import File, Job
from faithgauge.plans.adversaries import answer
from faithgauge.plans.grid import TESTS, Cell, cells
from faithgauge.plans.study import Study
from faithgauge.settings import Settings
from faithgauge.types import Split

ADVERSARY = AdversaryPlan(weights=(1e-3,), starts=("fresh",), epochs=20, patience=5)
"""One adversary of each kind, and not for long: a study of its own has more (`faithgauge run`)."""
ATTACK = AttackPlan(epsilon=(0.02,))
"""Outputs that differ by so little are the same to an audit (`audit.verdict.DELTA`)."""
ROAR = RoarPlan(fractions=(0, 0.2, 0.4, 0.6, 0.8, 1))


@dataclass(frozen=True)
class Given:
    """What is there already: a model with the texts it is asked about, and scores from elsewhere.

    `ids` are those of the measured texts, by which scores are known.
    """

    model: auditing.Adopt | None = None
    texts: auditing.Texts | None = None
    scores: File | None = None
    explainers: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    """What is audited: data, model and training, or what is given; and on how much of it."""

    settings: Settings
    seeds: tuple[int, ...] = (0,)
    explainers: tuple[str, ...] = ("random", "attention")
    split: Split = "test"
    instances: int | None = None
    factory: str = ""
    given: Given = field(default_factory=Given)


def majority(cell: Cell) -> list[Job]:
    """Text by text whether a model names the right class, to be held against always naming one class."""
    return [auditing.Hit(answer(cell, cell.model), cell.data, split) for split in cell.study.splits]


def points(subject: Subject) -> list[Cell]:
    """The models to be trained, one for each seed, with the explanations that are given."""
    study = _study(subject, subject.split)
    settings = tuple(
        replace(subject.settings, train=replace(subject.settings.train, seed=seed)) for seed in subject.seeds
    )
    return [_with_scores(cell, subject) for cell in cells(replace(study, settings=settings))]


def adopted(subject: Subject) -> list[Cell]:
    """The model that is given, on its texts."""
    given = subject.given
    if given.model is None or given.texts is None:
        return []
    # Tests that train are asked of `points` instead: no plan of those here looks into this job.
    model, data = cast("jobs.Train", given.model), cast("jobs.Prepare", given.texts)
    study = replace(_study(subject, "test"), seeds=(given.model.train.seed,))
    return [_with_scores(Cell(data, model, study), subject)]


def jobs_by_test(tests: Mapping[str, list[Cell]]) -> dict[str, list[Job]]:
    """By test the jobs that answer it at these points."""
    return {name: [job for cell in at for job in TESTS[name](cell)] for name, at in tests.items()}


def _study(subject: Subject, split: Split) -> Study:
    return Study(
        "audit",
        seeds=subject.seeds,
        explainers=subject.explainers,
        splits=(split,),
        instances=subject.instances,
        factory=subject.factory,
        adversary=ADVERSARY,
        attack=ATTACK,
        roar=ROAR,
        path=Path("audit"),
    )


def _with_scores(cell: Cell, subject: Subject) -> Cell:
    given = subject.given
    if given.scores is None:
        return cell
    (split,) = cell.study.splits
    taken = {
        name: auditing.Take(cell.data, given.scores, name, given.ids, split, subject.instances)
        for name in given.explainers
    }
    return replace(cell, given=taken)
