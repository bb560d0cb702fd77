"""Files that are written whole or not at all, at places that were looked at before."""

from __future__ import annotations

from pathlib import Path

import pytest

from faithgauge.cli.files import refuse_place, writing
from faithgauge.errors import ConfigError


def test_a_file_takes_its_place_when_all_is_written(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with writing(target) as new:
        new.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_what_fails_on_its_way_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail(new: Path) -> None:
        new.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), writing(target) as new:
        fail(new)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_no_file_and_one_that_can_be_written_are_let_through(tmp_path: Path) -> None:
    refuse_place("--out", None, (".json",))
    refuse_place("--out", tmp_path / "a.json", (".json",))
    refuse_place("--out", tmp_path / "anything")


@pytest.mark.parametrize("place", ["", "gone/a.json"])
def test_a_folder_and_a_file_in_none_are_refused(place: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected a file in a folder that can be written; choose another"):
        refuse_place("--out", tmp_path / place, (".json",))


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"expected a name ending in \.jsonl or \.parquet; rename it"):
        refuse_place("--out", tmp_path / "a.json", (".jsonl", ".parquet"))
