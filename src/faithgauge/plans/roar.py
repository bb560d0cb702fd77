"""ROAR: mask what an explanation calls most important, train again, and see how much is lost.

    plain       text → Explain → Mask 10 %, Mask 20 % … → Train each → Evaluate
    recursive   text → Explain → Mask 10 % → Train → Explain → Mask 20 % → Train → …

All explainers share the model on whole texts (0) and the one on texts of which nothing is left (1). A random
order knows nothing of a model, so that its recursive curve is its plain one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from faithgauge import jobs, removing
from faithgauge.config import Label, RoarPlan
from faithgauge.engine.job import Job
from faithgauge.errors import ConfigError
from faithgauge.explain.asked import asked
from faithgauge.explain.readings import readings
from faithgauge.plans.grid import Cell, with_seed
from faithgauge.types import SPLITS, Split

RANDOM, NULL = "random", "random_2"
USUAL_LENGTH = 25
"""Of a text in tokens, where it is only to be known which explainer takes longest."""
Step = float | int
"""A fraction of the tokens, or a count of them."""


@dataclass(frozen=True)
class Road:
    """One way to the curves of a cell: by which steps, of which label, and by what shortcuts if any."""

    plan: RoarPlan
    label: Label | None = None
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
            **({"label": self.label} if self.label else {}),
            **({"rounding": plan.rounding} if plan.rounding != "exact" else {}),
            **({"start": "warm"} if plan.warm_start else {}),
            **({"early_stop": plan.early_stop_fractions} if plan.early_stop_fractions is not None else {}),
        }


@dataclass(frozen=True)
class Link:
    """Where a chain is: the masked data, the model trained on them, and its evaluation."""

    data: Job
    model: Job
    done: Job


def roar(cell: Cell) -> list[Job]:
    """How much worse than with random tokens masked a model does without those of each explainer."""
    return _answers(cell, recursive=False)


def recursive_roar(cell: Cell) -> list[Job]:
    """The same where each explanation is that of the model trained without what came before."""
    return _answers(cell)


def recursive_roar_by_count(cell: Cell) -> list[Job]:
    """The same one token after the other, or as `counts` of ``[roar]`` says, instead of by fractions."""
    return _answers(cell, by_count=True)


def masked_training(cell: Cell) -> list[Job]:
    """An estimate for one training: the curves of one model that was trained on masked texts."""
    return [masked_curves(cell, label) for label in cell.study.roar.labels()]


def roar_shortcuts(cell: Cell) -> list[Job]:
    """What is lost by each cheaper road to recursive ROAR, beside the full one: warm starts, an early end at
    the tolerance of ``[roar]`` or 0.01, and one model trained on masked texts."""
    plan = replace(cell.study.roar, warm_start=False, early_stop_fractions=None)
    tolerance = cell.study.roar.early_stop_fractions
    ended = replace(plan, early_stop_fractions=0.01 if tolerance is None else tolerance)
    found: list[Job] = []
    for label in plan.labels():
        full = curves(cell, Road(plan, label))
        cheap = {
            "warm_start": curves(cell, Road(replace(plan, warm_start=True), label)),
            "early_stop_fractions": curves(cell, Road(ended, label)),
            "masked_training": masked_curves(cell, label),
        }
        found += [full, *cheap.values(), *(removing.Shortcut(full, one, name) for name, one in cheap.items())]
    return found


def sparsity(cell: Cell) -> list[Job]:
    """How much of all importance the most important tokens have, of whole texts, by explainer."""
    plan = cell.study.roar
    fractions = tuple(fraction for fraction in plan.fractions if fraction > 0)
    found: list[Job] = []
    for label in plan.labels():
        texts = {name: text for name, text in _explainers(cell, plan, label).items() if text != NULL}
        scores = {name: _explained(cell, cell.model, cell.data, text=text) for name, text in texts.items()}
        found += [
            removing.Sparse(cell.model, cell.data, scores, plan.counts, fractions, split, label)
            for split in cell.study.splits
        ]
    return found


def roar_synthetic(cell: Cell) -> list[Job]:
    """ROAR and recursive ROAR where the truth is known, on a problem of their own: the study's data take no
    part in it."""
    return [removing.Synthetic(cell.model.train.seed)]


def curves(cell: Cell, road: Road) -> removing.Curves:
    """The curves of every explainer of one model, which share their beginning and their end."""
    asked_for = _explainers(cell, road.plan, road.label)
    # The engine begins with what stands first: the longest chain, which nothing can shorten.
    first = sorted(asked_for, key=lambda label: -readings(asked_for[label], USUAL_LENGTH))
    chains = {label: _chain(cell, road, asked_for[label]) for label in first}
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


def masked_curves(cell: Cell, label: Label | None = None) -> removing.Curves:
    """The same curves of one model, which is explained again at every step and never trained again."""
    plan, splits = cell.study.roar, cell.study.splits
    model = replace(cell.model, masked_inputs="first_text" if _is_joined(cell) else True)
    steps: dict[str, dict[str, Job]] = {}
    masks: dict[str, dict[str, Job]] = {}

    def masked(data: Job, text: str, step: Step) -> jobs.Mask:
        explanation = jobs.Explain(model, data, text, splits, seed=cell.model.train.seed)
        own = jobs.Mask(data, explanation, step, rounding=plan.rounding, splits=splits)
        return replace(own, first_text=_is_joined(cell))

    for name, text in _explainers(cell, plan, label).items():
        data: Job = cell.data
        steps[name], masks[name] = {}, {}
        for step in Road(plan).steps:
            data = masked(data if text not in (RANDOM, NULL) else cell.data, text, step)
            steps[name][str(step)] = jobs.Evaluate(model, data, splits)
            masks[name][str(step)] = data
    return removing.Curves(
        full=jobs.Evaluate(model, cell.data, splits),
        floor=jobs.Evaluate(model, masked(cell.data, RANDOM, 1.0), splits),
        steps=steps,
        masks=masks,
        splits=splits,
        metric=plan.metric,
        ends_at_floor=plan.fractions[-1] == 1,
        area="masked_training_curve",
        setting={**Road(plan, label).setting, "masking": "masked_training"},
    )


def _answers(cell: Cell, *, recursive: bool = True, by_count: bool = False) -> list[Job]:
    """The curves of each seed and label, and once what they say together."""
    plan, seeds = cell.study.roar, cell.study.seeds
    roads = {label: Road(plan, label, recursive, by_count) for label in plan.labels()}
    found: list[Job] = [curves(cell, road) for road in roads.values()]
    if cell.model.train.seed == seeds[0]:
        same = [replace(cell, model=with_seed(cell.model, seed)) for seed in seeds]
        every = {label: tuple(curves(one, road) for one in same) for label, road in roads.items()}
        found += map(removing.OverSeeds, every.values())
        if {"gold", "predicted"} <= set(every):
            asking = [one.label for one in map(asked, cell.study.explainers) if one.explainer.of_class]
            found.append(removing.Leakage(every["gold"], every["predicted"], tuple(asking)))
    return found


def _explainers(cell: Cell, plan: RoarPlan, label: Label | None) -> dict[str, str]:
    """By label as it is written: random first, then the study's own, and the null if it is wanted."""
    found = {RANDOM: RANDOM}
    for one in map(asked, (*cell.study.explainers, *([NULL] if plan.null else []))):
        told = replace(one, target=label) if label is not None and one.explainer.of_class else one
        found.setdefault(one.label, told.text)
    if set(found) == {RANDOM}:
        raise ConfigError("ROAR holds explainers against random: expected one or more, found random alone")
    return found


