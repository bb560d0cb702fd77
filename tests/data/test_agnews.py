"""News items: four classes with titles, or the papers' two without."""

from __future__ import annotations

from pathlib import Path

import pytest
from sklearn.model_selection import train_test_split

from faithgauge.data.agnews import read
from faithgauge.data.files import Files
from faithgauge.errors import DataError


def write(folder: Path, part: str, classes: list[int]) -> None:
    lines = [f'"{number}","Title {i}","Says ""{i}"", twice"\n' for i, number in enumerate(classes)]
    (folder / f"{part}.csv").write_text("".join(lines))


def test_official_texts_are_title_and_description_in_four_classes(tmp_path: Path) -> None:
    write(tmp_path, "test", [1, 2, 3, 4])
    found = read(Files(tmp_path), "")
    assert [(one.text, one.label, one.id) for one in found.splits["test"]][:2] == [
        ('Title 0 Says "0", twice', 0, "test-1"),
        ('Title 1 Says "1", twice', 1, "test-2"),
    ]
    assert found.classes == ("world", "sports", "business", "science and technology")


def test_the_papers_keep_world_and_business_and_drop_the_title(tmp_path: Path) -> None:
    write(tmp_path, "test", [1, 2, 3, 4])
    found = read(Files(tmp_path), "jain-wallace-2019")
    assert [(one.text, one.label, one.id) for one in found.splits["test"]] == [
        ('Says "0", twice', 0, "test-1"),
        ('Says "2", twice', 1, "test-3"),
    ]
    assert found.classes == ("world", "business")


def test_official_validation_is_cut_from_train_by_label(tmp_path: Path) -> None:
    write(tmp_path, "train", [1, 2, 3, 4] * 20)
    found = read(Files(tmp_path), "")
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 68, "validation": 12}
    assert found.missing == ("test.csv, 7600 items",)


def test_the_papers_validation_is_drawn_by_their_random_state(tmp_path: Path) -> None:
    write(tmp_path, "train", [1, 3, 2] * 20)
    found = read(Files(tmp_path), "jain-wallace-2019")
    of_two = [f"train-{i + 1}" for i in range(60) if i % 3 < 2]
    train, dev = train_test_split(of_two, test_size=0.15, random_state=16377)
    assert [one.id for one in found.splits["train"]] == train
    assert [one.id for one in found.splits["validation"]] == dev


def test_a_prefix_of_train_under_another_name_is_not_train(tmp_path: Path) -> None:
    write(tmp_path, "train_prefix", [1, 3] * 20)
    found = read(Files(tmp_path), "")
    assert found.splits == {}
    assert found.missing == ("train.csv, 120000 items", "test.csv, 7600 items")


def test_a_folder_inside_is_found(tmp_path: Path) -> None:
    (tmp_path / "ag_news_csv").mkdir()
    write(tmp_path / "ag_news_csv", "test", [1, 2])
    assert len(read(Files(tmp_path), "").splits["test"]) == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('"5","a","b"', r"test\.csv, row 2: expected class 1 to 4"),
        ('"1","a"', r"test\.csv, row 2: expected class 1 to 4"),
        ('"1","a","cut off', r"test\.csv, line 2: expected complete quoted rows"),
    ],
)
def test_a_bad_row_is_an_error_with_its_place(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "test.csv").write_text(f'"1","a","b"\n{row}\n')
    with pytest.raises(DataError, match=message):
        read(Files(tmp_path), "")
