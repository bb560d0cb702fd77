from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from faithgauge.errors import ConfigError, DataError
from faithgauge.papers.published import PAPERS, published
from faithgauge.plans import reproduce
from faithgauge.plans.reproduce import Wish, reproduction, there
from faithgauge.plans.study import Study, read

JAIN_WALLACE = "jain-wallace-2019"
WITH_RECIPE = [name for name in PAPERS if PAPERS[name].recipes]


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FAITHGAUGE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def wish(**wanted: object) -> Wish:
    return Wish(JAIN_WALLACE, datasets=("planted",), **wanted)  # type: ignore[arg-type]


def test_any_data_set_can_be_put_through_the_tests_of_a_paper() -> None:
    found = reproduction(wish(encoders=("mlp",), seeds=2))
    own = ("performance", "agreement", "permutation", "adversarial_search", "exact_adversary")
    assert found.study.tests == own
    assert [(cell.data.name, cell.model.train.seed) for cell in found.cells] == [
        ("planted", 0),
        ("planted", 1),
    ]
    assert len(found.targets) == 10


def test_the_settings_are_those_of_the_paper() -> None:
    (cell, *_) = reproduction(wish(encoders=("bilstm",))).cells
    assert (cell.model.train.loss, cell.model.embedding_scale) == ("sum", 1.0)


