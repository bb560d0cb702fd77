"""The pieces of which judges are made."""

from __future__ import annotations

import math

from faithgauge.papers.cells import Ours
from faithgauge.papers.findings import (
    Check,
    Verdict,
    above,
    all_above,
    at_most,
    both,
    by_class,
    each,
    mean_gap,
    over,
    select,
    show,
    verdict,
)

PAIR = {"measure_a": "attention", "measure_b": "gradient"}


def tau(dataset: str, encoder: str, value: float, **keys: str) -> Ours:
    return Ours(dataset, encoder, "kendall_tau", value, {**PAIR, **keys})


ROWS = [
    tau("sst", "bilstm", 0.3, **{"class": "0"}),
    tau("sst", "bilstm", 0.5, **{"class": "1"}),
    tau("imdb", "bilstm", 0.6, **{"class": "0"}),
    tau("sst", "average", 0.7, **{"class": "0"}),
    tau("sst", "average", 0.4, **{"class": "1"}),
    tau("sst", "bilstm", 0.9, **{"class": "0", "attention": "dot"}),
]
BILSTM = select("kendall_tau", encoder="bilstm", keys=PAIR, free=("class",))
AVERAGE = select("kendall_tau", encoder="average", keys=PAIR, free=("class",))


def test_keys_must_be_exactly_those_asked_for_but_the_free_ones() -> None:
    assert [row.value for row in BILSTM(ROWS)] == [0.3, 0.5, 0.6]
    dot = select("kendall_tau", encoder="bilstm", keys={**PAIR, "attention": "dot"}, free=("class",))
    assert [row.value for row in dot(ROWS)] == [0.9]


def test_a_pair_is_found_in_either_order() -> None:
    turned = {"measure_a": "gradient", "measure_b": "attention"}
    assert select("kendall_tau", keys=turned, free=("class",), datasets=["imdb"])(ROWS) == [ROWS[2]]


def test_the_number_of_all_texts_gives_way_to_those_of_the_classes() -> None:
    all_texts = [tau("sst", "bilstm", 0.4), tau("babi-1", "bilstm", 0.2)]
    assert [row.value for row in by_class(BILSTM)([*ROWS, *all_texts])] == [0.3, 0.5, 0.6, 0.2]


def test_each_number_is_above_the_highest_of_the_others() -> None:
    """0.7 and 0.4 against 0.6."""
    assert all_above(AVERAGE, BILSTM)(ROWS).verdict == "fails"
    assert all_above(AVERAGE, BILSTM)(ROWS[:4]).verdict == "holds"
    assert all_above(AVERAGE, BILSTM)(ROWS[:3]).verdict == "untested"
    assert all_above(AVERAGE, BILSTM)(ROWS[3:5]).verdict == "untested"


def test_what_is_not_a_number_is_not_judged() -> None:
    assert BILSTM([tau("sst", "bilstm", math.nan)]) == []


def test_a_claim_of_each_number_holds_when_it_is_true_of_all() -> None:
    assert each(BILSTM, at_most(0.6))(ROWS).verdict == "holds"
    assert each(BILSTM, at_most(0.5))(ROWS).verdict == "fails"


def test_a_claim_of_most_numbers_needs_more_than_the_share() -> None:
    two_of_three = each(BILSTM, over(0.3), needed=0.5)
    assert two_of_three(ROWS).verdict == "holds"
    assert two_of_three(ROWS[:2]).verdict == "fails"


def test_without_numbers_nothing_is_tested() -> None:
    nothing = Verdict("untested", "no numbers that it could be judged by")
    assert each(BILSTM, over(0))([]) == nothing
    assert above(AVERAGE, BILSTM)(ROWS[:3]) == nothing
    assert mean_gap(AVERAGE, BILSTM, over=0.1)(ROWS[:3]) == nothing
    assert both(each(BILSTM, over(0)), each(AVERAGE, over(0)))([]) == nothing


def test_pairs_are_of_the_same_data_set_and_class() -> None:
    """0.7 against 0.3, and 0.4 against 0.5; imdb has no partner."""
    assert above(AVERAGE, BILSTM)(ROWS).verdict == "fails"
    assert above(AVERAGE, BILSTM, by=-0.2)(ROWS).verdict == "holds"
    assert above(AVERAGE, BILSTM)(ROWS[:4]).evidence.startswith("true in 1 of 1 on sst: ")


def test_a_mean_gap_counts_every_data_set_once() -> None:
    """sst: (0.4 − 0.1) / 2 = 0.15; imdb: 0.1; together 0.125."""
    rows = [*ROWS, tau("imdb", "average", 0.7, **{"class": "0"})]
    found = mean_gap(AVERAGE, BILSTM, over=0.12)(rows)
    assert found.verdict == "holds"
    assert found.evidence.startswith("true in 1 of 1 on sst, imdb: mean difference 0.125, from ")
    assert mean_gap(AVERAGE, BILSTM, over=0.13)(rows).verdict == "fails"


def test_of_two_parts_those_that_can_be_tested_must_hold() -> None:
    assert both(each(BILSTM, over(0)), each(AVERAGE, over(0)))(ROWS[:3]).verdict == "holds"
    assert both(each(BILSTM, over(0)), each(AVERAGE, over(0.5)))(ROWS).verdict == "fails"


def test_the_evidence_quotes_exceptions_first_and_then_the_extremes() -> None:
    assert each(BILSTM, at_most(0.5))(ROWS).evidence == (
        "true in 2 of 3 on sst, imdb: imdb bilstm attention–gradient class 0 kendall_tau 0.6; "
        "sst bilstm attention–gradient class 0 kendall_tau 0.3; "
        "sst bilstm attention–gradient class 1 kendall_tau 0.5"
    )


def test_the_evidence_quotes_six_numbers_and_counts_the_rest() -> None:
    row = ROWS[0]
    found = verdict([Check(True, f"number {i}", (row,)) for i in range(8)])
    assert found.evidence.endswith("number 5; and 2 more")


def test_a_number_is_shown_with_its_interval_and_the_mark_of_partial_data() -> None:
    row = Ours(
        "snli", "bilstm", "kendall_tau", 0.25, PAIR, low=0.2, high=0.3, note="partial data: half of it"
    )
    assert show(row) == (
        "snli bilstm attention–gradient kendall_tau 0.25 [0.2, 0.3] (partial data: half of it)"
    )
    assert each(BILSTM, over(0))([row]).evidence.startswith("true in 1 of 1 on snli (partial data): ")
