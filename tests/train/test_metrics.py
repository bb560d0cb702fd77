"""Metrics against numbers worked out by hand, and against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st

from faithgauge.train.metrics import METRICS, calibration_error, f1, loss, metrics, pr_auc, roc_auc


def binary(positive: list[float]) -> np.ndarray:
    p = np.array(positive)
    return np.stack([1 - p, p], axis=1)


def flags(*values: int) -> np.ndarray:
    return np.array(values, dtype=bool)


@st.composite
def predictions(draw: st.DrawFn, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities on a coarse grid, so that ties are common."""
    n = draw(st.integers(1, 30))
    rows = st.lists(st.integers(0, 6), min_size=classes, max_size=classes).filter(any)
    raw = np.array(draw(st.lists(rows, min_size=n, max_size=n)), dtype=np.float64)
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    return raw / raw.sum(axis=1, keepdims=True), np.array(labels)


def test_all_metrics_come_in_the_order_of_their_names():
    assert tuple(metrics(binary([0.2, 0.9]), np.array([0, 1]))) == METRICS


def test_f1_by_hand():
    # Two rightly predicted, one wrongly, two missed: 2·2 / (2·2 + 1 + 2).
    assert f1(flags(1, 1, 1, 0, 0, 0), flags(1, 1, 0, 1, 1, 0)) == 4 / 7


def test_f1_of_a_class_that_is_never_predicted_is_zero():
    assert f1(flags(0, 0), flags(1, 0)) == 0.0


def test_f1_of_a_class_that_neither_occurs_nor_is_predicted_is_nan():
    assert math.isnan(f1(flags(0, 0), flags(0, 0)))


def test_f1_positive_is_that_of_class_1():
    found = metrics(binary([0.9, 0.8, 0.3, 0.1]), np.array([1, 0, 1, 0]))
    assert (found["f1_positive"], found["f1_macro"], found["accuracy"]) == (0.5, 0.5, 0.5)


def test_f1_macro_leaves_out_a_class_that_does_not_occur():
    p = np.eye(4)[[0, 1, 1]]
    # Class 0: 1; class 1: 2/3; class 2: 0 (missed); class 3 neither occurs nor is predicted.
    assert metrics(p, np.array([0, 1, 2]))["f1_macro"] == pytest.approx(5 / 9, abs=1e-15)


def test_a_probability_of_one_half_is_a_prediction_of_class_0():
    assert metrics(binary([0.5]), np.array([0]))["accuracy"] == 1.0
    assert metrics(binary([0.5]), np.array([1]))["accuracy"] == 0.0


def test_roc_auc_counts_the_pairs_in_order():
    # Pairs of one of {.8, .4} with one of {.6, .1}: three of four are in order.
    assert roc_auc(np.array([0.8, 0.6, 0.4, 0.1]), flags(1, 0, 1, 0)) == 0.75


def test_a_tie_counts_half_for_the_roc_auc():
    assert roc_auc(np.array([0.5, 0.5, 0.2]), flags(1, 0, 0)) == 0.75


@given(predictions(2))
@settings(max_examples=50)
def test_roc_auc_is_the_share_of_pairs_in_order(drawn: tuple[np.ndarray, np.ndarray]):
    scores, actual = drawn[0][:, 1], drawn[1] == 1
    pairs = [(a > b) + (a == b) / 2 for a in scores[actual] for b in scores[~actual]]
    if pairs:
        assert roc_auc(scores, actual) == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)


def test_pr_auc_by_hand():
    # Precision 1 at recall ½, then 2/3 at recall 1.
    assert pr_auc(np.array([0.8, 0.6, 0.4, 0.1]), flags(1, 0, 1, 0)) == pytest.approx(5 / 6, abs=1e-15)


def test_equal_scores_come_into_the_pr_auc_together():
    assert pr_auc(np.array([0.5, 0.5, 0.5, 0.5]), flags(1, 0, 0, 0)) == 0.25


