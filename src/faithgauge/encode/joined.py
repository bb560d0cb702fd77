"""Two texts in one row: which token belongs to which of them, and how a row that is too long is cut."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from faithgauge.encode.tokenizer import Joined
from faithgauge.types import Encoded, Ragged


def cut_pair(tokens: Joined, excess: int) -> Joined:
    """The row without `excess` tokens, each taken from the end of the text that is longer at that moment.

    Of texts of equal length the second is cut. Special tokens stay.
    """
    if not excess:
        return tokens
    real, segments = tokens.spans[:, 0] >= 0, tokens.segments
    first, second = (np.flatnonzero(real & (segments == side)) for side in (0, 1))
    left = [len(first), len(second)]
    for _ in range(excess):
        left[0 if left[0] > left[1] else 1] -= 1
    gone = np.concatenate([first[max(left[0], 0) :], second[max(left[1], 0) :]])
    kept = np.delete(np.arange(len(tokens.ids)), gone)
    return Joined(tokens.ids[kept], tokens.spans[kept], segments[kept])


def side_of(encoded: Encoded, side: int) -> tuple[Ragged, Ragged, NDArray[np.int64]]:
    """Ids and spans of one text of each pair in one row, and where these stand among all."""
    assert encoded.segments is not None
    own = np.flatnonzero(np.asarray(encoded.segments.values) == side)
    offsets = np.searchsorted(own, encoded.ids.offsets).astype(np.int64)
    ids = Ragged(np.asarray(encoded.ids.values)[own], offsets)
    return ids, Ragged(np.asarray(encoded.spans.values)[own], offsets), own
