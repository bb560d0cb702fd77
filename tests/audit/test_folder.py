"""The folder of an audit is written whole, or stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from faithgauge import results
from faithgauge.audit import folder
from faithgauge.errors import ConfigError, DataError

EMPTY: pyarrow.Table = results.schema().empty_table()


def page(place: Path, charts: bool = True) -> Path:
    (place / "report.html").write_text("page", encoding="utf-8")
    return place / "report.html"


def write(place: Path, monkeypatch: pytest.MonkeyPatch, **document: Any) -> Path:
    monkeypatch.setattr(folder, "locate", lambda _place: page)
    return folder.write(place, {"format": 1, **document}, EMPTY, instances=[{"id": "1"}], bibtex="")


def test_a_second_audit_takes_the_place_of_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    assert write(out, monkeypatch, title="one") == out / "report.html"
    (out / "old.txt").write_text("", encoding="utf-8")
    folder.refuse_folder(out)
    write(out, monkeypatch, title="two")
    assert folder.read(out)["title"] == "two"
    assert not (out / "old.txt").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_fails_half_way_leaves_the_first_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    write(out, monkeypatch, title="one")

    def failing() -> Iterator[dict[str, Any]]:
        yield {"id": "1"}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.write(out, {"format": 1}, EMPTY, instances=failing(), bibtex="")
    assert folder.read(out)["title"] == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_numbers_that_are_not_finite_are_null(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "out", monkeypatch, value=float("nan"), more=[float("inf"), 1.5])
    found = folder.read(tmp_path / "out")
    assert (found["value"], found["more"]) == (None, [None, 1.5])


def test_new_and_empty_folders_will_do_and_files_and_others_will_not(tmp_path: Path) -> None:
    folder.refuse_folder(tmp_path / "new" / "er")
    (tmp_path / "empty").mkdir()
    folder.refuse_folder(tmp_path / "empty")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="found a file"):
        folder.refuse_folder(tmp_path / "file")
    with pytest.raises(ConfigError, match="can be written"):
        folder.refuse_folder(tmp_path / "file" / "below")
    with pytest.raises(ConfigError, match="found other files"):
        folder.refuse_folder(tmp_path)


def test_a_damaged_document_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "audit.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match="damaged"):
        folder.refuse_folder(tmp_path)
