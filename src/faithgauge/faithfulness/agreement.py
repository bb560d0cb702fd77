"""How far two explanations of the same texts agree on which tokens matter.

Agreement is not faithfulness. Two explanations may agree and both be wrong, and two that are faithful may
disagree where several tokens would do; a low number says that they differ, not which of them to believe. Nor
does a number say much alone: beside it belong what scores in random order would have reached
(`permutation_floor`) and how far an explanation agrees with itself when the model is trained again
(`pairwise` over seeds).

Each measure gives one number per row (a text, or a pair of texts joined by `joined`). A row that has no
token, one token or constant scores has nan and a reason, and is never dropped.

Paper: jain-wallace-2019, section 4.1; neely-2022, section 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

import numpy as np

from faithgauge.errors import DataError
from faithgauge.registry import Table
from faithgauge.seeds import generator
from faithgauge.stats import top
from faithgauge.stats.rank import kendall
from faithgauge.stats.rows import DEFINED, Paired, RowValues, paired
from faithgauge.types import Ragged

Measure = Callable[[Ragged, Ragged], RowValues]
Name = TypeVar("Name")

SIGNIFICANT = 0.05
"""The level at which a rank correlation counts as significant."""

REPEATS = 100
AT_ONCE = 1 << 20
"""Permuted scores that are in memory together."""

MEASURES: Table[Measure] = Table(
    "measure",
    {
        "kendall_tau": "faithgauge.stats.rank:kendall",
        "kendall_p": "faithgauge.faithfulness.agreement:kendall_p",
        "significant": "faithgauge.faithfulness.agreement:significant",
        "spearman": "faithgauge.stats.rank:spearman",
        "pearson": "faithgauge.stats.rank:pearson",
        "overlap_fixed": "faithgauge.faithfulness.agreement:overlap_fixed",
        "overlap_fraction": "faithgauge.faithfulness.agreement:overlap_fraction",
        "overlap_non_zero": "faithgauge.faithfulness.agreement:overlap_non_zero",
        "top_tau_fixed": "faithgauge.faithfulness.agreement:top_tau_fixed",
        "top_tau_fraction": "faithgauge.faithfulness.agreement:top_tau_fraction",
        "top_tau_non_zero": "faithgauge.faithfulness.agreement:top_tau_non_zero",
    },
    group="faithgauge.measures",
)
"""What is measured of two scores of the same tokens, by name; options are set with `functools.partial`."""


@dataclass(frozen=True)
class TokenScores:
    """One explanation of every row: a number per token, nan where a token is not explained.

    `signed` says that a score below zero is evidence against the class, as the explainer's table has it.
    """

    scores: Ragged
    signed: bool


@dataclass(frozen=True)
class Agreement(Generic[Name]):
    """One measure of two explanations, row by row; `magnitudes` says that they were compared without sign."""

    explainer: Name
    versus: Name
    measure: str
    magnitudes: bool
    rows: RowValues


@dataclass(frozen=True)
class Floor:
    """What noise reaches: the mean over rows, averaged over permutations, and the range of 95 % of them.

    `n` rows were used; for `n_missing` the measure is not defined.
    """

    mean: float
    low: float
    high: float
    n: int
    n_missing: int


def joined(text: Ragged, pair: Ragged) -> Ragged:
    """The scores of both texts of each pair as one row, the first text first."""
    if len(text) != len(pair):
        raise DataError(
            f"expected scores of as many second texts as first ones, found {len(pair)} and {len(text)}"
        )
    parts = [values for i in range(len(text)) for values in (text.row(i), pair.row(i))]
    lengths = text.lengths() + pair.lengths()
    values = np.concatenate(parts) if parts else text.values
    return Ragged(values, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def compared(
    first: TokenScores, second: TokenScores, *, magnitudes: bool | None = None
) -> tuple[Ragged, Ragged, bool]:
    """The scores as they are compared, and whether without sign.

    By default signs are left out where one explanation has signs and the other has none, for a token that
    speaks strongly against the class is then important to both. Two explanations with signs are compared with
    them.
    """
    if magnitudes is None:
        magnitudes = first.signed != second.signed
    one, other = first.scores, second.scores
    if magnitudes:
        one, other = (Ragged(np.abs(scores.values), scores.offsets) for scores in (one, other))
    return one, other, magnitudes


def pairwise(
    explanations: Mapping[Name, TokenScores],
    measures: Mapping[str, Measure] = MEASURES,
    *,
    magnitudes: bool | None = None,
) -> Iterator[Agreement[Name]]:
    """Every measure of every two explanations of the same rows, in the order in which they are given.

    The explanations of one explainer by seed instead of by name give its agreement with itself when the model
    is trained again: the ceiling of what another explainer can be expected to reach.
    """
    for (name, first), (versus, second) in combinations(explanations.items(), 2):
        one, other, plain = compared(first, second, magnitudes=magnitudes)
        for measure, of in measures.items():
            yield Agreement(name, versus, measure, plain, of(one, other))


def permutation_floor(
    first: TokenScores,
    second: TokenScores,
    measure: Measure,
    *,
    seed: int,
    repeats: int = REPEATS,
    magnitudes: bool | None = None,
) -> Floor:
    """What the measure would be, were the second scores in random order within each row.

    Each of `repeats` permutations has one mean over the rows. The draws of a row depend on the seed and on
    its number alone.

    Cost: `repeats` times the measure.
    """
    one, other, _ = compared(first, second, magnitudes=magnitudes)
    pair = paired(one, other)
    values = [
        part for rows in _parts(pair, repeats) for part in _permuted(pair, rows, measure, seed, repeats)
    ]
    table = np.array(values).reshape(-1, repeats)
    known = ~np.isnan(table).any(axis=1)
    if not known.any():
        return Floor(np.nan, np.nan, np.nan, 0, len(known))
    means = table[known].mean(axis=0)
    low, high = np.quantile(means, [0.025, 0.975])
    return Floor(float(means.mean()), float(low), float(high), int(known.sum()), int((~known).sum()))


def kendall_p(first: Ragged, second: Ragged) -> RowValues:
    """The probability of a Kendall τ at least as far from 0, in either direction, between unrelated scores.

    Paper: jain-wallace-2019, section 4.1.
    Range: [0, 1].
    """
    found = kendall(first, second)
    assert found.p is not None
    return RowValues(found.p, found.reason)


def significant(first: Ragged, second: Ragged) -> RowValues:
    """Whether Kendall's τ is significant, in either direction: 1 where p ≤ 0.05, else 0.

    Its mean over rows is the fraction of significant rows.

    Paper: jain-wallace-2019, table 2.
    Differs: a row without a τ is nan and out of the mean; in the paper's code it counts as not significant.
    Range: 0 or 1; in the mean about 0.05 for unrelated scores, less in rows of few tokens.
    """
    found = kendall_p(first, second)
    return RowValues(np.where(found.reason == DEFINED, found.value <= SIGNIFICANT, np.nan), found.reason)


def overlap_fixed(first: Ragged, second: Ragged, *, k: int = 5) -> RowValues:
    """The share of the k highest tokens of one explanation that are among the k highest of the other.

    |A ∩ B| / k

    A, B: the k tokens with the highest scores, equal scores by position; all tokens of a row that has fewer.

    Paper: krishna2022, feature agreement.
    Range: [0, 1]; about k/n for unrelated scores of n tokens, and 1 where n ≤ k.
    """
    return top.overlap(first, second, top.fixed(first, second, k))


def overlap_fraction(first: Ragged, second: Ragged, *, fraction: float = 0.2) -> RowValues:
    """`overlap_fixed` with k = ⌊fraction · n⌋ of the n tokens of each row, and at least one.

    Paper: krishna2022, feature agreement.
    Range: [0, 1]; about k/n for unrelated scores.
    """
    return top.overlap(first, second, top.share(first, second, fraction))


def overlap_non_zero(first: Ragged, second: Ragged) -> RowValues:
    """`overlap_fixed` with as many tokens of each row as have a score that is not zero.

    k = min(nₐ, n_b)

    nₐ, n_b: the tokens whose score is not zero, in the first and in the second explanation. Made for sparse
    attention, which chooses its own k.

    Paper: neely-2022, section 6.1.
    Range: [0, 1]; 1 where no score is zero.
    """
    return top.overlap(first, second, top.non_zero(first, second))


def top_tau_fixed(first: Ragged, second: Ragged, *, k: int = 5) -> RowValues:
    """How alike two explanations order the tokens that are among the k highest of either.

    1 − 2 K / (u (u − 1) / 2), where K = D + ½ T

    u: the tokens among the k highest of the first explanation or of the second; of their pairs, D are in
    opposite order and T are tied in one explanation alone. A token that is not among the k highest of an
    explanation counts in it as below them all, and as tied with every other such token. K is thus the
    distance with penalty p = ½ of fagin2003.

    Paper: fagin2003, distance K with penalty p; neely-2022, section 6.1.
    Differs: where both have the same single token above all, u = 1 and the value is 1; in the paper's code it
    is
        nan, so that at k = 1 only disagreement would count.
    Range: [−1, 1]; 1 for equal orders, −1 only if the k highest are the same and reversed, or k = 1; −k / (2k
    − 1)
        where the k highest have no token in common. It is below 0 for unrelated scores.
    """
    return top.top_tau(first, second, top.fixed(first, second, k))


def top_tau_fraction(first: Ragged, second: Ragged, *, fraction: float = 0.2) -> RowValues:
    """`top_tau_fixed` with k = ⌊fraction · n⌋ of the n tokens of each row, and at least one.

    Paper: fagin2003, distance K with penalty p; neely-2022, section 6.1.
    Range: [−1, 1].
    """
    return top.top_tau(first, second, top.share(first, second, fraction))


def top_tau_non_zero(first: Ragged, second: Ragged) -> RowValues:
    """`top_tau_fixed` with as many tokens of each row as have a score that is not zero, as in
    `overlap_non_zero`.

    Paper: fagin2003, distance K with penalty p; neely-2022, section 6.1.
    Range: [−1, 1].
    """
    return top.top_tau(first, second, top.non_zero(first, second))


def _parts(pair: Paired, repeats: int) -> Iterator[range]:
    """Rows in order, as many together as fit into AT_ONCE when repeated."""
    start = 0
    while start < len(pair.offsets) - 1:
        limit = pair.offsets[start] + AT_ONCE // repeats
        end = max(start + 1, int(np.searchsorted(pair.offsets, limit, side="right")) - 1)
        yield range(start, end)
        start = end


def _permuted(pair: Paired, rows: range, measure: Measure, seed: int, repeats: int) -> np.ndarray:
    """(row, repeat): the measure of the first scores and the second in random order."""
    ends = [(pair.offsets[i], pair.offsets[i + 1]) for i in rows]
    first = [np.tile(pair.first[a:b], repeats) for a, b in ends]
    second = [
        generator(seed, "agreement floor", i)
        .permuted(np.tile(pair.second[a:b], (repeats, 1)), axis=1)
        .ravel()
        for i, (a, b) in zip(rows, ends, strict=True)
    ]
    lengths = np.repeat([b - a for a, b in ends], repeats)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    found = measure(Ragged(np.concatenate(first), offsets), Ragged(np.concatenate(second), offsets))
    return found.value.reshape(len(rows), repeats)
