"""Rows of AtteFa to the numbers of its tables."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from faithgauge.papers.adversaries import attefa, best_of_starts
from faithgauge.papers.cells import Ours
from faithgauge.papers.compare import compare
from faithgauge.papers.published import published
from faithgauge.papers.tidy import Known

ADVERSARY = {"model": "adversary"}
BEST = {"model": "adversary", "start": "best"}


def row(
    measure: str, value: float, *, seed: int = 10, dataset: str = "mock-1", **setting: Any
) -> dict[str, Any]:
    known = {"vectors": "normal(0, 1)", "against": "adversary", "base_seed": 10}
    return {
        "dataset": dataset,
        "split": "test",
        "model": "mlp",
        "measure": measure,
        "seed": seed,
        "example": None,
        "class": None,
        "setting": json.dumps(known | setting),
        "value": value,
    }


def run(
    seed: int, *, cold: float, best: float | None = None, base_seed: int = 10, **more: Any
) -> list[dict[str, Any]]:
    """All rows of one seed: one start, or two where there is a best."""
    n = 1 if best is None else 2
    own = {"seed": seed, "base_seed": base_seed, **more}
    rows = [
        row(measure, value, start="fresh", **own)
        for measure, value in {
            "attefa": cold, "output_distance": 0.2, "attention_jsd": 0.4, "epoch": 9,
            "f1_positive": 0.6, "same_class_share": 1.0 if cold > 0.4 else 0.5,
        }.items()
    ]  # fmt: skip
    if best is not None:
        rows.append(row("attefa", best, start="warm", **own))
    won = "fresh" if best is None or best >= cold else "warm"
    summary = {"attefa_cold": cold, "attefa_best": cold if best is None else best, "attefa_cap": 0.5}
    rows += [row(measure, value, starts=n, cold="fresh", **own) for measure, value in summary.items()]
    ends = {"attefa_won": 1.0, "best_output_distance": 0.1, "best_attention_jsd": 0.6}
    rows += [row(measure, value, starts=n, cold="fresh", start=won, **own) for measure, value in ends.items()]
    return rows


def numbers(*rows: dict[str, Any]) -> list[Ours]:
    columns = {name: np.array([one[name] for one in rows], object) for name in rows[0]}
    columns |= {"seed": columns["seed"].astype(float), "value": columns["value"].astype(float)}
    return attefa(columns, Known())


def of(found: list[Ours], metric: str, keys: dict[str, str], dataset: str = "mock-1") -> Ours:
    (one,) = [n for n in found if (n.metric, n.keys, n.dataset) == (metric, keys, dataset)]
    return one


def test_a_number_is_the_mean_over_seeds_with_the_spread_of_the_population() -> None:
    one = of(numbers(*run(10, cold=0.5), *run(50, cold=0.3)), "attefa", ADVERSARY)
    assert (one.value, one.spread, one.n_seeds) == pytest.approx((0.4, 0.1, 2))
    assert one.note == "vectors: normal(0, 1); one base model, of seed 10"


def test_each_seed_has_its_own_number() -> None:
    found = numbers(*run(10, cold=0.5), *run(50, cold=0.3))
    assert of(found, "attefa", {**ADVERSARY, "seed": "50"}).value == 0.3
    assert of(found, "jsd", {**ADVERSARY, "seed": "10"}).value == 0.4


def test_bases_of_every_seed_are_one_number_and_said() -> None:
    one = of(numbers(*run(10, cold=0.5), *run(50, cold=0.3, base_seed=50)), "tvd", ADVERSARY)
    assert one.n_seeds == 2
    assert one.note.endswith("a base model for each seed")


def test_with_several_starts_the_published_place_is_that_of_the_cold_one() -> None:
    found = numbers(*run(10, cold=0.5, best=0.1), *run(50, cold=0.3, best=0.4))
    assert of(found, "attefa", ADVERSARY).value == pytest.approx(0.4)
    assert of(found, "attefa", BEST).value == pytest.approx(0.25)
    assert of(found, "tvd", BEST).value == pytest.approx(0.1)
    assert of(found, "share_won", {**ADVERSARY, "start": "warm"}).value == 0.5
    assert of(found, "share_won", {**ADVERSARY, "start": "fresh"}).value == 0.5


def test_one_start_has_no_best() -> None:
    found = numbers(*run(10, cold=0.5))
    assert not [one for one in found if "start" in one.keys]
    assert best_of_starts(found) == []


def test_seeds_in_two_modes_are_seen_by_the_share_below_half_the_cap() -> None:
    """.1 and .2 lie below .25."""
    found = numbers(*run(10, cold=0.5, best=0.1), *run(50, cold=0.2, best=0.2), *run(2, cold=0.4, best=0.2))
    assert of(found, "share_below_half_cap", ADVERSARY).value == pytest.approx(1 / 3)
    assert of(found, "share_below_half_cap", BEST).value == 1.0
    assert of(found, "share_of_one_class", ADVERSARY).value == pytest.approx(1 / 3)


def test_both_orderings_of_the_mock_sets_are_correlations_with_their_amounts() -> None:
    """Cold falls with the informative tokens, the best of starts rises and falls: ranks 1 3 2 give ρ ½."""
    rows = []
    for dataset, cold, best in (("mock-4q", 0.1, 0.02), ("mock-1", 0.5, 0.01), ("mock-10", 0.3, 0.03)):
        rows += run(10, cold=cold, best=best, dataset=dataset)
    found = numbers(*rows)
    assert of(found, "spearman_informative", ADVERSARY, "mock").value == pytest.approx(-1)
    assert of(found, "spearman_informative", BEST, "mock").value == pytest.approx(0.5)


def test_two_mock_sets_have_no_ordering() -> None:
    found = numbers(*run(10, cold=0.5), *run(10, cold=0.1, dataset="mock-2"))
    assert not [one for one in found if one.metric == "spearman_informative"]


def test_the_findings_can_be_judged_by_the_best_of_starts() -> None:
    best = best_of_starts(numbers(*run(10, cold=0.5, best=0.1)))
    assert {one.metric: one.value for one in best if one.keys == ADVERSARY and one.metric == "attefa"} == {
        "attefa": pytest.approx(0.1)
    }
    assert not [one for one in best if "start" in one.keys]


def test_the_f1_of_the_base_is_that_of_rows_without_an_adversary() -> None:
    base = row("f1_positive", 0.9) | {"setting": json.dumps({"vectors": "normal(0, 1)"})}
    assert of(numbers(base, *run(10, cold=0.5)), "f1_positive", {"split": "test"}).value == 0.9


def test_ours_stand_beside_the_published_numbers_of_tables_3_and_4() -> None:
    ours = numbers(*run(10, cold=0.5))
    cells = [cell for table in "34" for cell in published("attefa", table)]
    beside = [one for one in compare(cells, ours) if one["ours"] is not None and one["published"] is not None]
    assert {(one["table"], one["metric"]) for one in beside} == {
        (table, metric) for table in "34" for metric in ("epoch", "f1_positive", "tvd", "jsd", "attefa")
    }


def test_a_seed_without_a_number_does_not_count() -> None:
    one = of(numbers(*run(10, cold=0.5), *run(50, cold=float("nan"))), "attefa", ADVERSARY)
    assert one.value == 0.5
