"""Adversaries of a model: trained to say what it says, and to attend to other tokens.

An adversary has the settings of its base in all that makes a model; how it is trained, and which epoch is
kept, is the table ``[adversary]`` of a study.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from faithgauge import jobs, judging
from faithgauge.config import AdversaryConfig
from faithgauge.engine.job import Job
from faithgauge.errors import UnsupportedError
from faithgauge.plans.grid import Cell, with_seed
from faithgauge.plans.starts import read_start

_HEADS = "ask attefa_heads of it, or choose another encoder"


def trained_adversary(cell: Cell) -> list[Job]:
    """How far the attention of an adversary gets, and its output moves, for each weight λ of the sweep.

    Beside them stands what they say together: whether the curve is convex, and the best that is far away.
    """
    cell.refuse_heads("trained_adversary", _HEADS)
    base = _base(cell)
    weights = cell.study.adversary.weights_of(cell.data.name)
    own = answer(cell, base, everywhere=True)
    opposed = [answer(cell, adversary(cell, AdversaryConfig("kl", weight), base)) for weight in weights]
    setting = {"against": "adversary", **_of_base(base)}
    found: list[Job] = [jobs.Evaluate(base, cell.data, cell.study.splits)]
    for split in cell.study.splits:
        found += [
            judging.Compare(own, other, cell.data, split, {**setting, "lambda": weight})
            for weight, other in zip(weights, opposed, strict=True)
        ]
        found.append(judging.Sweep(own, tuple(opposed), weights, cell.data, split, setting))
    return found


def attefa(cell: Cell) -> list[Job]:
    """AtteFa of the model, from adversaries of every start."""
    cell.refuse_heads("attefa", _HEADS)
    base = _base(cell)
    found: dict[str, Job] = {}
    for text in cell.study.adversary.starts:
        start, draw = read_start(text)
        how = AdversaryConfig(start=start, draw=draw)
        found[text] = answer(cell, adversary(cell, how, base))
    setting = {"against": "adversary", **_of_base(base)}
    gauged: list[Job] = [
        judging.Gauge(answer(cell, base, everywhere=True), found, cell.data, split, _select_on(cell), setting)
        for split in cell.study.splits
    ]
    return [*gauged, jobs.Evaluate(base, cell.data, cell.study.splits)]


def adversary(cell: Cell, how: AdversaryConfig, base: jobs.Train) -> jobs.Train:
    """The training of an adversary of `base`, with the seed of the cell."""
    plan = cell.study.adversary
    return replace(
        cell.model,
        train=replace(
            cell.model.train,
            epochs=plan.epochs,
            patience=plan.patience,
            select_on=_select_on(cell),
            select_by="loss",
            class_weights="none",
        ),
        target=answer(cell, base, everywhere=True),
        base=base if how.start in ("base", "negated", "redrawn") else None,
        adversary=how,
    )


def answer(cell: Cell, model: jobs.Train, *, everywhere: bool = False) -> jobs.Answer:
    """What a model says of the texts on which is measured, or of all."""
    needed = {*cell.study.splits, _select_on(cell)}
    splits = () if everywhere else tuple(sorted(needed))
    return jobs.Answer(model, cell.data, splits)


def _base(cell: Cell) -> jobs.Train:
    """The model that is opposed: the cell's own, or that of the study's first seed."""
    refuse_uniform(cell)
    if cell.study.adversary.base_seed == "own":
        return cell.model
    return with_seed(cell.model, cell.study.seeds[0])


def refuse_uniform(cell: Cell) -> None:
    """A base whose attention is the same whatever it learns: no adversary of its settings can move."""
    if cell.model.model.distribution == "uniform" and not cell.model.factory:
        raise UnsupportedError(
            "an adversary needs attention that is trained, found distribution 'uniform'; leave it out of "
            "this study: the test 'uniform' trains such models beside the others"
        )


def _select_on(cell: Cell) -> Literal["validation", "test"]:
    """Where an adversary is chosen: where the study says, else where its base was."""
    return cell.study.adversary.select_on or cell.model.train.select_on


def _of_base(base: jobs.Train) -> dict[str, int]:
    return {"base_seed": base.train.seed}
