"""Attention put to the test by training again: without it, with another seed, and as a guide for others.

Each test is about a model of the study and others that are trained on the same texts: with uniform attention,
with the study's other seeds, or word by word under the attention of the first.
"""

from __future__ import annotations

from dataclasses import replace

from faithgauge import jobs, judging
from faithgauge.config import AdversaryConfig
from faithgauge.engine.job import Job
from faithgauge.errors import ConfigError
from faithgauge.plans.adversaries import adversary, answer, refuse_uniform
from faithgauge.plans.grid import Cell, explained, with_seed

GUIDED = "mlp"
"""The encoder that sees one token at a time: what such a model knows of the text, its guide must tell it."""
WEIGHT = 1e-3
"""λ of the adversary that serves as a guide, as in wiegreffe-pinter-2019, table 3."""


def uniform(cell: Cell) -> list[Job]:
    """How well the model does when all tokens get the same attention, in training as in the test.

    Of a transformer this is the attention of every head, and how far it is from the model's own is not asked.
    """
    flat = [_uniform(model) for model in _of_all_seeds(cell)]
    own = next(model for model in flat if model.train.seed == cell.model.train.seed)
    found: list[Job] = [jobs.Evaluate(model, cell.data, cell.study.splits) for model in (cell.model, own)]
    found += [
        judging.Compare(answer(cell, cell.model), answer(cell, own), cell.data, split, {"against": "uniform"})
        for split in (() if cell.pretrained else cell.study.splits)
    ]
    if cell.model.train.seed == cell.study.seeds[0]:  # one difference over all seeds
        base, others = (
            tuple(answer(cell, model) for model in models) for models in (_of_all_seeds(cell), flat)
        )
        found += [judging.Surpass(base, others, cell.data, split) for split in cell.study.splits]
    return found


def seed_variance(cell: Cell) -> list[Job]:
    """How far the attention of the model is from that of the same model of each other seed."""
    cell.refuse_heads("seed_variance", "leave the test out, or choose another encoder")
    own, others = cell.model.train.seed, [seed for seed in cell.study.seeds if seed != cell.model.train.seed]
    if not others:
        raise ConfigError(f"the test 'seed_variance' compares seeds: expected two or more, found {own} alone")
    if own != cell.study.seeds[0]:  # each is compared with the first
        return []
    return [
        judging.Compare(
            answer(cell, cell.model),
            answer(cell, with_seed(cell.model, seed)),
            cell.data,
            split,
            {"against": "seed", "base_seed": own},
        )
        for seed in others
        for split in cell.study.splits
    ]


def guides(cell: Cell) -> list[Job]:
    """How well a model does that reads token by token under the attention of the cell's model, or another's.

    `own` is its own attention, `uniform` the same for all tokens, `base` that of the cell's model,
    `adversary` that of an adversary of it; and each of the study's explainers but attention.
    """
    if cell.model.model.encoder == GUIDED:
        return []
    cell.refuse_heads("guides", "leave the test out, or choose another encoder")
    refuse_uniform(cell)
    reader = replace(cell.model, model=replace(cell.model.model, encoder=GUIDED, hidden_size=None))
    opposed = adversary(cell, AdversaryConfig("kl", WEIGHT), cell.model)
    given: dict[str, Job] = {
        "base": answer(cell, cell.model, everywhere=True),
        "adversary": answer(cell, opposed, everywhere=True),
    }
    every = replace(cell, study=replace(cell.study, splits=(), instances=None))
    given |= {label: job for label, job in explained(every).items() if label != "attention"}
    by = cell.model.model.encoder
    models = {"uniform": _uniform(reader), "own": reader}
    models |= {name: replace(reader, guide=guide) for name, guide in given.items()}
    return [
        jobs.Evaluate(model, cell.data, cell.study.splits, given.get(name), {"guide": name, "guided_by": by})
        for name, model in models.items()
    ]


def _uniform(model: jobs.Train) -> jobs.Train:
    return replace(model, model=replace(model.model, distribution="uniform"))


def _of_all_seeds(cell: Cell) -> list[jobs.Train]:
    return [with_seed(cell.model, seed) for seed in cell.study.seeds]
