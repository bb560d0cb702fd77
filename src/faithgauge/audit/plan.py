"""What an audit does in the time that it has: first what a verdict needs, then more while there is room.

The smallest audit is one model, a few texts and the explainers that cost least. It grows by the steps of
`_steps`, each of which is taken where what it costs still fits; of what does not fit it is said what it would
take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from faithgauge.audit.costs import Cost, total
from faithgauge.audit.table import AUDITED
from faithgauge.engine.job import Job, in_order, key_of
from faithgauge.errors import ConfigError

EXPLAINERS = (
    "random",
    "attention",
    "gradient",
    "rollout",
    "input_x_gradient",
    "deeplift",
    "leave_one_out",
    "integrated_gradient",
    "lime",
    "kernel_shap",
)
"""In the order in which they are added while there is time."""
KNOWN_ANSWERS = ("oracle", "reversed")
FEWEST, USUAL, MOST = 50, 200, 500
"""Texts that are explained."""
SEEDS, MORE_SEEDS = 3, 5
NO_ROOM = "no room in the budget of"
SHARE = 0.9
"""Of the time, how much is planned with: estimates are estimates."""

MANY = "asks of one attention over a text, and a transformer has many (rollout sums them up)"

Targets = Callable[["Choice"], Mapping[str, list[Job]]]
"""From a choice to the jobs of each of its tests."""


@dataclass(frozen=True)
class Choice:
    """How much is done."""

    tests: tuple[str, ...]
    explainers: tuple[str, ...]
    seeds: int
    instances: int


@dataclass(frozen=True)
class Wanted:
    """What is asked for, and may not be changed; None leaves it open. A `strict` budget is never exceeded."""

    tests: tuple[str, ...] | None = None
    explainers: tuple[str, ...] | None = None
    seeds: int | None = None
    instances: int | None = None
    budget: float = 600.0
    workers: int = 1
    strict: bool = True


@dataclass(frozen=True)
class Here:
    """What there is: which explainers can be asked, whether texts have evidence, models attention, how many.

    `heads` says that its attention is that of many heads. `trains` is False of a model that is given and not
    to be trained anew; `given` counts scores from elsewhere.
    """

    explainers: tuple[str, ...] = EXPLAINERS
    texts: int = USUAL
    evidence: bool = False
    attention: bool = True
    trains: bool = True
    given: int = 0
    heads: bool = False


@dataclass(frozen=True)
class Planned:
    """What is done, by test its jobs, what it may cost, and what is left out and why."""

    choice: Choice
    jobs: Mapping[str, list[Job]]
    seconds: float
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def targets(self) -> list[Job]:
        return _distinct(job for own in self.jobs.values() for job in own)


def plan(wanted: Wanted, here: Here, targets: Targets, *, cost: Cost) -> Planned:
    """The largest audit that fits, by the order of its steps; too little time for any is an error."""
    able, left_out = _able(wanted, here)
    choice = _smallest(wanted, here, able)

    def seconds(one: Choice) -> float:
        every = _distinct(job for own in targets(one).values() for job in own)
        return total(in_order(every), cost, wanted.workers)

    spent = seconds(choice)
    if spent > wanted.budget and wanted.strict:
        least = time_text(1.15 * spent, up=True)
        raise ConfigError(
            f"--budget {time_text(wanted.budget)}: expected at least {least}, which the smallest audit of "
            f"these data may take ({len(choice.explainers)} explainers on {choice.instances} texts); give it "
            "more, or fewer --explainers"
        )
    for name, step in _steps(wanted, here, able):
        larger = step(choice)
        if larger == choice:
            continue
        if name in larger.tests and not targets(larger)[name]:
            left_out[name] = "has nothing to ask of this model"
            continue
        needed = seconds(larger)
        if needed <= SHARE * wanted.budget:
            choice, spent = larger, needed
        elif name:
            more = time_text(max(needed - spent, 1), up=True)
            left_out[name] = f"{NO_ROOM} {time_text(wanted.budget)}: it may take {more} more"
    if choice.seeds < 2:
        left_out |= {
            name: "compares models of several seeds" for name in able if "seeds" in AUDITED[name].needs
        }
    choice = replace(choice, tests=tuple(name for name in AUDITED if name in choice.tests))
    return Planned(choice, targets(choice), spent, left_out)


def _able(wanted: Wanted, here: Here) -> tuple[list[str], dict[str, str]]:
    """The tests that can be asked here, in the order in which they are added, and why others cannot."""
    names = list(wanted.tests or AUDITED)
    names += [name for name in AUDITED if AUDITED[name].first == 0 and name not in names]
    left_out = {}
    for name in names:
        entry = AUDITED[name]
        lacks = {
            "attention": not here.attention and (MANY if here.heads else "the model has no attention"),
            "any attention": not (here.attention or here.heads) and "the model has no attention",
            "evidence": not here.evidence and "it is not known which words decide the label",
            "seeds": wanted.seeds == 1 and "compares models of several seeds, and one was asked for",
            "explainers": len(wanted.explainers or here.explainers) + here.given < 2
            and "compares explanations, and there is one",
        }
        why = next((lacks[need] for need in entry.needs if lacks[need]), "")
        if entry.trains and not here.trains:
            why = why or "needs models to be trained"
        if why:
            left_out[name] = why
    able = [name for name in names if name not in left_out]
    return sorted(able, key=lambda name: AUDITED[name].first), left_out


def _smallest(wanted: Wanted, here: Here, able: Sequence[str]) -> Choice:
    few = [name for name in here.explainers if name in (*EXPLAINERS[:3], *KNOWN_ANSWERS)]
    return Choice(
        tests=tuple(name for name in able if AUDITED[name].first == 0),
        explainers=wanted.explainers or tuple(few),
        seeds=wanted.seeds or 1,
        instances=min(wanted.instances or FEWEST, here.texts),
    )


def _steps(
    wanted: Wanted, here: Here, able: Sequence[str]
) -> Iterator[tuple[str, Callable[[Choice], Choice]]]:
    """What is added one after the other, with its name where it is to be told when it is left out."""
    if wanted.seeds is None and here.trains:
        yield f"{SEEDS} seeds", lambda one: replace(one, seeds=max(one.seeds, SEEDS))
    yield "", _texts(wanted, here, 2 * FEWEST)
    for name in () if wanted.explainers else here.explainers:
        yield name, lambda one, name=name: _explaining(one, name, here)  # type: ignore[misc]
    yield "", _texts(wanted, here, USUAL)
    for name in able:
        yield name, lambda one, name=name: _asking(one, name)  # type: ignore[misc]
    yield "", _texts(wanted, here, MOST)
    if wanted.seeds is None and here.trains:
        yield "", lambda one: replace(one, seeds=max(one.seeds, MORE_SEEDS))


def _texts(wanted: Wanted, here: Here, n: int) -> Callable[[Choice], Choice]:
    return lambda one: (
        one if wanted.instances else replace(one, instances=max(one.instances, min(n, here.texts)))
    )


def _explaining(one: Choice, name: str, here: Here) -> Choice:
    chosen = (*one.explainers, name)
    return replace(one, explainers=tuple(own for own in here.explainers if own in chosen))


def _asking(one: Choice, name: str) -> Choice:
    """With one test more; one that compares seeds is not asked of a single one."""
    if name in one.tests or ("seeds" in AUDITED[name].needs and one.seeds < 2):
        return one
    return replace(one, tests=(*one.tests, name))


def _distinct(jobs: Iterator[Job]) -> list[Job]:
    return list({key_of(job): job for job in jobs}.values())


def time_text(seconds: float, *, up: bool = False) -> str:
    """As a budget is written: in whole seconds below two minutes, else in minutes."""
    extra = 1 if up else 0
    if seconds < 120:
        return f"{int(seconds) + extra if seconds != int(seconds) else int(seconds)}s"
    minutes = seconds / 60
    return f"{minutes:g}m" if minutes == int(minutes) else f"{int(minutes) + extra}m"
