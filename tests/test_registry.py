"""Tables from a name to the thing it names."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from faithgauge.errors import ConfigError
from faithgauge.registry import Table, locate, unknown


def table() -> Table[object]:
    return Table("colour", {"red": 1, "green": 2, "root": "math:sqrt"})


def test_an_entry_is_found_by_its_name() -> None:
    assert table()["green"] == 2


def test_names_keep_their_order() -> None:
    assert list(table()) == ["red", "green", "root"]
    assert len(table()) == 3


def test_a_place_is_imported_when_it_is_first_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "late_colours.py").write_text("BLUE = object()\n")
    monkeypatch.syspath_prepend(tmp_path)
    colours: Table[object] = Table("colour", {"blue": "late_colours:BLUE"})
    assert "blue" in colours
    assert "late_colours" not in sys.modules
    blue = colours["blue"]
    assert blue is sys.modules["late_colours"].BLUE
    assert colours["blue"] is blue


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gren", "unknown colour 'gren': did you mean 'green'?"),
        ("violet", "unknown colour 'violet': known are red, green, root"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_one_or_with_all(name: str, message: str) -> None:
    assert name not in table()
    with pytest.raises(ConfigError) as caught:
        table()[name]
    assert str(caught.value) == message


def test_get_with_a_default_is_refused_like_any_unknown_name_so_nothing_is_silently_replaced() -> None:
    with pytest.raises(ConfigError):
        table().get("violet", 0)


def test_other_packages_add_entries_but_do_not_replace_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        importlib.metadata.EntryPoint("teal", "math:pi", "faithgauge.colours"),
        importlib.metadata.EntryPoint("red", "math:e", "faithgauge.colours"),
    ]
    asked = []

    def entry_points(*, group: str) -> list[importlib.metadata.EntryPoint]:
        asked.append(group)
        return points

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    colours: Table[object] = Table("colour", {"red": 1}, group="faithgauge.colours")
    assert asked == []
    assert list(colours) == ["red", "teal"]
    assert colours["red"] == 1
    assert colours["teal"] == pytest.approx(3.14159, abs=1e-5)
    assert asked == ["faithgauge.colours"]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("math.sqrt", "expected 'package.module:attribute', found 'math.sqrt'"),
        ("math:", "expected 'package.module:attribute', found 'math:'"),
        (
            "no_such_module:x",
            "cannot import 'no_such_module' of 'no_such_module:x': No module named 'no_such_module'",
        ),
        ("math:squirt", "module 'math' has no 'squirt'"),
    ],
)
def test_a_place_that_is_not_there_is_said_in_one_line(place: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        locate(place)
    assert str(caught.value) == message


def test_with_nothing_similar_all_names_are_listed_in_their_order() -> None:
    assert unknown("metric", "xyz", ["f1", "accuracy"]) == "unknown metric 'xyz': known are f1, accuracy"
