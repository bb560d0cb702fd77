"""The texts of an audit one by one: tokens, what the model says, and the scores of every explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithgauge import attacking, judging
from faithgauge.audit.rows import Rows
from faithgauge.comparing import Answers, kept
from faithgauge.encode.corpus import Corpus
from faithgauge.engine.job import Job, key_of
from faithgauge.engine.store import Store
from faithgauge.measured import signed
from faithgauge.plans.adversaries import answer
from faithgauge.plans.grid import Cell, explained
from faithgauge.types import Encoded, Ragged, Split

MOST = 500


@dataclass(frozen=True)
class Shown:
    """Where all that is told of the texts is stored: one model, its explanations, its adversaries."""

    cell: Cell
    corpus: Corpus
    ids: tuple[str, ...]
    adversaries: Mapping[str, Job]


def adversaries(found: Mapping[str, list[Job]], cell: Cell) -> dict[str, Job]:
    """By name the adversaries of a cell's model: answers of models, or the attention that an attack found."""
    seed = cell.model.train.seed
    named: dict[str, Job] = {}
    for name, every in found.items():
        for job in every:
            if isinstance(job, judging.Gauge) and job.setting.get("base_seed") == seed:
                named |= {f"{name} ({start})": one for start, one in job.adversaries.items()}
            if isinstance(job, attacking.ExactAdversary) and key_of(job.model) == key_of(cell.model):
                named["exact adversary"] = job
            if isinstance(job, judging.Compare) and job.setting.get("base_seed") == seed:
                weight = job.setting.get("lambda")
                named |= {} if weight is None else {f"adversary (λ {weight:g})": job.other}
    return named


def instances(shown: Shown, rows: Rows, store: Store, *, texts: bool = True) -> Iterator[dict[str, Any]]:
    """One document for each explained text, at most MOST; without the texts where they must not travel."""
    cell, (split,) = shown.cell, shown.cell.study.splits
    encoded = shown.corpus.splits[split]
    scores = {
        label: store.place(key_of(job)) for label, job in explained(cell).items() if store.has(key_of(job))
    }
    said = _answers(answer(cell, cell.model), shown.corpus, store)
    if not scores or said is None:
        return
    own = said.said[split]
    others = {
        name: _attention(job, shown.corpus, split, store=store) for name, job in shown.adversaries.items()
    }
    chosen = np.load(next(iter(scores.values())) / f"rows-{split}.npy", allow_pickle=False)[:MOST]
    told = _told(rows)
    flat = {label: _scores(folder, split) for label, folder in scores.items()}
    for i in map(int, chosen):
        likely = own.probability[i].astype(float)
        yield {
            "id": shown.ids[i],
            **_side(encoded, i, texts=texts),
            "label": said.classes[int(likely.argmax())],
            "gold": said.classes[int(encoded.labels[i])],
            "probabilities": dict(zip(said.classes, likely.tolist(), strict=True)),
            "explanations": {
                label: _own(encoded.ids, encoded.spans, one[0], i) for label, one in flat.items()
            },
            "signed": {label: signed(folder, label) for label, folder in scores.items()},
            "adversarial": {
                name: _own(encoded.ids, encoded.spans, weights.values, i)
                for name, weights in others.items()
                if weights is not None
            },
            "numbers": {
                **{name: by_text.get(i) for name, by_text in told.items()},
                "confidence": float(likely.max()),
            },
            **_evidence(encoded, i),
            **_second(encoded, flat, i, texts=texts),
        }


def _answers(job: Job, corpus: Corpus, store: Store) -> Answers | None:
    return kept(store.place(key_of(job)), corpus) if store.has(key_of(job)) else None


def _attention(job: Job, corpus: Corpus, split: Split, *, store: Store) -> Ragged | None:
    """The attention of a model, or that which an attack found for each text."""
    if not isinstance(job, attacking.ExactAdversary):
        answers = _answers(job, corpus, store)
        return None if answers is None else answers.said[split].attention
    path = store.place(key_of(job)) / f"adversarial-{split}.npy"
    if not path.exists():
        return None
    return Ragged(np.load(path, allow_pickle=False), corpus.splits[split].ids.offsets)


