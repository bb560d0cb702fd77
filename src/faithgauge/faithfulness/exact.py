"""The adversarial attention that is furthest away, without a search: for a linear decoder it can be computed.

Let the states be fixed, let attention lie on the maskable tokens alone, and let the output be one probability
p = σ(z(α)) with z(α) = Σ_t α_t v_t, as it is of a linear decoder (v_t is the logit when token t has all the
attention). Then |p(α) − p(α̂)| ≤ ε is the slab

    logit(p̂ − ε) ≤ z(α) ≤ logit(p̂ + ε),  logit = ∓∞ outside (0, 1)

and JSD(α, α̂) is convex in α, so that over the simplex cut by a slab it is largest at a vertex. A vertex has
one token inside the slab, or two tokens, on either side of a boundary, mixed so as to lie on it: O(T²)
candidates, each of which costs a few logarithms. The largest is no estimate; there is no attention beyond it.

Of more than two classes no such polytope is known. But TVD ≤ ε bounds the log-odds of every two classes,

    ln((p̂_c − ε) / (p̂_d + ε)) ≤ z_c(α) − z_d(α) ≤ ln((p̂_c + ε) / (p̂_d − ε))

which is a slab again, and holds every attention that is allowed. The smallest of their maxima is a certified
upper bound; a lower one is what a search finds (`adversarial`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax, xlogy

from faithgauge.errors import ConfigError
from faithgauge.faithfulness.divergence import JSD_MAX, PER_TVD, Distance
from faithgauge.types import Ragged

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Number = TypeVar("Number", np.float64, np.int64)

AT_ONCE = 1 << 15
"""Pairs of tokens that are looked at together: what a processor's cache holds."""
ROUNDING = 1e-9
"""By how much, relative to its boundaries, the slab is widened so that rounding leaves no vertex out."""
NONE = -1


@dataclass(frozen=True)
class Furthest:
    """Of each text the largest JSD from its attention that ε allows, and the attention that has it.

    jsd      (example)  nan for a text without tokens; with more than two classes an upper bound
    first    (example)  the place of a token in the text that has weight 1 − `weight`; −1 where none has
    second   (example)  the place of the token that has the rest
    weight   (example)
    certain             whether the attention is allowed: not with more than two classes
    """

    jsd: Floats
    first: Ints
    second: Ints
    weight: Floats
    certain: bool

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Whether no attention is allowed but the text's own."""
        return self.jsd <= ROUNDING

    def attention(self, own: Ragged) -> Ragged:
        """That attention, flat as the text's own is; its own one where no other is allowed."""
        values = np.asarray(own.values, np.float64).copy()
        for text in np.flatnonzero((self.second != NONE) & ~self.alone):
            row = values[own.offsets[text] : own.offsets[text + 1]]
            row[:] = 0
            row[self.first[text]] = 1 - self.weight[text]
            row[self.second[text]] += self.weight[text]
        return Ragged(values, own.offsets)


def exact_adversary(
    attention: Ragged, values: Ragged, *, epsilon: float, distance: Distance = "tvd"
) -> Furthest:
    """The ε-max JSD of each text: how far attention can get while the output moves by no more than ε.

    max JSD(α, α̂)  over the distributions α on the tokens of the text with TVD(ŷ(α), ŷ(α̂)) ≤ ε

    `attention` is α̂ and `values` the logits of each token: one column of a sigmoid, or one for each class.
    Both have the maskable tokens alone. ε bounds |Δp|, or ½|Δp| where `distance` is "half_tvd". It may be 0,
    and a number of 0 says that nothing but α̂ is allowed.

    Paper: jain-wallace-2019, section 4.2.2, the number that its search estimates from below.
    Differs: exact; no 1e-10 inside the logarithms, which is worth about 1e-6.
    Range: [0, ln 2].
    Cost: O(tokens²) for each text, times the pairs of classes; memory is bounded.
    """
    if not epsilon >= 0:
        raise ConfigError(f"expected an epsilon of 0 or more, found {epsilon}")
    full = np.flatnonzero(attention.lengths() > 0)
    first, second = np.full((2, len(attention)), NONE)
    jsd, weight = np.full((2, len(attention)), np.nan)
    result = Furthest(jsd, first, second, weight, certain=_width(values) <= 2)
    if not len(full):
        return result
    lengths = attention.lengths()[full]
    start = np.cumsum(lengths) - lengths
    weights = np.asarray(attention.values, np.float64)
    own = _Texts(weights / np.repeat(np.add.reduceat(weights, start), lengths), start, lengths)
    limit = epsilon / PER_TVD[distance]
    for value, low, high in _slabs(np.asarray(values.values, np.float64), own, limit):
        found = _furthest(own, value, low, high)
        better = ~(found.jsd >= jsd[full])  # anything is better than the nan of before the first slab
        for whole, part in (
            (jsd, found.jsd),
            (weight, found.weight),
            (first, found.first),
            (second, found.second),
        ):
            whole[full[better]] = part[better]
    return result


@dataclass(frozen=True)
class _Texts:
    """The attention of texts that have a token: flat, with the start and the length of each."""

    attention: Floats
    start: Ints
    length: Ints

    def of_tokens(self, of_texts: NDArray[Number]) -> NDArray[Number]:
        """What is true of each text, for each of its tokens."""
        return np.repeat(of_texts, self.length)


def _width(values: Ragged) -> int:
    return 1 if values.values.ndim == 1 else int(values.values.shape[1])


