"""The scores of a split back on its texts: one `Explanation` for each, as people see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithgauge.encode.joined import side_of
from faithgauge.explain.asked import Asked
from faithgauge.explain.given import Given
from faithgauge.explain.split import Scores
from faithgauge.report.explanation import Explanation, Spans
from faithgauge.types import Encoded, Example, Ragged


@dataclass(frozen=True)
class Found:
    """The scores of all texts by name of explainer: of those that were asked, and from elsewhere."""

    asked: Mapping[str, Asked]
    ours: Mapping[str, Scores]
    given: Mapping[str, Given]

    def scores(self) -> dict[str, Scores]:
        return {**self.ours, **{name: one.scores for name, one in self.given.items()}}


def explanations(
    examples: Sequence[Example],
    encoded: Encoded,
    found: Found,
    *,
    classes: Sequence[str],
    likely: NDArray[np.floating[Any]],
) -> Iterator[Explanation]:
    """The explained texts, one by one; `likely` are the model's probabilities, (example, class)."""
    scores = found.scores()
    first, second = _side(encoded, scores, 0), _side(encoded, scores, 1)
    for i, (example, own) in enumerate(zip(examples, likely.tolist(), strict=True)):
        label = classes[int(np.argmax(own))]
        gold = classes[example.label] if example.label >= 0 else None
        spans = _spans(first.spans, i)
        yield Explanation(
            text=example.text,
            text_pair=example.text_pair,
            tokens=_tokens(example.text, spans),
            spans=spans,
            label=label,
            probabilities=dict(zip(classes, own, strict=True)),
            scores={name: _own(first.spans, one, i) for name, one in first.scores.items()},
            id=example.id,
            gold=gold,
            **_second(example, second, i),
            targets={name: _target(one, classes, label, gold=gold) for name, one in found.asked.items()},
            errors={
                name: float(one.error[i])
                for name, one in scores.items()
                if one.error is not None and not np.isnan(one.error[i])
            },
            reasons={name: one.reasons[i] for name, one in found.given.items() if i in one.reasons},
        )


class _Side(NamedTuple):
    """One text of every example: where its tokens stand, and their scores by explainer."""

    spans: Ragged
    scores: Mapping[str, NDArray[np.float32]]


def _side(encoded: Encoded, scores: Mapping[str, Scores], side: int) -> _Side:
    if encoded.segments is not None:
        _, spans, own = side_of(encoded, side)
        return _Side(spans, {name: one.scores[own] for name, one in scores.items()})
    if side == 0:
        return _Side(encoded.spans, {name: one.scores for name, one in scores.items()})
    paired = {name: one.pair for name, one in scores.items() if one.pair is not None}
    return _Side(encoded.spans if encoded.pair_spans is None else encoded.pair_spans, paired)


def _second(example: Example, second: _Side, i: int) -> dict[str, Any]:
    """The fields of the second text, if any explainer has scores of it."""
    if example.text_pair is None or not second.scores:
        return {}
    spans = _spans(second.spans, i)
    return {
        "pair_tokens": _tokens(example.text_pair, spans),
        "pair_spans": spans,
        "pair_scores": {name: _own(second.spans, one, i) for name, one in second.scores.items()},
    }


def _target(asked: Asked, classes: Sequence[str], label: str, *, gold: str | None) -> str:
    if isinstance(asked.target, int):
        return classes[asked.target]
    return label if asked.target == "predicted" or gold is None else gold


def _spans(spans: Ragged, i: int) -> Spans:
    """Those of the tokens that stand in the text; special ones stand nowhere."""
    own: NDArray[Any] = spans.row(i)
    return tuple((int(start), int(end)) for start, end in own if start >= 0)


def _tokens(text: str, spans: Spans) -> tuple[str, ...]:
    return tuple(text[start:end] for start, end in spans)


def _own(spans: Ragged, scores: NDArray[np.float32], i: int) -> tuple[float, ...]:
    part = slice(int(spans.offsets[i]), int(spans.offsets[i + 1]))
    places: NDArray[Any] = spans.row(i)
    return tuple(scores[part][places[:, 0] >= 0].tolist())
