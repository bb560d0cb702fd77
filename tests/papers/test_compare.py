"""Published numbers beside ours."""

from __future__ import annotations

import json
import math

import pytest

from faithgauge.data.table import DATASETS
from faithgauge.papers.cells import Cell, Ours
from faithgauge.papers.compare import ASKED, compare, computable, judged, missing
from faithgauge.papers.published import PAPERS, published
from faithgauge.papers.recipes import Recipe

KEYS = {"class": "0", "measure_a": "attention", "measure_b": "gradient"}
CELL = Cell(
    "jain-wallace-2019", "2", "sst", "bilstm", "kendall_tau", KEYS, 0.34, spread=0.21, note="as printed"
)
OURS = Ours(
    "sst@jain-wallace-2019",
    "bilstm",
    "kendall_tau",
    0.36,
    KEYS,
    low=0.33,
    high=0.39,
    spread=0.2,
    n=1725,
    n_seeds=3,
)
TABLE_2 = [Recipe("agreement", "2")]


def test_the_row_of_a_cell_and_ours_has_the_keys_of_the_table_and_both_numbers() -> None:
    [row] = compare([CELL], [OURS])
    assert row.pop("difference") == pytest.approx(0.02)
    assert row == {
        "paper": "jain-wallace-2019",
        "table": "2",
        "dataset": "sst",
        "encoder": "bilstm",
        "metric": "kendall_tau",
        **KEYS,
        "published": 0.34,
        "ours": 0.36,
        "low": 0.33,
        "high": 0.39,
        "n": 1725,
        "n_seeds": 3,
        "inside": True,
        "spread": 0.2,
        "published_spread": 0.21,
        "published_low": None,
        "published_high": None,
        "unit": "",
        "note": "as printed",
    }


@pytest.mark.parametrize(
    ("low", "high", "inside"), [(0.34, 0.4, True), (0.341, 0.4, False), (None, None, None)]
)
def test_inside_says_whether_the_published_number_lies_in_our_interval(
    low: float | None, high: float | None, inside: bool | None
) -> None:
    [row] = compare([CELL], [Ours("sst", "bilstm", "kendall_tau", 0.36, KEYS, low=low, high=high)])
    assert row["inside"] is inside


def test_every_row_has_the_same_columns_but_the_keys_and_is_json() -> None:
    cells = published("jain-wallace-2019", "2")
    rows = compare(cells, [OURS, Ours("snli", "bilstm", "kendall_tau", math.nan, note="constant scores")])
    assert len({tuple(key for key in row if key not in KEYS) for row in rows}) == 1
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows


def test_a_number_that_could_not_be_computed_is_null_with_its_reason() -> None:
    row = compare([CELL], [Ours("sst", "bilstm", "kendall_tau", math.nan, KEYS, note="constant scores")])[0]
    assert (row["ours"], row["difference"], row["inside"]) == (None, None, None)
    assert row["note"] == "constant scores; as printed"


def test_partial_data_stand_beside_the_published_number_with_their_mark_first() -> None:
    [row] = compare([CELL], [Ours("sst", "bilstm", "kendall_tau", 0.4, KEYS, note="partial data: half")])
    assert (row["published"], row["ours"]) == (0.34, 0.4)
    assert row["note"] == "partial data: half; as printed"


def test_substituted_data_never_stand_beside_a_published_number() -> None:
    first, second = compare(
        [CELL], [Ours("sst", "bilstm", "kendall_tau", 0.4, KEYS, note="substituted data: dev for train")]
    )
    assert (first["published"], first["ours"]) == (0.34, None)
    assert (second["published"], second["ours"]) == (None, 0.4)
    assert second["note"] == "substituted data: dev for train"


def test_what_is_not_in_print_comes_after_what_is() -> None:
    extra = Ours("sst", "average", "kendall_tau", 0.5, {**KEYS, "measure_b": "leave_one_out"})
    first, second = compare([CELL], [extra, OURS])
    assert first["ours"] == 0.36
    assert (second["paper"], second["table"], second["ours"]) == (None, None, 0.5)
    assert second["note"] == "not in print"


def test_one_number_of_ours_serves_both_tables_that_print_it() -> None:
    keys = {"measure_a": "attention", "measure_b": "lime"}
    ours = [Ours("sst", "bilstm", "kendall_tau", 0.2, keys)]
    cells = [*published("neely-2022", "2"), *published("neely-2022", "6")]
    found = [row for row in compare(cells, ours) if row["ours"] is not None]
    assert [(row["table"], row["published"], row["published_spread"]) for row in found] == [
        ("2", 0.1326, None),
        ("6", 0.1326, 0.2372),
    ]


