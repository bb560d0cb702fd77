"""What an audit found as one document, and the folder that it is written to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from faithgauge import results
from faithgauge.audit import folder
from faithgauge.audit.ask import Ready
from faithgauge.audit.cites import bibtex, cites
from faithgauge.audit.conclude import Conclusion, conclude, told
from faithgauge.audit.instances import Shown, adversaries, instances
from faithgauge.audit.numbers import Known
from faithgauge.audit.plan import Planned
from faithgauge.audit.rows import Rows
from faithgauge.audit.table import AUDITED
from faithgauge.audit.verdict import DELTA, RULES
from faithgauge.audit.words import NOTE
from faithgauge.encode.corpus import Corpus
from faithgauge.encode.tokenizer import SubwordTokenizer
from faithgauge.engine.job import key_of
from faithgauge.engine.run import Graph
from faithgauge.engine.store import Store
from faithgauge.jobs import MODEL
from faithgauge.version import __version__

NOT_TOLD = "its reason may hold texts, and is in the log of the store"


@dataclass(frozen=True)
class Telling:
    """How an audit is told of: under which title, by which command, with texts or without, after how long."""

    title: str
    command: str
    texts: bool = True
    minutes: float = 0.0


def finish(
    ready: Ready, planned: Planned, ended: Graph, *, store: Store, out: Path, telling: Telling
) -> tuple[dict[str, Any], Path]:
    """Judge what was computed and write the folder; the document, and the page."""
    table = results.stored(planned.targets, store)
    rows, cells = Rows(table), ready.cells(planned.choice)
    attention = next(
        (name for name in planned.choice.explainers if name.partition(":")[0] == "attention"), None
    )
    found = conclude(
        rows,
        planned.choice.tests,
        Known((*planned.choice.explainers, *ready.subject.given.explainers), ready.corpus.classes),
        trained_here=not ready.adopted,
        attention=attention,
    )
    document = _document(ready, planned, ended, found=found, store=store, telling=telling)
    shown = Shown(cells[0], ready.corpus, ready.ids, adversaries(planned.jobs, cells[0]))
    page = folder.write(
        out,
        document,
        table,
        instances=instances(shown, rows, store, texts=telling.texts),
        bibtex=bibtex(document["cites"]),
    )
    return document, page


def _document(
    ready: Ready, planned: Planned, ended: Graph, *, found: Conclusion, store: Store, telling: Telling
) -> dict[str, Any]:
    failed = [node for node in ended.values() if node.status in ("failed", "blocked")]
    warning = f"Warning: {len(failed)} jobs failed, and what needs them is missing. " if failed else ""
    model = [one for one in found.numbers if not one.explainer]
    return {
        "format": folder.FORMAT,
        "title": telling.title,
        "headline": warning + found.headline,
        "about": _about(ready, planned, store, telling),
        "verdicts": [
            {
                "explainer": name,
                "verdict": judged.verdict,
                "reasons": list(judged.reasons),
                "tests": [told(one) for one in found.of(name)],
            }
            for name, judged in found.verdicts.items()
        ],
        "model_tests": [told(one) for one in model],
        "left_out": [{"test": name, "why": why} for name, why in planned.left_out.items()],
        "failures": [
            {
                "job": f"{type(node.job).__name__} {node.key[:12]}",
                "reason": node.reason if telling.texts or node.status == "blocked" else NOT_TOLD,
            }
            for node in failed
        ],
        "cites": cites(planned.choice.tests, planned.choice.explainers),
        "rules": [asdict(rule) for rule in RULES],
        "questions": {name: AUDITED[name].question for name in planned.choice.tests},
        "delta": DELTA,
    }


def _about(ready: Ready, planned: Planned, store: Store, telling: Telling) -> dict[str, Any]:
    corpus, chosen = ready.corpus, ready.subject.settings.model
    cells = ready.cells(planned.choice)
    records = [
        record for cell in cells if (record := _record(store.place(key_of(cell.model)) / MODEL)) is not None
    ]
    record = records[0] if records else {}
    return {
        "data": {
            "name": corpus.full_name,
            "classes": list(corpus.classes),
            "splits": {name: len(one) for name, one in corpus.splits.items()},
            "measured": {"split": ready.subject.split, "texts": planned.choice.instances},
            "notes": [*corpus.missing, *corpus.notes, *ready.notes, *_by_words(corpus)],
        },
        "model": {
            "encoder": record.get("encoder") or ready.subject.factory or chosen.encoder,
            "attention": record.get("attention", chosen.attention),
            "seeds": [cell.model.train.seed for cell in cells],
            "given": ready.wish.model or None,
            "metrics": _metrics(records),
        },
        "command": telling.command,
        "minutes": round(telling.minutes, 2),
        "version": __version__,
    }


def _by_words(corpus: Corpus) -> tuple[str, ...]:
    return (NOTE,) if isinstance(corpus.tokenizer, SubwordTokenizer) else ()


def _record(place: Path) -> Mapping[str, Any] | None:
    path = place / "model.json"
    if not path.is_file():
        return None
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))["record"]
    return found


def _metrics(records: list[Mapping[str, Any]]) -> dict[str, dict[str, float | None]]:
    """The mean over seeds of every metric of every split, as the models' records have them."""
    found: dict[str, dict[str, float | None]] = {}
    for split in records[0].get("metrics", {}) if records else ():
        own = [record["metrics"][split] for record in records]
        found[split] = {
            name: None
            if any(one.get(name) is None for one in own)
            else float(np.mean([one[name] for one in own]))
            for name in own[0]
        }
    return found
