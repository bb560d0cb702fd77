"""On planted evidence, with a model that solves the task, every measure must rank what is known to be right.

One word in each text decides its label and nothing else tells the classes apart, so that a model which solves
the task goes by it. The oracle points at that word, its reverse at all others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import torch

import faithgauge
from faithgauge.encode.batching import collate
from faithgauge.encode.corpus import encode
from faithgauge.explain.random import random
from faithgauge.faithfulness.against import AgainstRandom
from faithgauge.faithfulness.erasure import LOWER_IS_BETTER, erasure
from faithgauge.faithfulness.erasure import MEASURES as ERASURE
from faithgauge.faithfulness.plausibility import MEASURES as EVIDENCE
from faithgauge.faithfulness.plausibility import plausibility
from faithgauge.models.question import Question
from faithgauge.steps import known_of
from faithgauge.types import Ragged

TEXTS = 300
MEASURES = (*ERASURE, *EVIDENCE)


class Judged(NamedTuple):
    accuracy: float
    found: dict[str, AgainstRandom]


@pytest.fixture(scope="module")
def judged() -> Judged:
    data = faithgauge.load("planted", evidence=1, strength=1.0)
    trained = faithgauge.train(
        data, encoder="average", embed_size=16, hidden_size=16, epochs=3, learning_rate=1e-2
    )
    split = encode(data, data.encoding, tokenizer=trained.tokenizer).splits["test"]
    rows = np.arange(TEXTS)
    batch = collate(split, rows)
    logits = trained.classifier(batch).logits.detach()[:, 0]
    question = Question((logits > 0).long(), known=known_of(trained))
    assert split.evidence is not None
    flags = torch.zeros(batch.ids.shape)
    for row in rows:
        own = torch.from_numpy(split.evidence.row(row).astype(np.float32))
        flags[row, : len(own)] = own
    scores = {
        "oracle": flags,
        "reversed": 1 - flags,
        "random": random(trained.classifier, batch, question).scores,
        "random 2": random(trained.classifier, batch, question, draw=2).scores,
    }
    scores = {name: one.masked_fill(~batch.maskable, torch.nan) for name, one in scores.items()}
    found: dict[str, AgainstRandom] = {}
    for result in (
        erasure(trained.classifier, batch, question, scores=scores),
        plausibility({name: flat(one, split.ids, batch.valid) for name, one in scores.items()}, split),
    ):
        found |= dict.fromkeys(result.measures, result)
    return Judged(trained.record["metrics"]["test"]["accuracy"], found)


def flat(scores: torch.Tensor, ids: Ragged, valid: torch.Tensor) -> Ragged:
    values = np.full(len(ids.values), np.nan)
    values[: int(valid.sum())] = scores[valid].numpy()
    return Ragged(values, ids.offsets)


def test_the_model_solves_the_task(judged: Judged) -> None:
    assert judged.accuracy == 1


@pytest.mark.parametrize("measure", MEASURES)
def test_the_oracle_is_best_its_reverse_worst_and_random_between(judged: Judged, measure: str) -> None:
    values = {name: judged.found[measure].of(measure, name)[0] for name in ("oracle", "reversed", "random")}
    oracle, reverse, between = (np.nanmean(one) for one in values.values())
    lower = measure in LOWER_IS_BETTER
    assert oracle < between < reverse if lower else oracle > between > reverse


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("explainer", ["random", "random 2"])
def test_another_random_order_is_no_better_than_random(judged: Judged, measure: str, explainer: str) -> None:
    value, chance, _ = judged.found[measure].of(measure, explainer)
    difference = (value - chance)[~np.isnan(value)]
    assert len(difference) > TEXTS / 3
    # Three standard errors: of as many tests as these are, some would leave an interval of 95 %.
    assert abs(difference.mean()) < 3 * difference.std(ddof=1) / len(difference) ** 0.5


def test_the_oracle_finds_the_evidence_and_its_reverse_does_not(judged: Judged) -> None:
    for measure in EVIDENCE:
        assert (judged.found[measure].of(measure, "oracle")[0][:TEXTS] == 1).all()
    assert (judged.found["evidence_recall"].of("evidence_recall", "reversed")[0][:TEXTS] == 0).all()
