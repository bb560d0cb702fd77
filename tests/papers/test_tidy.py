from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from faithgauge.papers.tidy import Known, agreement, note, performance, sizes

CLASSES = {"sst@jain-wallace-2019": ("negative", "positive")}


def columns(*rows: dict[str, Any]) -> dict[str, np.ndarray]:
    usual = {
        "dataset": "sst@jain-wallace-2019",
        "split": "test",
        "model": "bilstm",
        "explainer": "attention",
        "versus": "input_x_gradient:jain-wallace-2019",
        "measure": "kendall_tau",
        "seed": 0,
        "example": "0",
        "class": "negative",
        "setting": json.dumps({"attention": "additive", "vectors": "normal(0, 1)"}),
    }
    whole = [usual | row for row in rows]
    return {name: np.array([row[name] for row in whole]) for name in whole[0]}


def taus(*values: float, measure: str = "kendall_tau", **more: Any) -> list[dict[str, Any]]:
    return [{"example": str(i), "value": value, "measure": measure, **more} for i, value in enumerate(values)]


def found(rows: dict[str, np.ndarray], metric: str, **keys: str) -> Any:
    numbers = agreement(rows, Known(CLASSES, {"input_x_gradient": "gradient"}))
    wanted = {"measure_a": "attention", "measure_b": "gradient", **keys}
    (one,) = [number for number in numbers if number.metric == metric and number.keys == wanted]
    return one


def test_a_number_is_the_mean_over_texts_with_its_spread() -> None:
    one = found(columns(*taus(0.1, 0.3, 0.5)), "kendall_tau")
    assert one.value == pytest.approx(0.3)
    assert one.spread == pytest.approx(np.std([0.1, 0.3, 0.5]))
    assert (one.n, one.n_seeds, one.dataset, one.encoder) == (3, 1, "sst@jain-wallace-2019", "bilstm")
    assert 0.1 <= one.low <= 0.3 <= one.high <= 0.5


def test_each_class_has_its_number_by_its_place_among_the_classes() -> None:
    rows = columns(*taus(0.2, 0.4), {"example": "9", "value": 1.0, "class": "positive"})
    assert found(rows, "kendall_tau", **{"class": "0"}).value == pytest.approx(0.3)
    assert found(rows, "kendall_tau", **{"class": "1"}).value == 1.0


def test_the_share_of_significant_texts_is_that_of_p_up_to_a_twentieth() -> None:
    rows = columns(*taus(0.05, 0.051, 0.001, 0.9, measure="kendall_p"))
    assert found(rows, "sig_frac").value == 0.5
    assert found(rows, "sig_frac").spread is None


def test_what_is_not_defined_is_left_out_and_not_counted() -> None:
    one = found(columns(*taus(0.2, float("nan"), 0.4)), "kendall_tau")
    assert one.value == pytest.approx(0.3)
    assert one.n == 2


def test_seeds_count_alike_however_many_texts_of_a_class_each_has() -> None:
    """With seed 0 two texts of mean 0.2, with seed 1 one text of 0.8: half of 1.0."""
    rows = columns(*taus(0.1, 0.3), *taus(0.8, seed=1))
    one = found(rows, "kendall_tau")
    assert one.value == pytest.approx(0.5)
    assert one.n_seeds == 2


def test_performance_is_the_mean_over_seeds_with_students_interval() -> None:
    """Of 0.7, 0.8, 0.9: mean 0.8, s = 0.1, t = 4.303 with 2 degrees of freedom."""
    rows = [{"measure": "accuracy", "value": v, "seed": s} for s, v in enumerate((0.7, 0.8, 0.9))]
    (one,) = performance(columns(*rows), Known(metrics=["accuracy"]))
    assert one.value == pytest.approx(0.8)
    assert (one.low, one.high) == pytest.approx((0.8 - 0.2484, 0.8 + 0.2484), abs=1e-4)
    assert one.keys == {"split": "test"}


def test_one_seed_has_no_interval() -> None:
    (one,) = performance(columns({"measure": "accuracy", "value": 0.7}), Known(metrics=["accuracy"]))
    assert (one.low, one.high, one.spread) == (None, None, None)


def test_an_attention_that_is_not_the_usual_one_is_a_key() -> None:
    rows = columns({"value": 0.5, "setting": json.dumps({"attention": "dot"})})
    assert found(rows, "kendall_tau", attention="dot").value == 0.5


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"vectors": "normal(0, 1)"}, "vectors: normal(0, 1)"),
        ({"vectors": "glove", "data": "partial"}, "partial data; vectors: glove"),
        ({"data": "substituted"}, "substituted data"),
        ({}, ""),
    ],
)
def test_a_note_says_first_whether_the_data_are_those_of_the_paper(
    setting: dict[str, str], said: str
) -> None:
    assert note(setting) == said


def test_without_rows_there_are_no_numbers() -> None:
    none = {name: values[:0] for name, values in columns({"value": 1.0}).items()}
    assert agreement(none, Known(CLASSES)) == []
    assert performance(none, Known(metrics=["accuracy"])) == []


def test_the_sizes_of_the_splits_are_of_no_encoder_and_carry_the_mark_of_the_data() -> None:
    rows = columns(
        {"measure": "texts", "split": "train", "value": 400.0, "setting": '{"data": "partial"}'},
        {"measure": "texts", "split": "test", "value": 90.0, "setting": "{}"},
        {"measure": "accuracy", "split": "test", "value": 0.5, "setting": "{}"},
    )
    assert [(one.metric, one.encoder, one.value, one.note) for one in sizes(rows, Known())] == [
        ("n_train", "", 400.0, "partial data"),
        ("n_test", "", 90.0, ""),
    ]
