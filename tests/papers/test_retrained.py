"""Rows of retraining to the numbers of Wiegreffe & Pinter."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from faithgauge.papers.cells import Ours
from faithgauge.papers.retrained import guides, seed_variance, trained_adversary, uniform
from faithgauge.papers.tidy import Known

KNOWN = Known({"sst": ("negative", "positive")})


def row(measure: str, value: float, *, seed: float = 0, **more: Any) -> dict[str, Any]:
    usual = {"dataset": "sst", "split": "test", "model": "bilstm", "example": None, "class": None}
    setting = {k: v for k, v in more.items() if k not in (*usual, "seed")}
    own = {k: v for k, v in more.items() if k in usual}
    return usual | own | {"measure": measure, "value": value, "seed": seed, "setting": json.dumps(setting)}


def columns(*rows: dict[str, Any]) -> dict[str, np.ndarray]:
    found = {name: np.array([one[name] for one in rows], object) for name in rows[0]}
    return found | {"seed": found["seed"].astype(float), "value": found["value"].astype(float)}


def of(found: list[Ours], metric: str, **keys: str) -> Ours:
    (one,) = [number for number in found if number.metric == metric and number.keys == keys]
    return one


def test_uniform_and_trained_attention_stand_apart() -> None:
    rows = columns(
        row("f1_positive", 0.8),
        row("f1_positive", 0.7, seed=1),
        row("f1_positive", 0.6, distribution="uniform"),
    )
    found = uniform(rows, KNOWN)
    assert of(found, "f1_positive", split="test").value == pytest.approx(0.75)
    assert of(found, "f1_positive", split="test", attention="uniform").value == 0.6


def test_the_gap_comes_with_its_interval_and_the_number_of_seeds() -> None:
    ends = [("", 0.02), ("_low", -0.01), ("_high", 0.05)]
    rows = columns(*(row(f"f1_positive_gap{end}", v, seed=float("nan"), seeds=3) for end, v in ends))
    one = of(uniform(rows, KNOWN), "f1_positive_gap", attention="uniform")
    assert (one.value, one.low, one.high, one.n_seeds) == (0.02, -0.01, 0.05, 3)


def test_distances_are_means_over_texts() -> None:
    rows = [
        row("output_distance", value, example=str(i), against="uniform", distribution="uniform")
        for i, value in enumerate((0.1, 0.3))
    ]
    one = of(uniform(columns(*rows), KNOWN), "tvd", attention="uniform")
    assert (one.value, one.n) == (pytest.approx(0.2), 2)


def test_seed_variance_is_the_largest_distance_of_each_text() -> None:
    """Of text 0 the larger of .1 and .3, of text 1 that of .5 and .2; text 2 has none."""
    table = {1: (0.1, 0.5, float("nan")), 2: (0.3, 0.2, float("nan"))}
    rows = columns(
        *(
            row("attention_jsd", v, seed=seed, example=str(i), against="seed", **{"class": name})
            for seed, values in table.items()
            for i, (v, name) in enumerate(zip(values, ("negative", "positive", "positive"), strict=True))
        )
    )
    found = seed_variance(rows, KNOWN)
    assert of(found, "seed_jsd").value == pytest.approx(0.4)
    assert of(found, "seed_jsd", **{"class": "0"}).value == pytest.approx(0.3)
    assert of(found, "seed_jsd", **{"class": "1"}).value == pytest.approx(0.5)


def test_each_guide_has_its_f1_and_that_of_an_adversary_its_lambda() -> None:
    rows = columns(
        *(
            row("f1_positive", value, model="mlp", guide=guide, guided_by="bilstm")
            for guide, value in (("own", 0.7), ("adversary", 0.5))
        )
    )
    found = guides(rows, KNOWN)
    assert of(found, "f1_positive", guide="own").value == 0.7
    assert of(found, "f1_positive", **{"guide": "adversary", "lambda": "0.001"}).encoder == "mlp"


def test_a_sweep_has_its_numbers_by_lambda_and_its_form_by_class() -> None:
    opposed = {"against": "adversary", "base_seed": 0}
    rows = columns(
        row("f1_positive", 0.9),
        row("f1_positive", 0.8, **opposed, **{"lambda": 2e-4}),
        row("attention_jsd", 0.5, example="0", **opposed, **{"lambda": 2e-4}),
        *(
            row("chord_area", v, seed=s, against="adversary", base_seed=s)
            for s, v in enumerate((0.1, 0.2, 0.3))
        ),
        row("chord_area", -0.1, **opposed, **{"class": "positive"}),
        row("far_lambda", 2e-4, **opposed),
    )
    found = trained_adversary(rows, KNOWN)
    assert of(found, "f1_positive", split="test").value == 0.9
    assert of(found, "f1_positive", **{"lambda": "0.0002"}).value == 0.8
    assert of(found, "jsd", **{"lambda": "0.0002"}).value == 0.5
    whole = of(found, "chord_area")
    assert (whole.value, whole.n_seeds) == (pytest.approx(0.2), 3)
    assert (whole.low, whole.high) == pytest.approx((0.2 - 0.2484, 0.2 + 0.2484), abs=1e-4)
    assert of(found, "chord_area", **{"class": "1"}).value == -0.1
    assert of(found, "far_lambda").value == 2e-4
