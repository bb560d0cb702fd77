"""The scores of word pieces as scores of words: their sum, the strongest, or that of the first piece.

Which pieces make a word is what the tokenizer's own pre-tokenizer says. A sum keeps what the scores of a text
sum to, and favours words of many pieces; the strongest keeps its sign; the first is what taggers are read by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from faithgauge.encode.tokenizer import SubwordTokenizer, Tokenizer
from faithgauge.report.explanation import Explanation, Spans

Merge = Literal["sum", "max", "first"]


def merge(
    scores: Float[np.ndarray, " token"], words: Int[np.ndarray, " token"], how: Merge
) -> Float[np.ndarray, " example"]:
    """One score for each word, in the order of the text; `words` says of each token which one it belongs to.

    sum of the scores of its pieces; their score of the greatest magnitude, the first of equal ones ("max");
    or the score of its first piece. A piece without a score counts for nothing, a word without any has none.
    """
    found = []
    for word in dict.fromkeys(words.tolist()):
        own = scores[words == word]
        known = own[~np.isnan(own)]
        if how == "first" or not len(known):
            found.append(own[0] if how == "first" else np.nan)
        else:
            found.append(known.sum() if how == "sum" else known[np.abs(known).argmax()])
    return np.array(found, np.float64)


def by_word(explanation: Explanation, tokenizer: Tokenizer, how: Merge) -> Explanation:
    """The explanation with a score for each word in place of each piece; one of words as it is."""
    if not isinstance(tokenizer, SubwordTokenizer):
        return explanation
    spans, scores = _merged(explanation.text, explanation.spans, explanation.scores, tokenizer, how)
    own = replace(explanation, spans=spans, tokens=_cut(explanation.text, spans), scores=scores)
    if explanation.text_pair is not None and explanation.pair_spans:
        pair = explanation.text_pair
        spans, scores = _merged(pair, explanation.pair_spans, explanation.pair_scores, tokenizer, how)
        own = replace(own, pair_spans=spans, pair_tokens=_cut(pair, spans), pair_scores=scores)
    return own if how == "sum" else replace(own, errors={})


def _merged(
    text: str, spans: Spans, scores: Mapping[str, Sequence[float]], tokenizer: SubwordTokenizer, how: Merge
) -> tuple[Spans, dict[str, tuple[float, ...]]]:
    words: NDArray[np.int64] = tokenizer.words(text)[: len(spans)]  # a text may have been cut
    places = np.array(spans, np.int64).reshape(-1, 2)
    each = [places[words == word] for word in dict.fromkeys(words.tolist())]
    own = tuple((int(some[:, 0].min()), int(some[:, 1].max())) for some in each)
    return own, {
        name: tuple(merge(np.array(values, np.float64), words, how).tolist())
        for name, values in scores.items()
    }


def _cut(text: str, spans: Spans) -> tuple[str, ...]:
    return tuple(text[start:end] for start, end in spans)
