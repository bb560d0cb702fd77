"""What fits into a budget, with costs that are made up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from faithgauge.audit.costs import START, total
from faithgauge.audit.plan import (
    EXPLAINERS,
    FEWEST,
    MORE_SEEDS,
    MOST,
    NO_ROOM,
    Choice,
    Here,
    Planned,
    Wanted,
    plan,
)
from faithgauge.audit.table import AUDITED
from faithgauge.audit.whole import seconds_of
from faithgauge.engine.job import Job
from faithgauge.errors import ConfigError


@dataclass(frozen=True, eq=False)
class Fake(Job):
    name: str
    seconds: float
    inputs: tuple[Job, ...] = field(default=())


def targets(choice: Choice) -> Mapping[str, list[Job]]:
    """A training of each seed of 10 s; a test takes a second for each explainer, seed and 50 texts."""
    found: dict[str, list[Job]] = {}
    for test in choice.tests:
        found[test] = [
            Fake(f"{test} {name} {seed} {choice.instances}", choice.instances / 50, (Fake(f"{seed}", 10.0),))
            for seed in range(choice.seeds)
            for name in choice.explainers
        ]
    return found


def planned(wanted: Wanted, here: Here | None = None) -> Planned:
    return plan(wanted, here or Here(texts=500, evidence=True), targets, cost=lambda job: job.seconds)  # type: ignore[attr-defined]


def test_work_is_shared_out_but_a_chain_is_not() -> None:
    first = Fake("first", 10.0)
    second, third = Fake("second", 4.0, (first,)), Fake("third", 4.0, (first,))
    jobs: list[Job] = [first, second, Fake("first", 10.0), third]
    assert total(jobs, lambda job: job.seconds, 1) == 18 + START  # type: ignore[attr-defined]
    assert total(jobs, lambda job: job.seconds, 2) == 14 + START  # type: ignore[attr-defined]
    assert total(jobs, lambda _: 0.0, 1) == 0


def test_with_all_the_time_in_the_world_everything_is_asked() -> None:
    found = planned(Wanted(budget=1e6))
    assert found.choice == Choice(tuple(AUDITED), EXPLAINERS, MORE_SEEDS, MOST)
    assert found.left_out == {}


def test_with_little_time_the_smallest_is_asked_and_the_rest_is_told() -> None:
    # One training of 10 s, two tests of 3 explainers of 1 s each, and the start.
    found = planned(Wanted(budget=10 + 6 + START))
    assert found.choice == Choice(("majority", "erasure"), EXPLAINERS[:3], 1, FEWEST)
    assert found.seconds == 10 + 6 + START
    assert {"3 seeds", "lime", "agreement"} <= set(found.left_out)
    assert found.left_out["lime"].startswith(NO_ROOM)
    assert "several seeds" in found.left_out["stability"]


def test_seeds_come_before_more_explainers_and_these_before_more_tests() -> None:
    # 3 trainings of 10 s and 3 · 2 · 3 tests of 1 s; 90 % of the budget is planned with.
    enough = (30 + 18 + START) / 0.9
    assert planned(Wanted(budget=enough)).choice.seeds == 3
    assert planned(Wanted(budget=enough - 0.2)).choice.seeds == 1
    more = planned(Wanted(budget=130.0)).choice
    assert more.seeds == 3
    assert len(more.explainers) > 3


def test_a_budget_too_small_for_anything_says_the_smallest_that_works() -> None:
    with pytest.raises(ConfigError, match=r"--budget 21s: expected at least 26s, .*3 explainers on 50 texts"):
        planned(Wanted(budget=21.0))
    least = 1.15 * (16 + START)
    assert planned(Wanted(budget=least)).choice.seeds == 1
    assert planned(Wanted(budget=1.0, strict=False)).choice.instances == FEWEST


def test_what_is_asked_for_stands() -> None:
    wanted = Wanted(("evidence",), ("lime", "random"), seeds=2, instances=70, budget=1e6)
    assert planned(wanted).choice == Choice(("majority", "erasure", "evidence"), ("lime", "random"), 2, 70)


def test_fewer_texts_than_usual_are_all_there_are() -> None:
    assert planned(Wanted(budget=1e6), Here(texts=12)).choice.instances == 12


@pytest.mark.parametrize(
    ("here", "test", "why"),
    [
        (Here(evidence=False), "evidence", "which words decide"),
        (Here(attention=False), "uniform", "no attention"),
        (Here(trains=False), "uniform", "needs models to be trained"),
        (Here(explainers=("random",)), "agreement", "there is one"),
    ],
)
def test_what_cannot_be_asked_is_told_with_its_reason(here: Here, test: str, why: str) -> None:
    found = planned(Wanted(budget=1e6), here)
    assert test not in found.choice.tests
    assert why in found.left_out[test]


def test_one_seed_leaves_out_what_compares_seeds() -> None:
    found = planned(Wanted(seeds=1, budget=1e6))
    assert {"stability", "seed_variance"} <= set(found.left_out)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("1.5h", 5400), ("45", 45)])
def test_budgets_are_read(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "ten minutes", "-3m", "0", "5d"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected a time such as 90s"):
        seconds_of(text)
