"""The works that an audit stands on, as entries of a bibliography."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from importlib import resources

from faithgauge.audit.table import AUDITED
from faithgauge.errors import DataError

OWN = ("holm1979",)
"""What every audit uses: the correction for the number of explainers."""


def cites(tests: Iterable[str], explainers: Iterable[str]) -> list[str]:
    """The keys of the works behind these tests and explainers, in the order of the bibliography."""
    from faithgauge.explain.asked import asked

    keys = {*OWN, *(key for name in tests for key in AUDITED[name].cites)}
    for text in explainers:
        one = asked(text)
        keys |= set(_papers(inspect.getdoc(one.explainer.function) or ""))
    return [key for key in bibliography() if key in keys]


def bibliography() -> dict[str, str]:
    """Every entry of ``references.bib`` by its key."""
    text = resources.files("faithgauge").joinpath("references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{([^,]+),\n.*?^\}$", text, re.MULTILINE | re.DOTALL)
    whole = re.findall(r"^(@\w+\{[^,]+,\n.*?^\})$", text, re.MULTILINE | re.DOTALL)
    return dict(zip(entries, whole, strict=True))


def bibtex(keys: Iterable[str]) -> str:
    """These entries as a file."""
    known = bibliography()
    wanted = list(keys)
    if lacking := [key for key in wanted if key not in known]:
        raise DataError(f"expected works of references.bib, found {', '.join(lacking)}; update faithgauge")
    return "\n\n".join(known[key] for key in wanted) + "\n"


def _papers(docstring: str) -> list[str]:
    """The keys of the works that a docstring names, as the tests of the architecture read them."""
    found = re.findall(
        r"\bPaper:\s*(.*?)(?=\n\s*\n|\n?\s*\b(?:Differs|Range|Cost):|\Z)", docstring, re.DOTALL
    )
    return [part.split(",")[0].strip().rstrip(".") for line in found for part in line.split(";")]