def _chain(cell: Cell, road: Road, text: str) -> dict[Step, tuple[Job, Job]]:
    """By step the evaluation of the model that was trained without those tokens, and its masked data."""
    plan, blind = road.plan, text in (RANDOM, NULL)
    ends = plan.early_stop_fractions is not None and road.recursive and not blind
    before = Link(cell.data, cell.model, _evaluated(cell, cell.model, cell.data))
    explanation: Job = _explained(cell, cell.model, cell.data, text=text)
    found: dict[Step, tuple[Job, Job]] = {}
    for i, step in enumerate(road.steps):
        # The first step is always taken, and is the same whatever follows.
        stop = _stop(cell, before, plan) if ends and i else None
        if i and road.recursive and not blind:
            explanation = _on(_explained(cell, before.model, before.data, text=text), stop)
        data = before.data if road.recursive and not blind else cell.data
        mask = _masked(data, explanation, road, step=step)
        data = _on(replace(mask, first_text=_is_joined(cell)), stop)
        model = _on(replace(cell.model, data=data, base=before.model if plan.warm_start else None), stop)
        before = Link(data, model, _on(_evaluated(cell, model, data), stop))
        found[step] = before.done, data
    return found


def _stop(cell: Cell, before: Link, plan: RoarPlan) -> removing.AtFloor:
    return removing.AtFloor(before.done, _floor(cell), plan.early_stop_fractions or 0.0, plan.metric)


def _on(job: Job, stop: Job | None) -> Job:
    """The same job, to be done unless its chain has ended."""
    if stop is None:
        return job
    own = {one.name: getattr(job, one.name) for one in fields(job)}
    return _STOPPABLE[type(job)](**own, stop=stop)


def _explained(cell: Cell, model: Job, data: Job, *, text: str) -> jobs.Explain:
    return jobs.Explain(model, data, text, seed=cell.model.train.seed)


def _masked(data: Job, explanation: Job, road: Road, *, step: Step) -> jobs.Mask:
    if road.by_count:
        return jobs.Mask(data, explanation, count=int(step))
    return jobs.Mask(data, explanation, step, rounding=road.plan.rounding)


def _is_joined(cell: Cell) -> bool:
    """Whether both texts of a pair are one row, of which the first alone is masked."""
    return bool(cell.data.encode.get("joined"))


def _floor(cell: Cell) -> jobs.Evaluate:
    """The model on texts of which only the length is left: whoever masked them, all of them is masked."""
    random = _explained(cell, cell.model, cell.data, text=RANDOM)
    everything = jobs.Mask(cell.data, random, 1.0, first_text=_is_joined(cell))
    return _evaluated(cell, replace(cell.model, data=everything), everything)


def _evaluated(cell: Cell, model: Job, data: Job) -> jobs.Evaluate:
    """On the study's splits, and on validation, where it is seen whether a model is at its floor."""
    wanted: set[Split] = {"validation", *cell.study.splits}
    return jobs.Evaluate(model, data, tuple(split for split in SPLITS if split in wanted))


_STOPPABLE: dict[type[Job], Callable[..., Job]] = {
    jobs.Explain: removing.ExplainOn,
    jobs.Mask: removing.MaskOn,
    jobs.Train: removing.TrainOn,
    jobs.Evaluate: removing.EvaluateOn,
}