def test_base_and_adversary_of_attefa_are_told_apart() -> None:
    ours = [
        Ours("sst", "mlp", "f1_positive", 0.8, {"split": "test"}),
        Ours("sst", "mlp", "f1_positive", 0.6, {"model": "adversary"}),
    ]
    cells = [*published("attefa", "2"), *published("attefa", "3")]
    found = [row for row in compare(cells, ours) if row["ours"] is not None]
    assert [(row["table"], row["ours"], row["published"]) for row in found] == [
        ("2", 0.8, 0.816),
        ("3", 0.6, 0.605),
    ]


def test_a_weight_is_found_however_it_is_written() -> None:
    ours = [Ours("sst", "bilstm", "jsd", 0.5, {"lambda": "0.000525"})]
    found = [row for row in compare(published("wiegreffe-pinter-2019", "4"), ours) if row["ours"]]
    assert [row["published"] for row in found] == [0.514]


def test_a_cell_without_a_number_of_ours_says_why() -> None:
    def cell(dataset: str, **keys: str) -> Cell:
        return Cell("neely-2022", "2", dataset, "bilstm", "kendall_tau", keys, 0.3)

    at_hand = {"sst"}
    assert missing(cell("sst"), TABLE_2, at_hand) == "not computed"
    assert missing(cell("sst"), [], at_hand) == "comes with no test yet"
    assert missing(cell("imdb"), TABLE_2, at_hand) == "data not at hand"
    assert missing(cell("anemia"), [], at_hand) == "data must be asked for (MIMIC, ADR)"
    assert missing(cell("sst", measure_a="lime", measure_b="lime"), TABLE_2, at_hand) == "1 by definition"
    assert missing(cell("sst", source="attefa"), TABLE_2, at_hand) == "printed from attefa"
    [row] = compare([CELL], [], recipes=TABLE_2, at_hand=at_hand)
    assert (row["ours"], row["note"]) == (None, "not computed; as printed")


def test_data_that_must_be_asked_for_are_those_whose_source_says_so() -> None:
    assert {name for name in DATASETS if DATASETS[name].access} == ASKED


@pytest.mark.parametrize(
    ("recipe", "covered"),
    [
        (Recipe("agreement", "2"), True),
        (Recipe("agreement", "1"), False),
        (Recipe("agreement", "2", metrics=("sig_frac",)), False),
        (Recipe("agreement", "2", encoders=("bilstm", "average")), True),
        (Recipe("agreement", "2", metrics=("kendall_tau",), encoders=("average",)), False),
    ],
)
def test_a_recipe_covers_the_metrics_and_encoders_that_it_names(recipe: Recipe, covered: bool) -> None:
    assert computable(CELL, [recipe], {"sst"}) is covered


def test_every_finding_of_a_paper_is_judged_and_says_what_it_needs() -> None:
    found = judged("jain-wallace-2019", [OURS])
    assert [row["name"] for row in found] == [f.name for f in PAPERS["jain-wallace-2019"].findings]
    assert found[0]["verdict"] == "holds"
    assert found[1]["verdict"] == "untested"
    assert found[1]["evidence"].startswith("needs kendall_tau of attention and gradient")


def test_substituted_data_take_no_part_in_a_verdict() -> None:
    high = Ours("sst", "bilstm", "kendall_tau", 0.9, KEYS, note="substituted data: dev for train")
    assert judged("jain-wallace-2019", [high])[0]["verdict"] == "untested"


@pytest.mark.parametrize("paper", PAPERS)
def test_without_numbers_every_finding_is_untested(paper: str) -> None:
    assert {row["verdict"] for row in judged(paper, [])} == {"untested"}


def test_every_finding_has_a_name_of_its_own_and_sentences() -> None:
    findings = [finding for paper in PAPERS.values() for finding in paper.findings]
    assert len({finding.name for finding in findings}) == len(findings)
    for finding in findings:
        assert finding.name.replace("_", "").isalnum()
        assert finding.name.islower()
        assert finding.claim.endswith(".")
        assert finding.needs


def test_a_measure_as_the_code_of_the_paper_has_it_stands_beside_the_same_cell() -> None:
    keys = {"measure": "integrated_gradient"}
    cell = Cell("recursive-roar-2022", "2", "sst", "bilstm", "faithfulness", keys, 0.3)
    code = {"measure": "integrated_gradient:madsen-2022-code"}
    ours = [Ours("sst", "bilstm", "faithfulness", value, own) for value, own in ((0.2, keys), (0.35, code))]
    rows = compare([cell], ours)
    assert [row["measure"] for row in rows] == [keys["measure"], code["measure"]]
    assert [row["published"] for row in rows] == [0.3, 0.3]
    assert [row["difference"] for row in rows] == pytest.approx([-0.1, 0.05])
