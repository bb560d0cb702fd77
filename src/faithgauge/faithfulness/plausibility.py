"""How well the scores of an explanation find the tokens that are known to decide the label.

Where people marked the evidence this is plausibility: it says whether an explanation is what a person would
give, not whether it is true of the model, and a faithful explanation of a model that goes by something else
must fail it. Where the evidence was planted and nothing else tells the classes apart it is a known answer: a
model that solves the task goes by it, and an explanation that misses it is wrong.

Tokens go from the highest score to the lowest, as in erasure. What `random` says is the exact expectation of
a measure over all orders of the tokens, so that nothing has to be drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from faithgauge.errors import DataError, UnsupportedError
from faithgauge.faithfulness.against import (
    ALL_EVIDENCE,
    DEFINED,
    NO_EVIDENCE,
    NO_SCORE,
    NO_TOKEN,
    AgainstRandom,
    Floats,
)
from faithgauge.types import Encoded, Ragged

Flags = NDArray[np.bool_]


def plausibility(scores: Mapping[str, Ragged], encoded: Encoded) -> AgainstRandom:
    """Every measure of this page for several explanations of the texts of a split, with a score for each id.

    Special tokens are left out. A text without evidence, or with nothing else, has no value.
    """
    evidence = encoded.evidence
    if evidence is None:
        raise UnsupportedError("expected texts whose evidence is known, found none; choose another data set")
    maskable = replace(encoded.spans, values=encoded.spans.values[:, 0].astype(np.int64) >= 0)
    for name, one in scores.items():
        if not np.array_equal(one.offsets, evidence.offsets):
            raise DataError(
                f"{name}: expected scores of {len(evidence.values)} tokens in {len(evidence)} texts, found "
                f"{len(one.values)} in {len(one)}; explain the split whose evidence this is"
            )
    shape = len(MEASURES), len(scores), len(evidence)
    value, random = np.full(shape, np.nan), np.full((shape[0], shape[2]), np.nan)
    reason = np.zeros(shape, np.int8)
    for text in range(len(evidence)):
        own = maskable.row(text).astype(bool)
        flags = np.asarray(evidence.row(text), bool)[own]
        if code := _undefined(flags):
            reason[:, :, text] = code
            continue
        random[:, text] = [CHANCE[name](len(flags), int(flags.sum())) for name in MEASURES]
        for place, one in enumerate(scores.values()):
            given = np.asarray(one.row(text), np.float64)[own]
            if np.isnan(given).any():
                reason[:, place, text] = NO_SCORE
            else:
                value[:, place, text] = [measure(given, flags) for measure in MEASURES.values()]
    return AgainstRandom(tuple(MEASURES), tuple(scores), value, random, reason)


def evidence_recall(scores: Floats, evidence: Flags) -> float:
    """The share of the evidence among as many tokens of the highest scores; higher is better.

    |top m ∩ evidence| / m,   m = |evidence|

    Precision and recall are the same at this cut. Of tokens with equal scores at the cut, each counts with
    the probability that a random order of them puts it above.

    Paper: deyoung2020, agreement with human rationales.
    Differs: the paper takes as many tokens as rationales have on average over the data set.
    Range: [0, 1]; m / n for random orders and for constant scores.
    Cost: a sort.
    """
    m = int(evidence.sum())
    cut = np.partition(scores, -m)[-m]
    above, level = scores > cut, scores == cut
    share = (m - above.sum()) / level.sum()
    return float((evidence[above].sum() + share * evidence[level].sum()) / m)


def evidence_auprc(scores: Floats, evidence: Flags) -> float:
    """The area under precision and recall over all cuts, as average precision; higher is better.

    Σ_i (recall_i − recall_{i−1}) · precision_i,   i over the distinct scores, the highest first

    Paper: deyoung2020, AUPRC.
    Differs: the paper's code joins the points of the curve by straight lines, which overstates precision;
        equal scores make one point of the curve, as in scikit-learn.
    Range: [0, 1]; m / n for constant scores, a little more for random orders.
    Cost: a sort.
    """
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    hits = np.cumsum(evidence[order])[last]
    gained = np.diff(hits, prepend=0) / hits[-1]
    return float(np.sum(gained * hits / (last + 1)))


def evidence_reciprocal_rank(scores: Floats, evidence: Flags) -> float:
    """One by the rank of the first token of the evidence, the mean of which is MRR; higher is better.

    E[1 / rank of the first token of the evidence],   over the random orders of tokens with equal scores

    Paper: voorhees1999.
    Range: (0, 1].
    Cost: no sort.
    """
    best = scores[evidence].max()
    level = scores == best
    above = int((scores > best).sum())
    return _first(above, int(level.sum()), int(evidence[level].sum()))


def _first(above: int, level: int, hits: int) -> float:
    """E[1 / (above + rank of the first hit)], for `hits` hits in a random order of `level` tokens."""
    total, none_before = 0.0, 1.0
    for rank in range(1, level - hits + 2):
        here = none_before * hits / (level - rank + 1)
        total += here / (above + rank)
        none_before -= here
    return total


def _recall_by_chance(n: int, m: int) -> float:
    return m / n


def _auprc_by_chance(n: int, m: int) -> float:
    """E[average precision] = (1 / n) Σ_i (1 + (i − 1) (m − 1) / (n − 1)) / i, over ranks i from 1 to n."""
    before = np.arange(n)
    return float(np.mean((1 + before * (m - 1) / (n - 1)) / (before + 1)))


def _rank_by_chance(n: int, m: int) -> float:
    return _first(0, n, m)


MEASURES: Mapping[str, Callable[[Floats, Flags], float]] = {
    "evidence_recall": evidence_recall,
    "evidence_auprc": evidence_auprc,
    "evidence_reciprocal_rank": evidence_reciprocal_rank,
}
"""Each takes the scores of a text and which of its tokens are evidence; higher is better."""

CHANCE: Mapping[str, Callable[[int, int], float]] = {
    "evidence_recall": _recall_by_chance,
    "evidence_auprc": _auprc_by_chance,
    "evidence_reciprocal_rank": _rank_by_chance,
}
"""What a random order of n tokens, m of them evidence, is expected to reach: ``CHANCE[measure](n, m)``."""


def _undefined(evidence: Flags) -> int:
    if len(evidence) == 0:
        return NO_TOKEN
    if not evidence.any():
        return NO_EVIDENCE
    return ALL_EVIDENCE if evidence.all() else DEFINED
