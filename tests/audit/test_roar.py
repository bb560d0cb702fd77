"""Numbers of ROAR, one a seed, from rows made by hand."""

from __future__ import annotations

import math

import pytest
from made_rows import right, row, rows_of
from scipy.stats import ttest_1samp

from faithgauge.audit.conclude import conclude
from faithgauge.audit.numbers import Known
from faithgauge.audit.roar import masked_training, recursive_roar

KNOWN = Known(("random", "oracle"), ("a", "b"))
ORACLE, NULL = (0.5, 0.6, 0.7), (-0.01, 0.0, 0.02)


def areas(
    explainer: str, values: tuple[float, ...], measure: str = "faithfulness"
) -> list[dict[str, object]]:
    return [
        row(measure, value, seed, explainer=explainer, versus="random") for seed, value in enumerate(values)
    ]


ROWS = rows_of(areas("oracle", ORACLE), areas("random_2", NULL), right())


def test_the_area_is_a_mean_over_seeds_with_students_interval() -> None:
    one = next(one for one in recursive_roar(ROWS, KNOWN) if one.explainer == "oracle")
    half = 4.302653 * 0.1 / math.sqrt(3)  # t of two degrees of freedom
    assert (one.value, one.low, one.high) == (
        pytest.approx(0.6),
        pytest.approx(0.6 - half, abs=1e-6),
        pytest.approx(0.6 + half, abs=1e-6),
    )
    assert (one.n, one.seeds) == (40, 3)


def test_random_is_judged_by_the_other_random_order() -> None:
    one = next(one for one in recursive_roar(ROWS, KNOWN) if one.explainer == "random")
    assert one.value == pytest.approx(0.01 / 3)


def test_p_values_are_students_after_holm() -> None:
    found = {one.explainer: one.p for one in recursive_roar(ROWS, KNOWN)}
    assert found["oracle"] == pytest.approx(2 * ttest_1samp(ORACLE, 0).pvalue)
    assert found["random"] == pytest.approx(ttest_1samp(NULL, 0).pvalue)


def test_recursive_roar_decides() -> None:
    found = conclude(ROWS, ("majority", "recursive_roar"), KNOWN, trained_here=True)
    assert found.verdicts["oracle"].verdict == "supported"
    assert found.verdicts["random"].verdict == "undecided"


def test_the_estimate_of_one_training_is_told_apart_and_decides_nothing() -> None:
    rows = rows_of(areas("oracle", ORACLE, "masked_training_curve"), right())
    (one,) = masked_training(rows, KNOWN)
    assert (one.measure, one.explainer) == ("masked_training_curve", "oracle")
    found = conclude(rows, ("majority", "masked_training"), KNOWN, trained_here=True)
    assert found.verdicts["oracle"].verdict == "undecided"


def test_an_explainer_without_areas_has_no_number() -> None:
    assert recursive_roar(rows_of(right()), KNOWN) == []
