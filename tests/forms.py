"""Every form of text that a classifier reads, and what must hold of an explainer for each of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from fakes import batch_of, classifier, some_texts

from faithgauge.explain.asked import asked
from faithgauge.explain.split import explain_batch
from faithgauge.models.classifier import AttentionClassifier
from faithgauge.models.question import Known
from faithgauge.types import Batch, Importance

FORMS: dict[str, dict[str, Any]] = {
    "single": {"task": "single"},
    "single, three classes": {"task": "single", "classes": 3},
    "queried": {"task": "pair", "pair": "queried"},
    "two-sided": {"task": "pair", "pair": "two_sided", "classes": 3},
    "cloze": {"task": "cloze", "classes": 4},
}


def model_of(form: str, encoder: str = "mlp", **config: Any) -> AttentionClassifier:
    return classifier(encoder, **FORMS[form], **config).eval()


def some_batch(form: str, *, seed: int = 0) -> Batch:
    """Three texts of different lengths, with what the form needs beside them."""
    task, classes = FORMS[form]["task"], FORMS[form].get("classes", 2)
    return batch_of(
        some_texts(3, seed=seed),
        pairs=None if task == "single" else some_texts(3, seed=seed + 1),
        candidates=[[0, 2], [1], [3, 1, 0]] if task == "cloze" else None,
        classes=classes,
    )


def explained(text: str, model: Any, batch: Batch, known: Known | None = None) -> Importance:
    return explain_batch(model, batch, asked(text), known=known or Known(seed=3, pad=0, mask=1))


def alone(batch: Batch, text: int) -> Batch:
    """One text of a batch, without padding."""
    width = int(batch.lengths[text])
    here = slice(text, text + 1)
    return replace(
        batch,
        ids=batch.ids[here, :width],
        lengths=batch.lengths[here],
        valid=batch.valid[here, :width],
        maskable=batch.maskable[here, :width],
        labels=None if batch.labels is None else batch.labels[here],
        rows=None if batch.rows is None else batch.rows[here],
        candidates=None if batch.candidates is None else batch.candidates[here],
        pair=None if batch.pair is None else alone(batch.pair, text),
    )


def assert_a_batch_changes_nothing(text: str, model: Any, batch: Batch) -> None:
    """Each text alone has the scores that it has beside others; nan where a token is not maskable."""
    together = explained(text, model, batch)
    for i in range(len(batch)):
        single = explained(text, model, alone(batch, i))
        _assert_same(together, single, batch, i)
        if together.pair is not None and single.pair is not None and batch.pair is not None:
            _assert_same(together.pair, single.pair, batch.pair, i)


def _assert_same(together: Importance, single: Importance, batch: Batch, text: int) -> None:
    width = single.scores.shape[1]
    assert torch.equal(together.scores[text].isnan(), ~batch.maskable[text])
    torch.testing.assert_close(
        together.scores[text, :width], single.scores[0], rtol=1e-4, atol=1e-5, equal_nan=True
    )
    if together.error is not None and single.error is not None:
        torch.testing.assert_close(together.error[text], single.error[0], rtol=1e-4, atol=1e-5)
