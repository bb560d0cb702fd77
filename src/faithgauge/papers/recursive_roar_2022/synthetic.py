"""The problem on which recursive ROAR is checked against a known answer: sixteen numbers, a linear model.

Four features are informative and mutually redundant; all sixteen share one noise. What is important is known:
whoever removes the four first loses everything after four steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from faithgauge.seeds import generator

Floats = NDArray[np.float64]
FEATURES, INFORMATIVE = 16, 4
TRAIN, TEST = 200_000, 50_000
NEWTON_STEPS = 25
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Problem:
    """Features (example, feature) and labels of both splits, and what the labels' signal is multiplied by."""

    train: tuple[Floats, NDArray[np.bool_]]
    test: tuple[Floats, NDArray[np.bool_]]
    signal: Floats


def problem(seed: int, train: int = TRAIN, test: int = TEST) -> Problem:
    """x = a z / 10 + d η + ε / 10, and y = 1 where z > 0.

    z, η (one number each) and ε (sixteen) are standard normal for every example; a and d (sixteen numbers)
    are standard normal and drawn once, and a is 0 but for its first four.

    Paper: recursive-roar-2022, eq. 1.
    """
    draw = generator(seed, "roar-synthetic")
    a, d = draw.standard_normal(FEATURES), draw.standard_normal(FEATURES)
    a[INFORMATIVE:] = 0

    def sample(n: int) -> tuple[Floats, NDArray[np.bool_]]:
        z, shared = draw.standard_normal((2, n, 1))
        x = a * z / 10 + d * shared + draw.standard_normal((n, FEATURES)) / 10
        return x, z[:, 0] > 0

    return Problem(sample(train), sample(test), a)


def curves(of: Problem) -> dict[str, list[float]]:
    """Test accuracy with 0, 1 … 16 features removed, by the order of their removal.

    `truth` removes the informative features first, the strongest of them first, and `worst` removes them
    last. `roar` goes by the weights of the model of all features, `recursive_roar` by those of the model that
    was fitted without the ones removed before.

    Paper: recursive-roar-2022, section 3.3.
    Differs: removed is the column, which for a linear model with an intercept is the same as any constant.
        The paper says that the order of the informative features does not matter, and not which it takes.
    """
    strongest = np.argsort(-np.abs(of.signal), kind="stable").tolist()
    weights = np.abs(fit(of, range(FEATURES))[1:])
    orders: dict[str, Callable[[list[int]], int]] = {
        "truth": lambda left: next(i for i in strongest if i in left),
        "worst": lambda left: next(i for i in reversed(strongest) if i in left),
        "roar": lambda left: max(left, key=lambda i: weights[i]),
        "recursive_roar": lambda left: left[int(np.argmax(np.abs(fit(of, left)[1:])))],
    }
    return {name: _curve(of, following) for name, following in orders.items()}


def fit(of: Problem, features: Sequence[int]) -> Floats:
    """Logistic regression on some of the features; the first weight is the intercept."""
    x, y = of.train
    columns = np.column_stack([np.ones(len(x)), x[:, list(features)]])
    some = slice(0, len(x) // 10)  # which says nearly where to look, at a tenth of the price
    return _newton(columns, y, _newton(columns[some], y[some], np.zeros(columns.shape[1])))


def accuracy(of: Problem, features: Sequence[int]) -> float:
    """On the test split, of the model of these features; of none, that of the more frequent class."""
    x, y = of.test
    weights = fit(of, features)
    said = weights[0] + x[:, list(features)] @ weights[1:] > 0
    return float((said == y).mean())


def _curve(of: Problem, following: Callable[[list[int]], int]) -> list[float]:
    left = list(range(FEATURES))
    found = [accuracy(of, left)]
    while left:
        left.remove(following(left))
        found.append(accuracy(of, left))
    return found


def _newton(columns: Floats, y: NDArray[np.bool_], start: Floats) -> Floats:
    weights = start.copy()
    for _ in range(NEWTON_STEPS):
        p = 1 / (1 + np.exp(-(columns @ weights)))
        slope = columns.T @ (y - p)
        curvature = (columns * (p * (1 - p))[:, None]).T @ columns
        step = np.linalg.solve(curvature, slope)
        weights += step
        if np.abs(step).max() < TOLERANCE * max(1.0, np.abs(weights).max()):
            break
    return weights
