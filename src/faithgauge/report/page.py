"""An audit as one self-contained page: verdicts first, then the measurements, then the texts.

The page loads nothing. Its policy allows the scripts that it brings along by their hashes and no other, so
that even a text which were not escaped could not run; charts are evaluated by Vega's interpreter, which needs
no `eval`. What comes from data is escaped by the template, or is JSON in which no tag can begin.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from faithgauge.report import cards
from faithgauge.report.audit import INSTANCES, RESULTS, Audit
from faithgauge.report.charts.table import CHARTS
from faithgauge.report.heatmap import written_out
from faithgauge.report.instances import packed
from faithgauge.report.tidy import Tables
from faithgauge.version import __version__

ASSETS = Path(__file__).with_name("assets")
TEXTS = "texts"
"""The chart that belongs to the list of texts."""


def page(audit: Audit, tables: Tables, specs: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of an audit with its charts, given as Vega-Lite."""
    texts = packed(audit) if audit.instances else None
    charts = [{"name": name, **vars(CHARTS[name])} for name in CHARTS if name in specs]
    scale = cards.scales([audit])
    return document(
        "report.html",
        title=audit.title,
        data={"charts": specs, "texts": texts} if specs or texts else None,
        document=audit.document,
        cards=cards.cards(audit, scale),
        counted=cards.counted(audit),
        model_tests=[cards.shown(test, scale) for test in audit.list("model_tests")],
        charts=charts,
        texts=texts and _about_texts(audit, texts, chart=TEXTS in specs),
        holes=holes(audit, tables),
        facts=facts(audit),
        about=_about(audit),
        notes=_notes(audit),
    )


def document(template: str, *, title: str, data: Any, **more: Any) -> str:
    """A whole page from a template; `data` is what its script reads, None where it has none."""
    scripts = [] if data is None else [_asset("page.js"), _bundle()]  # texts need not wait for charts
    return rendered(
        template,
        title=title,
        data=None if data is None else Markup(in_script(data)),
        scripts=[Markup(script) for script in scripts],
        hashes=[f"'sha256-{_hash(script)}'" for script in scripts],
        page_css=Markup(_asset("page.css")),
        version=__version__,
        **more,
    )


def rendered(template: str, **values: Any) -> str:
    """A template with these values, all of which are escaped but those that are marked as HTML."""
    return _templates().get_template(template).render(css=Markup(_asset("cards.css")), **values)


