"""What is published and how much of it can be computed."""

from __future__ import annotations

from faithgauge.papers.overview import overview
from faithgauge.papers.published import PAPERS
from faithgauge.papers.recipes import Recipe


def test_without_recipes_nothing_can_be_computed_and_every_table_is_there() -> None:
    rows = overview({}, {"sst"})
    assert [(row["paper"], row["table"]) for row in rows] == [
        (paper, table) for paper in PAPERS for table in PAPERS[paper].tables
    ]
    assert sum(row["cells"] for row in rows if row["table"] != "text") == 2740
    assert sum(row["values"] for row in rows if row["table"] != "text") == 2706
    assert {row["computable"] for row in rows} == {0}


def test_a_recipe_and_its_data_make_cells_computable() -> None:
    """Table 2 of Jain & Wallace has two classes of sst: 2 × (2 gradients and 1 leave-one-out) × 2 metrics."""
    recipes = {"jain-wallace-2019": [Recipe("agreement", "2")]}
    found = {(row["paper"], row["table"]): row for row in overview(recipes, {"sst"})}
    assert found["jain-wallace-2019", "2"] == {
        "paper": "jain-wallace-2019",
        "table": "2",
        "title": "rank correlation of attention with gradients and with leave-one-out, by class",
        "cells": 126,
        "values": 126,
        "computable": 12,
    }
    assert found["neely-2022", "2"]["computable"] == 0


def test_diagonals_count_as_cells_and_cannot_be_computed() -> None:
    """Fifteen pairs of six explanations, and six of each with itself."""
    [row] = [
        row
        for row in overview({"neely-2022": [Recipe("agreement", "2")]}, {"sst"})
        if (row["paper"], row["table"]) == ("neely-2022", "2")
    ]
    assert (row["cells"], row["computable"]) == (105, 15)