@pytest.mark.parametrize(
    ("asked", "tests"),
    [
        ({"tables": ("1",)}, ("performance",)),
        ({"tables": ("2",)}, ("agreement",)),
        ({"figures": ("7",)}, ("agreement",)),
        ({"tests": ("adversarial",)}, ("adversarial_search",)),
        ({"figures": ("3", "5")}, ("permutation", "adversarial_search", "exact_adversary")),
        ({"tests": ("performance",)}, ("performance",)),
        ({"tables": ("1", "2")}, ("performance", "agreement")),
    ],
)
def test_tables_figures_and_tests_choose_what_is_computed(
    asked: dict[str, tuple[str, ...]], tests: tuple[str, ...]
) -> None:
    assert reproduction(wish(**asked)).study.tests == tests


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"tables": ("3",)}, "jain-wallace-2019: unknown table with a recipe '3': known are 1, 2"),
        ({"tests": ("agreemnt",)}, "unknown test with a recipe 'agreemnt': did you mean 'agreement'?"),
        ({"encoders": ("bilstn",)}, "unknown encoder 'bilstn': did you mean 'bilstm'?"),
    ],
)
def test_what_is_unknown_is_answered_with_what_is_known(
    asked: dict[str, tuple[str, ...]], message: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        reproduction(wish(**asked))
    assert message in str(raised.value)


def test_one_start_is_the_papers_with_one_base_and_several_are_the_honest_ones() -> None:
    one, several = (reproduction(Wish("attefa", datasets=("mock-1",), starts=n)) for n in (None, 3))
    assert (one.study.adversary.starts, one.study.adversary.base_seed) == (("fresh",), "first")
    assert several.study.adversary.starts == ("fresh", "warm", "negated")
    assert several.study.adversary.base_seed == "own"


def test_the_seeds_of_a_recipe_are_taken_from_the_front() -> None:
    found = reproduction(Wish("attefa", datasets=("mock-1",), seeds=3))
    assert found.study.seeds == (10, 50, 257)
    assert len(reproduction(Wish("attefa", datasets=("mock-1",))).study.seeds) == 9


def test_the_weights_of_a_sweep_are_those_of_the_printed_table() -> None:
    own = reproduction(Wish("wiegreffe-pinter-2019", datasets=("planted",))).study.adversary
    for dataset in ("anemia", "diabetes", "sst", "imdb"):
        cells = published("wiegreffe-pinter-2019", "5")
        printed = {float(cell.keys["lambda"]) for cell in cells if cell.dataset == dataset}
        assert set(own.weights_of(dataset)) == printed


def test_more_seeds_than_the_recipe_has_are_counted_from_zero() -> None:
    found = reproduction(Wish("neely-2022", datasets=("planted",), seeds=5))
    assert found.study.seeds == (87, 2134, 5555, 0, 1)


def test_a_quick_run_has_one_seed_two_epochs_and_a_hundred_texts() -> None:
    found = reproduction(wish(quick=True))
    assert (found.study.seeds, found.study.instances) == ((0,), 100)
    assert {cell.model.train.epochs for cell in found.cells} == {2}
    assert found.study.adversary.epochs == 2


def test_the_weights_of_a_quick_sweep_are_few_and_in_print_for_every_data_set() -> None:
    found = reproduction(Wish("wiegreffe-pinter-2019", datasets=("planted",), quick=True))
    cells = published("wiegreffe-pinter-2019", "5")
    for dataset in ("anemia", "diabetes", "sst", "imdb"):
        printed = {float(cell.keys["lambda"]) for cell in cells if cell.dataset == dataset}
        weights = found.study.adversary.weights_of(dataset)
        assert len(weights) == 3
        assert printed.issuperset(weights)


def test_of_one_seed_what_compares_seeds_is_left_out_and_named() -> None:
    asked = Wish("wiegreffe-pinter-2019", datasets=("planted",))
    for one in (replace(asked, quick=True), replace(asked, seeds=1)):
        found = reproduction(one)
        assert found.left_out == {"seed_variance": "it compares 2 seeds or more, found 1; give --seeds 2"}
        assert found.study.tests == ("uniform", "guides", "trained_adversary")
    for one in (asked, replace(asked, quick=True, seeds=2)):
        assert reproduction(one).left_out == {}


def test_what_compares_seeds_and_is_asked_for_by_name_needs_two() -> None:
    asked = Wish("wiegreffe-pinter-2019", tests=("seed_variance",), datasets=("planted",), seeds=1)
    with pytest.raises(
        ConfigError, match="'seed_variance' compares seeds: expected two or more, found 0 alone"
    ):
        reproduction(asked)


def test_a_data_set_that_is_asked_for_and_not_there_is_an_error() -> None:
    with pytest.raises(DataError, match=r"^no data of sst: expected a folder sst"):
        reproduction(Wish(JAIN_WALLACE, datasets=("sst",)))


def test_a_file_is_looked_for_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.csv").write_text("text,label\ngood,1\nbad,0\n" * 5)
    found = reproduction(Wish(JAIN_WALLACE, datasets=("own.csv",)))
    assert {cell.data.place for cell in found.cells} == {tmp_path / "own.csv"}


def test_without_any_of_its_data_a_paper_cannot_be_reproduced() -> None:
    with pytest.raises(ConfigError, match="none of its data sets is at hand"):
        reproduction(Wish(JAIN_WALLACE))


def test_a_data_set_is_taken_in_the_variant_of_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def noting(path: Path, changes: list[str]) -> Study:
        said.extend(changes)
        return read(path, [*changes, 'data.names=["planted"]'])

    monkeypatch.setattr(reproduce, "read", noting)
    reproduction(Wish(JAIN_WALLACE, datasets=("sst", "babi-1")))
    assert 'data.names=["sst@jain-wallace-2019", "babi-1"]' in said


def test_data_sets_that_are_not_at_hand_are_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = {"sst@jain-wallace-2019": "", "cnn": "no test split at hand"}
    monkeypatch.setattr(reproduce, "_lack", lambda name: lacks.get(name, "not at hand"))
    monkeypatch.setattr(
        reproduce, "read", lambda path, changes: read(path, [*changes, 'data.names=["planted"]'])
    )
    found = reproduction(Wish(JAIN_WALLACE))
    assert found.left_out["cnn"] == "no test split at hand"
    assert "sst@jain-wallace-2019" not in found.left_out
    assert there([JAIN_WALLACE]) == {"sst"}


@pytest.mark.parametrize("paper", WITH_RECIPE)
def test_every_recipe_has_a_test_that_exists_and_a_table_that_is_published(paper: str) -> None:
    from faithgauge.plans.grid import TESTS

    for recipe in PAPERS[paper].recipes:
        assert recipe.test in TESTS
        assert not recipe.table or recipe.table in PAPERS[paper].tables


ROAR = "recursive-roar-2022"


def test_what_takes_long_is_computed_where_it_is_asked_for() -> None:
    usual = reproduction(Wish(ROAR, datasets=("planted",), seeds=1)).study.tests
    assert usual == ("performance", "recursive_roar", "sparsity")
    assert reproduction(Wish(ROAR, datasets=("planted",), figures=("8",))).study.tests == (
        "recursive_roar",
        "roar",
    )
    assert reproduction(Wish(ROAR, datasets=("planted",), tests=("masked_training",))).study.tests == (
        "masked_training",
    )


def test_a_problem_that_a_test_brings_itself_is_asked_for_like_a_data_set() -> None:
    found = reproduction(Wish(ROAR, datasets=("roar-synthetic",), seeds=2))
    assert [type(job).__name__ for job in found.targets] == ["Synthetic", "Synthetic"]
    both = reproduction(Wish(ROAR, datasets=("roar-synthetic", "planted"), seeds=1))
    assert {type(job).__name__ for job in both.targets} >= {"Synthetic", "Curves"}
    assert [cell.data.name for cell in both.cells] == ["planted"]


def test_fractions_that_are_asked_for_are_those_that_are_masked() -> None:
    found = reproduction(Wish(ROAR, datasets=("planted",), seeds=1, fractions=(0, 0.5, 1)))
    assert found.study.roar.fractions == (0, 0.5, 1)


def test_fractions_out_of_order_are_an_error() -> None:
    with pytest.raises(ConfigError, match=r"^expected fractions in rising order"):
        reproduction(Wish(ROAR, datasets=("planted",), fractions=(0, 0.5, 0.2)))
