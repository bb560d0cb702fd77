"""The tidy tables against numbers computed by hand."""

from __future__ import annotations

import json
from math import nan, sqrt
from pathlib import Path
from typing import Any

import pytest
from audits import Made, write_audit

from faithgauge import results
from faithgauge.report.audit import Audit, opened
from faithgauge.report.tidy import TABLES, made

WHERE = {"dataset": "d", "split": "test", "model": "lstm"}


def audit_of(tmp_path: Path, rows: list[dict[str, Any]], **document: Any) -> Audit:
    results.write([WHERE | row for row in rows], tmp_path / "results.parquet")
    (tmp_path / "audit.json").write_text(json.dumps({"format": 1, **document}))
    return opened(tmp_path)


def table(audit: Audit, name: str) -> list[dict[str, Any]]:
    return made(audit).get(name, [])


def by_text(values: list[float], **more: Any) -> list[dict[str, Any]]:
    classes = ["no", "yes"] * len(values)
    return [
        {"example": str(i), "class": classes[i], "seed": 0, "value": value, **more}
        for i, value in enumerate(values)
    ]


def test_erasure_is_a_mean_of_differences_of_all_texts_and_of_each_class(tmp_path: Path) -> None:
    own = {"explainer": "lime", "measure": "comprehensiveness", "setting": '{"erased_by":"mask"}'}
    rows = by_text([0.1, 0.5, 0.3, 0.7], versus="random order", **own) + by_text([9.0] * 4, **own)
    found = {row["class"]: row for row in table(audit_of(tmp_path, rows), "erasure")}
    assert found["all"]["value"] == pytest.approx(0.4)
    assert found["all"]["advantage"] == pytest.approx(0.4)
    assert found["no"]["value"] == pytest.approx(0.2)
    assert found["yes"]["value"] == pytest.approx(0.6)
    assert found["all"]["n"] == 4
    assert found["no"]["n"] == 2
    assert found["all"]["erased_by"] == "mask"
    assert 0.1 <= found["all"]["low"] < 0.4 < found["all"]["high"] <= 0.7


def test_of_a_measure_that_is_better_low_the_advantage_has_the_other_sign(tmp_path: Path) -> None:
    rows = by_text([-0.1, -0.3, -0.2], versus="random order", explainer="lime", measure="sufficiency")
    (row, *_) = table(audit_of(tmp_path, rows), "erasure")
    assert row["value"] == pytest.approx(-0.2)
    assert row["advantage"] == pytest.approx(0.2)
    assert (row["advantage_low"], row["advantage_high"]) == (-row["high"], -row["low"])
    assert row["advantage_low"] <= 0.2 <= row["advantage_high"]


def test_what_is_missing_is_counted_with_its_reason(tmp_path: Path) -> None:
    rows = by_text([0.2, nan, nan, 0.4], versus="random order", explainer="lime", measure="flip")
    for row, reason in zip(rows, (None, "no token", "no token", None), strict=True):
        row["reason"] = reason
    found = {row["class"]: row for row in table(audit_of(tmp_path, rows), "erasure")}
    assert found["all"]["value"] == pytest.approx(0.3)
    assert (found["all"]["n"], found["all"]["missing"], found["all"]["reason"]) == (2, 2, "no token")


def test_a_number_of_which_nothing_is_known_is_a_row_without_a_number(tmp_path: Path) -> None:
    rows = by_text([nan, nan], versus="random order", explainer="lime", measure="flip", reason="no token")
    found = {row["class"]: row for row in table(audit_of(tmp_path, rows), "erasure")}
    assert found["all"]["value"] is found["all"]["advantage"] is found["all"]["low"] is None
    assert (found["all"]["n"], found["all"]["seeds"], found["all"]["missing"]) == (0, 0, 2)


def test_evidence_has_what_a_random_order_finds_beside_it(tmp_path: Path) -> None:
    own = {"explainer": "lime", "measure": "evidence_recall"}
    rows = by_text([0.8, 0.6], **own) + by_text([0.5, 0.2], versus="random order", **own)
    (row,) = table(audit_of(tmp_path, rows), "evidence")
    assert row["value"] == pytest.approx(0.7)
    assert row["random"] == pytest.approx(0.35)
    assert "erasure" not in made(audit_of(tmp_path, rows))


def test_agreement_has_its_floor_and_a_diagonal(tmp_path: Path) -> None:
    pair = {"explainer": "lime", "versus": "attention", "measure": "kendall_tau"}
    rows = by_text([0.2, 0.6], **pair)
    rows += by_text([0.9, 0.7], **(pair | {"versus": "lime", "setting": '{"again_seed":1}'}))
    rows += [
        pair | {"measure": f"kendall_tau_floor{end}", "value": value}
        for end, value in (("", 0.01), ("_low", -0.1), ("_high", 0.12))
    ]
    found = {
        (row["explainer"], row["versus"], row["class"]): row
        for row in table(audit_of(tmp_path, rows), "agreement")
    }
    row = found["lime", "attention", "all"]
    assert row["value"] == pytest.approx(0.4)
    assert (row["floor"], row["floor_low"], row["floor_high"]) == (0.01, -0.1, 0.12)
    assert found["lime", "lime", "all"]["value"] == pytest.approx(0.8)
    assert found["lime", "lime", "all"]["floor"] is None


