"""MultiNLI: its parts, and the variant that tests on XNLI."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from faithgauge.data.files import Files
from faithgauge.data.mnli import SOURCE
from faithgauge.errors import DataError


def _line(label: str, premise: str) -> str:
    return json.dumps(
        {"gold_label": label, "sentence1": premise, "sentence2": "So it is.", "genre": "travel"}
    )


def _zip(folder: Path) -> Files:
    folder.mkdir()
    parts = {"train": "Train.", "dev_matched": "Matched.", "dev_mismatched": "Mismatched."}
    with zipfile.ZipFile(folder / "multinli_1.0.zip", "w") as archive:
        for part, premise in parts.items():
            text = _line("entailment", premise) + "\n" + _line("-", premise) + "\n"
            archive.writestr(f"multinli_1.0/multinli_1.0_{part}.jsonl", text)
    return Files(folder)


def test_plain_mnli_validates_on_the_matched_and_tests_on_the_mismatched_part(tmp_path: Path) -> None:
    found = SOURCE.read(_zip(tmp_path / "mnli"), "")
    assert {split: [example.text for example in rows] for split, rows in found.splits.items()} == {
        "train": ["Train."],
        "validation": ["Matched."],
        "test": ["Mismatched."],
    }
    assert len(found.notes) == 3


def test_the_paper_tests_on_the_english_xnli_of_the_folder_beside_it(tmp_path: Path) -> None:
    files = _zip(tmp_path / "mnli")
    (tmp_path / "xnli").mkdir()
    (tmp_path / "xnli" / "test-en.tsv").write_text("It rains.\tIt is wet.\tentailment\n")
    found = SOURCE.read(files, "neely-2022")
    assert [example.text for example in found.splits["validation"]] == ["Matched."]
    assert [(example.text, example.label) for example in found.splits["test"]] == [("It rains.", 2)]
    assert found.missing == ()


def test_without_xnli_the_papers_test_part_is_missing(tmp_path: Path) -> None:
    found = SOURCE.read(_zip(tmp_path / "mnli"), "neely-2022")
    assert list(found.splits) == ["train", "validation"]
    assert found.missing == ("test: no file xnli.test.tsv",)


def test_the_keys_premise_hypothesis_label_are_read_as_well(tmp_path: Path) -> None:
    item = {"premise": "P.", "hypothesis": "H.", "label": "neutral"}
    (tmp_path / "dev_matched.jsonl").write_text(json.dumps(item) + "\n")
    found = SOURCE.read(Files(tmp_path), "")
    (example,) = found.splits["validation"]
    assert (example.text, example.text_pair, example.label) == ("P.", "H.", 0)


def test_a_label_that_is_a_number_is_an_error(tmp_path: Path) -> None:
    item = {"premise": "P.", "hypothesis": "H.", "label": 0}
    (tmp_path / "dev_matched.jsonl").write_text(json.dumps(item) + "\n")
    with pytest.raises(DataError, match=r"dev_matched\.jsonl, line 1: expected the texts"):
        SOURCE.read(Files(tmp_path), "")


def test_the_files_at_hand_are_the_matched_part_and_the_papers_test_part(shared_data: Path) -> None:
    found = SOURCE.read(Files(shared_data / "mnli"), "neely-2022")
    assert {split: len(rows) for split, rows in found.splits.items()} == {"validation": 9_815, "test": 5_010}
    assert found.missing == ("train: no file multinli_1.0_train.jsonl",)
