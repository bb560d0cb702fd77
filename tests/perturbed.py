"""The models and texts that explanations by perturbed texts are tried on, and answers the slow way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from fakes import EOS, SOS, batch_of, classifier, encode
from torch import nn

from faithgauge.encode.batching import collate
from faithgauge.models.question import Known, Question
from faithgauge.types import Batch, Encoded

MASK, PAD = 1, 0

TEXTS = [[SOS, 4, 12, 7, 7, EOS], [SOS, 9, EOS], [5, 6, 8], [10]]
PAIRS = [[8, 9], [4, 4, 4, 4], [5], [SOS, 6, 20, EOS]]
CANDIDATES = [[0, 1], [1, 2], [0, 2], [0, 1, 2]]

ENCODERS = pytest.mark.parametrize("encoder", ["bilstm", "gru", "cnn", "mlp", "average", "transformer-small"])
FORMS = pytest.mark.parametrize(
    "form",
    [{}, {"task": "pair"}, {"task": "pair", "pair": "two_sided"}, {"task": "cloze"}],
    ids=["single", "queried", "two_sided", "cloze"],
)


def split(form: dict[str, Any], texts: list[list[int]] = TEXTS) -> Encoded:
    return encode(
        texts,
        pairs=PAIRS[: len(texts)] if form else None,
        candidates=CANDIDATES[: len(texts)] if form.get("task") == "cloze" else None,
    )


def case(encoder: str, form: dict[str, Any]) -> tuple[nn.Module, Encoded, Question]:
    """A model, texts for it, and class 1, 2, 0 and 1 of them."""
    model = classifier(encoder, classes=3, **form).eval()
    return model, split(form), asked([1, 2, 0, 1])


def asked(target: list[int], **rest: Any) -> Question:
    return Question(torch.tensor(target), known=Known(pad=PAD, mask=MASK), **rest)


def together(encoded: Encoded, rows: list[int] | None = None) -> Batch:
    return collate(encoded, np.array(rows if rows is not None else range(len(encoded))), classes=3)


def perturbed(encoded: Encoded, row: int, stay: list[bool], *, fill: int | None) -> Batch:
    """The text of this row alone, with those of its maskable tokens that stay; nothing left is padding."""
    ids, spans = encoded.ids.row(row).tolist(), encoded.spans.row(row)
    flags = iter(stay)
    there = [bool(span[0] < 0) or next(flags) for span in spans]
    if fill is None:
        new = [one for one, stays in zip(ids, there, strict=True) if stays]
    else:
        new = [one if stays else fill for one, stays in zip(ids, there, strict=True)]
    alone = together(encoded, [row])
    text = batch_of([new or [PAD]])
    maskable = text.maskable & bool(new)
    return Batch(text.ids, text.lengths, text.valid, maskable, candidates=alone.candidates, pair=alone.pair)


def value(model: nn.Module, question: Question, batch: Batch, row: int) -> float:
    """f of one text, asked for what is asked of this row."""
    with torch.inference_mode():
        return question.value(model(batch).logits, torch.tensor([row])).item()
