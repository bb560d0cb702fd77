"""The documentation: writes the pages that follow from the code, and renders all pages to HTML.

    python docs/build.py            write the generated pages, then render everything into docs/site
    python docs/build.py --check    change nothing; fail where a page is out of step or a link leads nowhere

Pages are the Markdown files of this folder; those of `generate.py` are written, all others are by hand.
"""

from __future__ import annotations

import itertools
import re
import shutil
import string
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import generate
from markdown_it import MarkdownIt

DOCS = Path(__file__).parent
ROOT = DOCS.parent
NAVIGATION = (
    *("index", "tour", "audit", "report", "datasets", "methods", "cli", "studies", "roar", "extending"),
    "references",
)
"""The other pages are reached from these."""


def main(arguments: list[str]) -> int:
    pages = generate.pages()
    if arguments == ["--check"]:
        problems = [*out_of_step(pages), *dead_links(markdown_files())]
        print("\n".join(problems), end="\n" if problems else "", file=sys.stderr)
        return 1 if problems else 0
    for name, text in pages.items():
        (DOCS / name).write_text(text, encoding="utf-8")
    site = DOCS / "site"
    count = render(site)
    print(f"{count} pages: open {site / 'index.html'}")
    return 0


def markdown_files() -> list[Path]:
    return sorted(path for path in DOCS.rglob("*.md") if "site" not in path.relative_to(DOCS).parts)


def out_of_step(pages: Mapping[str, str]) -> Iterator[str]:
    for name, text in pages.items():
        page = DOCS / name
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            yield f"docs/{name} is out of step with the code: run `make docs` and commit the page"


def dead_links(files: list[Path]) -> Iterator[str]:
    """Links from the pages and the README to files of ours, or to headings in them, that are not there."""
    for page in (*files, ROOT / "README.md"):
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = target.partition("#")
            file = page.parent / path if path else page
            if "://" in target:
                continue
            if not file.exists():
                yield f"{page.relative_to(ROOT)}: links to {target}, which does not exist"
            elif anchor and anchor not in _anchors(file.read_text(encoding="utf-8")):
                yield f"{page.relative_to(ROOT)}: links to {target}, but no heading there has that anchor"


def render(site: Path) -> int:
    """Renders every page into `site`, which is made anew, and returns how many there are."""
    shutil.rmtree(site, ignore_errors=True)
    template = string.Template((DOCS / "page.html").read_text(encoding="utf-8"))
    files = markdown_files()
    for page in files:
        text = page.read_text(encoding="utf-8").removeprefix(generate.MARK)
        target = site / page.relative_to(DOCS).with_suffix(".html")
        target.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * (len(page.relative_to(DOCS).parts) - 1)
        links = " ".join(_nav_link(name, up, page) for name in NAVIGATION)
        html = template.substitute(title=_title(text), links=links, body=body(text))
        target.write_text(html, encoding="utf-8")
    return len(files)


def body(text: str) -> str:
    """A page's HTML: headings get anchors, wide tables scroll, links lead to the rendered pages."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    for token, inner in itertools.pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(inner.content))
    html = str(markdown.renderer.render(tokens, markdown.options, {}))
    html = html.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")
    return re.sub(r'(href="(?!https?:)[^"#]+)\.md(?=["#])', r"\1.html", html)


def _nav_link(name: str, up: str, page: Path) -> str:
    file = DOCS / f"{name}.md"
    here = ' aria-current="page"' if file == page else ""
    return f'<a href="{up}{name}.html"{here}>{_title(file.read_text(encoding="utf-8"))}</a>'


def _title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1] if found else "faithgauge"


def _anchors(text: str) -> set[str]:
    return {_anchor(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def _anchor(heading: str) -> str:
    """As the usual hosts of Markdown make it, so that a link holds there too."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
