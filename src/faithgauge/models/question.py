"""What is asked of a batch when it is explained, and what may be known beside it.

An explanation is one of a number: f(x), the probability or the logit of one class. Everything else that an
explainer or an erasure may need (what stands for a missing token, randomness, known evidence) comes with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from faithgauge.seeds import generator
from faithgauge.types import Batch, Encoded

Of = Literal["probability", "logit"]
Made = TypeVar("Made")


@dataclass(frozen=True)
class Known:
    """What explaining a split may draw on: ids of padding and mask, the training split, a seed.

    `memo` keeps what an explainer computes once for all batches of a split.
    """

    seed: int = 0
    pad: int = 0
    mask: int | None = None
    train: Encoded | None = None
    memo: dict[str, Any] = field(default_factory=dict, repr=False)

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        if name not in self.memo:
            self.memo[name] = make()
        made: Made = self.memo[name]
        return made


@dataclass(frozen=True)
class Question:
    """f(x) is the probability or the logit (`of`) of class `target`, one class for each text of a batch.

    evidence     (batch, token)   tokens that are known to decide the label, where that is known
    side                          which text of a pair is explained
    """

    target: Int[Tensor, "batch"]
    of: Of = "probability"
    known: Known = field(default_factory=Known)
    evidence: Bool[Tensor, "batch token"] | None = None
    side: Literal["first", "second"] = "first"

    def value(self, logits: Tensor, texts: Tensor | None = None) -> Float[Tensor, "batch"]:
        """f(x) from the logits of these texts of the batch, of all by default."""
        target = self.target if texts is None else self.target[texts]
        if logits.shape[-1] == 1:  # one logit for class 1, as much against class 0
            own = torch.where(target == 1, logits[:, 0], -logits[:, 0])
            return own.sigmoid() if self.of == "probability" else own
        column = logits.softmax(-1) if self.of == "probability" else logits
        return column.gather(1, target[:, None])[:, 0]

    def random(self, batch: Batch, text: int, purpose: str) -> np.random.Generator:
        """The generator of one text for one purpose, which no order or size of batches changes."""
        row = text if batch.rows is None else int(batch.rows[text])
        return generator(self.known.seed, purpose, self.side, row)


def swap(batch: Batch) -> Batch:
    """The same pairs with their texts exchanged, for a model that is `swapped` as well."""
    assert batch.pair is not None
    first = replace(batch, pair=None, labels=None, rows=None, candidates=None)
    return replace(batch.pair, labels=batch.labels, rows=batch.rows, candidates=batch.candidates, pair=first)
