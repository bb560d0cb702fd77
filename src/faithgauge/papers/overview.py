"""What is published and how much of it can be computed here: the list that `reproduce --list` prints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from faithgauge.papers.compare import computable
from faithgauge.papers.published import PAPERS, published
from faithgauge.papers.recipes import Recipe


def overview(recipes: Mapping[str, Collection[Recipe]], at_hand: Collection[str]) -> list[dict[str, Any]]:
    """By paper and table: what it shows, its cells, those with a value, those that can be computed here.

    `recipes` has those of each paper; `at_hand` names the data sets that are there.
    """
    return [
        _table(paper, table, recipes.get(paper, ()), at_hand)
        for paper in PAPERS
        for table in PAPERS[paper].tables
    ]


def _table(paper: str, table: str, recipes: Collection[Recipe], at_hand: Collection[str]) -> dict[str, Any]:
    cells = published(paper, table)
    return {
        "paper": paper,
        "table": table,
        "title": PAPERS[paper].tables[table],
        "cells": len(cells),
        "values": sum(cell.value is not None for cell in cells),
        "computable": sum(computable(cell, recipes, at_hand) for cell in cells),
    }
