"""XNLI: the English rows of the official table and of the XTREME form."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

import pytest

from faithgauge.data.files import Files
from faithgauge.data.xnli import SOURCE
from faithgauge.errors import DataError

HEADER = "language\tgold_label\tsentence1_parse\tsentence1\tsentence2\tpairID"
ROWS = (
    'ar\tneutral\t( )\tSalaam."\tMarhaba.\t1',
    'en\tcontradiction\t( )\tHe said "yes.\tHe was silent.\t1',
    "en\tentailment\t( )\tHe said yes.\tHe spoke.\t2",
)


def _zip(folder: Path, dev: str, test: str) -> Files:
    with zipfile.ZipFile(folder / "XNLI-1.0.zip", "w") as archive:
        archive.writestr("XNLI-1.0/xnli.dev.tsv", dev)
        archive.writestr("XNLI-1.0/xnli.test.tsv", test)
    return Files(folder)


def test_only_english_rows_are_read_and_quotes_are_plain_characters(tmp_path: Path) -> None:
    table = "\n".join((HEADER, *ROWS)) + "\n"
    found = SOURCE.read(_zip(tmp_path, table, table), "")
    assert [(example.text, example.text_pair, example.label) for example in found.splits["test"]] == [
        ('He said "yes.', "He was silent.", 1),
        ("He said yes.", "He spoke.", 2),
    ]
    assert [example.id for example in found.splits["validation"]] == ["validation-3", "validation-4"]


def test_that_there_is_no_train_split_is_said_and_is_not_missing(tmp_path: Path) -> None:
    table = "\n".join((HEADER, *ROWS))
    found = SOURCE.read(_zip(tmp_path, table, table), "")
    assert found.missing == ()
    assert found.notes == ("XNLI has no training texts: train on mnli",)


def test_the_xtreme_form_has_no_header(tmp_path: Path) -> None:
    (tmp_path / "dev-en.tsv").write_text("P.\tH.\tneutral\r\n\r\n")
    found = SOURCE.read(Files(tmp_path), "")
    assert [(example.text, example.text_pair, example.label) for example in found.splits["validation"]] == [
        ("P.", "H.", 0)
    ]
    assert found.missing == ("test: no file xnli.test.tsv",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n".join((HEADER, *ROWS))[:-9], r"line 4: expected 6 columns between tabs, found 5"),
        (HEADER.replace("sentence1\t", "premise\t"), r"line 1: expected the column 'sentence1'"),
        ("\n".join((HEADER, ROWS[0])), r"expected English pairs, found none"),
        ("", r"expected English pairs, found none"),
        ("P.\tH.\n", r"line 1: expected 3 columns between tabs, found 2"),
        ("P.\tH.\tperhaps\n", r"line 1: expected one of the labels .* found 'perhaps'"),
        ("P.\tH.\t-\n", r"line 1: expected one of the labels .* found '-'"),
    ],
)
def test_a_damaged_table_is_an_error_with_its_row(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "xnli.dev.tsv").write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        SOURCE.read(Files(tmp_path), "")
    assert "xnli.dev.tsv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_files_at_hand_are_complete_and_balanced(shared_data: Path) -> None:
    found = SOURCE.read(Files(shared_data / "xnli"), "")
    labels = {split: Counter(example.label for example in rows) for split, rows in found.splits.items()}
    assert labels == {"validation": dict.fromkeys(range(3), 830), "test": dict.fromkeys(range(3), 1_670)}
