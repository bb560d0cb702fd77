"""Rows of the permutation test of a transformer, under the names of that of one attention over the tokens.

`permuted` in the setting says of which layers the attention is in random order: "last_layer" or "all_layers".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from faithgauge.attacked import EQUAL, FEWEST, SAME, Side, parts_of
from faithgauge.encode.batching import collate
from faithgauge.explain.split import frozen
from faithgauge.faithfulness.permuted_heads import Layers, attention_of, equal, most, permutation_tvd_heads
from faithgauge.measured import Measured, Part
from faithgauge.train.predict import device_of

LAYERS: tuple[Layers, ...] = ("last", "all")
TVD, MOST = ("permutation_tvd", None), ("max_attention", None)


def permuting_heads(
    of: Measured,
    rows: NDArray[np.int64],
    permutations: int,
    *,
    seed: int,
    on_progress: Callable[[float, float], None] = lambda _done, _total: None,
) -> Iterator[Part]:
    """How far the output of each text moves, in the median; of the last layer also its largest attention."""
    model, encoded = of.trained.classifier, of.encoded
    sides = {layers: Side(np.zeros(len(rows), np.int64)) for layers in LAYERS}
    for side in sides.values():
        side.values[TVD] = np.full(len(rows), np.nan)
        side.reasons[TVD] = EQUAL
    largest = sides["last"].values[MOST] = np.full(len(rows), np.nan)
    with frozen(model):
        for i in range(len(rows)):
            classes = len(of.trained.classes)
            text = collate(encoded, rows[i : i + 1], classes=classes, device=device_of(model))
            tokens, own = int(text.maskable.sum()), attention_of(model, text)
            largest[i] = most(own, text)
            for layers, side in sides.items():
                side.tokens[i] = tokens
                if tokens >= FEWEST and not equal(own, text, layers, same=SAME):
                    side.values[TVD][i] = permutation_tvd_heads(
                        model, text, layers, permutations=permutations, seed=seed
                    )
            on_progress(i + 1, len(rows))
    for layers, side in sides.items():
        said = {"permutations": permutations, "permuted": f"{layers}_layer{'s' * (layers == 'all')}"}
        yield from parts_of(of, rows, side, setting=said)
