"""The document of ``data check``: counts, what is missing, and how the papers' sizes differ."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from faithgauge.config import DataConfig
from faithgauge.data.check import check
from faithgauge.data.dataset import Found, Published, Source
from faithgauge.data.files import Files
from faithgauge.data.table import DATASETS
from faithgauge.errors import DataError
from faithgauge.types import Example


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FAITHGAUGE_DATA", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_: tmp_path / "cache")


def read(files: Files, variant: str) -> Found:
    if files.read("damaged") is not None:
        raise DataError("damaged: truncated")
    train = [Example(f"text {i}", i % 2, str(i)) for i in range(4)]
    return Found(
        {"train": train} if files.read("train") else {},
        missing=() if files.read("train") else ("train",),
        substituted=files.read("substitute") is not None,
    )


SOURCE = Source(
    name="toy",
    task="single",
    classes=("no", "yes"),
    summary="",
    home="",
    licence="",
    read=read,
    sizes={"": {"train": 4}, "other": {"train": 4, "test": 2}},
    variants={"other": "with a test split"},
    published=(
        Published("one", "train", 4, {"no": 2, "yes": 2}),
        Published("two", "train", 4, {"no": 1, "yes": 3}, why="they swap one"),
        Published("three", "train", 5),
        Published("four", "train", 5),
        Published("five", "train", 5),
        Published("six", "test", 9),
    ),
)


@pytest.fixture
def folder(nowhere: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(DATASETS._entries, "toy", SOURCE)
    (tmp_path / "toy").mkdir()
    return tmp_path / "toy"


def checked(folder: Path, name: str = "toy") -> dict[str, object]:
    return check(DataConfig(name, data_dir=folder.parent))


def test_complete_data_are_ok_whatever_the_papers_print(folder: Path) -> None:
    (folder / "train").touch()
    assert checked(folder) == {
        "dataset": "toy",
        "variant": "",
        "ok": True,
        "splits": {"train": {"examples": 4, "labels": {"no": 2, "yes": 2}}},
        "differences": [
            "train: two prints 4 (no 1, yes 3), here are 4 (no 2, yes 2): they swap one",
            "train: three, four and five print 5, here are 4",
        ],
        "missing": [],
        "notes": [],
        "substituted": False,
        "published": [
            {"paper": one.paper, "split": one.split, "examples": one.examples, "labels": dict(one.labels)}
            for one in SOURCE.published
        ],
    }


def test_a_split_that_is_not_there_is_a_difference_and_not_ok(folder: Path) -> None:
    (folder / "train").touch()
    document = checked(folder, "toy@other")
    assert not document["ok"]
    assert "test: the complete data have 2 examples, here are 0" in document["differences"]  # type: ignore[operator]


def test_substituted_data_are_not_ok(folder: Path) -> None:
    (folder / "train").touch()
    (folder / "substitute").touch()
    document = checked(folder)
    assert (document["ok"], document["substituted"]) == (False, True)


def test_a_folder_with_nothing_in_it_is_no_error_but_not_ok(folder: Path) -> None:
    document = checked(folder)
    assert (document["ok"], document["splits"], document["missing"]) == (False, {}, ["train"])


def test_no_folder_is_no_error_but_not_ok(folder: Path) -> None:
    folder.rmdir()
    document = checked(folder)
    assert (document["ok"], document["splits"]) == (False, {})
    assert str(document["missing"]).startswith("['no data of toy: expected a folder toy in one of")


def test_a_damaged_file_is_an_error(folder: Path) -> None:
    (folder / "damaged").touch()
    with pytest.raises(DataError, match="truncated"):
        checked(folder)


def test_ones_own_file_is_counted_and_compared_with_nothing(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("text,label\n" + "".join(f"text {i},{'yes' if i % 2 else 'no'}\n" for i in range(40)))
    document = check(DataConfig(str(file)))
    assert document["ok"]
    assert document["differences"] == []
    assert sum(split["examples"] for split in document["splits"].values()) == 40


def test_synthetic_data_are_complete() -> None:
    document = check(DataConfig("mock-1"))
    assert document["ok"]
    assert document["splits"]["train"] == {"examples": 8000, "labels": {"negative": 4000, "positive": 4000}}


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("sst", [6920, 872, 1821]),
        ("sst@attefa", [6920, 872, 1821]),
        ("sst@jain-wallace-2019", [6355, 821, 1725]),
        ("sst@recursive-roar-2022", [6579, 848, 1776]),
        ("20news", [986, 174, 773]),
        ("20news@jain-wallace-2019", [1145, 278, 357]),
        ("20news@attefa", [1236, 310, 387]),
    ],
)
def test_the_real_data_have_their_sizes(shared_data: Path, name: str, sizes: list[int]) -> None:
    document = check(DataConfig(name, data_dir=shared_data))
    assert document["ok"]
    assert [split["examples"] for split in document["splits"].values()] == sizes


def test_agnews_without_train_is_partial(shared_data: Path) -> None:
    document = check(DataConfig("agnews", data_dir=shared_data))
    assert not document["ok"]
    assert document["splits"]["test"]["examples"] == 7600
    assert document["missing"] == ["train.csv, 120000 items"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sizes"),
    [("imdb", [21250, 3750, 25000]), ("imdb@jain-wallace-2019", [17212, 4304, 4363])],
)
def test_the_real_reviews_have_their_sizes(shared_data: Path, name: str, sizes: list[int]) -> None:
    document = check(DataConfig(name, data_dir=shared_data))
    assert document["ok"]
    assert [split["examples"] for split in document["splits"].values()] == sizes


def test_every_public_source_is_consistent() -> None:
    for name, source in DATASETS.items():
        assert source.name == name
        assert set(source.sizes) <= {"", *source.variants}
        assert set(source.encoding) <= {"", *source.variants}
        assert source.downloads or source.access
        for published in source.published:
            if published.labels:
                assert sum(published.labels.values()) == published.examples
