"""From stored explanations to result rows: what a measuring job writes, part by part.

A part is a set of columns of one length, in which a single value stands for all rows; what a part does not
name is null. The arithmetic is that of `faithfulness`; here it gets its coordinates.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from faithgauge.config import ModelConfig, TrainConfig
from faithgauge.encode.batching import collate, padded, reading_batches
from faithgauge.encode.corpus import Corpus
from faithgauge.explain.asked import asked
from faithgauge.explain.split import frozen, target_of
from faithgauge.faithfulness import against
from faithgauge.faithfulness import plausibility as evidence
from faithgauge.faithfulness.against import AgainstRandom
from faithgauge.faithfulness.agreement import MEASURES, TokenScores, joined, pairwise, permutation_floor
from faithgauge.faithfulness.erasing import Erasing
from faithgauge.faithfulness.erasure import erasure as erased
from faithgauge.models.question import Question
from faithgauge.models.store import Trained
from faithgauge.steps import known_of
from faithgauge.train.predict import device_of, predict
from faithgauge.types import Batch, Encoded, Ragged, Split

Part = dict[str, Any]

FLOOR_OF = "kendall_tau"
"""The measure whose value for scores in random order is told beside it."""
RANDOM_ORDER = "random order"
"""In the column `versus` of a row that is a difference: what it is a difference from."""


GIVEN = "given.json"
"""What scores from elsewhere say of themselves, beside them."""


@dataclass(frozen=True)
class Explained:
    """One explanation of some texts of a split: which texts, and the scores of each of their tokens."""

    label: str
    rows: NDArray[np.int64]
    scores: Ragged
    pair: Ragged | None
    signed: bool

    def both(self) -> TokenScores:
        """The scores of each text, those of a pair as one row."""
        return TokenScores(self.scores if self.pair is None else joined(self.scores, self.pair), self.signed)


@dataclass(frozen=True)
class Measured:
    """What is measured: a model on a split, with the coordinates of every row and the class of every text."""

    trained: Trained
    encoded: Encoded
    split: Split
    about: Part
    predicted: NDArray[np.int64]

    @classmethod
    def of(
        cls, trained: Trained, corpus: Corpus, split: Split, *, setting: Mapping[str, Any] | None = None
    ) -> Measured:
        """A model on a split of a corpus; `setting` is what its rows say beside all that they say anyway."""
        encoded = corpus.splits[split]
        predicted = predict(trained.classifier, encoded).argmax(-1)
        return cls(trained, encoded, split, about(trained, split, setting), predicted)

    def explained(self, folder: Path, label: str) -> Explained:
        """What an Explain job stored of the split; texts that it left out are left out."""
        flat = np.load(folder / f"scores-{self.split}.npy", mmap_mode="r", allow_pickle=False)
        rows = np.load(folder / f"rows-{self.split}.npy", allow_pickle=False)
        second = folder / f"pair-{self.split}.npy"
        pair = None
        if second.exists() and self.encoded.pair_ids is not None:
            values = np.load(second, mmap_mode="r", allow_pickle=False)
            pair = taken(Ragged(values, self.encoded.pair_ids.offsets), rows)
        scores = taken(Ragged(flat, self.encoded.ids.offsets), rows)
        return Explained(label, rows, scores, pair, signed(folder, label))

    def by_text(
        self, rows: NDArray[np.int64], values: NDArray[np.float64], reasons: Sequence[str | None]
    ) -> Part:
        """The columns of one number for each of these texts; nan has its reason."""
        return {
            "example": [str(row) for row in rows],
            "class": [self.trained.classes[self.predicted[row]] for row in rows],
            "class_of": "predicted",
            "value": values,
            "reason": reasons,
        }


def agreement(of: Measured, explanations: Sequence[Explained], measures: Sequence[str]) -> Iterator[Part]:
    """Every measure of every two explanations, text by text, and the floor of Kendall's τ once a pair."""
    chosen = {name: MEASURES[name] for name in measures}
    scores = {one.label: one.both() for one in explanations}
    for found in pairwise(scores, chosen):
        where = {"explainer": found.explainer, "versus": found.versus, "measure": found.measure}
        values = of.by_text(explanations[0].rows, found.rows.value, found.rows.reasons())
        yield of.about | where | values
    for first, second in combinations(scores, 2) if FLOOR_OF in chosen else ():
        floor = permutation_floor(scores[first], scores[second], chosen[FLOOR_OF], seed=of.about["seed"] or 0)
        yield of.about | {
            "explainer": first,
            "versus": second,
            "measure": [f"{FLOOR_OF}_floor", f"{FLOOR_OF}_floor_low", f"{FLOOR_OF}_floor_high"],
            "value": [floor.mean, floor.low, floor.high],
        }


