"""Masking the tokens that an explanation calls most important."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def masked(
    ids: NDArray[np.int32], scores: NDArray[np.floating], fraction: float, *, mask: int
) -> NDArray[np.int32]:
    """One text with the share `fraction` of its maskable tokens replaced by `mask`, the highest scores first.

    k = ⌊fraction · n⌋ tokens in all, where n counts the tokens whose score is not nan. What is masked already
    counts among the k and stays masked, so that masking step by step gives nested sets. Equal scores go by
    position.

    Paper: recursive-roar-2022, section 3.
    Differs: the paper's code takes the floor in float32, which at some fractions is one token short.
    Cost: one sort of the tokens.
    """
    maskable = np.flatnonzero(~np.isnan(scores))
    # 0.7 · 10 is 6.999…: what is an integer but for rounding is that integer.
    k = int(np.floor(fraction * len(maskable) + 1e-9))
    before = ids[maskable] == mask
    order = np.lexsort((maskable, -scores[maskable], ~before))
    result = ids.copy()
    result[maskable[order[:k]]] = mask
    return result
