"""The pages that follow from the code: commands, methods, data sets, references; each as Markdown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from typer.main import get_command

from faithgauge.cli import list_
from faithgauge.cli.main import app
from faithgauge.data.dataset import Source
from faithgauge.train.metrics import metrics
from faithgauge.types import SPLITS

MARK = "<!-- Written by docs/build.py from the code: change the code, then run `make docs`. -->\n\n"
BIBLIOGRAPHY = Path(__file__).parents[1] / "references.bib"

COMMANDS = """# Commands

Every command that prints a result takes `--json`: one JSON document on standard output and nothing else
there; progress and logs go to standard error.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | a computation failed |
| 2 | the input was wrong: one `error: …` line, or `{"error": …}` with `--json` |
| 130 | interrupted |"""

METHODS = """# Methods

What can be chosen by name (`faithgauge list` prints the names), from the docstrings: the formula, where it
comes from, where it differs from there, and what it costs."""

DATASETS = """# Data sets

Public data sets are read in the form in which they are distributed: loose files, gzip, xz, zip or tar, as
they come. Each has a folder, which is looked for in `--data-dir`, then in the folder that `FAITHGAUGE_DATA`
names, then in the user's cache folder. `faithgauge data check NAME` says what is there, what is missing,
and how it differs from what the papers print; partial data are used as far as they go, and marked."""

SYNTHETIC = """## Synthetic

Generated from a seed when they are asked for; nothing is read."""

REFERENCES = """# References