def agreement_again(
    of: Measured,
    explanations: Sequence[Explained],
    measures: Sequence[str],
    *,
    again: Sequence[Explained],
) -> Iterator[Part]:
    """Every measure of each explanation and of the same one of another model, such as of another seed."""
    chosen = {name: MEASURES[name] for name in measures}
    for first, second in zip(explanations, again, strict=True):
        for found in pairwise({0: first.both(), 1: second.both()}, chosen):
            where = {"explainer": first.label, "versus": second.label, "measure": found.measure}
            values = of.by_text(first.rows, found.rows.value, found.rows.reasons())
            yield of.about | where | values


def erasure(of: Measured, explanations: Sequence[Explained], by: Literal["mask", "delete"]) -> Iterator[Part]:
    """What erasing says of each explanation of the same texts; of pairs, of the first texts.

    Asked for is the probability of the class that the model predicts; random orders depend on the text alone.
    """
    model, rows = of.trained.classifier, explanations[0].rows
    known, parts, done = known_of(of.trained), [], []
    with frozen(model):
        for some in reading_batches(of.encoded.ids.lengths()[rows]):
            classes = len(of.trained.classes)
            batch = collate(of.encoded, rows[some], classes=classes, device=device_of(model))
            scores = {one.label: _padded(one.scores, some, batch) for one in explanations}
            question = Question(target_of(model, batch, asked("random")), known=known)
            parts.append(erased(model, batch, question, scores=scores, how=Erasing(by)))
            done.append(some)
    order = np.argsort(np.concatenate(done))
    yield from _against_random(of, rows, against.taken(against.joined(parts), order))


def plausibility(of: Measured, explanations: Sequence[Explained]) -> Iterator[Part]:
    """How well each explanation of the same texts finds the evidence."""
    rows = explanations[0].rows
    chosen = replace(
        of.encoded,
        spans=taken(of.encoded.spans, rows),
        evidence=None if of.encoded.evidence is None else taken(of.encoded.evidence, rows),
    )
    found = evidence.plausibility({one.label: one.scores for one in explanations}, chosen)
    yield from _against_random(of, rows, found)


def about(trained: Trained, split: Split, more: Mapping[str, Any] | None = None) -> Part:
    """The coordinates of a model's rows; `setting` has every one that has no column of its own.

    Of the settings it names those that differ from the general default, and always what the papers vary.
    """
    record, config = trained.record, getattr(trained.classifier, "config", None)
    setting = {
        "attention": record["attention"],
        "distribution": record["distribution"],
        "selected_on": record["selected_on"],
        "vectors": record["vectors"].get("vectors"),
        **(_changed(ModelConfig(), asdict(config)) if isinstance(config, ModelConfig) else {}),
        **_changed(TrainConfig(), record["settings"]),
        **(more or {}),
    }
    if not record["complete"]:
        setting["data"] = "substituted" if record.get("substituted") else "partial"
    return {
        "dataset": record["dataset"],
        "split": split,
        "model": record["encoder"],
        "seed": record["seed"],
        "setting": json.dumps(setting, sort_keys=True, separators=(",", ":")),
    }


def taken(ragged: Ragged, rows: NDArray[np.int64]) -> Ragged:
    """Some rows of it, in memory."""
    lengths = ragged.lengths()[rows]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.repeat(ragged.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return Ragged(np.asarray(ragged.values[places]), offsets)


def _padded(scores: Ragged, rows: NDArray[np.int64], batch: Batch) -> Tensor:
    found = padded(scores, rows, width=batch.ids.shape[1], fill=np.nan)
    return torch.from_numpy(found).to(batch.ids.device)


def _against_random(of: Measured, rows: NDArray[np.int64], found: AgainstRandom) -> Iterator[Part]:
    """Each measure of each explainer, text by text, and its difference from a random order of the text."""
    for measure in found.measures:
        for explainer in found.explainers:
            value, random, reasons = found.of(measure, explainer)
            where = of.about | {"explainer": explainer, "measure": measure}
            yield where | of.by_text(rows, value, reasons)
            yield where | {"versus": RANDOM_ORDER} | of.by_text(rows, value - random, reasons)


def signed(folder: Path, label: str) -> bool:
    """Whether the scores have a sign; those from elsewhere say it themselves."""
    said = folder / GIVEN
    if said.exists():
        return bool(json.loads(said.read_text(encoding="utf-8"))["signed"])
    return asked(label).signed


def _changed(default: ModelConfig | TrainConfig, values: Mapping[str, Any]) -> dict[str, Any]:
    named = {"encoder", "seed", "select_on"}
    usual = asdict(default)
    return {key: value for key, value in values.items() if key not in named and value != usual.get(key)}
