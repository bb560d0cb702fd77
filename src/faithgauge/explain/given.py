"""Scores from elsewhere, put on the tokens of our own model.

A file (JSON lines, JSON, Parquet) has one row per text. A row is known by its `id` or its `text` (and
`text_pair`), or where it has neither by its place in the order of the texts. `scores` is one number, or null,
for each token; `explainer` says whose they are; or each explainer has a column of its name instead. What
``faithgauge explain --out`` writes is such a file. Columns of the second text of a pair begin with ``pair_``.

Which token a number belongs to is said by `spans`, ``[[start, end], …]`` in characters of the text: a token
of ours gets the sum of the scores of theirs that share a character with it. So scores of sub-words become
those of words; the score of a word that is several tokens of ours goes to each of them whole. Without `spans`
there must be as many numbers as we have tokens (with or without the special ones), and `tokens`, if they are
there, must be ours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from faithgauge.data.columns import is_range
from faithgauge.data.sheet import Sheet, kind, read_sheet
from faithgauge.encode.joined import side_of
from faithgauge.encode.tokenizer import Tokenizer
from faithgauge.errors import DataError
from faithgauge.explain.split import Scores
from faithgauge.types import Encoded, Example, Ragged

_KNOWN_BY = ("id", "text", "text_pair")
_OF_A_ROW = {*_KNOWN_BY, "explainer", "tokens", "spans", "scores"}
_MARKS = ("##", "Ġ", "▁")
"""How sub-word vocabularies mark that a token goes on with a word, or begins one."""


@dataclass(frozen=True)
class Given:
    """The scores of a split by one explainer from elsewhere; `reasons` says which rows have none, and why.

    `unused` counts the rows of the file that belong to none of the texts.
    """

    scores: Scores
    reasons: Mapping[int, str]
    unused: int = 0


def read_file(path: Path) -> Sheet:
    """The rows of a file of scores."""
    if kind(path) not in (".jsonl", ".ndjson", ".json", ".parquet"):
        raise DataError(f"{path}: expected scores as .jsonl, .json or .parquet, found another ending")
    return read_sheet(path, ())


def of_rows(rows: Sequence[Mapping[str, Any]], origin: str = "scores") -> Sheet:
    """Rows that are there already, as `from_shap` makes them."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [_listed(row.get(name)) for row in rows] for name in names}
    return Sheet(origin, columns, range(1, len(rows) + 1), "row")


def align(
    sheet: Sheet, examples: Sequence[Example], encoded: Encoded, *, tokenizer: Tokenizer
) -> dict[str, Given]:
    """By explainer the scores of these rows on the tokens of these texts."""
    sides = _sides(examples, encoded, tokenizer)
    result, used = {}, 0
    for name, (column, rows) in _explainers(sheet).items():
        matched = _matched(sheet, rows, examples)
        unused = len(set(rows) - set(matched.values()))
        filled = _filled(sheet, column, matched, sides=sides, unused=unused)
        result[name] = filled if encoded.segments is None else _in_one_row(filled, encoded)
        used += len(matched)
    if not used:
        raise DataError(
            f"{sheet.origin}: expected rows with the id or the text of one of {len(examples)} texts, found "
            "none; give each row one of them, exactly as it is in the texts"
        )
    return result


@dataclass(frozen=True)
class _Side:
    """One text of every example, as we have it; `prefix` is that of its columns in a file."""

    prefix: str
    texts: Sequence[str]
    ids: Ragged
    spans: Ragged
    tokenizer: Tokenizer

    def spelt(self, number: int, place: int) -> set[str]:
        """The ways in which a token may be written: as in the text, and as in the vocabulary."""
        start, end = self.spans.row(number)[place]
        word = self.tokenizer.vocabulary[int(self.ids.row(number)[place])]
        return {_plain(self.texts[number][start:end]), _plain(word)}