def test_metrics_are_a_mean_over_seeds_with_students_interval(tmp_path: Path) -> None:
    rows = [{"measure": "accuracy", "seed": i, "value": x} for i, x in enumerate((0.8, 0.9, 1.0))]
    rows += [{"measure": "f1", "seed": 0, "value": 0.5, "setting": '{"guide":"own","guided_by":"lstm"}'}]
    (row,) = table(audit_of(tmp_path, rows), "performance")
    half = 4.302652729911275 * 0.1 / sqrt(3)
    assert row["value"] == pytest.approx(0.9)
    assert (row["low"], row["high"]) == pytest.approx((0.9 - half, 0.9 + half))
    (guide,) = table(audit_of(tmp_path, rows), "guides")
    assert (guide["guide"], guide["value"], guide["low"]) == ("own", 0.5, None)


def test_curves_are_a_mean_over_seeds_at_each_fraction_of_each_variant(tmp_path: Path) -> None:
    rows = [
        {"explainer": "lime", "measure": "f1_macro", "fraction": f, "seed": s, "value": v, "setting": kind}
        for f, s, v, kind in (
            (0.1, 0, 0.8, None),
            (0.1, 1, 0.6, None),
            (0.2, 0, 0.5, None),
            (0.1, 0, 0.7, '{"recursive":true}'),
        )
    ]
    found = table(audit_of(tmp_path, rows), "roar")
    assert [(row["variant"], row["fraction"], row["value"], row["n"]) for row in found] == [
        ("recursive true", 0.1, 0.7, 1),
        (None, 0.1, pytest.approx(0.7), 2),
        (None, 0.2, 0.5, 1),
    ]


def test_a_variant_of_a_curve_is_named_by_what_is_not_the_same_in_all(tmp_path: Path) -> None:
    rows = [
        {
            "explainer": "lime",
            "measure": "f1_macro",
            "fraction": 0.1,
            "value": 0.5,
            "setting": f'{{"embed_size":300,"epochs":3,"masking":"{masking}"}}',
        }
        for masking in ("recursive", "masked_training")
    ]
    both = table(audit_of(tmp_path, rows), "roar")
    assert [row["variant"] for row in both] == ["masked_training", "recursive"]
    assert [row["variant"] for row in table(audit_of(tmp_path, rows[:1]), "roar")] == [None]


def test_distances_are_means_over_texts_of_one_model_each(tmp_path: Path) -> None:
    setting = '{"against":"adversary","lambda":0.001}'
    rows = by_text([0.1, 0.3], measure="output_distance", versus="base model", setting=setting)
    rows += by_text([0.5, 0.7], measure="attention_jsd", versus="base model", setting=setting)
    (row,) = table(audit_of(tmp_path, rows), "distances")
    assert row["tvd"] == pytest.approx(0.2)
    assert row["jsd"] == pytest.approx(0.6)
    assert (row["against"], row["lambda"], row["seed"], row["n"]) == ("adversary", "0.001", 0, 2)


def test_the_gap_is_told_with_the_interval_that_was_measured(tmp_path: Path) -> None:
    ends = (("", 0.02), ("_low", -0.01), ("_high", 0.05))
    rows = [{"measure": f"accuracy_gap{end}", "versus": "base model", "value": value} for end, value in ends]
    (row,) = table(audit_of(tmp_path, rows), "gaps")
    assert (row["measure"], row["value"], row["low"], row["high"]) == ("accuracy", 0.02, -0.01, 0.05)


def test_bins_are_quarters_of_the_largest_weight_and_have_quantiles(tmp_path: Path) -> None:
    largest = [0.1, 0.2, 0.25, 0.9, 1.0]
    moved = [0.4, 0.2, 0.7, 0.1, nan]
    other = {"versus": "base model", "setting": '{"against":"uniform"}'}
    rows = by_text(largest, measure="max_attention", **other)
    rows += by_text(moved, measure="output_distance", **other)
    found = table(audit_of(tmp_path, rows), "by_attention")
    assert [(row["bin"], row["n"], row["missing"], row["median"]) for row in found] == [
        ("0–0.25", 2, 0, pytest.approx(0.3)),
        ("0.25–0.5", 1, 0, 0.7),
        ("0.75–1", 1, 1, 0.1),
    ]
    assert {row["comparison"] for row in found} == {"uniform"}


def test_attefa_is_told_seed_by_seed(tmp_path: Path) -> None:
    rows = [{"measure": "attefa", "seed": 3, "value": 0.4, "setting": '{"start":"base","base_seed":3}'}]
    (row,) = table(audit_of(tmp_path, rows), "attefa")
    assert (row["start"], row["base_seed"], row["seed"], row["value"]) == ("base", "3", 3, 0.4)


def test_explainers_stand_in_the_order_of_their_verdicts(tmp_path: Path) -> None:
    verdicts = [
        {"explainer": "a", "verdict": "not supported"},
        {"explainer": "c", "verdict": "supported"},
        {"explainer": "b", "verdict": "undecided"},
    ]
    rows = [
        row
        for name in "abc"
        for row in by_text([0.1, 0.2], versus="random order", explainer=name, measure="insertion")
    ]
    audit = audit_of(tmp_path, rows, verdicts=verdicts)
    assert audit.explainers == ["c", "b", "a"]
    shown = [row["explainer"] for row in table(audit, "erasure") if row["class"] == "all"]
    assert shown == ["c", "b", "a"]


def test_every_table_of_a_whole_audit_has_rows_with_its_columns(tmp_path: Path) -> None:
    tables = made(opened(write_audit(tmp_path, Made(texts=8, explainers=("attention", "random"), seeds=2))))
    assert set(tables) == set(TABLES)
    for name, rows in tables.items():
        assert {tuple(row) for row in rows} == {TABLES[name].columns}


def test_an_audit_without_rows_has_no_tables_of_them(tmp_path: Path) -> None:
    (tmp_path / "audit.json").write_text('{"format": 1}')
    assert made(opened(tmp_path)) == {}
