"""How few tokens hold how much of the importance of a text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from faithgauge.faithfulness.masking import Amount
from faithgauge.types import Ragged

Floats = NDArray[np.float64]


def sparsity(scores: Ragged, amounts: Sequence[Amount]) -> Floats:
    """The share of all importance that the k most important tokens of a text have, (amount, example).

    Σ_{t among the k highest} |score_t| / Σ_t |score_t|

    k: so many tokens (all of a text that has fewer), or ⌊x · n⌋ of its n tokens, as in masking. Tokens whose
    score is nan have none. nan where all scores of a text are 0, or there is none.

    Paper: recursive-roar-2022, appendix E.
    Differs: the paper does not say how importance with a sign is counted; here by its size.
    Range: [0, 1].
    Cost: one sort of the tokens.
    """
    size = np.abs(np.asarray(scores.values, np.float64))
    known = ~np.isnan(size)
    ends = np.concatenate([[0], np.cumsum(known)])[scores.offsets]
    n = np.diff(ends)
    text = np.repeat(np.arange(len(n)), n)
    size = size[known]
    order = np.lexsort((-size, text))
    sums = np.concatenate([[0.0], np.cumsum(size[order])])
    total = sums[ends[1:]] - sums[ends[:-1]]
    found = np.full((len(amounts), len(n)), np.nan)
    there = total > 0
    for i, amount in enumerate(amounts):
        held = sums[ends[:-1] + amount.of(n)] - sums[ends[:-1]]
        found[i, there] = (held[there] / total[there]).clip(0, 1)
    return found