def _sides(examples: Sequence[Example], encoded: Encoded, tokenizer: Tokenizer) -> list[_Side]:
    """The texts of every example, also of pairs in one row."""
    firsts, seconds = [one.text for one in examples], [one.text_pair or "" for one in examples]
    if encoded.segments is not None:
        (ids, spans, _), (pair_ids, pair_spans, _) = side_of(encoded, 0), side_of(encoded, 1)
        pair = _Side("pair_", seconds, pair_ids, pair_spans, tokenizer)
        return [_Side("", firsts, ids, spans, tokenizer), pair]
    own = [_Side("", firsts, encoded.ids, encoded.spans, tokenizer)]
    if encoded.pair_ids is not None and encoded.pair_spans is not None:
        own.append(_Side("pair_", seconds, encoded.pair_ids, encoded.pair_spans, tokenizer))
    return own


def _in_one_row(given: Given, encoded: Encoded) -> Given:
    """The scores of both texts where they stand in the rows."""
    scores = np.full(len(encoded.ids.values), np.nan, np.float32)
    for side, own in enumerate((given.scores.scores, given.scores.pair)):
        if own is not None:
            scores[side_of(encoded, side)[2]] = own
    return replace(given, scores=Scores(scores))


def _explainers(sheet: Sheet) -> dict[str, tuple[str, list[int]]]:
    """By explainer the column of its scores, and its rows."""
    every = list(range(len(sheet)))
    if "explainer" in sheet.columns and "scores" in sheet.columns:
        names = [str(name) for name in sheet.columns["explainer"]]
        return {name: ("scores", [i for i in every if names[i] == name]) for name in dict.fromkeys(names)}
    if "scores" in sheet.columns:
        return {Path(sheet.origin).name.partition(".")[0]: ("scores", every)}
    found = {
        name: (name, every)
        for name, column in sheet.columns.items()
        if name not in _OF_A_ROW and not name.startswith("pair_") and any(map(_are_numbers, column))
    }
    if not found:
        columns = ", ".join(map(repr, sheet.columns))
        raise DataError(
            f"{sheet.origin}: expected a column 'scores' with a list of numbers for each text, or a column "
            f"for each explainer, found {columns}; rename it"
        )
    return found


def _matched(sheet: Sheet, rows: Sequence[int], examples: Sequence[Example]) -> dict[int, int]:
    """By text of ours the row that is about it."""
    if not {"id", "text"} & sheet.columns.keys():
        if len(rows) != len(examples):
            raise DataError(
                f"{sheet.origin}: expected a row for each of {len(examples)} texts, found {len(rows)}; "
                "give each row the id or the text it is about"
            )
        return dict(enumerate(rows))
    ours: dict[object, list[int]] = {}
    for number, example in enumerate(examples):
        ours.setdefault(example.id, []).append(number)
        ours.setdefault((example.text, example.text_pair), []).append(number)
    found: dict[int, int] = {}
    for i in rows:
        whose, text, second = (
            sheet.columns[name][i] if name in sheet.columns else None for name in _KNOWN_BY
        )
        for number in ours.get(str(whose)) or ours.get((text, second)) or ():
            if number in found:
                raise DataError(
                    f"{sheet.place(i)}: expected one row for a text, found another at {sheet.unit} "
                    f"{sheet.rows[found[number]]}; remove one of them"
                )
            found[number] = i
    return found


def _filled(
    sheet: Sheet, column: str, matched: Mapping[int, int], *, sides: Sequence[_Side], unused: int
) -> Given:
    """The scores of one explainer; a text of which any cannot be used has none."""
    flat = [np.full(len(side.ids.values), np.nan, np.float32) for side in sides]
    reasons = dict.fromkeys(range(len(sides[0].texts)), f"{sheet.origin}: no row is about this text")
    for number, i in matched.items():
        found = [_scores(sheet, i, side, column=column, number=number) for side in sides]
        wrong = next((one for one in found if isinstance(one, str)), None)
        if wrong is not None:
            reasons[number] = f"{sheet.place(i)}: {wrong}"
            continue
        del reasons[number]
        for side, target, own in zip(sides, flat, found, strict=True):
            target[side.ids.offsets[number] : side.ids.offsets[number + 1]] = own
    pair = None if len(flat) < 2 or np.isnan(flat[1]).all() else flat[1]
    return Given(Scores(flat[0], pair), dict(sorted(reasons.items())), unused)


