"""Tables as CSV with every digit, and as Markdown and LaTeX with few; words are escaped for each."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from faithgauge.report.cards import written_number

Rows = Sequence[Mapping[str, Any]]
_TEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": "$-$",
    "τ": r"$\tau$",
    "λ": r"$\lambda$",
    "ε": r"$\epsilon$",
}


def as_csv(rows: Rows) -> str:
    """With a heading; what is not there is empty."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows([_exact(value) for value in row.values()] for row in rows)
    return target.getvalue()


def as_markdown(rows: Rows, title: str) -> str:
    """A table of columns that differ; what all rows have in common stands above it."""
    columns, common = _differing(rows)
    lines = [f"# {_markdown(title)}", ""]
    if common:
        lines += [
            "All: " + ", ".join(f"{_markdown(k)} {_markdown(_short(v))}" for k, v in common.items()) + ".",
            "",
        ]
    lines += [_bar(map(_markdown, columns)), _bar("---" for _ in columns)]
    lines += [_bar(_markdown(_short(row[name])) for name in columns) for row in rows]
    return "\n".join(lines) + "\n"


def as_latex(rows: Rows, title: str) -> str:
    """The same as a table for `booktabs`."""
    columns, common = _differing(rows)
    said = ", ".join(f"{_tex(name)} {_tex(_short(value))}" for name, value in common.items())
    caption = _tex(title) + (f". All: {said}." if said else ".")
    numeric = {n for n in columns if any(isinstance(row[n], int | float) for row in rows)}
    form = "".join("r" if name in numeric else "l" for name in columns)
    body = [" & ".join(_tex(_short(row[name])) for name in columns) + r" \\" for row in rows]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{caption}}}",
            rf"\begin{{tabular}}{{{form}}}",
            r"\toprule",
            " & ".join(map(_tex, columns)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _differing(rows: Rows) -> tuple[list[str], dict[str, Any]]:
    """The columns to print, and those whose value all rows share; columns without any value are left out."""
    there = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    common = {
        name: rows[0][name] for name in there if len(rows) > 1 and len({row[name] for row in rows}) == 1
    }
    return [name for name in there if name not in common], common


def _exact(value: Any) -> Any:
    return "" if value is None else float(value) if isinstance(value, float) else value


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    return "" if value is None else written_number(value) or str(value)


def _bar(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown(text: str) -> str:
    """One line in which nothing is markup, nor HTML."""
    plain = re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", " ".join(text.split()))
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in " ".join(text.split()))
