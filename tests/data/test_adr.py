"""Tweets on medicines, from the file of those who have asked for them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from faithgauge.data.adr import read
from faithgauge.data.files import Files
from faithgauge.errors import DataError


def write(folder: Path, lines: list[str], name: str = "adr_dataset.csv") -> Path:
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def tweets(count: int, split: str) -> list[str]:
    return [f'"took it , ""felt"" odd {split} {i}",{i % 2},{split}' for i in range(count)]


HEADER = "text,label,exp_split"


def test_validation_is_cut_from_train_where_the_file_has_none(tmp_path: Path) -> None:
    found = read(Files(write(tmp_path, [HEADER, *tweets(40, "train"), *tweets(10, "test")])), "")
    assert {split: len(part) for split, part in found.splits.items()} == {
        "train": 34,
        "test": 10,
        "validation": 6,
    }
    assert found.notes == ("validation is 15% of train, cut by label with seed 0: 6 of 40",)
    assert not found.substituted
    assert found.splits["test"][1].text == 'took it , "felt" odd test 1'


def test_a_dev_split_of_the_file_is_kept(tmp_path: Path) -> None:
    lines = [HEADER, *tweets(4, "train"), *tweets(3, "dev"), *tweets(2, "test")]
    found = read(Files(write(tmp_path, lines)), "")
    assert [len(found.splits[split]) for split in ("train", "validation", "test")] == [4, 3, 2]
    assert found.notes == ()


def test_without_a_split_column_the_split_is_ours_and_says_so(tmp_path: Path) -> None:
    lines = ["text\tlabel", *(f"tweet {i}\t{i % 2}" for i in range(20))]
    found = read(Files(write(tmp_path, lines, "adr.tsv")), "")
    assert [len(found.splits[split]) for split in ("train", "validation", "test")] == [14, 3, 3]
    assert found.substituted


def test_a_text_of_any_length_is_read_and_the_limit_of_csv_is_put_back(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    long = "word " * 40_000
    found = read(Files(write(tmp_path, [HEADER, f"{long},1,test", *tweets(4, "train")])), "")
    assert found.splits["test"][0].text == long
    assert csv.field_size_limit() == before


def test_their_variant_keeps_6_to_99_tokens(tmp_path: Path) -> None:
    rows = [f"{' '.join(['w'] * n)},{n % 2},test" for n in (5, 6, 99, 100)]
    found = read(Files(write(tmp_path, [HEADER, *rows])), "jain-wallace-2019")
    assert [len(one.text.split()) for one in found.splits["test"]] == [6, 99]
    assert found.missing == ("the train rows of adr_dataset.csv",)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["tweet,label", "a,1"], r"adr_dataset\.csv: expected the columns text, label .*found tweet, label"),
        ([HEADER, "a,1,train", "b,2,train"], r"row 2: expected a label below 2 .* found '2' and 'train'"),
        ([HEADER, "a,1,train", "b,yes,train"], r"row 2: expected a label below 2"),
        ([HEADER, "a,1,fold3"], r"row 1: expected .* found '1' and 'fold3'"),
        (
            [HEADER, "a,1,test", "a"],
            r"row 2: expected a cell for each column and no more, found fewer; correct",
        ),
        ([HEADER, "a,1"], r"row 1: expected a cell for each column and no more, found fewer"),
        ([HEADER, "a,b,1,test"], r"row 1: expected a cell for each column and no more, found more"),
        (["text,exp_split,label", "a,train"], r"row 1: expected a cell .* found fewer"),
        (["label,exp_split,text", "1,train"], r"row 1: expected a cell .* found fewer"),
        ([f'"{HEADER}'], r"line \d: expected complete rows"),
        ([HEADER, '"cut,1,train'], r"line \d: expected complete rows"),
        ([""], r"expected the columns text, label .*found none"),
    ],
)
def test_a_bad_file_is_one_line_with_its_place(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(Files(write(tmp_path, lines)), "")


def test_no_file_is_missing(tmp_path: Path) -> None:
    assert read(Files(tmp_path), "").missing == ("adr_dataset.csv with text, label and exp_split",)