def _told(rows: Rows) -> dict[str, dict[int, float | None]]:
    """How far the explanations of a text disagree, and how far another attention is from the model's."""
    pairs = [
        pair for pair in rows.pairs("kendall_tau") if pair[0] != pair[1] and "random" not in "".join(pair)
    ]
    tables = [rows.by_text("kendall_tau", *pair)[0] for pair in pairs]
    agreed = (
        dict(zip(rows.texts("kendall_tau", *pairs[0]).tolist(), _means(tables), strict=True)) if pairs else {}
    )
    apart: dict[int, float | None] = {}
    for setting in ({"against": "adversary"}, {"against": "seed"}, {"against": "uniform"}):
        # Of several adversaries of one model the rows of the first weight stand for all.
        weights = (
            rows.told("attention_jsd", "lambda", "base model") if setting["against"] == "adversary" else []
        )
        more = {"lambda": weights[0]} if weights else {}
        table = rows.by_text("attention_jsd", "", "base model", **setting, **more)
        if table.size:
            texts = rows.texts("attention_jsd", "", "base model", **setting, **more)
            apart = dict(zip(texts.tolist(), map(_number, table[0].tolist()), strict=True))
            break
    return {"disagreement": {i: None if tau is None else 1 - tau for i, tau in agreed.items()}, "jsd": apart}


def _means(tables: list[NDArray[np.float64]]) -> list[float | None]:
    whole = np.stack(tables)
    there = (~np.isnan(whole)).sum(0)
    means = np.nansum(whole, 0) / np.maximum(there, 1)
    return [float(mean) if n else None for mean, n in zip(means, there, strict=True)]


def _side(encoded: Encoded, i: int, *, texts: bool) -> dict[str, Any]:
    """Text, tokens and spans; null where texts must not travel."""
    if not texts:
        return {"text": None, "tokens": None, "spans": None}
    text, spans = encoded.text(i), _spans(encoded.spans, i)
    found: dict[str, Any] = {"text": text, "tokens": [text[a:b] for a, b in spans], "spans": spans}
    return found | ({"text_pair": encoded.text_pair(i)} if encoded.pair_texts is not None else {})


def _second(encoded: Encoded, flat: Mapping[str, Any], i: int, *, texts: bool) -> dict[str, Any]:
    """The second text of a pair, with scores where it is attended to."""
    if encoded.pair_spans is None or encoded.pair_ids is None:
        return {}
    spans, text = _spans(encoded.pair_spans, i), encoded.text_pair(i) or ""
    return {
        "pair_tokens": [text[a:b] for a, b in spans] if texts else None,
        "pair_spans": spans if texts else None,
        "pair_explanations": {
            label: _own(encoded.pair_ids, encoded.pair_spans, pair, i)
            for label, (_, pair) in flat.items()
            if pair is not None
        },
    }


def _evidence(encoded: Encoded, i: int) -> dict[str, Any]:
    if encoded.evidence is None:
        return {}
    flags, spans = encoded.evidence.row(i), encoded.spans.row(i)
    return {"evidence": [bool(flag) for flag, span in zip(flags, spans, strict=True) if span[0] >= 0]}


def _scores(folder: Path, split: str) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    pair = folder / f"pair-{split}.npy"
    return (
        np.load(folder / f"scores-{split}.npy", allow_pickle=False),
        np.load(pair, allow_pickle=False) if pair.exists() else None,
    )


def _spans(spans: Ragged, i: int) -> list[list[int]]:
    own: NDArray[Any] = spans.row(i)
    return [[int(start), int(end)] for start, end in own if start >= 0]


def _own(ids: Ragged, spans: Ragged, values: NDArray[Any], i: int) -> list[float | None]:
    """The numbers of one text, without those of special tokens."""
    part = slice(int(ids.offsets[i]), int(ids.offsets[i + 1]))
    places: NDArray[Any] = spans.row(i)
    return [_number(float(one)) for one in values[part][places[:, 0] >= 0]]


def _number(value: float) -> float | None:
    """Six digits are what a reader can use, and a page can hold."""
    return float(f"{value:.6g}") if isfinite(value) else None
