"""What curves of retrained models say: how far a measure's lies below that of random order.

A curve is the performance at each step, a fraction of the tokens or a count of them, from 0 upwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from faithgauge.errors import DataError
from faithgauge.faithfulness.sparsity import sparsity
from faithgauge.registry import Table

Curve = Mapping[float, float]
"""By step the performance of the model that was trained without so much."""

FLAT = 0.01
"""A random curve that lies, on average, no further than this above the floor has no area to lose."""


@dataclass(frozen=True)
class Area:
    """A score, or nan and the reason why there is none."""

    value: float
    reason: str | None = None

    @property
    def clipped(self) -> float:
        """Not beyond −1 and 1."""
        return self.value if isnan(self.value) else min(1.0, max(-1.0, self.value))


def faithfulness(measure: Curve, random: Curve, floor: float) -> Area:
    """The area between the random curve and that of a measure, as a share of the most that there can be.

    Σ_i ½ Δx_i (Δp_i + Δp_{i+1}) / Σ_i ½ Δx_i (Δb_i + Δb_{i+1})

    Δx_i = x_{i+1} − x_i,  Δp_i = b_i − p_i,  Δb_i = b_i − b_I

    x: the steps; p, b: performance without what the measure, or a random order, calls most important; b_I is
    the `floor`, performance with every token masked. Where the measure is above random the area is negative.
    nan where the random curve is flat: on average less than 0.01 above the floor.

    Paper: recursive-roar-2022, eq. 3.
    Differs: the paper's code clips the score to [−1, 1], which is here a measure of its own. Eq. 3 writes x_i
        for the masking ratios r_i, and ends its sums at I − 1, which with the pairs (i, i + 1) is all steps.
    Range: (−∞, 1] where no model does worse than the floor.
    """
    if measure.keys() != random.keys() or len(measure) < 3:
        found = ", ".join(f"{step:g}" for step in measure)
        wanted = ", ".join(f"{step:g}" for step in random)
        raise DataError(
            "expected a measure that was run at all steps of the random order, and at one or more beside the "
            f"first and the last, which all measures share: {wanted}; found {found}"
        )
    x = np.array(sorted(random))
    b = np.array([random[step] for step in x])
    p = np.array([measure[step] for step in x])
    if np.isnan([*b, *p, floor]).any():
        return Area(nan, "performance is not defined at every step")
    whole = _area(x, b - floor)
    if whole / (x[-1] - x[0]) < FLAT:
        return Area(nan, "the random curve is flat")
    return Area(_area(x, b - p) / whole)


def masked_training_curve(measure: Curve, random: Curve, floor: float) -> Area:
    """The same area for one model that was trained on masked texts, and is not trained again at any step.

    A random share of every second text is masked while it learns, so that no masked text is unlike what it
    has seen. At each step the explanation is asked again of the model and the text as it then is. It is an
    estimate of `faithfulness` for the price of one training, and of another model than the one in question.

    Paper: madsen2023.
    Differs: the paper asks for an explanation once, of the whole text.
    Range: (−∞, 1] where no text is done worse than one of which everything is masked.
    """
    return faithfulness(measure, random, floor)


def _area(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    return float(np.diff(x) @ (y[1:] + y[:-1]) / 2)


MEASURES = Table(
    "measure",
    {
        "faithfulness": faithfulness,
        "masked_training_curve": masked_training_curve,
        "sparsity": sparsity,
    },
)
"""What is read from curves of masked texts, and how sparse explanations are."""
