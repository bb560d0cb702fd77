"""From rows of attacks to numbers: means, medians, shares and correlations by class and largest attention."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from faithgauge.papers.attacked import QUARTERS, adversarial_search, exact_adversary, permutation
from faithgauge.papers.cells import Ours
from faithgauge.papers.tidy import NUMBERS, Known

KNOWN = Known({"sst@jain-wallace-2019": ("negative", "positive")})


def columns(*rows: dict[str, Any]) -> dict[str, np.ndarray]:
    usual = {
        "dataset": "sst@jain-wallace-2019",
        "model": "bilstm",
        "seed": 0,
        "class": "negative",
        "job": "j",
    }
    whole = [usual | row for row in rows]
    return {name: np.array([row[name] for row in whole], dtype=object) for name in whole[0]} | {
        name: np.array([row[name] for row in whole]) for name in ("measure", "value", "seed")
    }


def texts(measure: str, values: list[float], largest: list[float], **more: Any) -> list[dict[str, Any]]:
    """A row for each text, and one for its largest attention."""
    setting = more.pop("setting", {})
    rows = []
    for number, (value, top) in enumerate(zip(values, largest, strict=True)):
        for name, said in ((measure, value), ("max_attention", top)):
            own = {key: setting[key] for key in setting if name == measure or key != "epsilon"}
            written = json.dumps(own, sort_keys=True, separators=(",", ":"))
            rows.append({"example": str(number), "measure": name, "value": said, "setting": written, **more})
    return rows


def one(found: list[Ours], metric: str, **keys: str) -> Ours:
    (number,) = [row for row in found if row.metric == metric and row.keys == keys]
    return number


def test_the_change_by_permutation_is_the_median_over_texts() -> None:
    found = permutation(
        columns(*texts("permutation_tvd", [0.1, 0.4, 0.2, float("nan")], [0.2, 0.3, 1.0, 0.9])), KNOWN
    )
    number = one(found, "permutation_tvd")
    assert (number.value, number.n) == (pytest.approx(0.2), 3)
    assert 0.1 <= number.low <= 0.2 <= number.high <= 0.4  # type: ignore[operator]
    assert one(found, "permutation_tvd", **{"class": "0"}).value == pytest.approx(0.2)


def test_of_an_even_number_of_texts_it_is_between_the_middle_two() -> None:
    found = permutation(columns(*texts("permutation_tvd", [0.1, 0.4, 0.2, 0.8], [0.2] * 4)), KNOWN)
    assert one(found, "permutation_tvd").value == pytest.approx(0.3)


def test_texts_are_told_apart_by_the_quarter_of_their_largest_attention() -> None:
    found = permutation(columns(*texts("permutation_tvd", [0.1, 0.4, 0.2], [0.2, 0.25, 1.0])), KNOWN)
    by = {row.keys.get("max_attention"): row.value for row in found if "class" not in row.keys}
    assert by == {None: 0.2, QUARTERS[0]: 0.1, QUARTERS[1]: 0.4, QUARTERS[3]: 0.2}


def test_seeds_count_alike() -> None:
    """Medians 0.2 of seed 0 and 0.6 of seed 1."""
    rows = texts("permutation_tvd", [0.1, 0.2, 0.3], [0.5] * 3)
    rows += texts("permutation_tvd", [0.6, 0.6, 0.9], [0.5] * 3, seed=1, job="k")
    number = one(permutation(columns(*rows), KNOWN), "permutation_tvd")
    assert (number.value, number.n_seeds) == (pytest.approx(0.4), 2)


def searched(values: list[float], largest: list[float], **setting: Any) -> list[dict[str, Any]]:
    setting = {"adversary": "search", "epsilon": 0.01, **setting}
    return texts("epsilon_max_jsd", values, largest, setting=setting)


def test_adversaries_have_a_mean_a_share_that_is_far_and_a_correlation() -> None:
    """Ranks 1 2 3 4 and 4 2 3 1: ρ = 1 − 6 (9 + 0 + 0 + 9) / (4 · 15) = −0.8."""
    found = adversarial_search(columns(*searched([0.65, 0.3, 0.6, 0.1], [0.1, 0.2, 0.3, 0.4])), KNOWN)
    assert one(found, "epsilon_max_jsd").value == pytest.approx(0.4125)
    assert one(found, "adversarial_share").value == 0.5
    rho = one(found, "spearman", measure_a="max_attention", measure_b="epsilon_max_jsd", **{"class": "0"})
    assert rho.value == pytest.approx(-0.8)
    assert one(found, "epsilon_max_jsd", max_attention=QUARTERS[1]).value == pytest.approx(0.35)


def test_another_epsilon_and_the_exact_adversary_are_keys() -> None:
    rows = columns(
        *searched([0.1], [0.5], epsilon=0.05),
        *texts("epsilon_max_jsd", [0.7], [0.5], setting={"adversary": "exact", "epsilon": 0.01}),
    )
    assert one(adversarial_search(rows, KNOWN), "epsilon_max_jsd", epsilon="0.05").value == pytest.approx(0.1)
    assert one(exact_adversary(rows, KNOWN), "adversarial_share", adversary="exact").value == 1


def test_the_epsilon_of_questions_is_another_one_in_print() -> None:
    rows = [row | {"dataset": "babi-1", "class": "x"} for row in searched([0.1], [0.5], epsilon=0.05)]
    found = adversarial_search(columns(*rows), KNOWN)
    assert one(found, "epsilon_max_jsd").value == pytest.approx(0.1)


def test_what_has_no_value_gives_no_number_and_no_rows_none() -> None:
    rows = columns(*searched([float("nan")], [0.5]))
    assert adversarial_search(rows, KNOWN) == []
    none = {name: values[:0] for name, values in rows.items()}
    for test in ("permutation", "adversarial_search", "exact_adversary"):
        assert NUMBERS[test](none, KNOWN) == []
