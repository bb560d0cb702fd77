"""SNLI: its public layouts, what is left out, and what is refused."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from faithgauge.data.files import Files
from faithgauge.data.snli import SOURCE
from faithgauge.errors import DataError


def _line(label: str, first: str, second: str) -> str:
    parse = {"sentence1_parse": "(ROOT)", "pairID": "1.jpg#0r1n", "annotator_labels": [label]}
    return json.dumps({"gold_label": label, "sentence1": first, "sentence2": second, **parse})


THREE = "\n".join(
    [
        _line("neutral", "A dog runs.", "A dog chases a cat."),
        _line("-", "A dog runs.", "A dog is somewhere."),
        _line("contradiction", "A dog runs.", "A dog sleeps."),
        _line("entailment", "A dog runs.", "An animal moves."),
    ]
)


def _zip(folder: Path, **texts: str) -> Files:
    with zipfile.ZipFile(folder / "snli_1.0.zip", "w") as archive:
        for part, text in texts.items():
            archive.writestr(f"snli_1.0/snli_1.0_{part}.jsonl", text)
            archive.writestr(f"__MACOSX/snli_1.0/._snli_1.0_{part}.jsonl", b"\x00\x05\x16\x07")
    return Files(folder)


def test_the_official_archive_gives_three_splits(tmp_path: Path) -> None:
    found = SOURCE.read(_zip(tmp_path, train=THREE, dev=THREE, test=THREE), "")
    assert {split: len(rows) for split, rows in found.splits.items()} == {
        "train": 3,
        "validation": 3,
        "test": 3,
    }
    assert found.missing == ()
    assert not found.substituted


def test_classes_are_numbered_neutral_contradiction_entailment(tmp_path: Path) -> None:
    found = SOURCE.read(_zip(tmp_path, train=THREE), "")
    assert [example.label for example in found.splits["train"]] == [0, 1, 2]
    assert SOURCE.classes == ("neutral", "contradiction", "entailment")


def test_the_premise_is_the_text_and_the_hypothesis_its_pair(tmp_path: Path) -> None:
    first = SOURCE.read(_zip(tmp_path, train=THREE), "").splits["train"][0]
    assert (first.text, first.text_pair, first.id) == ("A dog runs.", "A dog chases a cat.", "train-1")


def test_pairs_without_a_gold_label_are_left_out_and_counted(tmp_path: Path) -> None:
    found = SOURCE.read(_zip(tmp_path, test=THREE), "")
    assert [example.id for example in found.splits["test"]] == ["test-1", "test-3", "test-4"]
    assert found.notes == ("test: 1 pairs without a gold label are left out",)


def test_a_compressed_file_in_a_folder_below_is_found(tmp_path: Path) -> None:
    (tmp_path / "derived").mkdir()
    (tmp_path / "derived" / "snli_1.0_dev.jsonl.gz").write_bytes(gzip.compress(THREE.encode()))
    (tmp_path / "snli_1.0_dev.partA.jsonl").write_text("not asked for")
    found = SOURCE.read(Files(tmp_path), "")
    assert list(found.splits) == ["validation"]
    assert found.missing == ("train: no file snli_1.0_train.jsonl", "test: no file snli_1.0_test.jsonl")


def test_a_truncated_line_is_an_error_with_its_row(tmp_path: Path) -> None:
    files = _zip(tmp_path, train=THREE[:-30])
    with pytest.raises(DataError, match=r"snli_1\.0_train\.jsonl, line 4: expected one complete JSON object"):
        SOURCE.read(files, "")


def test_an_unknown_label_is_an_error_with_its_row(tmp_path: Path) -> None:
    files = _zip(tmp_path, train=THREE + "\n" + _line("maybe", "A.", "B."))
    with pytest.raises(DataError, match=r"line 5: expected one of the labels neutral, .* found 'maybe'"):
        SOURCE.read(files, "")


@pytest.mark.parametrize("line", ['{"gold_label": "neutral", "sentence1": "A."}', '["neutral", "A.", "B."]'])
def test_a_line_without_the_three_texts_is_an_error(tmp_path: Path, line: str) -> None:
    with pytest.raises(DataError, match=r"line 1: expected the texts 'gold_label', 'sentence1', 'sentence2'"):
        SOURCE.read(_zip(tmp_path, train=line), "")


def test_bytes_that_are_not_utf8_are_an_error_with_their_row(tmp_path: Path) -> None:
    (tmp_path / "snli_1.0_test.jsonl").write_bytes(THREE.encode() + b'\n{"gold_label": "caf\xe9"}')
    with pytest.raises(DataError, match=r"line 5: expected utf-8 text, found byte 0xe9"):
        SOURCE.read(Files(tmp_path), "")


def test_an_archive_cut_short_is_an_error(tmp_path: Path) -> None:
    _zip(tmp_path, train=THREE)
    path = tmp_path / "snli_1.0.zip"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"snli_1\.0\.zip: truncated or damaged"):
        SOURCE.read(Files(tmp_path), "")


def test_published_labels_add_up_to_the_published_size() -> None:
    for printed in SOURCE.published:
        assert not printed.labels or sum(printed.labels.values()) == printed.examples


def test_the_files_at_hand_have_the_published_labels(shared_data: Path) -> None:
    found = SOURCE.read(Files(shared_data / "snli"), "")
    counts = {
        split: tuple(Counter(example.label for example in rows)[label] for label in range(3))
        for split, rows in found.splits.items()
    }
    assert counts == {
        "train": (6_883, 7_090, 6_988),
        "validation": (3_235, 3_278, 3_329),
        "test": (3_219, 3_237, 3_368),
    }