def test_calibration_error_by_hand():
    # Bin (12/15, 13/15]: .82 and .84, one right: |.5 − .83|; bin (14/15, 1]: .98, right: |1 − .98|.
    found = calibration_error(np.array([0.82, 0.84, 0.98]), flags(1, 0, 1))
    assert found == pytest.approx((2 * 0.33 + 0.02) / 3, abs=1e-15)


def test_the_upper_end_of_a_bin_belongs_to_it():
    # 0.6 = 9/15 ends the bin that .55 is in, so that their errors of +.4 and −.55 cancel in part.
    assert calibration_error(np.array([0.6, 0.55]), flags(1, 0)) == pytest.approx(0.075, abs=1e-15)


def test_certain_and_right_is_perfectly_calibrated():
    assert calibration_error(np.array([1.0, 1.0]), flags(1, 1)) == 0.0


def test_loss_by_hand():
    assert loss(np.array([0.5, 0.25])) == pytest.approx((math.log(2) + math.log(4)) / 2, abs=1e-15)


def test_an_impossible_label_costs_36_and_not_infinity():
    assert loss(np.array([0.0])) == pytest.approx(52 * math.log(2), abs=1e-12)


def test_curves_are_nan_where_only_one_class_occurs():
    found = metrics(binary([0.2, 0.9]), np.array([1, 1]))
    assert math.isnan(found["roc_auc"])
    assert math.isnan(found["pr_auc"])
    assert found["accuracy"] == 0.5


def test_f1_positive_is_nan_for_three_classes():
    assert math.isnan(metrics(np.eye(3), np.arange(3))["f1_positive"])


def test_a_curve_leaves_out_the_classes_that_do_not_occur():
    p = np.array([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.7, 0.2, 0.1]])
    y = np.array([0, 1, 0])
    # Class 0 against the rest and class 1 against the rest are both in order; class 2 has no curve.
    assert metrics(p, y)["roc_auc"] == 1.0


def test_nothing_is_defined_without_examples():
    assert all(math.isnan(value) for value in metrics(np.empty((0, 2)), np.empty(0, dtype=int)).values())


def test_nothing_is_defined_where_a_probability_is_not_a_number():
    assert all(math.isnan(value) for value in metrics(binary([0.2, math.nan]), np.array([0, 1])).values())


def test_one_column_is_refused():
    with pytest.raises(ValueError, match=r"expected \(example, class ≥ 2\)"):
        metrics(np.ones((3, 1)), np.ones(3, dtype=int))


def test_the_order_of_the_examples_changes_nothing():
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(3), size=200), rng.integers(0, 3, 200)
    order = rng.permutation(200)
    assert metrics(p[order], y[order]) == pytest.approx(metrics(p, y), abs=1e-12, nan_ok=True)


@given(predictions(2))
@settings(max_examples=50)
def test_two_classes_agree_with_scikit_learn(drawn: tuple[np.ndarray, np.ndarray]):
    p, y = drawn
    found, predicted = metrics(p, y), p.argmax(axis=1)
    expected = {"accuracy": sk.accuracy_score(y, predicted), "loss": sk.log_loss(y, p, labels=[0, 1])}
    if predicted.any() or y.any():
        expected["f1_positive"] = sk.f1_score(y, predicted, zero_division=np.nan)
    if 0 < y.sum() < len(y):
        expected["roc_auc"] = sk.roc_auc_score(y, p[:, 1])
        expected["pr_auc"] = sk.average_precision_score(y, p[:, 1])
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12, rel=0)


@given(predictions(4))
@settings(max_examples=50)
def test_four_classes_agree_with_scikit_learn(drawn: tuple[np.ndarray, np.ndarray]):
    p, y = drawn
    found, predicted = metrics(p, y), p.argmax(axis=1)
    expected = {
        "accuracy": sk.accuracy_score(y, predicted),
        "f1_macro": sk.f1_score(y, predicted, average="macro"),
        "f1_micro": sk.f1_score(y, predicted, average="micro"),
        "loss": sk.log_loss(y, p, labels=range(4)),
    }
    if len(set(y.tolist())) == 4:
        expected["roc_auc"] = sk.roc_auc_score(y, p, multi_class="ovr")
        expected["pr_auc"] = sk.average_precision_score(np.eye(4)[y], p)
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12, rel=0)