def _scores(sheet: Sheet, i: int, side: _Side, *, column: str, number: int) -> NDArray[np.float32] | str:
    """The scores of one text, for every id of it; or why they cannot be used."""
    names = [f"{side.prefix}{name}" for name in (column, "tokens", "spans")]
    scores, tokens, spans = (sheet.columns[name][i] if name in sheet.columns else None for name in names)
    if side.prefix and scores is None:  # of a pair the first text alone may have scores
        return np.full(len(side.ids.row(number)), np.nan, np.float32)
    if not _are_numbers(scores):
        return f"expected a list of numbers in {names[0]}, found {_shown(scores)}"
    theirs = np.array(scores, float)  # None becomes nan
    for name, other in (("tokens", tokens), ("spans", spans)):
        if other is not None and (not isinstance(other, list) or len(other) != len(theirs)):
            return f"expected as many {name} as its {len(theirs)} scores, found {_shown(other)}"
    if spans is None:
        return _by_number(theirs, cast("list[object]", tokens or []), side, number=number)
    last = len(side.texts[number])
    if not all(is_range(one) and 0 <= one[0] <= one[1] <= last for one in cast("list[list[int]]", spans)):
        return f"expected spans [start, end] within 0 to {last}, found {_shown(spans)}"
    return _by_characters(theirs, np.array(spans, int).reshape(-1, 2), side.spans.row(number))


def _by_number(
    theirs: NDArray[np.float64], tokens: Sequence[object], side: _Side, *, number: int
) -> NDArray[np.float32] | str:
    """A number for each token of ours, in their order."""
    own: NDArray[Any] = side.spans.row(number)
    words, every = np.flatnonzero(own[:, 0] >= 0), np.arange(len(own))
    if len(theirs) not in (len(words), len(every)):
        return f"expected {len(words)} tokens, found {len(theirs)}"
    places = words if len(theirs) == len(words) else every
    for place, token in zip(places.tolist(), tokens, strict=False):
        if own[place, 0] >= 0 and _plain(str(token)) not in side.spelt(number, place):
            start, end = own[place]
            return f"expected the token {side.texts[number][start:end]!r}, found {str(token)!r}"
    result = np.full(len(own), np.nan, np.float32)
    result[places] = theirs
    result[own[:, 0] < 0] = np.nan
    return result


def _by_characters(
    theirs: NDArray[np.float64], spans: NDArray[np.int64], own: NDArray[Any]
) -> NDArray[np.float32]:
    """For each token of ours the sum of the scores of theirs that share a character with it."""
    result = np.full(len(own), np.nan, np.float32)
    for place, (start, end) in enumerate(own.tolist()):
        shared = theirs[(spans[:, 0] < end) & (spans[:, 1] > start) & (spans[:, 0] < spans[:, 1])]
        shared = shared[~np.isnan(shared)]
        if start >= 0 and len(shared):
            result[place] = shared.sum()
    return result


def _plain(token: str) -> str:
    for mark in _MARKS:
        token = token.removeprefix(mark)
    return token.strip().casefold()


def _listed(value: object) -> object:
    """The value with a list for a tuple or an array."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def _shown(value: object) -> str:
    if isinstance(value, list) and len(str(value)) > 40:
        return f"a list of {len(value)}"
    return str(value)[:40]


def _are_numbers(value: object) -> bool:
    """A list of finite numbers and nulls."""
    return isinstance(value, list) and all(
        one is None or (isinstance(one, int | float) and not isinstance(one, bool) and not math.isinf(one))
        for one in value
    )
