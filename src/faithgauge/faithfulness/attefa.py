"""A number for the faithfulness of attention: what changing it costs an adversary, and what that is worth.

The number is a quotient of two distances, and a model that says the same of every text already reaches a
small one with attention as far away as can be. So it is told beside its cap, the number of the best such
model: more than the cap means that the adversary was not found, and about as much that it says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from faithgauge.faithfulness.compared import largest_distance, movable
from faithgauge.faithfulness.divergence import JSD_MAX
from faithgauge.types import Encoded, Ragged, Said

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Distances:
    """The mean distances of an adversary from its base: of the outputs, and of the attention."""

    tvd: float
    jsd: float


def attefa(tvd: float, jsd: float, *, classes: int) -> float:
    """How faithful attention is, from the mean distances between an adversary and its base.

    min((TVD / TVD_max) / (JSD / ln 2), 1)

    TVD_max is ½ of two classes and 1 of more. nan where both distances are 0.

    Paper: attefa, eq. 7.
    Differs: more than two classes.
    Range: [0, 1]; 1 where the output moves as much as the attention, 0 where it does not move at all.
    """
    moved, far = tvd / largest_distance(classes), jsd / JSD_MAX
    if np.isnan(moved + far):
        return nan
    if far == 0:
        return 1.0 if moved > 0 else nan
    return min(moved / far, 1.0)


def one_shot_loss(tvd: float, jsd: float, *, classes: int) -> float:
    """What an adversary minimises, of the means over a split: `objectives.one_shot`."""
    return tvd / largest_distance(classes) - jsd / JSD_MAX


def constant(said: Said, encoded: Encoded) -> Distances:
    """The best constant output with, text by text, the attention furthest from the base's.

    TVD: the least mean of ½ Σ_c |x_c − p̂_c| over the constants x, half of it for two classes;
    JSD: the mean of max_α JSD(α, α̂), all weight on the token that has least.

    Both are means over the texts of two tokens or more, since no other attention can be changed.

    A convex function of the attention is largest where one token has all of it, and
    JSD(1_t, α̂) = ln 2 + ½ (α̂_t ln α̂_t − (1 + α̂_t) ln(1 + α̂_t)) falls with α̂_t.

    Cost: one sort for each class.
    """
    among = movable(encoded)
    if not among.any():
        return Distances(nan, nan)
    p = said.probability[among].astype(np.float64)
    moved = np.abs(p - best_constant(p)).sum(-1).mean() / 2 * largest_distance(p.shape[1])
    assert said.attention is not None
    far = [furthest(said.attention, encoded.spans)]
    if said.pair is not None and encoded.pair_spans is not None:
        far.append(furthest(said.pair, encoded.pair_spans))
    return Distances(float(moved), float(np.mean([part[among] for part in far])))


def attefa_cap(best: Distances, *, classes: int) -> float:
    """What AtteFa is of the best constant predictor: no adversary that minimises its loss has more.

    a_c / j_max,  a_c = TVD / TVD_max and j_max = JSD / ln 2 of that predictor; at most 1

    An adversary whose loss a − j is no larger than a_c − j_max, and whose j is at most j_max, has
    a / j ≤ a_c / j_max. A number above it was reached by an adversary that is not the best one.

    Range: [0, 1]; about ½ for a base that is sure of itself and has two classes of equal size.
    """
    return attefa(best.tvd, best.jsd, classes=classes)


def attefa_adjusted(value: float, best: Distances, *, classes: int) -> float:
    """AtteFa as a share of its cap; nan where the constant predictor moves as far as its attention.

    AtteFa / (a_c / j_max),  nan for j_max ≤ a_c and for a_c = 0

    Range: [0, 1] of an adversary that was found, more of one that was not.
    """
    whole = attefa_cap(best, classes=classes)
    return nan if not 0 < whole < 1 else value / whole


def best_constant(p: Floats) -> Floats:
    """The distribution with the least mean total variation distance from the rows of p.

    Σ_c |x_c − p_c| summed over rows is, along each class, a line between two values that stand beside each
    other in its order, with the same slope for every class at the same rank. So x lies between the k-th
    smallest values of all classes and the next ones, at the k where their sums pass 1: for two classes it is
    the median.
    """
    ordered = np.sort(p, axis=0)
    sums = ordered.sum(axis=1)
    after = int(np.searchsorted(sums, 1.0))
    if after == 0 or after == len(sums):
        found = ordered[min(after, len(sums) - 1)]
        return np.asarray(found / found.sum())
    low, high = ordered[after - 1], ordered[after]
    share = (1 - sums[after - 1]) / (sums[after] - sums[after - 1])
    return np.asarray(low + share * (high - low))


def furthest(attention: Ragged, spans: Ragged) -> Floats:
    """The largest JSD from the attention of each text; 0 where there is one token, or none."""
    result = np.zeros(len(attention))
    for i, (start, stop) in enumerate(zip(attention.offsets[:-1], attention.offsets[1:], strict=True)):
        own = attention.values[start:stop][np.asarray(spans.values[start:stop, 0]) >= 0]
        if len(own) > 1:
            least = float(own.min())
            with_log = least * np.log(least) if least > 0 else 0.0
            result[i] = JSD_MAX + (with_log - (1 + least) * np.log1p(least)) / 2
    return result