def in_script(value: Any) -> str:
    """JSON that may stand in a script element: no tag, comment or line ends there, whatever a text holds."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&\u2028\u2029\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def facts(audit: Audit) -> list[tuple[str, str]]:
    """What must be known of data and model, in a few words."""
    data, model = audit.part("data"), audit.part("model")
    splits = data.get("splits") or {}
    metrics = (model.get("metrics") or {}).get("test") or {}
    seeds = model.get("seeds")
    found = {
        "Data": data.get("name"),
        "Classes": ", ".join(map(str, data.get("classes") or ())),
        "Texts": ", ".join(f"{n:,} {split}" for split, n in splits.items()),
        "Model": " with ".join(str(part) for part in (model.get("encoder"), _attention(model)) if part),
        "Seeds": len(seeds) if isinstance(seeds, list) else seeds,
        **{f"{_plain(name)} (test)": cards.written_number(value) for name, value in metrics.items()},
    }
    return [(name, str(value)) for name, value in found.items() if value not in (None, "")]


def holes(audit: Audit, tables: Tables) -> list[dict[str, str]]:
    """What was not done, what failed, and which values are missing for what reason."""
    left_out = [(f"{one.get('test')} was left out:", one.get("why")) for one in audit.list("left_out")]
    failed = [(f"{one.get('job')} failed:", one.get("reason")) for one in audit.list("failures")]
    said = [{"what": what, "why": str(why or "no reason is known")} for what, why in (*left_out, *failed)]
    for name, rows in tables.items():
        lacking: Counter[tuple[str, str]] = Counter()
        total: Counter[str] = Counter()
        for row in rows:
            if row.get("class") in (None, "all") and "missing" in row:
                measure = _plain(row.get("measure"))
                total[measure] += int(row["missing"] or 0) + int(row.get("n") or 0)
                if row["missing"]:
                    lacking[measure, str(row.get("reason") or "no reason is known")] += row["missing"]
        said += [
            {
                "what": f"{_plain(name).capitalize()}:",
                "why": f"{n:,} of {total[measure]:,} values of {measure} are missing: {why}",
            }
            for (measure, why), n in lacking.items()
        ]
    return said


def _about_texts(audit: Audit, texts: Mapping[str, Any], *, chart: bool) -> dict[str, Any]:
    known = any(one.get("evidence") for one in audit.instances)
    return {"lead": _lead(audit, texts), "chart": chart, "evidence": known}


def _lead(audit: Audit, texts: Mapping[str, Any]) -> str:
    n, shown = len(audit.instances), len(texts["rows"])
    said = f"{shown:,} texts of the test split, each with the explanations side by side."
    if texts["left_out"]:
        said = (
            f"The first {shown:,} of {n:,} texts, so that this page stays small; {INSTANCES} has all of them."
        )
    if all(one.get("text") is None for one in audit.instances):
        said += " The texts themselves were left out on request: numbers and colours are what remains."
    if texts["width"] == 1 and any(one.get("explanations") for one in audit.instances):
        said += " Numbers are rounded to 1/43 of the strongest token of each explanation."
    return said


def _notes(audit: Audit) -> list[str]:
    found = [str(note) for note in audit.part("data").get("notes") or ()]
    if audit.rows is None:
        found.append(f"{RESULTS} is not there: the charts and tables of measurements are left out.")
    if not (audit.folder / INSTANCES).exists():
        found.append(f"{INSTANCES} is not there: no texts are shown.")
    return found


def _about(audit: Audit) -> list[tuple[str, str]]:
    about = audit.document.get("about") or {}
    minutes = about.get("minutes")
    cites = audit.document.get("cites") or ()
    found = {
        "Command": about.get("command"),
        "Took": None if minutes is None else f"{minutes:.1f} minutes",
        "Written by": f"faithgauge {about.get('version', '')}".strip(),
        "Please cite (cite.bib)": ", ".join(map(str, cites)),
    }
    return [(name, str(value)) for name, value in found.items() if value]


def _attention(model: Mapping[str, Any]) -> str | None:
    own = model.get("attention")
    return f"{own} attention" if own else None


def _plain(name: Any) -> str:
    return str(name).replace("_", " ")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed, which every chart of the page shares."""
    import vl_convert

    return str(vl_convert.javascript_bundle())  # type: ignore[call-arg]  # its stub lacks the default


@cache
def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8").strip()


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _finalized(value: Any) -> Any:
    """Nothing for None, and control characters in writing."""
    if value is None:
        return ""
    return written_out(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def several(audits: Sequence[Audit], links: Sequence[str | None]) -> str:
    """One page with the verdicts and tests of several audits side by side."""
    audits = _named_apart(audits)
    scale = cards.scales(audits)
    every = [
        {
            "title": audit.title,
            "link": link,
            "headline": audit.document.get("headline"),
            "counted": cards.counted(audit),
            "facts": facts(audit),
            "holes": holes(audit, {}),
        }
        for audit, link in zip(audits, links, strict=True)
    ]
    return document(
        "several.html",
        title=" · ".join(audit.title for audit in audits),
        data=None,
        audits=every,
        rows=cards.rows_of(audits),
        groups=_groups(audits, scale),
    )


def _named_apart(audits: Sequence[Audit]) -> list[Audit]:
    """Audits of the same title get the names of their folders too."""
    titles = [audit.title for audit in audits]
    return [
        replace(audit, document={**audit.document, "title": f"{audit.title} ({audit.folder.name})"})
        if titles.count(audit.title) > 1
        else audit
        for audit in audits
    ]


def _groups(audits: Sequence[Audit], scale: cards.Scales) -> list[dict[str, Any]]:
    """The tests of all audits by name and measure; in each the explainers, and of each the audits."""
    found: dict[str, list[dict[str, Any]]] = {}
    for audit in audits:
        of_model = [(None, test) for test in audit.list("model_tests")]
        own = [(one.get("explainer"), test) for one in audit.verdicts for test in one.get("tests") or []]
        for explainer, test in (*own, *of_model):
            line = {**cards.shown(test, scale), "explainer": explainer, "audit": audit.title}
            found.setdefault(line["label"], []).append(line)
    return [
        {"label": label, "lines": sorted(lines, key=lambda line: names.index(line["explainer"]))}
        for label, lines in found.items()
        if (names := list(dict.fromkeys(line["explainer"] for line in lines)))
    ]
