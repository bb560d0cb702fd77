"""Encoded data on disk: all or nothing, and refused where it is damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Dataset
from faithgauge.encode.corpus import encode, open_corpus
from faithgauge.encode.rest import FORMAT, new_folder
from faithgauge.errors import DataError
from faithgauge.types import Example

DATA = Dataset("tiny", "", "single", ("no", "yes"), {"train": [Example("a b", 0, "1"), Example("c", 1, "2")]})


def test_a_folder_appears_when_all_is_written(tmp_path: Path) -> None:
    with new_folder(tmp_path / "deep" / "new") as partial:
        (partial / "file").write_text("x", encoding="utf-8")
        assert not (tmp_path / "deep" / "new").exists()
    assert [path.name for path in (tmp_path / "deep" / "new").iterdir()] == ["file"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["new"]


def test_after_an_error_nothing_is_left_behind(tmp_path: Path) -> None:
    def interrupted() -> None:
        with new_folder(tmp_path / "new") as partial:
            (partial / "file").write_text("x", encoding="utf-8")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_filled_and_a_full_one_left_alone(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    encode(DATA, EncodeConfig(), tmp_path / "corpus")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DataError, match="expected a new or empty folder"):
        encode(DATA, EncodeConfig(), tmp_path / "corpus")
    assert sorted(tmp_path.rglob("*")) == before


def test_data_of_a_newer_version_are_refused(tmp_path: Path) -> None:
    encode(DATA, EncodeConfig(), tmp_path / "corpus")
    file = tmp_path / "corpus" / "corpus.json"
    facts = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**facts, "format": FORMAT + 1}), encoding="utf-8")
    with pytest.raises(DataError, match="expected encoded data of format 1, found 2; update faithgauge"):
        open_corpus(tmp_path / "corpus")


@pytest.mark.parametrize(
    "file", ["train/ids.npy", "train/labels.npy", "train/texts.offsets.npy", "corpus.json"]
)
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_damaged_file_is_named(tmp_path: Path, file: str, damage: str) -> None:
    encode(DATA, EncodeConfig(), tmp_path / "corpus")
    path = tmp_path / "corpus" / file
    path.write_bytes(path.read_bytes()[:20]) if damage == "cut" else path.unlink()
    with pytest.raises(DataError) as caught:
        open_corpus(tmp_path / "corpus")
    assert str(tmp_path / "corpus") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"found no corpus\.json in it"):
        open_corpus(tmp_path)
