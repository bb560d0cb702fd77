"""The published tables: all of them, in our names and units."""

from __future__ import annotations

import csv
from importlib import resources

import pytest

from faithgauge.data.synthetic import SYNTHETIC
from faithgauge.data.table import DATASETS
from faithgauge.errors import ConfigError
from faithgauge.models.encoders import ENCODERS
from faithgauge.papers.cells import Cell
from faithgauge.papers.published import NAMED_BY, NUMBERS, PAPERS, TEXT, aliases, published

ALL = [(paper, table) for paper in PAPERS for table in PAPERS[paper].tables]
EXPLAINERS = {
    "attention", "gradient", "leave_one_out", "lime", "integrated_gradient", "deeplift", "gradient_shap",
    "deep_shap", "rollout", "flow", "random", "input_x_gradient",
}  # fmt: skip


def cells(*, text: bool = False) -> list[Cell]:
    return [cell for paper, table in ALL if (table == TEXT) == text for cell in published(paper, table)]


def find(paper: str, table: str, dataset: str, encoder: str, metric: str, **keys: str) -> Cell:
    [cell] = [
        cell
        for cell in published(paper, table)
        if (cell.dataset, cell.encoder, cell.metric) == (dataset, encoder, metric)
        and keys.items() <= cell.keys.items()
    ]
    return cell


def test_there_are_28_tables_of_2740_cells_of_which_2706_have_a_value() -> None:
    assert len([table for _, table in ALL if table != TEXT]) == 28
    assert len(cells()) == 2740
    assert sum(cell.value is not None for cell in cells()) == 2706


def test_the_numbers_of_the_running_text_are_62_and_one_of_them_is_not_stated() -> None:
    assert len(cells(text=True)) == 62
    assert [cell.metric for cell in cells(text=True) if cell.value is None] == ["epsilon"]


def test_cells_that_are_text_are_those_of_settings_and_machines() -> None:
    texts = [cell for cell in cells() if isinstance(cell.value, str)]
    assert {cell.metric for cell in texts} == {"variant", "embedding_init", "cpu", "gpu", "memory"}
    assert len(texts) == 30


@pytest.mark.parametrize(("paper", "table"), ALL)
def test_no_two_cells_of_a_table_have_the_same_place(paper: str, table: str) -> None:
    places = [
        (cell.dataset, cell.encoder, cell.metric, *sorted(cell.keys.items()))
        for cell in published(paper, table)
    ]
    assert len(set(places)) == len(places)


def test_every_data_set_and_encoder_is_one_of_ours_or_a_pretrained_one() -> None:
    assert {cell.dataset for cell in cells()} <= {*DATASETS, *SYNTHETIC, ""}
    assert {cell.encoder for cell in cells()} <= {*ENCODERS, "distilbert", "roberta", ""}


def test_every_measure_is_one_of_our_explainers_or_a_sum() -> None:
    named = {
        value for cell in cells() for key, value in cell.keys.items() if NAMED_BY.get(key) == "explainers"
    }
    assert named == {*EXPLAINERS, "sum", "x9", "x5"}


@pytest.mark.parametrize("paper", PAPERS)
def test_every_alias_is_one_of_a_name_that_is_printed(paper: str) -> None:
    folder = resources.files("faithgauge.papers") / paper.replace("-", "_")
    printed: dict[str, set[str]] = {}
    for table in PAPERS[paper].tables:
        file = folder / ("text_numbers.csv" if table == TEXT else f"table_{table}.csv")
        for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
            for column, value in row.items():
                printed.setdefault(NAMED_BY.get(column, ""), set()).add(value)
    for section in set(NAMED_BY.values()):
        assert set(aliases(paper).get(section, {})) <= printed.get(section, set())


@pytest.mark.parametrize("paper", PAPERS)
def test_sections_by_table_name_tables_and_units_name_metrics(paper: str) -> None:
    known = {*NAMED_BY.values(), "percent", "offsets", "always", "units"}
    assert set(aliases(paper)) <= known
    for section in ("percent", "offsets", "always"):
        assert set(aliases(paper).get(section, ())) <= set(PAPERS[paper].tables)
    metrics = {cell.metric for table in PAPERS[paper].tables for cell in published(paper, table)}
    assert set(aliases(paper).get("units", {})) <= metrics


@pytest.mark.parametrize("paper", PAPERS)
def test_every_file_of_numbers_is_a_table_and_has_the_columns_of_numbers(paper: str) -> None:
    folder = resources.files("faithgauge.papers") / paper.replace("-", "_")
    files = {entry.name for entry in folder.iterdir() if entry.name.endswith(".csv")}
    tables = {"text_numbers.csv" if t == TEXT else f"table_{t}.csv" for t in PAPERS[paper].tables}
    assert files == tables
    for name in files:
        header = (folder / name).read_text(encoding="utf-8").splitlines()[0].split(",")
        assert {"dataset", "encoder", "metric", "note", *NUMBERS} <= set(header)


def test_fractions_lie_between_0_and_1() -> None:
    fractions = [cell for cell in cells() if cell.unit == "fraction" and cell.metric != "faithfulness"]
    assert len(fractions) > 500
    for cell in fractions:
        assert cell.value is None or (isinstance(cell.value, float) and 0 <= cell.value <= 1), cell


