"""One explained text, in the forms in which it is handed on: an object, a JSON document, rows of a table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Explanation:
    """One text with a score per token from each explainer; nan where a token has none.

    Token i is ``text[spans[i][0]:spans[i][1]]``; special tokens are left out. `pair_tokens` and so on are the
    same of the second text, where the model attends to both. By explainer, `targets` names the class that its
    scores are of, `errors` says what they lack of what they must sum to, and `reasons` why there are none.
    `cut` is the number of tokens after which the text was cut, 0 where it was not.
    """

    text: str
    text_pair: str | None
    tokens: tuple[str, ...]
    spans: Spans
    label: str
    probabilities: Mapping[str, float]
    scores: Mapping[str, tuple[float, ...]]
    id: str = ""
    gold: str | None = None
    pair_tokens: tuple[str, ...] = ()
    pair_spans: Spans = ()
    pair_scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    targets: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    cut: int = 0

    def _repr_html_(self) -> str:
        from faithgauge.report.heatmap import fragment

        return fragment([self])


def document(explanation: Explanation) -> dict[str, Any]:
    """The JSON document of one text; what its model or its explainers do not have is left out.

    It is made of what JSON knows: the score of a token that has none is null.
    """
    second = {
        "pair_tokens": explanation.pair_tokens,
        "pair_spans": explanation.pair_spans,
        "pair_explanations": _by_name(explanation.pair_scores),
    }
    return {
        "tokens": explanation.tokens,
        "spans": explanation.spans,
        "label": explanation.label,
        "probabilities": explanation.probabilities,
        "explanations": _by_name(explanation.scores),
        "targets": explanation.targets,
        **(second if explanation.pair_tokens else {}),
        **({"errors": explanation.errors} if explanation.errors else {}),
        **({"reasons": explanation.reasons} if explanation.reasons else {}),
    }


COLUMNS = (
    *("id", "explainer", "target", "label", "probability", "gold", "tokens", "spans", "scores"),
    *("pair_tokens", "pair_spans", "pair_scores", "error", "reason"),
)
"""Those of the rows; what a row does not have is null, and so is the score of a token that has none."""


def rows(explanation: Explanation) -> Iterator[dict[str, Any]]:
    """One row per explainer."""
    for name, scores in explanation.scores.items():
        values = (
            explanation.id,
            name,
            explanation.targets.get(name),
            explanation.label,
            explanation.probabilities[explanation.label],
            explanation.gold,
            list(explanation.tokens),
            [list(span) for span in explanation.spans],
            _plain(scores),
            list(explanation.pair_tokens) or None,
            [list(span) for span in explanation.pair_spans] or None,
            _plain(explanation.pair_scores[name]) if name in explanation.pair_scores else None,
            explanation.errors.get(name),
            explanation.reasons.get(name),
        )
        yield dict(zip(COLUMNS, values, strict=True))


def write_rows(every: Iterable[Mapping[str, Any]], path: Path, *, parquet: bool) -> None:
    """Rows as one file, JSON lines or Parquet."""
    if parquet:
        _write_parquet(every, path)
        return
    with path.open("w", encoding="utf-8") as file:
        for row in every:
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")


def _write_parquet(every: Iterable[Mapping[str, Any]], path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    text, number = pyarrow.string(), pyarrow.float64()
    spans = pyarrow.list_(pyarrow.list_(pyarrow.int32()))
    kinds = {
        **dict.fromkeys(("probability", "error"), number),
        **{name: pyarrow.list_(text) for name in ("tokens", "pair_tokens")},
        **dict.fromkeys(("spans", "pair_spans"), spans),
        **{name: pyarrow.list_(pyarrow.float32()) for name in ("scores", "pair_scores")},
    }
    schema = pyarrow.schema([(name, kinds.get(name, text)) for name in COLUMNS])
    left = iter(every)
    with parquet.ParquetWriter(path, schema) as writer:
        while some := list(islice(left, 1000)):
            writer.write_table(pyarrow.Table.from_pylist(some, schema))


def _by_name(scores: Mapping[str, Iterable[float]]) -> dict[str, list[float | None]]:
    return {name: _plain(own) for name, own in scores.items()}


def _plain(scores: Iterable[float]) -> list[float | None]:
    return [score if math.isfinite(score) else None for score in scores]
