"""How well a classifier's probabilities fit the gold labels, in numpy.

All metrics of a split are computed together from one array of probabilities. A metric that is not defined
for what it is given (a curve where only one class occurs, anything where there are no examples or a
probability is not a number) is nan, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan, nan

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

METRICS = (
    "f1_positive",
    "f1_macro",
    "f1_micro",
    "accuracy",
    "roc_auc",
    "pr_auc",
    "calibration_error",
    "loss",
)
"""The keys of `metrics`, in order."""

LOWER_IS_BETTER = frozenset({"calibration_error", "loss"})

BINS = 15
"""Of the calibration error: as many as are usual."""

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def metrics(
    probabilities: Float[np.ndarray, "example class"], labels: Int[np.ndarray, " example"]
) -> dict[str, float]:
    """Every metric of METRICS; the predicted class is the most probable one, the first of them on a tie.

    For two classes a probability of exactly ½ is thus a prediction of class 0. `f1_positive` is the F1 of
    class 1 of two, and nan for more. `f1_macro` is the mean of `f1` over the classes that occur among labels
    or predictions. `f1_micro` equals the accuracy, since each example has one label and one prediction.
    `roc_auc` and `pr_auc` are those of class 1 of two; for more classes the mean, over the classes that
    occur, of each class against the rest.

    Cost: O(n log n) for each class.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    y = np.asarray(labels, dtype=np.int64)
    if p.ndim != 2 or p.shape[1] < 2 or y.shape != p.shape[:1]:
        raise ValueError(f"expected (example, class ≥ 2) and (example), found {p.shape} and {y.shape}")
    if len(y) == 0 or not np.isfinite(p).all():
        return dict.fromkeys(METRICS, nan)
    predicted = p.argmax(axis=1)
    by_class = [f1(predicted == c, y == c) for c in range(p.shape[1])]
    accuracy = float((predicted == y).mean())
    return {
        "f1_positive": by_class[1] if p.shape[1] == 2 else nan,
        "f1_macro": _mean_defined(by_class),
        "f1_micro": accuracy,
        "accuracy": accuracy,
        "roc_auc": _against_the_rest(roc_auc, p, y),
        "pr_auc": _against_the_rest(pr_auc, p, y),
        "calibration_error": calibration_error(p.max(axis=1), predicted == y),
        "loss": loss(p[np.arange(len(y)), y]),
    }


def f1(predicted: Flags, actual: Flags) -> float:
    """The harmonic mean of precision and recall of one class.

    2 TP / (2 TP + FP + FN)

    TP, FP, FN: examples rightly predicted, wrongly predicted, and missed. nan where all three are 0: the
    class neither occurs nor is predicted.

    Range: [0, 1].
    """
    involved = int(predicted.sum() + actual.sum())
    return 2 * int((predicted & actual).sum()) / involved if involved else nan


def roc_auc(scores: Floats, actual: Flags) -> float:
    """The probability that a random example of the class scores above a random other one; a tie counts half.

    (R − P (P + 1) / 2) / (P N)

    R: the sum of the ranks of the P examples of the class among all, equal scores sharing their mean rank;
    N: the number of the others. nan where P or N is 0.

    Range: [0, 1]; ½ for scores that know nothing.
    Cost: one sort.
    """
    positive, negative = int(actual.sum()), int((~actual).sum())
    if not positive or not negative:
        return nan
    _, group, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    twice_rank = 2 * np.cumsum(sizes) - sizes + 1
    twice = int(twice_rank[group][actual].sum()) - positive * (positive + 1)
    return twice / (2 * positive * negative)


def pr_auc(scores: Floats, actual: Flags) -> float:
    """Average precision: the area below the steps of the precision–recall curve.

    Σₜ (Rₜ − Rₜ₋₁) Pₜ

    Pₜ, Rₜ: precision and recall when all examples with at least the t-th highest distinct score are taken,
    so that equal scores come in together. nan where the class, or every other class, does not occur.

    Range: (0, 1]; for scores that know nothing, the share of the class.
    Cost: one sort.
    """
    positive = int(actual.sum())
    if positive in (0, len(actual)):
        return nan
    _, group, sizes = np.unique(-scores, return_inverse=True, return_counts=True)
    hits = np.bincount(group, weights=actual)
    precision = np.cumsum(hits) / np.cumsum(sizes)
    return float((hits * precision).sum() / positive)


def calibration_error(confidence: Floats, correct: Flags) -> float:
    """Expected calibration error: how far the probability of the predicted class is from its accuracy.

    Σ_b (n_b / n) |accuracy_b − confidence_b|

    b: 15 bins of equal width, (0, 1/15], (1/15, 2/15] … (14/15, 1], by the probability of the predicted
    class; n_b: the examples of a bin; accuracy_b, confidence_b: their share of right predictions and the mean
    of those probabilities.

    Range: [0, 1].
    """
    bins = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
    surplus = np.bincount(bins, weights=correct - confidence, minlength=BINS)
    return float(np.abs(surplus).sum() / len(confidence))


def loss(of_label: Floats) -> float:
    """The mean negative log likelihood −1/n Σᵢ ln pᵢ, where pᵢ is the probability given to the gold label.

    A probability below 2.2e-16 counts as 2.2e-16, so that one such example costs 36 and not infinity.

    Range: [0, 36.05].
    """
    return float(-np.log(np.maximum(of_label, np.finfo(np.float64).eps)).mean())


def _against_the_rest(curve: Callable[[Floats, Flags], float], p: Floats, y: NDArray[np.int64]) -> float:
    if p.shape[1] == 2:
        return curve(p[:, 1], y == 1)
    return _mean_defined([curve(p[:, c], y == c) for c in range(p.shape[1])])


def _mean_defined(values: Sequence[float]) -> float:
    defined = [value for value in values if not isnan(value)]
    return sum(defined) / len(defined) if defined else nan