def test_a_cell_of_table_2_of_jain_wallace() -> None:
    keys = {"class": "0", "measure_a": "attention", "measure_b": "leave_one_out"}
    cell = find("jain-wallace-2019", "2", "sst", "bilstm", "kendall_tau", **keys)
    assert cell == Cell(
        "jain-wallace-2019",
        "2",
        "sst",
        "bilstm",
        "kendall_tau",
        keys,
        0.27,
        spread=0.19,
        note="mean and std over instances",
    )


def test_percent_are_fractions_and_offsets_are_bounds() -> None:
    cell = find(
        "recursive-roar-2022", "2", "babi-3", "roberta", "faithfulness", measure="integrated_gradient"
    )
    assert (cell.value, cell.low, cell.high, cell.unit) == (-0.279, -0.77, -0.099, "fraction")
    cell = find("recursive-roar-2022", "1", "sst", "bilstm", "f1_macro")
    assert (cell.value, cell.low, cell.high) == (0.82, 0.81, 0.826)


def test_percent_of_one_table_leave_the_fractions_of_another_alone() -> None:
    validation = find("neely-2022", "9", "sst", "bilstm", "accuracy")
    test = find("neely-2022", "3", "sst", "bilstm", "accuracy", attention="uniform")
    assert (validation.value, validation.spread) == (0.80696, 0.00403)
    assert (test.value, test.spread) == (0.823, 0.008)
    assert (validation.keys["split"], test.keys["split"]) == ("validation", "test")


def test_what_is_usual_is_no_key() -> None:
    """Trained attention, all classes together, the model that is attacked."""
    base = find("wiegreffe-pinter-2019", "2", "sst", "bilstm", "f1_positive", source="reproduced")
    assert base.keys == {"split": "test", "source": "reproduced"}
    uniform = find("neely-2022", "3", "sst", "bilstm", "accuracy", attention="uniform")
    assert uniform.keys == {"split": "test", "attention": "uniform"}
    pair = {"measure_a": "attention", "measure_b": "leave_one_out"}
    assert find("jain-wallace-2019", "2", "cnn", "bilstm", "sig_frac", **pair).keys == pair
    assert find("attefa", "2", "sst", "mlp", "f1_positive", source="reproduced").keys == base.keys
    assert find("attefa", "3", "sst", "mlp", "f1_positive").keys == {"model": "adversary"}
    assert find("recursive-roar-2022", "1", "sst", "bilstm", "f1_macro").keys == {"split": "test"}
    assert find("recursive-roar-2022", "1", "sst", "bilstm", "avg_len").keys == {}


def test_hours_and_minutes_are_minutes() -> None:
    cell = find("recursive-roar-2022", "7", "", "bilstm", "walltime_minutes", measure="sum")
    assert (cell.value, cell.unit) == (13 * 60 + 38, "minutes")


def test_a_dash_is_none() -> None:
    cell = find("recursive-roar-2022", "2", "sst", "roberta", "faithfulness", measure="attention")
    assert (cell.value, cell.low, cell.high) == (None, None, None)


def test_numbers_of_other_papers_are_named_by_paper() -> None:
    quoted = find("wiegreffe-pinter-2019", "2", "sst", "bilstm", "f1_positive", source="jain-wallace-2019")
    assert quoted.value == find("jain-wallace-2019", "1", "sst", "bilstm", "f1_positive").value == 0.81


def test_table_4_of_wiegreffe_pinter_is_a_choice_from_its_table_5() -> None:
    for cell in published("wiegreffe-pinter-2019", "4"):
        same = find("wiegreffe-pinter-2019", "5", cell.dataset, "bilstm", cell.metric, **cell.keys)
        assert same.value == cell.value


def test_means_over_seeds_of_attefa_are_those_of_its_tables_by_seed() -> None:
    """Printed with three digits by seed and four in the mean."""
    runs = [*published("attefa", "4"), *published("attefa", "5")]
    for cell in published("attefa", "3"):
        if cell.metric == "attefa":
            own = [
                float(run.value or 0)
                for run in runs
                if (run.dataset, run.encoder, run.metric) == (cell.dataset, cell.encoder, cell.metric)
            ]
            assert len(own) == 9
            assert sum(own) / 9 == pytest.approx(cell.value, abs=6e-4)


def test_an_unknown_paper_or_table_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"^unknown paper 'atefa': did you mean 'attefa'\?$"):
        published("atefa", "1")
    with pytest.raises(ConfigError, match=r"^unknown table of attefa '9': known are 1, 2, 3, 4, 5$"):
        published("attefa", "9")


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_knows_its_key_and_is_in_the_references(paper: str, pytestconfig: pytest.Config) -> None:
    references = (pytestconfig.rootpath / "references.bib").read_text(encoding="utf-8")
    assert PAPERS[paper].key == paper
    assert f"{{{paper},\n" in references
    [entry] = [part for part in references.split("\n@") if f"{{{paper}," in part]
    assert PAPERS[paper].title in entry.replace("{NLP}", "NLP")
