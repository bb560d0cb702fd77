"""Rows of what models that were trained again say beside the one they are compared with.

The arithmetic is that of `faithfulness`; here it gets its coordinates. What a model says of each split is
stored once (`keep`), so that nothing here runs a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithgauge.encode.corpus import Corpus
from faithgauge.faithfulness import attefa
from faithgauge.faithfulness.attefa import Distances
from faithgauge.faithfulness.compared import attention_apart, max_attention, movable, outputs_apart
from faithgauge.measured import Part, about
from faithgauge.models.store import Trained
from faithgauge.stats.curve import chord_area
from faithgauge.stats.interval import crossed
from faithgauge.train.goals import Guide
from faithgauge.train.metrics import metrics
from faithgauge.train.predict import say
from faithgauge.types import SPLITS, Encoded, Ragged, Said, Split

FACTS = "said.json"
BASE = "base model"
"""In the column `versus` of a row that compares an adversary with the model it opposes."""
RESAMPLES = 1_999
FAR = 0.4
"""The mean JSD that an adversary must exceed to count as far away (wiegreffe-pinter-2019, table 4)."""
ROUNDING = 1e-6
"""How much an AtteFa may exceed its cap and still count as that of an adversary that was found."""


@dataclass(frozen=True)
class Answers:
    """What a model says of the splits of a corpus, with the coordinates of its rows."""

    said: Mapping[Split, Said]
    about: Mapping[str, Part]
    classes: tuple[str, ...]
    epoch: int

    def where(self, split: Split, setting: Mapping[str, Any]) -> Part:
        """The coordinates of a row on a split, with more of its setting."""
        own = self.about[split]
        merged = {**json.loads(own["setting"]), **setting}
        return own | {"setting": json.dumps(merged, sort_keys=True, separators=(",", ":"))}


def keep(trained: Trained, corpus: Corpus, splits: Sequence[Split], *, folder: Path) -> None:
    """Store what a model says of these splits."""
    for split in splits:
        said = say(trained.classifier, corpus.splits[split])
        np.save(folder / f"probability-{split}.npy", said.probability)
        for name, part in (("attention", said.attention), ("pair", said.pair)):
            if part is not None:
                np.save(folder / f"{name}-{split}.npy", part.values)
    facts = {
        "about": {split: about(trained, split) for split in splits},
        "classes": trained.classes,
        "epoch": trained.record.get("epoch") or 0,  # of a model from elsewhere it is not known
    }
    (folder / FACTS).write_text(json.dumps(facts, sort_keys=True), encoding="utf-8")


def kept(folder: Path, corpus: Corpus) -> Answers:
    """What `keep` stored."""
    facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    said = {
        split: Said(
            np.load(folder / f"probability-{split}.npy", allow_pickle=False),
            _weights(folder / f"attention-{split}.npy", corpus.splits[split].ids),
            _weights(folder / f"pair-{split}.npy", corpus.splits[split].pair_ids),
        )
        for split in SPLITS
        if split in facts["about"]
    }
    return Answers(said, facts["about"], tuple(facts["classes"]), facts["epoch"])


def guide_of(folder: Path, corpus: Corpus) -> Guide:
    """The weights that a folder holds for each split: attention, or made of the scores of an explainer.

    w_t = |s_t| / Σ_u |s_u|, and equal weights where all scores of a text are 0 or there is none
    """
    found: dict[Split, Ragged] = {}
    for split, encoded in corpus.splits.items():
        weights = _weights(folder / f"attention-{split}.npy", encoded.ids)
        if weights is None:
            scores = np.load(folder / f"scores-{split}.npy", allow_pickle=False)
            weights = _normalised(scores, encoded)
        found[split] = weights
    return found


def distances(
    base: Answers, other: Answers, encoded: Encoded, *, split: Split, setting: Mapping[str, Any]
) -> Iterator[Part]:
    """How well the other model does, and text by text how far it is from the base."""
    own, said = other.said[split], base.said[split]
    where = other.where(split, setting) | {"versus": BASE}
    yield _metrics(own, encoded, where)
    by_text = {
        "example": [str(i) for i in range(len(said))],
        "class": [base.classes[c] for c in said.probability.argmax(-1)],
        "class_of": "predicted",
    }
    moves = movable(encoded)
    for measure, values, reason in (
        ("output_distance", outputs_apart(own, said), ""),
        ("attention_jsd", np.where(moves, attention_apart(own, said), np.nan), "fewer than two tokens"),
        ("max_attention", max_attention(said), "no token"),
    ):
        reasons = [reason if isnan(value) else None for value in values]
        yield where | by_text | {"measure": measure, "value": values, "reason": reasons}


def sweep(
    base: Answers,
    adversaries: Mapping[float, Answers],
    encoded: Encoded,
    *,
    split: Split,
    setting: Mapping[str, Any],
) -> Iterator[Part]:
    """What adversaries of several weights λ say together: the form of their curve, and the best one far away.

    The curve is that of the mean distances, of all texts and of those of each predicted class. The best one
    is that of the highest F1 among those whose mean JSD exceeds FAR.
    """
    said, moves = base.said[split], movable(encoded)
    of = {
        weight: (outputs_apart(own.said[split], said), attention_apart(own.said[split], said))
        for weight, own in adversaries.items()
    }
    where = next(iter(adversaries.values())).where(split, setting) | {"versus": BASE}
    predicted = said.probability.argmax(-1)
    parts = {None: moves} | {name: moves & (predicted == c) for c, name in enumerate(base.classes)}
    for name, among in parts.items():
        points = (
            [(far[among].mean(), moved[among].mean()) for moved, far in of.values()] if among.any() else []
        )
        area = chord_area(*np.array(points).reshape(-1, 2).T)
        reason = "fewer than three distances, or no difference of output" if isnan(area) else None
        yield where | {
            "class": name,
            "class_of": None if name is None else "predicted",
            "measure": ["chord_area"],
            "value": [area],
            "reason": [reason],
        }
    metric = "f1_positive" if len(base.classes) == 2 else "f1_macro"
    scores = {
        weight: metrics(own.said[split].probability, encoded.labels)[metric]
        for weight, own in adversaries.items()
        if moves.any() and of[weight][1][moves].mean() > FAR
    }
    best = max(scores, key=scores.__getitem__, default=None)
    moved, far = (np.full(len(encoded), np.nan),) * 2 if best is None else of[best]
    found = {
        f"far_{metric}": nan if best is None else scores[best],
        "far_output_distance": float(moved[moves].mean()) if moves.any() else nan,
        "far_attention_jsd": float(far[moves].mean()) if moves.any() else nan,
        "far_lambda": nan if best is None else best,
    }
    reasons = [
        f"no adversary has a mean JSD above {FAR}" if isnan(value) else None for value in found.values()
    ]
    yield where | {"measure": [*found], "value": [*found.values()], "reason": reasons}


def gaps(
    base: Sequence[Answers], others: Sequence[Answers], encoded: Encoded, *, split: Split
) -> Iterator[Part]:
    """How much better the base models do than others of the same seeds, over texts and seeds.

    Of two classes the F1 of the positive one, of more the accuracy; with the interval of their difference.
    """
    binary = len(base[0].classes) == 2
    tables = [
        np.concatenate([_counts(one.said[split], encoded, binary) for one in pair], axis=-1)
        for pair in zip(base, others, strict=True)
    ]
    found = crossed(np.stack(tables), seed=0, statistic=_gap, resamples=RESAMPLES)
    name = "f1_positive" if binary else "accuracy"
    yield others[0].where(split, {"seeds": len(base)}) | {
        "seed": None,
        "versus": BASE,
        "measure": [f"{name}_gap{end}" for end in ("", "_low", "_high")],
        "value": [found.value, found.low, found.high],
    }


def attefa_rows(
    base: Answers,
    adversaries: Mapping[str, Answers],
    corpus: Corpus,
    *,
    split: Split,
    select_on: Split,
    setting: Mapping[str, Any],
) -> Iterator[Part]:
    """AtteFa of every start, of the first (cold) and of the best by its loss on `select_on`, with the cap.

    The constant predictor, which needs no training, is always one of the starts.
    """
    encoded, classes = corpus.splits[split], len(base.classes)
    best = attefa.constant(base.said[split], encoded)
    moves = movable(encoded)
    apart = {start: _means(base, other, split, moves) for start, other in adversaries.items()}
    selecting = movable(corpus.splits[select_on])
    losses = {
        start: _loss(_means(base, other, select_on, selecting), classes)
        for start, other in adversaries.items()
    }
    losses["constant"] = _loss(attefa.constant(base.said[select_on], corpus.splits[select_on]), classes)
    values = {
        start: attefa.attefa(one.tvd, one.jsd, classes=classes)
        for start, one in {**apart, "constant": best}.items()
    }
    for start, other in adversaries.items():
        where = other.where(split, {**setting, "start": start}) | {"versus": BASE}
        yield _metrics(other.said[split], encoded, where)
        said = other.said[split].probability.argmax(-1)
        yield where | _column(
            attefa=values[start],
            epoch=other.epoch,
            output_distance=apart[start].tvd,
            attention_jsd=apart[start].jsd,
            same_class_share=float(np.bincount(said).max() / len(said)),
        )
    cold, winner = next(iter(adversaries)), min(losses, key=losses.__getitem__)
    own = {**setting, "starts": len(adversaries), "cold": cold}
    where = adversaries[cold].where(split, own) | {"versus": BASE}
    above = _above_chance(base.said[split], encoded)
    yield where | _summary(values[cold], values[winner], best, classes=classes, above_chance=above)
    yield where | _column(texts_that_cannot_move=float((~moves).sum()), base_above_chance=above)
    won = adversaries[cold].where(split, {**own, "start": winner}) | {"versus": BASE}
    best_one = {**apart, "constant": best}[winner]
    yield won | _column(attefa_won=1.0, best_output_distance=best_one.tvd, best_attention_jsd=best_one.jsd)


def _above_chance(said: Said, encoded: Encoded) -> float:
    """By how much a model is more often right than who always says the commonest label."""
    right = (said.probability.argmax(-1) == encoded.labels).mean()
    return float(right - np.bincount(encoded.labels).max() / len(encoded))


def _summary(cold: float, value: float, best: Distances, *, classes: int, above_chance: float) -> Part:
    """AtteFa of the papers' procedure and the best, beside their cap; 1 where the cold one was not found.

    Of a base that is not above chance there is no adjusted number: its attention tells nothing of the labels.
    """
    cap = attefa.attefa_cap(best, classes=classes)
    adjusted = {
        "attefa_cold_adjusted": attefa.attefa_adjusted(cold, best, classes=classes),
        "attefa_adjusted": attefa.attefa_adjusted(value, best, classes=classes),
    }
    if above_chance <= 0:
        adjusted = dict.fromkeys(adjusted, nan)
    part = _column(
        attefa_cold=cold,
        attefa_best=value,
        attefa_cap=cap,
        adversary_not_found=nan if isnan(cold) else float(cold > cap + ROUNDING),
        **adjusted,
    )
    if above_chance <= 0:
        reasons = zip(part["measure"], part["reason"], strict=True)
        part["reason"] = [_AT_CHANCE if name in adjusted else reason for name, reason in reasons]
    return part


def _column(**values: float) -> Part:
    """One row for each of these measures; nan has its reason."""
    reasons = [
        _UNDEFINED.get(name, "not defined") if isnan(value) else None for name, value in values.items()
    ]
    return {"measure": [*values], "value": [float(value) for value in values.values()], "reason": reasons}


_AT_CHANCE = "the base model is not above chance"
_UNDEFINED = {
    **dict.fromkeys(
        ("output_distance", "attention_jsd", "best_output_distance", "best_attention_jsd"),
        "no text of two tokens or more",
    ),
    **dict.fromkeys(
        ("attefa_cold", "attefa_best", "attefa_cap", "adversary_not_found"),
        "neither output nor attention moved",
    ),
    "attefa_adjusted": "the constant predictor moves no less than its attention",
    "attefa_cold_adjusted": "the constant predictor moves no less than its attention",
    "attefa": "neither output nor attention moved",
}


def _metrics(said: Said, encoded: Encoded, where: Part) -> Part:
    found = metrics(said.probability, encoded.labels)
    reasons = ["not defined for these labels" if isnan(value) else None for value in found.values()]
    return where | {"measure": [*found], "value": [*found.values()], "reason": reasons}


def _means(base: Answers, other: Answers, split: Split, among: NDArray[np.bool_]) -> Distances:
    """The mean distances of these texts."""
    if not among.any():
        return Distances(nan, nan)
    own, said = other.said[split], base.said[split]
    tvd, jsd = outputs_apart(own, said)[among].mean(), attention_apart(own, said)[among].mean()
    return Distances(float(tvd), float(jsd))


def _loss(apart: Distances, classes: int) -> float:
    return attefa.one_shot_loss(apart.tvd, apart.jsd, classes=classes)


def _counts(said: Said, encoded: Encoded, binary: bool) -> NDArray[np.float64]:
    """Of each text what a metric is made of, (example, 2): of F1 the hits, and half of what is involved."""
    predicted, labels = said.probability.argmax(-1), encoded.labels
    if not binary:
        return np.stack([predicted == labels, np.ones(len(labels))], -1).astype(np.float64)
    hits, involved = (predicted == 1) & (labels == 1), ((predicted == 1) * 1 + (labels == 1)) / 2
    return np.stack([hits, involved], -1).astype(np.float64)


def _gap(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """The difference of two ratios of sums, from (resample, example, [above, below] of each).

    A ratio of nothing is 0, as the F1 is where no text is positive or predicted to be.
    """
    above, below = drawn.sum(axis=1).reshape(-1, 2, 2).transpose(2, 0, 1)
    ratio: NDArray[np.float64] = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    return ratio[:, 0] - ratio[:, 1]


def _weights(path: Path, ids: Ragged | None) -> Ragged | None:
    if ids is None or not path.exists():
        return None
    return Ragged(np.load(path, mmap_mode="r", allow_pickle=False), ids.offsets)


def _normalised(scores: NDArray[np.float32], encoded: Encoded) -> Ragged:
    lengths = encoded.ids.lengths()
    text = np.repeat(np.arange(len(lengths)), lengths)
    real = np.asarray(encoded.spans.values[:, 0]) >= 0
    size = np.where(real, np.nan_to_num(np.abs(scores)), 0.0)
    total = np.bincount(text, size, len(lengths))
    size = np.where(total[text] > 0, size, real)
    total = np.bincount(text, size, len(lengths))
    weights = size / np.where(total > 0, total, 1)[text]
    return Ragged(weights.astype(np.float32), encoded.ids.offsets)
