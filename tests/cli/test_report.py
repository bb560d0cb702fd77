"""``faithgauge report``: one audit and several, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from audits import Made, write_audit

from faithgauge.cli.main import run

SMALL = Made(texts=6, explainers=("attention", "random"), seeds=1)


def test_one_audit_gets_its_page_and_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_audit(tmp_path / "one", SMALL)
    assert run(["report", str(folder), "--no-charts"]) == 0
    assert capsys.readouterr().out == f"{folder / 'report.html'}\n"
    assert (folder / "tables" / "erasure.csv").exists()
    assert not (folder / "charts").exists()


def test_the_page_can_go_elsewhere_and_json_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, target = write_audit(tmp_path / "one", SMALL), tmp_path / "page.html"
    assert run(["report", str(folder), "--no-charts", "--out", str(target), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "report": str(target),
        "verdicts": [
            {"audit": str(folder), "explainer": "attention", "verdict": "undecided"},
            {"audit": str(folder), "explainer": "random", "verdict": "not supported"},
        ],
    }
    assert target.read_bytes() == (folder / "report.html").read_bytes()


def test_several_audits_get_one_page_in_the_current_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = [write_audit(tmp_path / name, SMALL, title=name) for name in ("first", "second")]
    assert run(["report", *map(str, folders)]) == 0
    assert capsys.readouterr().out == "comparison.html\n"
    page = (tmp_path / "comparison.html").read_text(encoding="utf-8")
    assert "2 audits side by side" in page
    assert page.count("first") > 1
    assert page.count("second") > 1


def test_a_folder_without_an_audit_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(tmp_path)]) == 2
    assert "expected the folder of an audit, found no audit.json" in capsys.readouterr().err


def test_a_page_must_be_called_html(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_audit(tmp_path / "one", SMALL)
    assert run(["report", str(folder), "--out", str(tmp_path / "page.txt")]) == 2
    assert "expected a name ending in .html" in capsys.readouterr().err
    assert not (folder / "report.html").exists()
