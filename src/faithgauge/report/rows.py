"""Result rows as columns of numbers, so that some hundred thousand of them are chosen and grouped at once.

Words stand as codes beside a list of their names. What a row's `setting` says (λ, a start, against what) is a
column like every other; where no row says it there is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faithgauge.errors import DataError

if TYPE_CHECKING:
    import pyarrow

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

WORDS = ("dataset", "split", "model", "explainer", "versus", "measure", "example", "class", "reason")
NUMBERS = ("fraction", "value", "seed")


@dataclass(frozen=True)
class Rows:
    """The word of row i in column c is ``names[c][codes[c][i]]``, None where it has none."""

    codes: Mapping[str, Ints]
    names: Mapping[str, Sequence[str | None]]
    fraction: Floats
    value: Floats
    seed: Floats

    def __len__(self) -> int:
        return len(self.value)

    def where(self, chosen: NDArray[Any]) -> Rows:
        """The rows that a mask, or their numbers, choose."""
        codes = {name: own[chosen] for name, own in self.codes.items()}
        numbers = {name: getattr(self, name)[chosen] for name in NUMBERS}
        return replace(self, codes=codes, **numbers)

    def of(self, column: str, *words: str | None) -> NDArray[np.bool_]:
        """Whether each row has one of these words in a column; None stands for none."""
        if column not in self.codes:
            return np.full(len(self), None in words)
        wanted = [code for code, name in enumerate(self.names[column]) if name in words]
        return np.isin(self.codes[column], wanted)

    def words(self, column: str) -> list[str | None]:
        """The word of each row."""
        if column not in self.codes:
            return [None] * len(self)
        names = self.names[column]
        return [names[code] for code in self.codes[column]]

    def groups(self, *by: str) -> Iterator[tuple[dict[str, Any], Rows]]:
        """The rows that are alike in some columns, with what they have there; in the order of the names."""
        if not len(self):
            return
        there = [name for name in by if name in self.codes or name in NUMBERS]
        key = np.zeros(len(self), np.int64)
        for name in there:
            own = self.codes[name] if name in self.codes else _coded(getattr(self, name))
            key = key * (int(own.max()) + 1) + own
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        order = np.argsort(which, kind="stable")
        ends = np.cumsum(np.bincount(which))
        for one, some in zip(first, np.split(order, ends[:-1]), strict=True):
            place = {name: self._at(name, int(one)) for name in there}
            yield {name: place.get(name) for name in by}, self.where(some)

    def by_text(self, texts: Mapping[str | None, int], seeds: Mapping[float, int]) -> Floats:
        """The values as (seed, text), nan where there is none; the order of both is given."""
        table = np.full((len(seeds), len(texts)), np.nan)
        own = np.array([texts.get(name, -1) for name in self.names["example"]])[self.codes["example"]]
        table[[seeds[seed] for seed in _plain(self.seed)], own] = self.value
        return table

    def _at(self, name: str, row: int) -> Any:
        if name in self.codes:
            return self.names[name][self.codes[name][row]]
        return _plain(getattr(self, name)[row : row + 1])[0]


def seeds_of(rows: Rows) -> dict[float, int]:
    """The seeds of rows, each with its place in order; rows without one have seed −1."""
    return {float(seed): place for place, seed in enumerate(np.unique(_plain(rows.seed)))}


def read(path: Path) -> Rows:
    """The rows of a Parquet file of results."""
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise DataError(
            f"{path}: expected result rows in Parquet, found {error}; run the audit again"
        ) from error
    lacking = [name for name in (*WORDS, *NUMBERS, "setting") if name not in table.column_names]
    if lacking:
        raise DataError(
            f"{path}: expected the columns of result rows, found none named {', '.join(lacking)}; "
            "run the audit again with this version"
        )
    return of_table(table)


def of_table(table: pyarrow.Table) -> Rows:
    """Result rows from a table of them."""
    coded = {name: _encoded(table.column(name)) for name in (*WORDS, "setting")}
    codes = {name: own for name, (own, _) in coded.items()}
    names = {name: words for name, (_, words) in coded.items()}
    said = [json.loads(text or "{}") for text in names["setting"]]
    for key in sorted({key for one in said for key in one} - set(codes)):
        words = [_word(one.get(key)) for one in said]
        distinct = sorted({word for word in words if word is not None}, key=_natural)
        place = {word: code for code, word in enumerate([*distinct, None])}
        codes[key] = np.array([place[word] for word in words], np.int64)[codes["setting"]]
        names[key] = [*distinct, None]
    numbers = {name: table.column(name).cast("float64").to_numpy() for name in NUMBERS}
    return Rows(codes, names, **numbers)


def _encoded(column: pyarrow.ChunkedArray) -> tuple[Ints, list[str | None]]:
    """Codes in the natural order of the words, none last."""
    found = column.combine_chunks().dictionary_encode()
    words = found.dictionary.to_pylist()
    order = sorted(range(len(words)), key=lambda i: _natural(words[i]))
    rank = np.empty(len(words) + 1, np.int64)
    rank[[*order, len(words)]] = np.arange(len(words) + 1)
    codes = found.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
    return rank[codes], [*(words[i] for i in order), None]


def _natural(word: str) -> tuple[float, str]:
    """Numbers by their size, after them words by their letters."""
    try:
        return float(word), word
    except ValueError:
        return np.inf, word


def _word(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _coded(values: Floats) -> Ints:
    return np.unique(_plain(values), return_inverse=True)[1].ravel()


def _plain(values: Floats) -> Floats:
    """With −1 for nan, which would not be equal to itself."""
    return np.where(np.isnan(values), -1.0, values)


NOTHING = Rows(
    {name: np.zeros(0, np.int64) for name in WORDS}, dict.fromkeys(WORDS, (None,)), *[np.zeros(0)] * 3
)
"""No rows at all."""
