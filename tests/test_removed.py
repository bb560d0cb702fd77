"""Rows of curves and areas, and what several seeds say together."""

from __future__ import annotations

import json
from math import isnan
from typing import Any

import pytest
from scipy import stats

from faithgauge.removed import (
    Evaluated,
    area_rows,
    curve_rows,
    leakage,
    main_metric,
    over_seeds,
    shortcut,
)

Rows = list[dict[str, Any]]
NAN = float("nan")
WHERE = {"dataset": "d", "split": "test", "model": "mlp", "seed": 0}


def evaluation(value: float, seed: int = 0) -> Evaluated:
    return Evaluated({**WHERE, "seed": seed}, {"attention": "additive"}, {"accuracy": value})


def seed_rows(seed: int, attention: float, random: float = 0.7, **setting: Any) -> Rows:
    """Two curves from 0.9 to 0.5, with these values at a half."""
    points = {
        name: {"0": evaluation(0.9, seed), "0.5": evaluation(value, seed), "1": evaluation(0.5, seed)}
        for name, value in (("random", random), ("attention", attention))
    }
    own = {"masking": "recursive", **setting}
    floor = points["random"]["1"]
    areas = area_rows(points, floor, setting=own, metric="accuracy", name="faithfulness")
    return [*curve_rows(points, own), *areas]


def only(rows: Rows, measure: str, **where: Any) -> dict[str, Any]:
    (row,) = [row for row in rows if row["measure"] == measure and where.items() <= row.items()]
    return row


def test_a_point_of_a_curve_has_its_fraction_and_says_how_tokens_were_masked() -> None:
    row = only(seed_rows(0, 0.6), "accuracy", explainer="attention", fraction=0.5)
    assert (row["value"], row["seed"], row["split"]) == (0.6, 0, "test")
    assert json.loads(row["setting"]) == {"attention": "additive", "masking": "recursive"}


def test_a_point_of_counted_tokens_has_its_count_and_no_fraction() -> None:
    rows = list(curve_rows({"random": {"0": evaluation(0.9), "3": evaluation(0.8)}}, {"by": "count"}))
    assert [row["fraction"] for row in rows] == [None, None]
    assert [json.loads(row["setting"])["count"] for row in rows] == [0, 3]


def test_the_area_stands_beside_random_with_the_metric_it_is_of() -> None:
    rows = seed_rows(0, 0.6)
    row = only(rows, "faithfulness")
    assert (row["explainer"], row["versus"]) == ("attention", "random")
    assert row["value"] == pytest.approx(0.25)
    assert json.loads(row["setting"])["metric"] == "accuracy"
    assert only(rows, "faithfulness_clipped")["value"] == pytest.approx(0.25)


def test_the_metric_is_f1_of_two_classes_and_accuracy_of_more() -> None:
    assert main_metric({"f1_positive": 0.8}, None) == "f1_macro"
    assert main_metric({"f1_positive": NAN}, None) == "accuracy"
    assert main_metric({"f1_positive": NAN}, "roc_auc") == "roc_auc"


def test_seeds_give_a_mean_and_both_intervals() -> None:
    """Of the areas 0.25, 0.5 and 0.375: Student's interval is 0.375 ± 4.3027 · 0.125/√3."""
    rows = list(over_seeds([row for i, v in enumerate((0.6, 0.5, 0.55)) for row in seed_rows(i, v)]))
    assert only(rows, "faithfulness_mean")["value"] == pytest.approx(0.375)
    half = stats.t.ppf(0.975, 2) * 0.125 / 3**0.5
    assert only(rows, "faithfulness_student_low")["value"] == pytest.approx(0.375 - half)
    assert only(rows, "faithfulness_student_high")["value"] == pytest.approx(0.375 + half)
    low, high = (only(rows, f"faithfulness_{end}")["value"] for end in ("low", "high"))
    # No resample of three seeds has a mean beyond the least and the greatest of them.
    assert 0.25 - 1e-9 <= low < 0.375 < high <= 0.5 + 1e-9
    assert {row["seed"] for row in rows} == {None}
    assert {json.loads(row["setting"])["seeds"] for row in rows} == {3}


def test_each_step_but_the_shared_ones_is_tested_against_random() -> None:
    """The gaps are 0.1, 0.2 and 0.15: t = 0.15 √3 / 0.05 with 2 degrees of freedom."""
    rows = list(over_seeds([row for i, v in enumerate((0.6, 0.5, 0.55)) for row in seed_rows(i, v)]))
    p = stats.ttest_1samp([0.1, 0.2, 0.15], 0, alternative="greater").pvalue
    assert only(rows, "below_random")["fraction"] == 0.5
    assert only(rows, "below_random")["value"] == pytest.approx(0.15)
    assert only(rows, "below_random_p")["value"] == pytest.approx(p)
    assert only(rows, "below_random_p_holm")["value"] == pytest.approx(p)  # one test: nothing to adjust
    assert only(rows, "above_random_p_holm")["value"] == pytest.approx(1 - p)
    assert only(rows, "class_leakage")["value"] == 0


