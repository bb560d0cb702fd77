"""Small encoded texts, and models small enough to be computed by hand.

Ids: 0 padding, 1 unknown, 2 and 3 around a text (special), 4 and above are words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from faithgauge.config import ModelConfig
from faithgauge.encode.batching import collate
from faithgauge.models.classifier import AttentionClassifier, Shape, build
from faithgauge.types import Batch, Encoded, Ragged, Task

PAD, UNK, SOS, EOS = range(4)


def ragged(rows: Sequence[Sequence[Any]], dtype: type = np.int32) -> Ragged:
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Ragged(np.array([x for row in rows for x in row], dtype), offsets)


def spans_of(texts: Sequence[Sequence[int]]) -> Ragged:
    """Token i stands at character i; special tokens stand nowhere."""
    return ragged(
        [[(-1, -1) if x in (SOS, EOS) else (i, i + 1) for i, x in enumerate(text)] for text in texts]
    )


def encode(
    texts: Sequence[Sequence[int]],
    labels: Sequence[int] | None = None,
    *,
    pairs: Sequence[Sequence[int]] | None = None,
    candidates: Sequence[Sequence[int]] | None = None,
) -> Encoded:
    return Encoded(
        ids=ragged(texts),
        spans=spans_of(texts),
        labels=np.array(labels if labels is not None else [0] * len(texts), np.int64),
        texts=ragged([b"x" * len(text) for text in texts], np.uint8),
        pair_ids=None if pairs is None else ragged(pairs),
        pair_spans=None if pairs is None else spans_of(pairs),
        candidates=None if candidates is None else ragged(candidates, np.int64),
    )


def batch_of(
    texts: Sequence[Sequence[int]],
    *,
    pairs: Sequence[Sequence[int]] | None = None,
    candidates: Sequence[Sequence[int]] | None = None,
    classes: int = 0,
) -> Batch:
    """All these texts as one batch."""
    encoded = encode(texts, pairs=pairs, candidates=candidates)
    return collate(encoded, np.arange(len(texts)), classes=classes)


def some_texts(n: int, *, seed: int = 0, words: int = 20, longest: int = 7) -> list[list[int]]:
    """Texts of 1 to `longest` random words between special tokens."""
    random = np.random.default_rng(seed)
    return [
        [SOS, *random.integers(4, 4 + words, size).tolist(), EOS]
        for size in random.integers(1, longest + 1, n).tolist()
    ]


def some_split(n: int, *, seed: int = 0, classes: int = 2, task: Task = "single") -> Encoded:
    """Texts whose class can be learnt: it is their first word's number, modulo `classes`."""
    texts = some_texts(n, seed=seed)
    return encode(
        texts,
        [text[1] % classes for text in texts],
        pairs=None if task == "single" else some_texts(n, seed=seed + 1),
        candidates=[list(range(classes))] * n if task == "cloze" else None,
    )


def classifier(
    encoder: str = "mlp",
    *,
    task: Task = "single",
    classes: int = 2,
    vocabulary: int = 24,
    seed: int = 0,
    **config: Any,
) -> AttentionClassifier:
    """A small model with random weights; word vectors are drawn from N(0, 1)."""
    settings = ModelConfig(**{"encoder": encoder, "embed_size": 5, "hidden_size": 4, **config})
    shape = Shape(vocabulary, tuple(f"class {i}" for i in range(classes)), task)
    return build(settings, shape, seed, vectors=noise(vocabulary, settings.embed_size or 0, seed=seed))


def set_weights(module: torch.nn.Module, **values: Any) -> None:
    """Give parameters by name: ``layer__weight=[[1.0]]``."""
    with torch.no_grad():
        for name, value in values.items():
            module.get_parameter(name.replace("__", ".")).copy_(torch.as_tensor(value))


def noise(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Numbers from N(0, 1), the same ones each time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)
