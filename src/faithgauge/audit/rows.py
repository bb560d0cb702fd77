"""Result rows by what they measure, as tables of (seed, text)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow

Floats = NDArray[np.float64]
Key = tuple[str, str, str]


class Rows:
    """The rows of a run, grouped once by (measure, explainer, versus)."""

    def __init__(self, table: pyarrow.Table) -> None:
        self._columns = {name: _plain(table, name) for name in ("example", "seed", "value", "class")}
        self._setting, self._settings = _coded(table, "setting")
        self._settings = [json.loads(text or "{}") for text in self._settings]
        codes, names = zip(*(_coded(table, name) for name in ("measure", "explainer", "versus")), strict=True)
        self._groups: dict[Key, NDArray[np.int64]] = {}
        if len(table):
            whole = np.stack(codes)
            order = np.lexsort(whole)
            edges = np.flatnonzero((np.diff(whole[:, order]) != 0).any(0)) + 1
            for part in np.split(order, edges):
                key = tuple(names[i][whole[i, part[0]]] for i in range(3))
                self._groups[key] = part

    def explainers(self, measure: str, versus: str = "") -> list[str]:
        return [explainer for name, explainer, other in self._groups if (name, other) == (measure, versus)]

    def pairs(self, measure: str) -> list[tuple[str, str]]:
        """The pairs of explainers that a measure compares."""
        return [(one, other) for name, one, other in self._groups if name == measure and one and other]

    def by_text(self, measure: str, explainer: str = "", versus: str = "", **setting: Any) -> Floats:
        """(seed, text), nan where there is no number; no seeds where there are no such rows."""
        chosen = self._chosen((measure, explainer, versus), setting)
        examples = self._columns["example"][chosen]
        chosen, examples = chosen[examples != ""], examples[examples != ""]
        if not len(chosen):
            return np.empty((0, 0))
        texts, column = np.unique(examples.astype(np.int64), return_inverse=True)
        seeds, row = np.unique(self._columns["seed"][chosen], return_inverse=True)
        found = np.full((len(seeds), len(texts)), nan)
        found[row, column] = self._columns["value"][chosen]
        return found

    def texts(self, measure: str, explainer: str = "", versus: str = "", **setting: Any) -> NDArray[np.int64]:
        """The numbers of the texts that are the columns of `by_text`."""
        examples = self._columns["example"][self._chosen((measure, explainer, versus), setting)]
        return np.unique(examples[examples != ""].astype(np.int64))

    def classes(self, measure: str) -> list[str]:
        """The class of each text that is a column of `by_text`."""
        chosen = self._chosen((measure, "", ""), {})
        own = dict(zip(self._columns["example"][chosen], self._columns["class"][chosen], strict=True))
        return [own[str(i)] for i in self.texts(measure)]

    def whole(self, measure: str, explainer: str = "", versus: str = "", **setting: Any) -> Floats:
        """The numbers of whole splits, one for each seed, in the order of the seeds."""
        chosen = self._chosen((measure, explainer, versus), setting)
        chosen = chosen[self._columns["example"][chosen] == ""]
        order = np.argsort(self._columns["seed"][chosen], kind="stable")
        found: Floats = self._columns["value"][chosen][order].astype(np.float64)
        return found

    def told(self, measure: str, name: str, versus: str = "") -> list[Any]:
        """The values that a coordinate of the setting has in the rows of a measure, in order."""
        there = self._groups.get((measure, "", versus), np.empty(0, np.int64))
        found = {self._settings[i].get(name) for i in np.unique(self._setting[there])}
        return sorted(value for value in found if value is not None)

    def _chosen(self, key: Key, setting: Mapping[str, Any]) -> NDArray[np.int64]:
        there = self._groups.get(key, np.empty(0, np.int64))
        if setting and len(there):
            fits = np.array(
                [all(own.get(name) == value for name, value in setting.items()) for own in self._settings]
            )
            there = there[fits[self._setting[there]]]
        return there


def _coded(table: pyarrow.Table, name: str) -> tuple[NDArray[np.int64], list[Any]]:
    """A column of texts as numbers, and the texts; null is the empty one."""
    column = table.column(name).combine_chunks().fill_null("").dictionary_encode()
    codes = column.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, column.dictionary.to_pylist()


def _plain(table: pyarrow.Table, name: str) -> NDArray[Any]:
    column = table.column(name).combine_chunks()
    if name == "seed":
        return np.asarray(column.fill_null(-1).to_numpy(zero_copy_only=False))
    if name == "value":
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.asarray(column.fill_null("").to_numpy(zero_copy_only=False))
