"""``faithgauge list``: every table, with one line on each entry."""

from __future__ import annotations

import functools
import json
import sys
from types import ModuleType

import pytest

from faithgauge.cli.list_ import TABLES, docstring, facts, summary
from faithgauge.cli.main import run
from faithgauge.explain.table import Explainer


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


def test_of_explainers_sign_needs_cost_and_paper_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "explainers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["explainer", "sign", "needs", "cost", "paper"]
    (attention,) = (line.split() for line in lines if line.startswith("attention "))
    assert attention == ["attention", "+", "attention", "one", "forward", "pass", "jain-wallace-2019"]
    assert any(line.split()[:3] == ["leave_one_out", "±", "one"] for line in lines)
    assert all(len(line) <= 80 for line in lines)
    assert "gradient:recursive-roar-2022" in " ".join(lines)


def test_as_json_explainers_have_their_options_and_presets_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "explainers", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["explainers"]}
    assert rows["random"] == {
        "name": "random",
        "summary": rows["random"]["summary"],
        "signed": False,
        "needs": [],
        "cost": "none.",
        "paper": "recursive-roar-2022, section 4.",
        "options": {"draw": 1},
        "presets": {},
    }
    assert rows["leave_one_out"]["presets"] == {"jain-wallace-2019": {"absolute": True}}


def test_facts_go_on_over_lines_and_stop_at_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def method(model: object, *, steps: int = 5) -> None:
        """One sentence.

        Paper: kim2014, eq. 1;
            attefa.
        Range: any.
        Cost: much: twice
            the usual.
        """

    module = ModuleType("elsewhere")
    vars(module)["method"] = method
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    found = facts(Explainer("elsewhere:method", signed=True, needs=("mask",)))
    assert (found["paper"], found["cost"]) == ("kim2014, eq. 1; attefa.", "much: twice the usual.")
    assert (found["options"], found["needs"], found["signed"]) == ({"steps": 5}, ("mask",), True)
    assert summary(Explainer("elsewhere:method", signed=True)) == "One sentence."
    assert facts(method) == {}
