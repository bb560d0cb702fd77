"""The tokens of a text as people read them: two texts in one row apart, pieces of words as words.

Models with a vocabulary of word pieces are explained piece by piece, and so they are tested. Where a text is
shown, a word has the sum of the scores of its pieces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithgauge.encode.joined import side_of
from faithgauge.encode.tokenizer import SubwordTokenizer, Tokenizer
from faithgauge.explain.merged import merge
from faithgauge.types import Encoded, Ragged

NOTE = "texts are shown by words, each with the sum of the scores of its pieces; tests go by pieces"


@dataclass(frozen=True)
class Side:
    """One text of every example: where its tokens stand, and the numbers of each, by name."""

    spans: Ragged
    scores: Mapping[str, NDArray[Any]]

    @classmethod
    def first(cls, encoded: Encoded, scores: Mapping[str, NDArray[Any]]) -> Side:
        return cls(encoded.spans, scores) if encoded.segments is None else cls._joined(encoded, scores, 0)

    @classmethod
    def second(
        cls,
        encoded: Encoded,
        scores: Mapping[str, NDArray[Any]],
        pairs: Mapping[str, NDArray[Any]],
    ) -> Side | None:
        """That of the second text: of `scores` where both texts are one row, else of `pairs`."""
        if encoded.segments is not None and encoded.pair_texts is not None:
            return cls._joined(encoded, scores, 1)
        return None if encoded.pair_spans is None else cls(encoded.pair_spans, pairs)

    @classmethod
    def _joined(cls, encoded: Encoded, scores: Mapping[str, NDArray[Any]], side: int) -> Side:
        _, spans, own = side_of(encoded, side)
        return cls(spans, {name: values[own] for name, values in scores.items()})

    def told(self, i: int, text: str, tokenizer: Tokenizer) -> Words:
        """Text i without special tokens, by words."""
        places: NDArray[np.int64] = np.asarray(self.spans.row(i), np.int64).reshape(-1, 2)
        real = places[:, 0] >= 0
        part = slice(int(self.spans.offsets[i]), int(self.spans.offsets[i + 1]))
        own = {name: np.asarray(values[part][real], np.float64) for name, values in self.scores.items()}
        spans = places[real]
        if isinstance(tokenizer, SubwordTokenizer):
            words = tokenizer.words(text)[: len(spans)]  # a text may have been cut
            each = [spans[words == word] for word in dict.fromkeys(words.tolist())]
            spans = np.array([(some[:, 0].min(), some[:, 1].max()) for some in each]).reshape(-1, 2)
            own = {name: merge(values, words, "sum") for name, values in own.items()}
        return Words(
            [[int(a), int(b)] for a, b in spans],
            {name: [number(one) for one in values.tolist()] for name, values in own.items()},
        )


@dataclass(frozen=True)
class Words:
    """The words of one text, and the numbers of each, None where there is none."""

    spans: list[list[int]]
    scores: dict[str, list[float | None]]

    def tokens(self, text: str) -> list[str]:
        return [text[start:end] for start, end in self.spans]

    def document(self, text: str, *, texts: bool) -> dict[str, Any]:
        """Tokens and spans; null where texts must not travel."""
        return {"tokens": self.tokens(text) if texts else None, "spans": self.spans if texts else None}


def number(value: float) -> float | None:
    """Six digits are what a reader can use, and a page can hold."""
    return float(f"{value:.6g}") if isfinite(value) else None
