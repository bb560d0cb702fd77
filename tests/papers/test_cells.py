"""Places, and when two of them are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.papers.cells import Cell, Ours, canonical, place


@pytest.mark.parametrize(
    ("written", "short"),
    [
        ("2e-4", "0.0002"),
        (0.0002, "0.0002"),
        ("1.0", "1"),
        (1, "1"),
        ("90754789", "90754789"),
        ("overall", "overall"),
    ],
)
def test_a_number_has_one_spelling(written: object, short: str) -> None:
    assert canonical(written) == short


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_short_form_of_a_number_is_that_number(number: float) -> None:
    assert float(canonical(number)) == number
    assert canonical(canonical(number)) == canonical(number)


def test_a_cell_and_a_number_of_ours_meet_whatever_the_variant_and_the_order_of_the_pair() -> None:
    keys = {"measure_a": "attention", "measure_b": "gradient", "class": "0"}
    cell = Cell("jain-wallace-2019", "2", "sst", "bilstm", "kendall_tau", keys, 0.34)
    turned = {"class": "0.0", "measure_b": "attention", "measure_a": "gradient"}
    assert place(cell) == place(Ours("sst@jain-wallace-2019", "bilstm", "kendall_tau", 0.3, turned))


@pytest.mark.parametrize(
    "other",
    [
        Ours("imdb", "bilstm", "kendall_tau", 0.3, {"class": "0"}),
        Ours("sst", "average", "kendall_tau", 0.3, {"class": "0"}),
        Ours("sst", "bilstm", "sig_frac", 0.3, {"class": "0"}),
        Ours("sst", "bilstm", "kendall_tau", 0.3, {"class": "1"}),
        Ours("sst", "bilstm", "kendall_tau", 0.3, {}),
        Ours("sst", "bilstm", "kendall_tau", 0.3, {"class": "0", "attention": "dot"}),
    ],
)
def test_any_other_coordinate_is_another_place(other: Ours) -> None:
    assert place(other) != place(Ours("sst", "bilstm", "kendall_tau", 0.3, {"class": "0"}))


def test_where_a_paper_has_a_number_from_is_no_part_of_its_place() -> None:
    with_source = Cell("attefa", "2", "sst", "mlp", "f1_positive", {"source": "reproduced"}, 0.8)
    assert place(with_source) == place(Ours("sst", "mlp", "f1_positive", 0.7))
