"""Numbers of permuted attention and of the exact adversary, from rows made by hand."""

from __future__ import annotations

import math

import pytest
from made_rows import BASE, by_text, rows_of

from faithgauge.audit.attacks import exact_adversary, permutation
from faithgauge.audit.numbers import Known
from faithgauge.audit.table import AUDITED
from faithgauge.audit.verdict import DELTA

KNOWN = Known(("attention",), ("a", "b"))
MEASURED = {"adversary": "exact", "epsilon": 0.02}


def moved(value: float) -> list[dict[str, object]]:
    return by_text("permutation_tvd", [[value] * 40] * 3)


@pytest.mark.parametrize(("value", "lowers"), [(0.019, True), (0.021, False)])
def test_attention_whose_order_moves_the_output_by_less_than_what_matters_is_idle(
    value: float, lowers: bool
) -> None:
    found = permutation(rows_of(moved(value)), KNOWN)
    assert [(one.value, one.baseline, one.n, one.seeds) for one in found] == [
        (pytest.approx(value), DELTA, 40, 3)
    ]
    assert bool(AUDITED["permutation"].lowers(found)) is lowers


def test_the_exact_adversary_stands_beside_other_seeds() -> None:
    seeds = by_text("attention_jsd", [[0.1] * 40] * 2, versus=BASE, setting={"against": "seed"})
    (one,) = exact_adversary(
        rows_of(by_text("epsilon_max_jsd", [[0.6] * 40] * 3, setting=MEASURED), seeds), KNOWN
    )
    assert (one.measure, one.value, one.baseline) == (
        "epsilon_max_jsd",
        pytest.approx(0.6),
        pytest.approx(0.1),
    )
    assert "that of other seeds is 0.100 away" in one.sentence


def test_where_there_is_no_exact_number_the_lower_bound_is_told_as_one() -> None:
    rows = by_text("epsilon_max_jsd", [[math.nan] * 40], setting=MEASURED)
    rows += by_text("epsilon_max_jsd_lower", [[0.3] * 40], setting=MEASURED)
    (one,) = exact_adversary(rows_of(rows), KNOWN)
    assert (one.measure, one.value) == ("epsilon_max_jsd_lower", pytest.approx(0.3))
    assert "at least" in one.sentence


def test_of_a_pair_the_first_text_counts() -> None:
    second = by_text("permutation_tvd", [[0.9] * 40] * 3, setting={"side": "second"})
    (one,) = permutation(rows_of(moved(0.1), second), KNOWN)
    assert one.value == pytest.approx(0.1)


def test_without_rows_there_is_no_number() -> None:
    assert permutation(rows_of(), KNOWN) == []
    assert exact_adversary(rows_of(), KNOWN) == []
