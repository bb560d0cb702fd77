"""ROAR: mask what an explanation calls most important, train again, and see how much is lost.

    plain       text → Explain → Mask 10 %, Mask 20 % … → Train each → Evaluate
    recursive   text → Explain → Mask 10 % → Train → Explain → Mask 20 % → Train → …

All explainers share the model on whole texts (0) and the one on texts of which nothing is left (1). A random
order knows nothing of a model, so that its recursive curve is its plain one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from faithgauge import jobs, removing
from faithgauge.config import RoarPlan
from faithgauge.engine.job import Job
from faithgauge.explain.asked import asked
from faithgauge.plans.grid import Cell, with_seed
from faithgauge.types import SPLITS, Split

RANDOM, NULL = "random", "random_2"
Step = float | int
"""A fraction of the tokens, or a count of them."""


@dataclass(frozen=True)
class Road:
    """One way to the curves of a cell: by which steps, and by what shortcuts if any."""

    plan: RoarPlan
    recursive: bool = True
    by_count: bool = False

    @property
    def steps(self) -> tuple[Step, ...]:
        """Those at which a model of its own is trained for each explainer."""
        return self.plan.counts if self.by_count else tuple(f for f in self.plan.fractions if 0 < f < 1)

    @property
    def setting(self) -> dict[str, str | bool | float]:
        """What the rows of these curves say of themselves; what is usual is left out."""
        plan = self.plan
        return {
            "masking": "recursive" if self.recursive else "plain",
            **({"by": "count"} if self.by_count else {}),
            **({"label": plan.label} if plan.label else {}),
            **({"rounding": plan.rounding} if plan.rounding != "exact" else {}),
            **({"start": "warm"} if plan.warm_start else {}),
            **({"early_stop": plan.early_stop_fractions} if plan.early_stop_fractions is not None else {}),
        }


def roar(cell: Cell) -> list[Job]:
    """How much worse than with random tokens masked a model does without those of each explainer."""
    return _answers(cell, Road(cell.study.roar, recursive=False))


def recursive_roar(cell: Cell) -> list[Job]:
    """The same where each explanation is that of the model trained without what came before."""
    return _answers(cell, Road(cell.study.roar))


def recursive_roar_by_count(cell: Cell) -> list[Job]:
    """The same one token after the other, or as `counts` of ``[roar]`` says, instead of by fractions."""
    return _answers(cell, Road(cell.study.roar, by_count=True))


def curves(cell: Cell, road: Road) -> removing.Curves:
    """The curves of every explainer of one model, which share their beginning and their end."""
    chains = {label: _chain(cell, road, text) for label, text in _explainers(cell, road.plan).items()}
    return removing.Curves(
        full=_evaluated(cell, cell.model, cell.data),
        floor=_floor(cell),
        steps={label: {str(step): done for step, (done, _) in own.items()} for label, own in chains.items()},
        masks={label: {str(step): mask for step, (_, mask) in own.items()} for label, own in chains.items()},
        splits=cell.study.splits,
        metric=road.plan.metric,
        ends_at_floor=not road.by_count and road.plan.fractions[-1] == 1,
        setting=road.setting,
    )


def _answers(cell: Cell, road: Road) -> list[Job]:
    """The curves of each seed, and once what they say together."""
    found: list[Job] = [curves(cell, road)]
    seeds = cell.study.seeds
    if cell.model.train.seed == seeds[0]:
        every = tuple(curves(replace(cell, model=with_seed(cell.model, seed)), road) for seed in seeds)
        found.append(removing.OverSeeds(every))
    return found


def _explainers(cell: Cell, plan: RoarPlan) -> dict[str, str]:
    """By label as it is written: random first, then the study's own, and the null if it is wanted."""
    found = {RANDOM: RANDOM}
    for one in map(asked, (*cell.study.explainers, *([NULL] if plan.null else []))):
        if plan.label is not None and one.name not in (RANDOM, NULL):
            found.setdefault(one.label, replace(one, target=plan.label).text)
        found.setdefault(one.label, one.text)
    return found


def _chain(cell: Cell, road: Road, text: str) -> dict[Step, tuple[Job, Job]]:
    """By step the evaluation of the model that was trained without those tokens, and its masked data."""
    recursive = road.recursive and asked(text).name not in (RANDOM, NULL)
    data: Job = cell.data
    model = cell.model
    explanation = _explained(cell, model, data, text=text)
    found: dict[Step, tuple[Job, Job]] = {}
    for step in road.steps:
        if recursive:
            explanation = _explained(cell, model, data, text=text)
        data = _masked(data if recursive else cell.data, explanation, road, step=step)
        model = replace(cell.model, data=data, base=model if road.plan.warm_start else None)
        found[step] = _evaluated(cell, model, data), data
    return found


def _explained(cell: Cell, model: Job, data: Job, *, text: str) -> jobs.Explain:
    return jobs.Explain(model, data, text, seed=cell.model.train.seed)


def _masked(data: Job, explanation: Job, road: Road, *, step: Step) -> jobs.Mask:
    if road.by_count:
        return jobs.Mask(data, explanation, count=int(step))
    return jobs.Mask(data, explanation, step, rounding=road.plan.rounding)


def _floor(cell: Cell) -> jobs.Evaluate:
    """The model on texts of which only the length is left: whoever masked them, all of them is masked."""
    everything = jobs.Mask(cell.data, _explained(cell, cell.model, cell.data, text=RANDOM), 1.0)
    return _evaluated(cell, replace(cell.model, data=everything), everything)


def _evaluated(cell: Cell, model: Job, data: Job) -> jobs.Evaluate:
    """On the study's splits, and on validation, where it is seen whether a model is at its floor."""
    wanted: set[Split] = {"validation", *cell.study.splits}
    return jobs.Evaluate(model, data, tuple(split for split in SPLITS if split in wanted))