The works that docstrings cite by key, from `references.bib`."""


def pages() -> dict[str, str]:
    """Every generated page by its file name."""
    written = {
        "cli.md": commands(),
        "datasets.md": datasets(),
        "methods.md": methods(),
        "references.md": references(),
    }
    return {name: MARK + text.strip() + "\n" for name, text in written.items()}


def commands() -> str:
    parts = [COMMANDS]
    for path, command in _walk(get_command(app), "faithgauge"):
        command.rich_markup_mode = None  # plain text, without frames
        context = command.context_class(command, info_name=path, terminal_width=100)
        parts.append(f"## {path}\n\n```text\n{command.get_help(context).strip()}\n```")
    return "\n\n".join(parts)


def _walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield from _walk(below, f"{path} {name}")


def methods() -> str:
    parts = [METHODS]
    for kind in list_.TABLES:
        if kind in ("datasets", "audited"):  # these have pages of their own
            continue
        parts.append(f"## {kind.capitalize()}")
        for name, entry in list_.entries(kind).items():
            text = from_docstring(list_.docstring(entry)) or list_.summary(entry)
            parts.append("\n".join([f"### {name}\n\n{text}".strip(), *_choices(list_.facts(entry))]))
    parts.append(from_docstring(list_.docstring(metrics)))
    return "\n\n".join(parts)


def _choices(facts: dict[str, Any]) -> Iterator[str]:
    """What can be chosen of an explainer, and what it needs, as more lines of its list."""
    if not facts:
        return
    yield f"- **Sign:** {'for or against the class' if facts['signed'] else 'none'}."
    if facts["needs"]:
        yield f"- **Needs:** {', '.join(facts['needs'])}."
    if facts["options"]:
        yield f"- **Options:** {_settings(facts['options'])}."
    for name, options in facts["presets"].items():
        yield f"- **Preset `{name}`:** {_settings(options)}."


def _settings(options: Mapping[str, Any]) -> str:
    return ", ".join(f"`{name}={value}`" for name, value in options.items())


def from_docstring(text: str) -> str:
    """A docstring as Markdown: its labelled lines become a list, the keys of works become links."""
    label = re.compile(r"\b(Paper|Differs|Range|Cost):")
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    first = label.search(text)
    head, facts = (text[: first.start()], text[first.start() :]) if first else (text, "")
    lines = label.sub(r"\n- **\1:**", re.sub(r"\s*\n\s*", " ", facts)).strip().split("\n")
    keys = "|".join(map(re.escape, bibliography()))
    linked = [
        re.sub(rf"(?<![\w-])({keys})(?![\w-])", r"[\1](references.md#\1)", line.strip()) for line in lines
    ]
    return (head.strip() + "\n\n" + "\n".join(linked)).strip()


def datasets() -> str:
    public, synthetic = {}, {}
    for name, entry in list_.entries("datasets").items():
        if isinstance(entry, Source):
            public[name] = entry
        else:
            synthetic.setdefault(list_.docstring(entry), []).append(name)
    rows = [[f"[{name}](#{name})", entry.task, entry.summary] for name, entry in public.items()]
    parts = [DATASETS, _grid(["name", "task", "what it is"], rows)]
    parts += [f"## {name}\n\n{_about(entry)}" for name, entry in public.items()]
    parts.append(SYNTHETIC)
    parts += [f"### {', '.join(names)}\n\n{from_docstring(text)}" for text, names in synthetic.items()]
    return "\n\n".join(parts)


def _about(source: Source) -> str:
    facts = {
        "Home": f"<{source.home}>" if source.home.startswith("http") else source.home,
        "Licence": source.licence,
        "Access": source.access,
        "Folder": ", ".join(f"`{name}`" for name in (source.name, *source.folders)),
        "Files": ", ".join(f"`{download.file}`" for download in source.downloads),
        "Classes": ", ".join(source.classes) if len(source.classes) <= 8 else f"{len(source.classes)} words",
    }
    lines = [f"- **{name}:** {text}" for name, text in facts.items() if text]
    variants = {"": "the official distribution and split", **source.variants}
    rows = [
        [f"`{source.name}{'@' * bool(variant)}{variant}`", text, *_sizes(source, variant)]
        for variant, text in variants.items()
    ]
    parts = [f"{source.summary[:1].upper()}{source.summary[1:]}.", "\n".join(lines)]
    parts.append(_grid(["name", "what it is", *SPLITS], rows))
    if source.published:
        printed = [
            [f"[{entry.paper}](references.md#{entry.paper})", entry.split, f"{entry.examples:,}", entry.why]
            for entry in source.published
        ]
        parts += [
            "What the papers print:",
            _grid(["paper", "split", "examples", "why ours may differ"], printed),
        ]
    return "\n\n".join(parts)


def _sizes(source: Source, variant: str) -> list[str]:
    sizes = source.sizes.get(variant, {})
    return [f"{sizes[split]:,}" if split in sizes else "" for split in SPLITS]


def _grid(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def references() -> str:
    parts = [REFERENCES]
    for key, work in bibliography().items():
        place = [f"*{work[name]}*" for name in ("booktitle", "journal") if name in work]
        pages = [f"pp. {work['pages']}"] if "pages" in work else []
        links = {"doi": "https://doi.org/", "eprint": "https://arxiv.org/abs/"}
        address = next((f" <{site}{work[name]}>" for name, site in links.items() if name in work), "")
        authors = work["author"].replace(" and ", "; ").rstrip(".")
        where = ", ".join([*place, *pages, work["year"]])
        parts.append(f"### {key}\n\n{authors}. **{work['title']}** {where}.{address}")
    return "\n\n".join(parts)


def bibliography() -> dict[str, dict[str, str]]:
    """Key → fields of our BibTeX file, which has one field a line."""
    text = BIBLIOGRAPHY.read_text(encoding="utf-8")
    result = {}
    for key, body in re.findall(r"^@\w+\{([^,]+),\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        fields = re.findall(r"^\s*(\w+)\s*=\s*\{(.*)\},$", body, re.MULTILINE)
        result[key] = {name: _without_tex(value) for name, value in fields}
    return result


def _without_tex(value: str) -> str:
    accents = {'"': "\u0308", "'": "\u0301", "v": "\u030c"}
    value = re.sub(r"\\([\"'v])\{?(\w)\}?", lambda found: found[2] + accents[found[1]], value)
    value = value.replace("\\L", "Ł").replace("{", "").replace("}", "").replace("--", "–")
    return unicodedata.normalize("NFC", value)
