"""The documentation says what the code does: commands, options, links, references."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from fakes import EOS, SOS, batch_of, classifier
from typer.main import get_command

from faithgauge.cli.main import app
from faithgauge.data.splits import DEV
from faithgauge.data.table import DATASETS
from faithgauge.explain.asked import asked
from faithgauge.explain.split import explain_batch
from faithgauge.explain.table import EXPLAINERS
from faithgauge.models.question import Known

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
WRITTEN_BY_HAND = [
    ROOT / "README.md",
    *(DOCS / f"{name}.md" for name in ("index", "tour", "studies", "report", "extending")),
]


@pytest.fixture(scope="module")
def build() -> Iterator[ModuleType]:
    """docs/build.py, which is a script and not part of the package."""
    sys.path.insert(0, str(DOCS))
    try:
        import build

        yield build
    finally:
        sys.path.remove(str(DOCS))


def shell_lines(page: Path) -> list[str]:
    """The lines of a page's code that call the program, without their comments."""
    blocks = re.findall(r"```(?:sh|console)?\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("faithgauge ")]


def named_command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that a line names, and what is left of the line."""
    command: Any = get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    return command, words


@pytest.mark.parametrize("page", WRITTEN_BY_HAND, ids=lambda page: page.name)
def test_every_command_line_that_is_shown_exists_with_its_options(page: Path) -> None:
    for line in shell_lines(page):
        command, rest = named_command(shlex.split(line, comments=True)[1:])
        assert not hasattr(command, "commands") or rest == ["--help"], line
        named = (option for one in command.params for option in (*one.opts, *one.secondary_opts))
        options = {*named, "--help"}
        assert {word.partition("=")[0] for word in rest if word.startswith("--")} <= options, line


@pytest.mark.parametrize("page", WRITTEN_BY_HAND, ids=lambda page: page.name)
def test_every_file_and_folder_that_is_named_is_there(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for name in re.findall(r"`((?:[a-z_]+/)*(?:[a-z_]+/|[a-z_]+\.(?:py|toml|bib|txt)))`", text):
        places = [
            ROOT / name,
            ROOT / "src" / "faithgauge" / name,
            *(ROOT / "src" / "faithgauge").glob(f"*/{name}"),
        ]
        assert any(place.exists() for place in places), name


def test_every_decision_is_in_the_index() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in (DOCS / "decisions").glob("*.md"):
        assert f"(decisions/{page.name})" in index


def test_no_link_leads_nowhere(build: ModuleType) -> None:
    assert list(build.dead_links(build.markdown_files())) == []


def test_a_dead_link_and_a_dead_anchor_are_found(build: ModuleType, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(build, "ROOT", tmp_path)
    (tmp_path / "README.md").write_text(
        "# Top\n\n[a](page.md#here) [b](page.md#there) `[c](no.md)` <https://x.y>\n"
    )
    (tmp_path / "page.md").write_text("# Here\n\n[d](gone.md) [e](https://example.org/gone.md)\n")
    assert list(build.dead_links([tmp_path / "page.md"])) == [
        "page.md: links to gone.md, which does not exist",
        "README.md: links to page.md#there, but no heading there has that anchor",
    ]


def test_a_page_that_is_out_of_step_is_named(build: ModuleType, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(build, "DOCS", tmp_path)
    (tmp_path / "cli.md").write_text("old")
    (tmp_path / "same.md").write_text("same")
    problems = list(build.out_of_step({"cli.md": "new", "same.md": "same", "missing.md": "new"}))
    assert [problem.partition(" ")[0] for problem in problems] == ["docs/cli.md", "docs/missing.md"]


def test_a_page_is_rendered_with_anchors_and_links_to_rendered_pages(build: ModuleType) -> None:
    html = build.body(
        "# A *b*: `c`\n\n[x](tour.md#y) [z](https://a.b/c.md)\n\n<script>\n\n| a |\n|---|\n| 1 |\n"
    )
    assert '<h1 id="a-b-c">' in html
    assert 'href="tour.html#y"' in html
    assert 'href="https://a.b/c.md"' in html
    assert "<script>" not in html
    assert '<div class="table"><table>' in html


def test_a_docstring_becomes_a_sentence_a_formula_and_a_list(build: ModuleType) -> None:
    text = "One sentence.\n\nα = ``x``.\n\nPaper: attefa, eq. 7;\n    kim2014.\nCost: linear: in n.\n"
    assert build.generate.from_docstring(text) == (
        "One sentence.\n\nα = `x`.\n\n"
        "- **Paper:** [attefa](references.md#attefa), eq. 7; [kim2014](references.md#kim2014).\n"
        "- **Cost:** linear: in n."
    )


def test_the_methods_page_says_what_can_be_chosen_of_an_explainer(build: ModuleType) -> None:
    page = build.generate.methods()
    _, _, gradient = page.partition("### gradient\n")
    gradient = gradient.partition("\n### ")[0]
    assert gradient.endswith(
        "- **Sign:** none.\n- **Needs:** embedding.\n- **Options:** `norm=embedding`.\n"
        "- **Preset `recursive-roar-2022`:** `norm=vocabulary`, `target=gold`, `of=logit`.\n"
    )
    assert "**Sign:**" not in page.partition("## Explainers")[0]


def test_the_explainer_that_is_shown_as_an_example_works(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "extending.md").read_text(encoding="utf-8")
    (code,) = (
        block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "Explainer(" in block
    )
    module = ModuleType("my_package.mine")
    monkeypatch.setitem(sys.modules, "my_package.mine", module)
    exec(code, vars(module))
    monkeypatch.setitem(EXPLAINERS._entries, "mine", vars(module)["LENGTH"])  # type: ignore[index]
    batch = batch_of([[SOS, 4, EOS], [SOS, 5, 6, EOS]])
    plain, doubled = (
        explain_batch(classifier(), batch, asked(name), known=Known()) for name in ("mine", "mine:doubled")
    )
    assert (plain.scores.isnan() == ~batch.maskable).all()
    assert torch.equal(2 * plain.scores[batch.maskable], doubled.scores[batch.maskable])


def test_every_reference_has_what_it_takes_to_find_it(build: ModuleType) -> None:
    works = build.generate.bibliography()
    text = (ROOT / "references.bib").read_text(encoding="utf-8")
    assert list(works) == re.findall(r"^@\w+\{(.+),$", text, re.MULTILINE)
    assert len(set(works)) == len(works)
    for key, work in works.items():
        assert {"author", "title", "year"} <= set(work), key
        assert not set("{}\\") & set("".join(work.values())), key


def test_every_paper_whose_sizes_are_quoted_is_in_the_references(build: ModuleType) -> None:
    papers = {entry.paper for name in DATASETS for entry in DATASETS[name].published}
    assert papers
    assert papers <= set(build.generate.bibliography())


def test_every_variant_is_named_after_a_paper_in_the_references_or_is_a_substitute(build: ModuleType) -> None:
    variants = {variant for name in DATASETS for variant in DATASETS[name].variants}
    assert variants <= {DEV, *build.generate.bibliography()}


def test_every_link_of_the_rendered_site_leads_to_a_page_of_it(build: ModuleType, tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert build.render(site) == len(build.markdown_files()) == len(list(site.rglob("*.html")))
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert text.count("<h1") == 1
        for path, anchor in re.findall(r'href="(?!https?:)([^"#]*)#?([^"]*)"', text):
            target = (page.parent / path).resolve() if path else page
            assert target.is_file(), f"{page.name}: {path}"
            assert not anchor or f'id="{anchor}"' in target.read_text(encoding="utf-8"), (
                f"{page.name}: {path}#{anchor}"
            )
