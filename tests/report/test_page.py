"""The page as a file: what stands on it, its holes, and that nothing of the data becomes HTML."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from audits import HOSTILE, Made, write_audit

from faithgauge.errors import DataError
from faithgauge.report.audit import opened
from faithgauge.report.page import holes, in_script
from faithgauge.report.tidy import made
from faithgauge.report.write import compare, write

SMALL = Made(texts=8, explainers=("attention", "lime", "random"), seeds=2)


class Tags(HTMLParser):
    """Every element of a page with its attributes, and the text in scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script" and self.cdata_elem == "script":
            self.scripts[-1] += data
        elif self.cdata_elem is None:
            self.text.append(data)


def read(page: Path) -> Tags:
    tags = Tags()
    tags.feed(page.read_text(encoding="utf-8"))
    return tags


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an audit all of whose words are such as a careless page would run."""
    folder = tmp_path_factory.mktemp("hostile")
    bad = HOSTILE[1] + HOSTILE[2] + HOSTILE[3]
    test = {"test": bad, "measure": bad, "value": 0.1, "sentence": bad, "says_not": bad, "baseline": bad}
    data = {"name": bad, "classes": [bad, "other"], "splits": {bad: 3}, "notes": [bad]}
    document = {
        "title": bad,
        "headline": bad,
        "about": {"data": data, "model": {"encoder": bad, "metrics": {"test": {bad: 1.0}}}, "command": bad},
        "verdicts": [{"explainer": bad, "verdict": bad, "reasons": [bad], "tests": [test]}],
        "model_tests": [test],
        "left_out": [{"test": bad, "why": bad}],
        "failures": [{"job": bad, "reason": bad}],
        "cites": [bad],
        "rules": [{"word": bad, "when": bad}],
    }
    made_up = Made(texts=8, explainers=("attention", "random"), seeds=1, hostile=True, title=bad)
    return write(write_audit(folder, made_up, **document), charts=False)


def test_no_word_of_the_data_becomes_an_element(hostile: Path) -> None:
    tags = read(hostile)
    assert len(tags.scripts) == 3
    assert not [tag for tag, _ in tags.tags if tag in ("img", "b onmouseover", "iframe", "object")]
    assert not [attrs for _, attrs in tags.tags if any(name.startswith("on") for name in attrs)]
    assert "window.injected = 2" in "".join(tags.text)


def test_the_data_are_json_in_which_no_tag_can_begin(hostile: Path) -> None:
    data = read(hostile).scripts[0]
    assert not set("<>&\u2028\u2029") & set(data)
    found = json.loads(data)
    assert [row[1] for row in found["texts"]["rows"][: len(HOSTILE)]] == list(HOSTILE)


def test_only_the_scripts_of_the_page_may_run_and_nothing_is_loaded(hostile: Path) -> None:
    tags = read(hostile)
    (policy,) = (attrs["content"] for tag, attrs in tags.tags if tag == "meta" and "http-equiv" in attrs)
    assert policy is not None
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == "'none'"
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in tags.scripts[1:]]
    assert allowed["script-src"] == " ".join(f"'sha256-{one}'" for one in hashes)
    for tag, attrs in tags.tags:
        assert tag not in ("link", "iframe", "img")
        assert "src" not in attrs
        assert tag != "a" or (attrs["href"] or "").startswith("#")


@pytest.mark.parametrize("text", [*HOSTILE, "\ud800 half", "\x00\x1b", ""], ids=ascii)
def test_json_in_a_script_is_read_as_it_was(text: str) -> None:
    written = in_script({"text": text})
    assert not re.search("[<>&\u2028\u2029\ud800-\udfff]", written)
    assert json.loads(written) == {"text": text}


def test_the_headline_the_words_and_the_numbers_stand_on_the_page(tmp_path: Path) -> None:
    text = write(write_audit(tmp_path, SMALL), charts=False).read_text(encoding="utf-8")
    for part in (
        "attention may not.",
        "1 supported",
        "1 undecided",
        "1 not supported",
        "Masking the tokens that lime puts first",
        "0.240",
        "[0.209, 0.269]",
        "baseline 0.000",
        "2 seeds",
        "Does not say:</b> That the other tokens play no part.",
        "δ = 0.02",
        "80 % of the rows",
        "roar was left out:</b> it takes 41 minutes",
    ):
        assert part in text


def test_all_files_are_written_and_none_is_left_half(tmp_path: Path) -> None:
    folder = write_audit(tmp_path, Made(texts=6, explainers=("random",), seeds=1))
    (folder / "report.html").write_text("old")
    page = write(folder)
    assert page == folder / "report.html"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    charts = {path.name for path in (folder / "charts").iterdir()}
    assert {"erasure.svg", "erasure.png", "erasure.pdf", "texts.svg"} <= charts
    assert (folder / "charts" / "erasure.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "charts" / "erasure.pdf").read_bytes().startswith(b"%PDF")
    assert "var(--" not in (folder / "charts" / "erasure.svg").read_text(encoding="utf-8")
    assert {"erasure.csv", "erasure.md", "erasure.tex"} <= {p.name for p in (folder / "tables").iterdir()}
    assert not list(folder.rglob("*.new"))


def test_the_same_audit_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = write_audit(tmp_path, SMALL)
    assert write(folder, charts=False).read_bytes() == write(folder, charts=False).read_bytes()


def test_holes_are_told_with_their_reasons(tmp_path: Path) -> None:
    failures = [{"job": "Train lstm seed 1", "reason": "the loss is not a number"}]
    audit = opened(write_audit(tmp_path, SMALL, failures=failures))
    said = [f"{one['what']} {one['why']}" for one in holes(audit, made(audit))]
    assert said == [
        "roar was left out: it takes 41 minutes and the budget is 10",
        "Train lstm seed 1 failed: the loss is not a number",
        "Erasure: 6 of 48 values of flip fraction are missing: the class is not the model's decision",
    ]


@pytest.mark.parametrize("name", ["results.parquet", "instances.jsonl"])
def test_a_file_that_is_missing_is_said_and_the_rest_is_shown(tmp_path: Path, name: str) -> None:
    folder = write_audit(tmp_path, SMALL)
    (folder / name).unlink()
    text = write(folder, charts=False).read_text(encoding="utf-8")
    assert f"{name} is not there" in text
    assert "1 supported" in text


def test_the_least_that_an_audit_can_be_has_a_page(tmp_path: Path) -> None:
    (tmp_path / "audit.json").write_text('{"format": 1}')
    text = write(tmp_path).read_text(encoding="utf-8")
    assert "No explainer has a verdict." in text
    assert "<script" not in text


def test_without_texts_numbers_remain_and_the_page_says_so(tmp_path: Path) -> None:
    made_up = Made(texts=6, explainers=("random",), seeds=1, with_texts=False)
    page = write(write_audit(tmp_path, made_up), charts=False)
    assert "were left out on request" in page.read_text(encoding="utf-8")
    assert {row[1] for row in json.loads(read(page).scripts[0])["texts"]["rows"]} == {None}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "expected the folder of an audit, found no audit.json"),
        ("{", "expected JSON, found"),
        ("[]", "found none; run the audit again"),
        ('{"format": 2}', "written by a newer faithgauge: upgrade to read it, or run the audit again"),
    ],
)
def test_what_is_no_audit_of_this_format_is_an_error_of_one_line(
    tmp_path: Path, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "audit.json").write_text(content)
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        write(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_line_that_is_no_text_is_named(tmp_path: Path) -> None:
    folder = write_audit(tmp_path, SMALL)
    with (folder / "instances.jsonl").open("a") as file:
        file.write("oops\n")
    with pytest.raises(DataError, match=r"instances\.jsonl, line 9: expected one text"):
        write(folder)


def test_several_audits_stand_side_by_side_with_links_and_without_scripts(tmp_path: Path) -> None:
    first = write_audit(tmp_path / "first", SMALL, title="the first")
    other: dict[str, Any] = {"explainer": "oracle", "verdict": "supported", "tests": []}
    second = write_audit(tmp_path / "second", SMALL, title=HOSTILE[0], verdicts=[other])
    write(first, charts=False)
    page = compare([first, second], tmp_path / "pages" / "both.html")
    tags, text = read(page), page.read_text(encoding="utf-8")
    assert not tags.scripts
    links = [attrs["href"] for tag, attrs in tags.tags if tag == "a" and attrs["href"][:1] != "#"]  # type: ignore[index]
    assert links == ["../first/report.html"]
    assert text.count("not judged") == 4
    assert "the first" in "".join(tags.text)
    assert HOSTILE[0] in "".join(tags.text)


def test_audits_of_one_title_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    folders = [write_audit(tmp_path / name, SMALL) for name in ("monday", "tuesday")]
    text = compare(folders, tmp_path / "both.html").read_text(encoding="utf-8")
    assert "reviews.csv (monday)" in text
    assert "reviews.csv (tuesday)" in text
