"""How far a number measured on some instances, or with some seeds, may be from what it is in general.

Every interval says what was drawn again: instances alone, seeds and instances, or nothing, where Student's t
was used over seeds. What is nan is left out and counted. The draws depend on the seed alone, so that two
measures of equally many instances are drawn alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from faithgauge.seeds import generator
from faithgauge.stats.rows import Floats, Ints

Over = Literal["instances", "seeds and instances", "seeds"]
Statistic = Callable[[Floats], Floats]
"""From (resample, instance), or (resample, instance, column), one number for each resample."""

RESAMPLES = 9_999
LEVEL = 0.95
SEEDS_TO_RESAMPLE = 3
"""Fewer seeds say nothing of how seeds differ: then instances alone are drawn again."""

AT_ONCE = 1 << 20
"""Draws that are in memory together."""


@dataclass(frozen=True)
class Interval:
    """A measured value and its interval; `n` values were used, of `n_seeds` seeds, and `n_missing` were nan.

    `low` and `high` are nan where there are fewer than two values.
    """

    value: float
    low: float
    high: float
    over: Over
    n: int
    n_seeds: int
    n_missing: int


def mean(sample: Floats) -> Floats:
    """The mean over instances."""
    result: Floats = sample.mean(axis=1)
    return result


def percentile(
    values: Floats,
    *,
    seed: int,
    statistic: Statistic = mean,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """The percentile bootstrap over instances: [Q(½ − level/2), Q(½ + level/2)].

    Q: quantiles of the statistic over `resamples` draws of n instances out of n, with replacement. `values`
    is (instance) or (instance, column); an instance with a nan is left out.

    Cost: resamples · n draws.
    """
    used = _used(values)
    low = high = nan
    if len(used) > 1:
        drawn = _drawn(used, statistic, seed=seed, resamples=resamples)
        low, high = np.quantile(drawn, _tails(level))
    return _interval(_of(used, statistic), low, high, "instances", [used], missing=len(values) - len(used))


def bca(
    values: Floats,
    *,
    seed: int,
    statistic: Statistic = mean,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """The bootstrap over instances, corrected for bias and for a variance that changes with the value.

    [Q(Φ(z₀ + (z₀ + z) / (1 − a (z₀ + z))))] for z = Φ⁻¹(½ ± level/2)

    Q: quantiles of the drawn statistic, as in `percentile`; Φ: the normal distribution; z₀ = Φ⁻¹ of the share
    of draws below the value, draws equal to it counting half; a = Σᵢ dᵢ³ / (6 (Σᵢ dᵢ²)^{3/2}), where dᵢ is
    how much the statistic without instance i lies below the mean of all of these.

    Paper: efron1987.
    Cost: resamples · n draws, and the statistic of n times n − 1 instances.
    """
    used = _used(values)
    value, low, high = _of(used, statistic), nan, nan
    if len(used) > 1:
        drawn = _drawn(used, statistic, seed=seed, resamples=resamples)
        low, high = np.quantile(drawn, _corrected(drawn, value, _without_one(used, statistic), level))
    return _interval(value, low, high, "instances", [used], missing=len(values) - len(used))


def nested(
    by_seed: Sequence[Floats],
    *,
    seed: int,
    statistic: Statistic = mean,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """The percentile bootstrap of the mean over seeds of a statistic, where each seed has instances of its
    own.

    As many seeds as there are are drawn, and for each of them as many of its instances as it has. With fewer
    than three seeds each is kept as it is, and its instances alone are drawn.
    """
    used = [_used(values) for values in by_seed]
    missing = sum(map(len, by_seed)) - sum(map(len, used))
    used = [values for values in used if len(values)]
    low = high = nan
    if sum(map(len, used)) > 1:
        random = generator(seed, "bootstrap")
        step = max(1, AT_ONCE // max(values.size for values in used))
        drawn = np.empty((resamples, len(used)))
        for part in _parts(drawn, step):
            which = _seeds(random, part.shape)
            for one, instances in enumerate(used):
                at = random.integers(0, len(instances), (int((which == one).sum()), len(instances)))
                part[which == one] = statistic(instances[at])
        low, high = np.quantile(drawn.mean(axis=1), _tails(level))
    return _interval(_mean_of(used, statistic), low, high, _over(used), used, missing=missing)


def crossed(
    values: Floats,
    *,
    seed: int,
    statistic: Statistic = mean,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """The percentile bootstrap of the mean over seeds of a statistic, where all seeds have the same
    instances.

    `values` is (seed, instance) or (seed, instance, column). Each draw has as many seeds as there are, and
    one draw of instances for all of them, since what an instance adds is not independent between seeds. An
    instance that is nan for one seed is left out for all. With fewer than three seeds all are kept, and
    instances alone are drawn.
    """
    used, n_out = _shared(values)
    drawn = _crossed(used, statistic, seed=seed, resamples=resamples)
    low, high = np.quantile(drawn, _tails(level)) if len(drawn) else (nan, nan)
    missing = len(used) * n_out
    return _interval(_mean_of(used, statistic), low, high, _over(used), used, missing=missing)


def crossed_p(values: Floats, *, seed: int, statistic: Statistic = mean, resamples: int = RESAMPLES) -> float:
    """How sure the interval of `crossed` is to lie on one side of 0: a two-sided p-value.

    min(1, 2 · (1 + min(#{d ≤ 0}, #{d ≥ 0})) / (resamples + 1)) over the draws d

    Below 1 − level where the interval of that level leaves 0 out; nan of fewer than two instances.
    """
    used, _ = _shared(values)
    drawn = _crossed(used, statistic, seed=seed, resamples=resamples)
    if not len(drawn):
        return nan
    beyond = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return min(1.0, 2 * (1 + beyond) / (len(drawn) + 1))


def crossed_means(
    values: Floats, *, seed: int, level: float = LEVEL, resamples: int = RESAMPLES
) -> list[Interval]:
    """`crossed` of the mean, for the first axis of (measure, seed, instance) all at once.

    A value that is nan is out of the mean of its seed and counts as missing; its instance stays for the
    others. A seed without any value is left out.

    Cost: resamples · n draws, and a matrix product of them with the values.
    """
    table = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(table)
    there, found = known.any(axis=2), np.empty(len(table), dtype=object)
    for pattern in np.unique(there, axis=0):
        alike = np.flatnonzero((there == pattern).all(axis=1))
        own = table[alike][:, pattern], known[alike][:, pattern]
        found[alike] = _crossed_means(*own, seed=seed, level=level, resamples=resamples)
    return list(found)


def _crossed_means(
    table: Floats, known: NDArray[np.bool_], *, seed: int, level: float, resamples: int
) -> list[Interval]:
    measures, seeds, n = table.shape
    filled, n_known = np.where(known, table, 0.0), known.sum(axis=(1, 2))
    with np.errstate(invalid="ignore"):
        value = (filled.sum(axis=2) / known.sum(axis=2)).mean(axis=1) if seeds else np.full(measures, nan)
    ends = np.full((2, measures), nan)
    if n > 1 and seeds:
        columns = np.concatenate([filled, known]).reshape(-1, n).T
        drawn = np.empty((resamples, measures))
        random = generator(seed, "bootstrap")
        for part in _parts(drawn, max(1, AT_ONCE // (2 * n))):
            which = _seeds(random, (len(part), seeds))
            sums = _counts(random.integers(0, n, (len(part), n))) @ columns
            above, below = sums.reshape(len(part), 2, measures, seeds).transpose(1, 0, 2, 3)
            with np.errstate(invalid="ignore"):
                of_seed = above / below
            part[:] = np.take_along_axis(of_seed, which[:, None], axis=2).mean(axis=2)
        ends = np.nanquantile(drawn, _tails(level), axis=0)
        ends[:, n_known < 2] = nan
    over: Over = "instances" if seeds < SEEDS_TO_RESAMPLE else "seeds and instances"
    every = zip(value, *ends, n_known, strict=True)
    return [
        Interval(float(v), float(low), float(high), over, int(n_k), seeds, seeds * n - int(n_k))
        for v, low, high, n_k in every
    ]


def _counts(at: Ints) -> Floats:
    """(resample, instance): how often each was drawn."""
    rows, n = at.shape
    found = np.bincount((at + n * np.arange(rows)[:, None]).ravel(), minlength=rows * n)
    return found.reshape(rows, n).astype(np.float64)


def student(by_seed: Floats, *, level: float = LEVEL) -> Interval:
    """Student's interval of the mean of one value per seed: m ± t s / √n.

    m, s: mean and standard deviation (of n − 1 degrees of freedom) of the values of n seeds; t: the quantile
    ½ + level/2 of Student's distribution of n − 1 degrees of freedom.
    """
    used = _used(by_seed)
    n = len(used)
    half = float(stdtrit(n - 1, (1 + level) / 2) * used.std(ddof=1) / sqrt(n)) if n > 1 else nan
    value = _of(used, mean)
    return Interval(value, value - half, value + half, "seeds", n, n, len(by_seed) - n)


def _shared(values: Floats) -> tuple[list[Floats], int]:
    """By seed the instances that all seeds have, and how many are left out."""
    table = np.asarray(values, dtype=np.float64)
    known = np.asarray(~np.isnan(table).any(axis=(0, *range(2, table.ndim))))
    return list(table[:, known]), int((~known).sum())


def _crossed(used: Sequence[Floats], statistic: Statistic, *, seed: int, resamples: int) -> Floats:
    """The mean over seeds of each draw; none where there are fewer than two instances."""
    n = len(used[0]) if used else 0
    if n < 2:
        return np.empty(0)
    random = generator(seed, "bootstrap")
    drawn = np.empty((resamples, len(used)))
    for part in _parts(drawn, max(1, AT_ONCE // used[0].size)):
        which = _seeds(random, part.shape)
        at = random.integers(0, n, (len(part), n))
        of_seed = np.stack([statistic(instances[at]) for instances in used], axis=1)
        part[:] = np.take_along_axis(of_seed, which, axis=1)
    found: Floats = drawn.mean(axis=1)
    return found


def _used(values: Floats) -> Floats:
    values = np.asarray(values, dtype=np.float64)
    known: Floats = values[~np.isnan(values.reshape(len(values), -1)).any(axis=1)] if len(values) else values
    return known


def _of(values: Floats, statistic: Statistic) -> float:
    return float(statistic(values[None])[0]) if len(values) else nan


def _mean_of(by_seed: Sequence[Floats], statistic: Statistic) -> float:
    return float(np.mean([_of(values, statistic) for values in by_seed])) if by_seed else nan


def _drawn(values: Floats, statistic: Statistic, *, seed: int, resamples: int) -> Floats:
    random = generator(seed, "bootstrap")
    drawn = np.empty(resamples)
    for part in _parts(drawn, max(1, AT_ONCE // values.size)):
        part[:] = statistic(values[random.integers(0, len(values), (len(part), len(values)))])
    return drawn


def _parts(array: Floats, step: int) -> list[Floats]:
    """The array in pieces of `step` rows, to be written to."""
    return [array[start : start + step] for start in range(0, len(array), step)]


def _seeds(random: np.random.Generator, shape: tuple[int, ...]) -> Ints:
    """(resample, seed): which seeds each resample has."""
    if shape[1] < SEEDS_TO_RESAMPLE:
        return np.broadcast_to(np.arange(shape[1]), shape)
    return random.integers(0, shape[1], shape)


def _over(by_seed: Sequence[Floats]) -> Over:
    return "instances" if len(by_seed) < SEEDS_TO_RESAMPLE else "seeds and instances"


def _tails(level: float) -> Floats:
    return np.array([(1 - level) / 2, (1 + level) / 2])


def _without_one(values: Floats, statistic: Statistic) -> Floats:
    """The statistic without each instance in turn."""
    n = len(values)
    result = np.empty(n)
    others = np.arange(n - 1)
    step = max(1, AT_ONCE // values.size)
    for start in range(0, n, step):
        left_out = np.arange(start, min(n, start + step))[:, None]
        result[left_out[:, 0]] = statistic(values[others + (others >= left_out)])
    return result


def _corrected(drawn: Floats, value: float, without_one: Floats, level: float) -> Floats:
    """The quantiles of the drawn statistic at which the corrected interval ends."""
    below = ((drawn < value).sum() + (drawn <= value).sum()) / (2 * len(drawn))
    distance = without_one.mean() - without_one
    spread = float((distance**2).sum()) ** 1.5
    if spread == 0 or below in (0, 1):
        # Nothing to correct by: all instances are alike, or the value is beyond all that was drawn.
        return _tails(level)
    a, start = (distance**3).sum() / (6 * spread), ndtri(below)
    z = start + ndtri(_tails(level))
    corrected: Floats = ndtr(start + z / (1 - a * z))
    return corrected


def _interval(
    value: float, low: float, high: float, over: Over, used: Sequence[Floats], *, missing: int
) -> Interval:
    seeds = len(used) if not isnan(value) else 0
    return Interval(value, float(low), float(high), over, sum(map(len, used)), seeds, missing)
