"""From rows of ROAR to numbers as the paper prints them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from faithgauge.papers.roar_numbers import measure_of
from faithgauge.papers.tidy import NUMBERS, Columns, Known, performance

KNOWN = Known(metrics=["f1_macro"])


def columns(*rows: dict[str, Any]) -> Columns:
    usual = {
        "dataset": "sst@recursive-roar-2022",
        "split": "test",
        "model": "bilstm",
        "explainer": "gradient:recursive-roar-2022",
        "measure": "f1_macro",
        "fraction": None,
        "seed": 0,
        "example": None,
        "value": 0.5,
        "setting": {},
    }
    whole = [usual | row for row in rows]
    for row in whole:
        row["setting"] = json.dumps({"masking": "recursive", **row["setting"]})
    return {name: np.array([row[name] for row in whole], dtype=object) for name in usual}


def area(value: float, seed: int = 0, **setting: Any) -> dict[str, Any]:
    own = {"metric": "f1_macro", **setting}
    return {"measure": "faithfulness", "value": value, "seed": seed, "setting": own}


def test_the_area_is_the_mean_over_seeds_with_its_interval() -> None:
    (number,) = NUMBERS["recursive_roar"](
        columns(*(area(v, i) for i, v in enumerate((0.1, 0.2, 0.6)))), KNOWN
    )
    assert (number.metric, number.encoder, number.keys) == ("faithfulness", "bilstm", {"measure": "gradient"})
    assert number.value == pytest.approx(0.3)
    assert number.low is not None
    assert 0.1 - 1e-9 <= number.low < 0.3
    assert number.n_seeds == 3


def test_a_curve_is_that_of_the_metric_the_area_is_of() -> None:
    rows = columns(
        area(0.2),
        {"fraction": 0.1, "value": 0.7},
        {"fraction": 0.1, "value": 0.9, "measure": "accuracy"},
        {"fraction": 1.0, "value": 0.4},
        {"fraction": 0.1, "value": 0.3, "split": "validation"},
    )
    found = {one.keys.get("fraction"): one for one in NUMBERS["recursive_roar"](rows, KNOWN)}
    assert {step: one.value for step, one in found.items()} == {None: 0.2, "0.1": 0.7, "1": 0.4}
    assert found["0.1"].keys == {"measure": "gradient", "fraction": "0.1", "split": "test"}


def test_plain_roar_has_a_key_that_says_so_and_is_no_recursive_one() -> None:
    rows = columns(area(0.1, masking="plain"), area(0.4))
    (plain,), (recursive,) = (NUMBERS[test](rows, KNOWN) for test in ("roar", "recursive_roar"))
    assert (plain.value, plain.keys["masking"]) == (0.1, "plain")
    assert (recursive.value, recursive.keys) == (0.4, {"measure": "gradient"})


def test_points_of_curves_are_no_performance_of_the_model() -> None:
    assert performance(columns({"fraction": 0.1}), KNOWN) == []


def test_what_is_of_all_seeds_is_not_counted_again() -> None:
    rows = columns(area(0.1), area(0.9) | {"seed": None})
    assert [one.value for one in NUMBERS["recursive_roar"](rows, KNOWN)] == [0.1]


def test_a_shortcut_is_named() -> None:
    more = {"shortcut": "warm_start", "start": "warm"}
    rows = columns(
        area(0.1) | {"measure": "shortcut_error", "setting": more},
        {"measure": "shortcut_kendall_tau", "explainer": None, "value": 1.0, "setting": more},
    )
    found = {one.metric: one.keys for one in NUMBERS["roar_shortcuts"](rows, KNOWN)}
    assert found == {
        "shortcut_error": {"measure": "gradient", "shortcut": "warm_start"},
        "shortcut_kendall_tau": {"shortcut": "warm_start"},
    }


def test_tokens_that_are_counted_have_their_count() -> None:
    rows = columns(
        {"measure": "sparsity", "setting": {"count": 3, "undefined": 0}},
        {"measure": "sparsity", "fraction": 0.2, "setting": {"undefined": 0}},
    )
    assert [one.keys for one in NUMBERS["sparsity"](rows, KNOWN)] == [
        {"measure": "gradient", "count": "3"},
        {"measure": "gradient", "fraction": "0.2"},
    ]


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("attention", "attention"),
        ("gradient:recursive-roar-2022", "gradient"),
        ("integrated_gradient:madsen-2022-code", "integrated_gradient:madsen-2022-code"),
        ("lime:samples=20", "lime:samples=20"),
    ],
)
def test_an_explainer_has_its_plain_name_where_it_is_the_papers(label: str, name: str) -> None:
    assert measure_of(label) == name
