"""Curves on a terminal, and fractions as they are written."""

from __future__ import annotations

from typing import Any

import pytest

from faithgauge.cli.curves import drawn, shares
from faithgauge.errors import ConfigError


def point(measure: str, fraction: str, value: float, **more: Any) -> dict[str, Any]:
    where = {"dataset": "sst@recursive-roar-2022", "encoder": "bilstm", "metric": "f1_macro"}
    return {**where, "measure": measure, "fraction": fraction, "ours": value, **more}


def test_a_curve_is_a_line_from_nothing_masked_to_all() -> None:
    rows = [point("random", "0.5", 0.5), point("random", "0", 0.8), point("random", "1", 0.0)]
    rows += [
        point("attention", fraction, value) for fraction, value in (("0", 0.8), ("0.5", 0.1), ("1", 0.0))
    ]
    assert drawn(rows) == [
        "sst bilstm f1_macro by the share masked, from 0.000 ▁ to 0.800 █",
        "  random     █▆▁  0.800 → 0.000",
        "  attention  █▂▁  0.800 → 0.000",
    ]


def test_plain_roar_is_named_beside_recursive() -> None:
    rows = [point("gradient", "0", 0.8), point("gradient", "0", 0.8, masking="plain")]
    assert any(line.strip().startswith("gradient plain") for line in drawn(rows))


def test_without_curves_there_are_no_lines() -> None:
    assert drawn([]) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0,0.5,1", (0, 0.5, 1)),
        ("0,0.1,…,0.4,1", (0, 0.1, 0.2, 0.3, 0.4, 1)),
        ("0,0.1,...,1", (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)),
        ("", ()),
    ],
)
def test_fractions_may_leave_out_the_middle(text: str, found: tuple[float, ...]) -> None:
    assert shares(text) == found


@pytest.mark.parametrize("text", ["0,half,1", "…,1", "0,0.1,…"])
def test_fractions_that_cannot_be_read_are_said(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected numbers with commas, such as 0,0\.5,1"):
        shares(text)