def test_a_curve_above_random_with_every_seed_is_class_leakage() -> None:
    rows = [row for i, v in enumerate((0.80, 0.81, 0.79)) for row in seed_rows(i, v)]
    assert only(list(over_seeds(rows)), "class_leakage")["value"] == 1


def test_two_tests_are_adjusted_together() -> None:
    """Of two p-values after Holm the smaller is doubled, and the larger is no smaller than that."""
    rows: Rows = []
    for seed, noise in enumerate((0.0, 0.01, -0.02)):
        rows += seed_rows(seed, 0.6 + noise)
        more = [row for row in seed_rows(seed, 0.69 + 2 * noise) if row["explainer"] == "attention"]
        rows += [row | {"explainer": "gradient"} for row in more]
    found = list(over_seeds(rows))
    p = [only(found, "below_random_p", explainer=name)["value"] for name in ("attention", "gradient")]
    adjusted = [
        only(found, "below_random_p_holm", explainer=name)["value"] for name in ("attention", "gradient")
    ]
    assert p[0] < p[1]
    assert adjusted == pytest.approx([2 * p[0], max(2 * p[0], p[1])])


def test_one_seed_has_no_interval_and_no_test_and_says_why() -> None:
    rows = list(over_seeds(seed_rows(0, 0.6)))
    for measure in ("faithfulness_low", "faithfulness_student_high", "below_random_p", "class_leakage"):
        assert isnan(only(rows, measure)["value"])
        assert only(rows, measure)["reason"] == "one seed"
    assert only(rows, "faithfulness_mean")["value"] == pytest.approx(0.25)


def test_a_shortcut_is_as_far_off_as_its_areas_and_ranks_alike_or_not() -> None:
    def areas(**values: float) -> Rows:
        setting = json.dumps({"masking": "recursive"})
        usual = {**WHERE, "measure": "faithfulness", "setting": setting, "reason": None}
        return [usual | {"explainer": name, "value": value} for name, value in values.items()]

    full = areas(attention=0.1, gradient=0.3, oracle=0.9, random_2=0.0)
    rows = list(shortcut(full, areas(attention=0.2, gradient=0.1, oracle=0.8, random_2=0.5), "warm_start"))
    errors = {row["explainer"]: row["value"] for row in rows if row["measure"] == "shortcut_error"}
    assert errors == pytest.approx({"attention": 0.1, "gradient": -0.2, "oracle": -0.1, "random_2": 0.5})
    # Of the three pairs of explainers one changed its order; the second random order is no explainer.
    assert only(rows, "shortcut_kendall_tau")["value"] == pytest.approx(1 / 3)
    assert json.loads(rows[0]["setting"])["shortcut"] == "warm_start"


def test_one_explainer_cannot_be_ranked() -> None:
    rows = [row for row in seed_rows(0, 0.6) if row["measure"] == "faithfulness"]
    row = only(list(shortcut(rows, rows, "warm_start")), "shortcut_kendall_tau")
    assert isnan(row["value"])
    assert row["reason"] == "fewer than two explainers have different areas"


def test_leakage_is_how_much_better_models_do_where_the_gold_label_is_explained() -> None:
    """At a half 0.05, 0.1 and 0.06 better by seed."""
    gold, predicted = (
        [row for seed, value in enumerate(values) for row in seed_rows(seed, value, label=label)]
        for label, values in (("gold", (0.65, 0.7, 0.61)), ("predicted", (0.6, 0.6, 0.55)))
    )
    rows, gaps = list(leakage(gold, predicted, ["attention"])), [0.05, 0.1, 0.06]
    row = only(rows, "leakage", explainer="attention", fraction=0.5)
    setting = json.loads(row["setting"])
    assert row["value"] == pytest.approx(0.07)
    assert (setting["label"], setting["against"], setting["seeds"], row["seed"]) == (
        *("gold", "predicted", 3, None),
    )
    half = stats.t.ppf(0.975, 2) * stats.sem(gaps)
    assert only(rows, "leakage_low")["value"] == pytest.approx(0.07 - half)
    assert only(rows, "leakage_high")["value"] == pytest.approx(0.07 + half)
    p = stats.ttest_1samp(gaps, 0, alternative="greater").pvalue
    assert only(rows, "leakage_p_holm")["value"] == pytest.approx(p)
    # Below random there is an area of (0.4 / 2 + 0.2) / 2 = 0.2 in all, of which a gap g at a half is g / 2.
    assert only(rows, "leakage_area")["value"] == pytest.approx(0.07 / 2 / 0.2)
    assert only(rows, "leakage_area")["fraction"] is None


def test_an_explainer_that_asks_for_no_class_has_no_leakage_nor_has_random() -> None:
    assert list(leakage(seed_rows(0, 0.6), seed_rows(0, 0.6), [])) == []


def test_leakage_of_one_seed_has_no_interval_and_says_why() -> None:
    rows = list(leakage(seed_rows(0, 0.65), seed_rows(0, 0.6), ["attention"]))
    assert only(rows, "leakage")["value"] == pytest.approx(0.05)
    for name in ("leakage_low", "leakage_high", "leakage_p_holm"):
        assert isnan(only(rows, name)["value"])
        assert only(rows, name)["reason"] == "one seed"
