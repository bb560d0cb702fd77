"""Measures of several explanations, text by text, each beside what a random order reaches on the same text.

A measure alone says little: how far an output falls when tokens are erased depends on the model and the text
more than on the explanation. What is judged is the difference from random, on the same texts; an explanation
that is as good as random has differences of 0 on average, and intervals are taken over the differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

REASONS = (
    "",
    "no token",
    "a token without a score",
    "nothing is left when every token is erased",
    "erasing every token changes too little",
    "the class is not the model's decision",
    "no evidence",
    "every token is evidence",
)
"""Why a text has no number, by its code; code 0 is a text that has one."""

(DEFINED, NO_TOKEN, NO_SCORE, NOTHING_LEFT, NOTHING_LOST, NOT_DECIDED, NO_EVIDENCE, ALL_EVIDENCE) = range(
    len(REASONS)
)


@dataclass(frozen=True)
class AgainstRandom:
    """The numbers of `measures` for `explainers` on texts: each axis in the order of its names.

    value     (measure, explainer, text)   nan where there is none
    random    (measure, text)              what a random order of the same tokens reaches on average
    reason    (measure, explainer, text)   why there is none, as an index of REASONS
    """

    measures: tuple[str, ...]
    explainers: tuple[str, ...]
    value: Floats
    random: Floats
    reason: NDArray[np.int8]

    @property
    def difference(self) -> Floats:
        """How much higher than random, (measure, explainer, text); for some measures lower is better."""
        return self.value - self.random[:, None]

    def of(self, measure: str, explainer: str) -> tuple[Floats, Floats, list[str | None]]:
        """The numbers of one measure and explainer, those of random, and the reasons where there are none."""
        place = self.measures.index(measure), self.explainers.index(explainer)
        reasons = [REASONS[code] or None for code in self.reason[place]]
        return self.value[place], self.random[place[0]], reasons


def taken(found: AgainstRandom, texts: NDArray[np.int64]) -> AgainstRandom:
    """Some of the texts, in this order."""
    value, random, reason = (getattr(found, name)[..., texts] for name in ("value", "random", "reason"))
    return replace(found, value=value, random=random, reason=reason)


def joined(parts: Sequence[AgainstRandom]) -> AgainstRandom:
    """The texts of several batches, one batch after the other."""
    value, random, reason = (
        np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in ("value", "random", "reason")
    )
    return replace(parts[0], value=value, random=random, reason=reason)
