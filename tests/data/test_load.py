"""From a name to a checked data set: which source wins, where it is looked for, what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest

from faithgauge.config import DataConfig
from faithgauge.data.dataset import Dataset, Splits
from faithgauge.data.load import checked, data_folders, find_folders, load
from faithgauge.data.table import DATASETS
from faithgauge.errors import ConfigError, DataError
from faithgauge.types import Example, Task

TREES = {
    "train.txt": "(3 (2 Very) (4 good))\n(1 (2 Very) (0 bad))\n",
    "dev.txt": "(3 (2 Rather) (3 good))\n",
    "test.txt": "(0 (2 Rather) (1 bad))\n",
}


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FAITHGAUGE_DATA", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_: tmp_path / "cache")


def sst_in(folder: Path, name: str = "sst") -> Path:
    (folder / name).mkdir(parents=True)
    for file, trees in TREES.items():
        (folder / name / file).write_text(trees)
    return folder


def dataset(splits: Splits, classes: tuple[str, ...] = ("no", "yes"), task: Task = "single") -> Dataset:
    return Dataset("mine.csv", "", task, classes, splits)


def rows(*labelled: tuple[str, int]) -> list[Example]:
    return [Example(text, label, f"row-{i}") for i, (text, label) in enumerate(labelled, 1)]


def test_a_public_name_is_loaded_from_the_folder_given(tmp_path: Path) -> None:
    loaded = load(DataConfig("sst", data_dir=sst_in(tmp_path / "given")))
    assert [len(loaded.splits[split]) for split in ("train", "validation", "test")] == [2, 1, 1]
    assert (loaded.full_name, loaded.encoding.words) == ("sst", "whitespace")


def test_the_folder_given_wins_over_the_environment_and_that_over_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHGAUGE_DATA", str(tmp_path / "named"))
    given = tmp_path / "given"
    given.mkdir()
    assert data_folders(given) == [given, tmp_path / "named", tmp_path / "cache" / "data"]
    assert find_folders(DATASETS["sst"], given) == []
    for place in (tmp_path / "cache" / "data", tmp_path / "named", given):
        sst_in(place)
        assert find_folders(DATASETS["sst"], given) == [place / "sst"]


def test_other_names_of_a_folder_follow_its_own(tmp_path: Path) -> None:
    for name in ("ag_news_csv", "ag_news"):
        (tmp_path / name).mkdir()
    found = find_folders(DATASETS["agnews"], tmp_path)
    assert [folder.name for folder in found] == ["ag_news", "ag_news_csv"]


def test_nothing_found_says_what_where_and_how(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        load(DataConfig("sst", data_dir=tmp_path))
    assert str(caught.value) == (
        "no data of sst: expected a folder sst with trainDevTestTrees_PTB.zip in one of "
        f"{tmp_path}, {tmp_path / 'cache' / 'data'}; run `faithgauge data fetch sst`"
    )


def test_a_data_dir_that_is_not_there_is_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nope: expected the folder that holds the data sets, found none"):
        load(DataConfig("sst", data_dir=tmp_path / "nope"))


def test_a_folder_without_any_of_its_files_says_which_are_missing(tmp_path: Path) -> None:
    (tmp_path / "sst").mkdir()
    with pytest.raises(DataError, match=r"sst: expected labelled texts, found none; train\.txt"):
        load(DataConfig("sst", data_dir=tmp_path))


def test_a_public_set_without_train_is_loaded_as_far_as_it_is_there(tmp_path: Path) -> None:
    (sst_in(tmp_path) / "sst" / "train.txt").unlink()
    loaded = load(DataConfig("sst", data_dir=tmp_path))
    assert list(loaded.splits) == ["validation", "test"]
    assert loaded.missing == (
        "train.txt, the trees of train",
        "validation: 1 of 872 examples are there",
        "test: 1 of 1,821 examples are there",
    )
    assert not loaded.complete


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sts", "did you mean 'sst'?"),
        ("sst@jain", "unknown variant of sst 'jain': known are jain-wallace-2019, "),
        ("sst@attefe", "did you mean 'attefa'?"),
        ("mock-11", "did you mean 'mock-1"),
        ("diabetes@", None),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(tmp_path: Path, name: str, hint: str | None) -> None:
    with pytest.raises(ConfigError if hint else DataError, match=hint):
        load(DataConfig(name, data_dir=tmp_path))


def test_a_synthetic_name_needs_no_files() -> None:
    assert len(load(DataConfig("mock-1")).splits["train"]) == 8000


@pytest.mark.parametrize("name", ["reviews.csv", "./reviews", "data/reviews.jsonl"])
def test_a_path_that_is_not_there_is_no_name(name: str) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        load(DataConfig(name))


def test_a_path_that_exists_is_read_as_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "reviews.csv"
    file.write_text("text,label\n" + "".join(f"text {i},{i % 2}\n" for i in range(20)))
    assert sum(map(len, load(DataConfig(str(file))).splits.values())) == 20


def test_empty_texts_of_a_public_set_are_left_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "agnews").mkdir()
    (tmp_path / "agnews" / "test.csv").write_text('"1","","news"\n"3",""," "\n"3","","stocks"\n')
    loaded = load(DataConfig("agnews@jain-wallace-2019", data_dir=tmp_path))
    assert [one.text for one in loaded.splits["test"]] == ["news", "stocks"]
    assert loaded.notes == ("test: 1 with an empty text left out",)


def test_texts_in_two_splits_are_counted_once_each_and_not_refused() -> None:
    shared = rows(("a", 0), ("b", 1), ("b", 1), ("c", 0))
    noted = checked(dataset({"train": shared, "test": rows(("b", 1), ("b", 1), ("c", 0), ("d", 0))}))
    assert noted.notes == ("2 texts stand in both train and test",)


def test_a_pair_is_shared_only_if_both_its_texts_are() -> None:
    train = [Example("a", 0, "1", text_pair="x"), Example("a", 1, "2", text_pair="y")]
    test = [Example("a", 0, "3", text_pair="y"), Example("a", 0, "4", text_pair="z")]
    noted = checked(dataset({"train": train, "test": test}, task="pair"))
    assert noted.notes == ("1 pair stands in both train and test",)


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_text_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(DataError, match=r"mine\.csv, train, row-2: expected a text, found an empty one"):
        checked(dataset({"train": rows(("a", 0), (text, 1))}))


def test_an_empty_second_text_is_refused() -> None:
    pairs = [Example("a", 0, "1", text_pair="b"), Example("a", 1, "2", text_pair="")]
    with pytest.raises(DataError, match="train, 2: expected a text"):
        checked(dataset({"train": pairs}, task="pair"))


def test_a_single_class_is_refused() -> None:
    with pytest.raises(DataError, match="train: expected two classes or more, found only 'yes'"):
        checked(dataset({"train": rows(("a", 1), ("b", 1))}))


def test_a_label_that_train_lacks_is_refused_with_its_place() -> None:
    splits: Splits = {"train": rows(("a", 0), ("b", 1)), "test": rows(("c", 0), ("d", 2))}
    with pytest.raises(DataError, match="test, row-2: label 'maybe' does not occur in train"):
        checked(dataset(splits, classes=("no", "yes", "maybe")))


def test_the_candidates_of_a_cloze_question_may_be_new() -> None:
    splits: Splits = {"train": rows(("a", 0), ("b", 1)), "test": rows(("c", 2))}
    assert checked(replace(dataset(splits, classes=("x", "y", "z")), task="cloze")).splits == splits


def test_a_sample_of_each_split_is_marked_as_partial_and_nothing_else_changes() -> None:
    whole, some = (load(DataConfig("planted", at_most=n)) for n in (None, 600))
    assert {name: len(own) for name, own in some.splits.items()} == {
        "train": 600,
        "validation": 500,
        "test": 500,
    }
    assert some.missing == ("train: 600 of 2,000 examples are used, as was asked",)
    assert (whole.complete, some.complete) == (True, False)
    assert some.splits["test"] == whole.splits["test"]


def test_a_sample_that_is_too_small_for_all_classes_is_an_error() -> None:
    with pytest.raises(DataError, match="planted, train: expected two classes or more, found only"):
        load(DataConfig("planted", at_most=1))
