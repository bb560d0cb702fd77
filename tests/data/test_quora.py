"""Quora question pairs: the partition in general use, and the released table."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

import pytest

from faithgauge.data.files import Files
from faithgauge.data.quora import SOURCE
from faithgauge.data.splits import sklearn_split
from faithgauge.errors import DataError

HEADER = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate"


def _partition(folder: Path) -> Files:
    with zipfile.ZipFile(folder / "Quora_question_pair_partition.zip", "w") as archive:
        for name in ("train", "dev", "test"):
            text = f"1\tWhat is {name} ?\tWhat 's {name} ?\t17\n0\tWhy ?\tHow ?\t18\n\n"
            archive.writestr(f"Quora_question_pair_partition/{name}.tsv", text)
        archive.writestr("Quora_question_pair_partition/wordvec.txt", "the 0.1 0.2\n")
    return Files(folder)


def _released(folder: Path, *rows: str) -> Files:
    (folder / "quora_duplicate_questions.tsv").write_text("\n".join((HEADER, *rows)) + "\n")
    return Files(folder)


def test_the_partition_has_label_question_question_id(tmp_path: Path) -> None:
    found = SOURCE.read(_partition(tmp_path), "")
    assert [(e.label, e.text, e.text_pair, e.id) for e in found.splits["validation"]] == [
        (1, "What is dev ?", "What 's dev ?", "validation-1"),
        (0, "Why ?", "How ?", "validation-2"),
    ]
    assert list(found.splits) == ["train", "validation", "test"]
    assert found.missing == ()


def test_the_text_form_has_question_question_label(tmp_path: Path) -> None:
    (tmp_path / "dev.txt").write_text("Why so ?\tHow so ?\t1\n")
    found = SOURCE.read(Files(tmp_path), "")
    (example,) = found.splits["validation"]
    assert (example.text, example.text_pair, example.label) == ("Why so ?", "How so ?", 1)


def test_the_released_table_alone_points_to_the_variant_that_reads_it(tmp_path: Path) -> None:
    found = SOURCE.read(_released(tmp_path, "0\t1\t2\tWhy?\tHow?\t0"), "")
    assert not found.splits
    assert len(found.missing) == 3
    assert found.notes[-1].endswith("quora@neely-2022 reads it")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\tA ?\tB ?\t7\n0\tC ?\tD ?\n", r"line 2: expected 4 columns between tabs .* found 3"),
        ("A ?\tB ?\n", r"line 1: expected 3 or 4 columns between tabs .* found 2"),
        ("A ?\tB ?\tyes\n", r"line 1: expected the label 0 \(different\) or 1 \(duplicate\), found 'yes'"),
    ],
)
def test_a_damaged_partition_is_an_error_with_its_row(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "train.tsv").write_text(text)
    with pytest.raises(DataError, match=message):
        SOURCE.read(Files(tmp_path), "")


def test_bytes_that_are_not_utf8_are_an_error_with_their_row(tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_bytes(b"1\tA ?\tB ?\t7\n1\tCaf\xe9 ?\tB ?\t8\n")
    with pytest.raises(DataError, match=r"test\.tsv, line 2: expected utf-8 text, found byte 0xe9"):
        SOURCE.read(Files(tmp_path), "")


def test_the_paper_splits_the_released_table_80_10_10(tmp_path: Path) -> None:
    rows = [f"{i}\t{i}\t{i}\tWhat is {i}?\tWhat's {i}?\t{i % 2}" for i in range(40)]
    found = SOURCE.read(_released(tmp_path, *rows), "neely-2022")
    assert {split: len(pairs) for split, pairs in found.splits.items()} == {
        "train": 32,
        "validation": 4,
        "test": 4,
    }
    _, test = sklearn_split(40, 0.1, 0)
    assert [example.id for example in found.splits["test"]] == [f"pair-{i}" for i in test]
    assert len({example.id for pairs in found.splits.values() for example in pairs}) == 40


def test_long_pairs_and_empty_questions_are_left_out_and_counted(tmp_path: Path) -> None:
    fill = [f"{i}\t1\t2\tWhy {i}?\tHow?\t0" for i in range(37)]
    long, short = " ".join(["word"] * 100), " ".join(["word"] * 99)
    odd = [f"37\t1\t2\t{long}\t{long}\t1", f"38\t1\t2\t{long}\t{short}\t1", "39\t1\t2\t\tHow?\t0"]
    found = SOURCE.read(_released(tmp_path, *fill, *odd), "neely-2022")
    ids = {example.id for pairs in found.splits.values() for example in pairs}
    assert ids == {f"pair-{i}" for i in range(40)} - {"pair-37", "pair-39"}
    assert "1 pairs with an empty question are left out" in found.notes
    assert "1 pairs of 200 tokens or more are left out" in found.notes


def test_a_quoted_question_may_hold_a_line_break(tmp_path: Path) -> None:
    rows = [f'{i}\t1\t2\t"Why ""{i}""\nnow?"\tHow?\t1' for i in range(10)]
    found = SOURCE.read(_released(tmp_path, *rows), "neely-2022")
    texts = {example.text for pairs in found.splits.values() for example in pairs}
    assert texts == {f'Why "{i}"\nnow?' for i in range(10)}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("0\t1\t2\tWhy?\tHow?\t0", "1\t1\t2\tWhy?"), r"line 3: expected 6 columns between tabs, found 4"),
        (("0\t1\t2\tWhy?\tHow?\t2",), r"line 2: expected the label 0"),
    ],
)
def test_a_damaged_released_table_is_an_error_with_its_row(
    tmp_path: Path, rows: tuple[str, ...], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        SOURCE.read(_released(tmp_path, *rows), "neely-2022")


def test_a_quote_that_is_never_closed_is_an_error(tmp_path: Path) -> None:
    rows = ['0\t1\t2\t"Why?\tHow?\t0', *(f"{i}\t1\t2\tWhy {i}?\tHow?\t0" for i in range(10_000))]
    with pytest.raises(DataError, match=r"line \d+: expected a table with tabs \(field larger than"):
        SOURCE.read(_released(tmp_path, *rows), "neely-2022")


def test_another_header_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "quora_duplicate_questions.tsv").write_text("id\tquestion1\tquestion2\n")
    with pytest.raises(DataError, match=r"line 1: expected the columns id, qid1, .* found 'id, question1"):
        SOURCE.read(Files(tmp_path), "neely-2022")


def test_without_the_released_table_all_splits_of_the_paper_are_missing(tmp_path: Path) -> None:
    found = SOURCE.read(_partition(tmp_path), "neely-2022")
    assert not found.splits
    assert found.missing[0] == "train: no file quora_duplicate_questions.tsv"


def test_the_files_at_hand_are_validation_and_test_half_duplicates(shared_data: Path) -> None:
    found = SOURCE.read(Files(shared_data / "quora"), "")
    labels = {split: Counter(example.label for example in rows) for split, rows in found.splits.items()}
    assert labels == {"validation": {0: 5_000, 1: 5_000}, "test": {0: 5_000, 1: 5_000}}
    assert found.missing == ("train: no file train.tsv of the partition of Wang et al.",)
