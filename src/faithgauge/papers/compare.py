"""Published numbers beside ours, why others have none of ours beside them, and the verdicts on the claims."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from faithgauge.papers.cells import PAIR, SUBSTITUTED, Cell, Ours, Place, place
from faithgauge.papers.published import PAPERS
from faithgauge.papers.recipes import Recipe

ASKED = frozenset({"diabetes", "anemia", "adr"})
"""Data sets that must be asked for: those of MIMIC-III, and the ADR tweets."""

BY_CODE = ":madsen-2022-code"
"""What follows the name of a measure that is computed as the code of its paper does, not as its words say."""


def compare(
    cells: Iterable[Cell],
    ours: Sequence[Ours],
    *,
    recipes: Collection[Recipe] = (),
    at_hand: Collection[str] = (),
) -> list[dict[str, Any]]:
    """One row for each cell and number of ours at its place, then those of ours that have no cell.

    A cell that has none of ours beside it says in its note why; `recipes` and `at_hand`, names of data sets,
    are asked for that. What was computed on substituted data never stands beside a published number.
    """
    left = list(ours)
    beside: dict[Place, list[Ours]] = {}
    for row in ours:
        if not row.note.startswith(SUBSTITUTED):
            beside.setdefault(place(_in_print(row)), []).append(row)
    rows = []
    for cell in cells:
        own = [] if fixed(cell) else beside.get(place(cell), [])
        left = [row for row in left if row not in own]
        rows += [_beside(cell, row) for row in own] or [_row(cell, note=missing(cell, recipes, at_hand))]
    return rows + [_alone(row) for row in left]


def _in_print(row: Ours) -> Ours:
    """The row as its cell would have it: a measure as the paper's code has it is what was printed, too."""
    measure = row.keys.get("measure", "")
    if not measure.endswith(BY_CODE):
        return row
    return replace(row, keys={**row.keys, "measure": measure.removesuffix(BY_CODE)})


def missing(cell: Cell, recipes: Collection[Recipe], at_hand: Collection[str]) -> str:
    """Why a cell has no number of ours."""
    if reason := fixed(cell):
        return reason
    if cell.dataset in ASKED and cell.dataset not in at_hand:
        return "data must be asked for (MIMIC, ADR)"
    if not any(recipe.covers(cell) for recipe in recipes):
        return "comes with no test yet"
    if cell.dataset and cell.dataset not in at_hand:
        return "data not at hand"
    return "not computed"


def computable(cell: Cell, recipes: Collection[Recipe], at_hand: Collection[str]) -> bool:
    """Whether its number can be computed here: there are a recipe and the data."""
    return missing(cell, recipes, at_hand) == "not computed"


def fixed(cell: Cell) -> str:
    """Why there is nothing to compute: it is another paper's number, or 1 whatever is computed."""
    if cell.keys.get("source") in PAPERS:
        return f"printed from {cell.keys['source']}"
    if set(PAIR) <= set(cell.keys) and len({cell.keys[name] for name in PAIR}) == 1:
        return "1 by definition"
    return ""


def judged(paper: str, ours: Sequence[Ours]) -> list[dict[str, str]]:
    """Each claim of a paper with its verdict; ours on substituted data take no part."""
    rows = [row for row in ours if not row.note.startswith(SUBSTITUTED)]
    verdicts = [(finding, finding.judge(rows)) for finding in PAPERS[paper].findings]
    return [
        {
            "name": finding.name,
            "claim": finding.claim,
            "verdict": found.verdict,
            "evidence": f"needs {finding.needs}" if found.verdict == "untested" else found.evidence,
        }
        for finding, found in verdicts
    ]


def _beside(cell: Cell, own: Ours) -> dict[str, Any]:
    numbers: dict[str, Any] = _numbers(own)
    if isinstance(cell.value, float) and isfinite(own.value):
        numbers["difference"] = own.value - cell.value
        if own.low is not None and own.high is not None:
            numbers["inside"] = own.low <= cell.value <= own.high
    by_code = {"measure": own.keys["measure"]} if _in_print(own) is not own else {}
    return {**_row(cell, note=own.note), **by_code, **numbers}


def _alone(own: Ours) -> dict[str, Any]:
    where = {"dataset": own.dataset, "encoder": own.encoder, "metric": own.metric, **own.keys}
    return {
        "paper": None,
        "table": None,
        **where,
        **_EMPTY,
        **_numbers(own),
        "note": own.note or "not in print",
    }


def _numbers(own: Ours) -> dict[str, Any]:
    value = own.value if isfinite(own.value) else None
    return {"ours": value, **{name: getattr(own, name) for name in ("low", "high", "spread", "n", "n_seeds")}}


def _row(cell: Cell, *, note: str) -> dict[str, Any]:
    """A row without a number of ours; the keys of the table stand between its metric and its numbers."""
    where = {name: getattr(cell, name) for name in ("paper", "table", "dataset", "encoder", "metric")}
    numbers = {
        "published": cell.value,
        "published_spread": cell.spread,
        "published_low": cell.low,
        "published_high": cell.high,
        "unit": cell.unit,
        "note": "; ".join(part for part in (note, cell.note) if part),
    }
    return {**where, **cell.keys, **_EMPTY, **numbers}


_EMPTY: dict[str, Any] = {
    **dict.fromkeys(("published", "ours", "low", "high", "n", "n_seeds", "difference", "inside", "spread")),
    **dict.fromkeys(("published_spread", "published_low", "published_high")),
    "unit": "",
    "note": "",
}
"""What every row has after its place, in order; `inside`: whether the published number is in our interval."""
