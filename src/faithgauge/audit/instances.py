"""The texts of an audit one by one: tokens, what the model says, and the scores of every explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithgauge import attacking, judging
from faithgauge.audit.rows import Rows
from faithgauge.audit.words import Side, number
from faithgauge.comparing import Answers, kept
from faithgauge.encode.corpus import Corpus
from faithgauge.encode.tokenizer import Tokenizer
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
    encoded, tokenizer = shown.corpus.splits[split], shown.corpus.tokenizer
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
    told, shown_by = _told(rows), _Shown.of(encoded, scores, split, others=others, tokenizer=tokenizer)
    for i in map(int, chosen):
        likely = own.probability[i].astype(float)
        yield {
            "id": shown.ids[i],
            **shown_by.first(i, texts=texts),
            "label": said.classes[int(likely.argmax())],
            "gold": said.classes[int(encoded.labels[i])],
            "probabilities": dict(zip(said.classes, likely.tolist(), strict=True)),
            "signed": {label: signed(folder, label) for label, folder in scores.items()},
            "numbers": {
                **{name: by_text.get(i) for name, by_text in told.items()},
                "confidence": float(likely.max()),
            },
            **shown_by.second(i, texts=texts),
        }


@dataclass(frozen=True)
class _Shown:
    """What is shown of each text: its words, and their scores by each explanation."""

    encoded: Encoded
    tokenizer: Tokenizer
    one: Side
    other: Side | None
    beside: Side
    marked: Side

    @classmethod
    def of(
        cls,
        encoded: Encoded,
        scores: Mapping[str, Path],
        split: Split,
        *,
        others: Mapping[str, Ragged | None],
        tokenizer: Tokenizer,
    ) -> _Shown:
        flat = {label: np.load(folder / f"scores-{split}.npy") for label, folder in scores.items()}
        pairs = {
            label: np.load(folder / f"pair-{split}.npy")
            for label, folder in scores.items()
            if (folder / f"pair-{split}.npy").exists()
        }
        weights = {name: own.values for name, own in others.items() if own is not None}
        marks = {} if encoded.evidence is None else {"evidence": encoded.evidence.values}
        return cls(
            encoded,
            tokenizer,
            Side.first(encoded, flat),
            Side.second(encoded, flat, pairs),
            Side.first(encoded, weights),
            Side.first(encoded, marks),
        )

    def first(self, i: int, *, texts: bool) -> dict[str, Any]:
        text = self.encoded.text(i)
        own, beside, marked = (
            one.told(i, text, self.tokenizer) for one in (self.one, self.beside, self.marked)
        )
        found = {
            "text": text if texts else None,
            **own.document(text, texts=texts),
            "explanations": own.scores,
            "adversarial": beside.scores,
        }
        if texts and self.encoded.pair_texts is not None:
            found["text_pair"] = self.encoded.text_pair(i)
        if "evidence" in marked.scores:
            found["evidence"] = [bool(flag) for flag in marked.scores["evidence"]]
        return found

    def second(self, i: int, *, texts: bool) -> dict[str, Any]:
        """The second text of a pair, with scores where it is attended to."""
        if self.other is None:
            return {}
        text = self.encoded.text_pair(i) or ""
        own = self.other.told(i, text, self.tokenizer)
        named = {f"pair_{name}": value for name, value in own.document(text, texts=texts).items()}
        return {**named, "pair_explanations": own.scores}


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
            apart = dict(zip(texts.tolist(), map(number, table[0].tolist()), strict=True))
            break
    return {"disagreement": {i: None if tau is None else 1 - tau for i, tau in agreed.items()}, "jsd": apart}


def _means(tables: list[NDArray[np.float64]]) -> list[float | None]:
    whole = np.stack(tables)
    there = (~np.isnan(whole)).sum(0)
    means = np.nansum(whole, 0) / np.maximum(there, 1)
    return [float(mean) if n else None for mean, n in zip(means, there, strict=True)]
