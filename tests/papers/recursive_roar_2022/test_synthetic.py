"""ROAR and recursive ROAR where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from faithgauge.papers.recursive_roar_2022.synthetic import FEATURES, accuracy, curves, fit, problem


def test_the_problem_is_that_of_equation_1() -> None:
    """A feature has the covariance a_i/10 · √(2/π) with the sign of z, E|z| being √(2/π)."""
    of = problem(0, train=200_000, test=10)
    x, y = of.train
    assert (of.signal != 0).tolist() == [True] * 4 + [False] * 12
    signs = np.where(y, 1.0, -1.0)
    found = (x * signs[:, None]).mean(axis=0)
    scale = x.std(axis=0) / np.sqrt(len(x))
    assert (np.abs(found - of.signal / 10 * np.sqrt(2 / np.pi)) < 4 * scale).all()


def test_the_fit_is_where_the_likelihood_has_no_slope() -> None:
    of = problem(1, train=2_000, test=10)
    x, y = of.train
    weights = fit(of, range(FEATURES))
    p = 1 / (1 + np.exp(-(weights[0] + x @ weights[1:])))
    assert np.abs(x.T @ (y - p)).max() == pytest.approx(0, abs=1e-6)
    assert (y - p).sum() == pytest.approx(0, abs=1e-6)


def test_without_features_the_more_frequent_class_is_said() -> None:
    of = problem(0, train=200, test=200)
    majority = of.train[1].mean() > 0.5
    assert accuracy(of, []) == pytest.approx((of.test[1] == majority).mean())


def test_recursive_roar_is_the_truth_and_plain_roar_is_not() -> None:
    found = curves(problem(1, train=8_000, test=8_000))
    truth, worst = np.array(found["truth"]), np.array(found["worst"])
    assert {len(curve) for curve in found.values()} == {FEATURES + 1}
    assert np.abs(np.array(found["recursive_roar"]) - truth).max() < 0.02
    assert (np.array(found["roar"]) - truth).max() > 0.05
    assert (worst - truth).max() > 0.3
    assert truth[4:] == pytest.approx(0.5, abs=0.02)