def _slabs(values: Floats, own: _Texts, epsilon: float) -> Iterator[tuple[Floats, Floats, Floats]]:
    """The value of each token and the boundaries for each text: one slab, or one for every two classes."""
    values = values.reshape(len(values), -1)
    z = np.add.reduceat(own.attention[:, None] * values, own.start, axis=0)
    if values.shape[1] <= 2:
        value, here = (x[:, -1] - (x[:, 0] if x.shape[1] == 2 else 0) for x in (values, z))
        yield value, *_boundaries(here, expit(here), expit(-here), epsilon=epsilon)
        return
    p = softmax(z, axis=1)
    for c, d in combinations(range(values.shape[1]), 2):
        here = z[:, c] - z[:, d]
        yield values[:, c] - values[:, d], *_boundaries(here, p[:, c], p[:, d], epsilon=epsilon)


def _boundaries(z: Floats, p: Floats, q: Floats, *, epsilon: float) -> tuple[Floats, Floats]:
    """ln((p ∓ ε) / (q ± ε)), infinite where a probability would leave [0, 1], and z itself for ε = 0."""
    if epsilon == 0:
        low, high = z, z
    else:
        with np.errstate(divide="ignore"):
            low = np.log(np.maximum(p - epsilon, 0)) - np.log(q + epsilon)
            high = np.log(p + epsilon) - np.log(np.maximum(q - epsilon, 0))
    return (
        np.minimum(low, z) - ROUNDING * np.where(np.isinf(low), 0, 1 + np.abs(low)),
        np.maximum(high, z) + ROUNDING * np.where(np.isinf(high), 0, 1 + np.abs(high)),
    )


def _furthest(own: _Texts, value: Floats, low: Floats, high: Floats) -> Furthest:
    """The vertex of largest JSD of the simplex of each text cut by its slab."""
    best = _Best(len(low))
    inside = (value >= own.of_tokens(low)) & (value <= own.of_tokens(high))
    tokens = np.flatnonzero(inside)
    text = own.of_tokens(np.arange(len(low)))
    best.take(text[tokens], _two(1.0, own.attention[tokens]), tokens, tokens, np.ones(len(tokens)))
    order = np.lexsort((value, text))
    for boundary in (low, high):
        _mixtures(own, value, boundary, order=order, best=best)
    found = best.score > -np.inf
    jsd = np.where(found, np.clip(JSD_MAX + best.score / 2, 0, JSD_MAX), 0.0)
    first, second = (np.where(found, place - own.start, NONE) for place in (best.first, best.second))
    return Furthest(jsd, first, second, best.weight, certain=True)


class _Best:
    """The best candidate of each text so far: its score 2 (JSD − ln 2), its tokens, the second's weight."""

    def __init__(self, texts: int) -> None:
        self.score = np.full(texts, -np.inf)
        self.first, self.second = np.full((2, texts), NONE)
        self.weight = np.full(texts, np.nan)

    def take(self, text: Ints, score: Floats, first: Ints, second: Ints, weight: Floats) -> None:
        """Candidates in the order of their texts."""
        if not len(text):
            return
        start = np.flatnonzero(np.diff(text, prepend=NONE))
        top = np.maximum.reduceat(score, start)
        is_top = np.flatnonzero(score == np.repeat(top, np.diff(start, append=len(text))))
        at = is_top[np.flatnonzero(np.diff(text[is_top], prepend=NONE))]
        at = at[score[at] > self.score[text[at]]]
        own = text[at]
        self.score[own], self.weight[own] = score[at], weight[at]
        self.first[own], self.second[own] = first[at], second[at]


def _mixtures(own: _Texts, value: Floats, boundary: Floats, *, order: Ints, best: _Best) -> None:
    """All mixtures of a token below the boundary with one above it that lie on it.

    JSD = ln 2 + ½ [two(1 − w, α̂_s) + two(w, α̂_t)],  w = (c − v_s) / (v_t − v_s)
    """
    value, attention = value[order], own.attention[order]
    entropy = xlogy(attention, attention)
    edge = own.of_tokens(boundary)
    above = np.add.reduceat((value > edge).astype(np.int64), own.start)
    # Of each pair the lower token: the upper ones stand side by side at the end of the text.
    lower = np.flatnonzero((value < edge) & (own.of_tokens(above) > 0))
    text = own.of_tokens(np.arange(len(boundary)))[lower]
    count, start = above[text], (own.start + own.length - above)[text]
    gap, ends, done = edge[lower] - value[lower], np.cumsum(count), 0
    while done < len(lower):
        passed = ends[done - 1] if done else 0
        stop = max(int(np.searchsorted(ends, passed + AT_ONCE, side="right")), done + 1)
        some, times = slice(done, stop), count[done:stop]
        each = np.repeat(lower[some], times)
        partner = np.arange(len(each)) + np.repeat(start[some] - ends[some] + times + passed, times)
        upper, span = value[partner], np.repeat(gap[some], times)
        apart = upper - value[each]
        weight = span / apart
        score = _two(weight, attention[partner], entropy[partner])
        score += _two((upper - edge[each]) / apart, attention[each], entropy[each])
        best.take(np.repeat(text[some], times), score, order[each], order[partner], weight)
        done = stop


def _two(a: float | Floats, b: Floats, b_ln_b: Floats | None = None) -> Floats:
    """a ln a + b ln b − (a + b) ln(a + b), a > 0: what a token of weights a and b adds to 2 (JSD − ln 2)."""
    both = a + b
    found: Floats = a * np.log(a) + (xlogy(b, b) if b_ln_b is None else b_ln_b) - both * np.log(both)
    return found
