from __future__ import annotations

from math import nan

import pytest

from faithgauge.report.advice import uniform_attention


@pytest.mark.parametrize(
    ("gap", "low", "high", "says"),
    [
        (0.004, -0.004, 0.012, "uniform attention does as well"),
        (-0.05, -0.08, -0.02, "uniform attention does as well"),
        (0.07, 0.05, 0.09, "trained attention is needed"),
        (0.01, -0.02, 0.04, "is open"),
        (0.01, None, None, "has no interval"),
        (nan, nan, nan, "is not known"),
    ],
)
def test_a_gap_to_uniform_attention_has_its_sentence(
    gap: float, low: float | None, high: float | None, says: str
) -> None:
    assert says in uniform_attention(gap, low, high)
