"""``faithgauge list``: every table, with one line on each entry."""

from __future__ import annotations

import functools
import json

import pytest

from faithgauge.cli.list_ import TABLES, docstring, summary
from faithgauge.cli.main import run


@pytest.mark.parametrize("what", TABLES)
def test_every_table_is_listed_with_a_line_on_each_entry(
    what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["list", what, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)[what]
    assert rows
    assert all(row["name"] for row in rows)
    assert all(row["summary"] for row in rows) or what == "metrics"
    assert not any("\n" in row["summary"] for row in rows)


def test_without_json_a_list_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "metrics"]) == 0
    names = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert names[:2] == ["f1_positive", "f1_macro"]


def test_the_line_is_the_entrys_own_summary_or_the_first_paragraph_of_its_docstring() -> None:
    def method() -> None:
        """One sentence
        on two lines.

        The formula.
        """

    class Source:
        """Not this."""

        summary = "this"

    assert summary(method) == "One sentence on two lines."
    assert summary(functools.partial(method)) == "One sentence on two lines."
    assert summary(Source()) == "this"
    assert summary({"epochs": 8, "loss": "sum"}) == "epochs 8, loss sum"
    assert summary(None) == ""


def test_a_mapping_has_no_docstring_of_its_own() -> None:
    assert docstring({"epochs": 8}) == ""
