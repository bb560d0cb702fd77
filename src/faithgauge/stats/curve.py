"""Whether a curve through a few points is convex or concave, as a number instead of by eye."""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def chord_area(x: Floats, y: Floats) -> float:
    """The area between a curve and its chord, as a share of the box around the curve.

    ∫ (chord(u) − curve(u)) du / ((x_max − x_min)(y_max − y_min))

    The curve goes straight from point to point in the order of x; of points with the same x it has the mean.
    The chord goes from the first to the last. Above 0 the curve lies mostly below its chord, as a convex one
    does; below 0 mostly above it. nan for fewer than three points, and where the box is flat.

    Paper: wiegreffe-pinter-2019, section 4 (by eye).
    Range: [−1, 1]; within ±½ where y only rises or only falls.
    """
    at, which = np.unique(np.asarray(x, np.float64), return_inverse=True)
    height = np.bincount(which, np.asarray(y, np.float64)) / np.bincount(which)
    if len(at) < 3 or height.max() == height.min():
        return nan
    width = at[-1] - at[0]
    chord = height[0] + (height[-1] - height[0]) * (at - at[0]) / width
    return float(np.trapezoid(chord - height, at) / (width * (height.max() - height.min())))
