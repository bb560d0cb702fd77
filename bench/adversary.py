"""An epoch of an adversary's training against one of its base; words scored once against each token.

Both trainings are of texts of the size of SST, in one process with one thread; the adversary looks up what
its base said, which was computed before. The second part trains a token-wise model on texts of 75 tokens of
few distinct words, as attefa's are, and on texts of the size of SST, where the step over all word vectors
weighs most.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import median

import numpy as np
import torch
from torch import nn

from bench.measure import Row, cpu_seconds, sst_sized
from bench.training import first
from faithgauge.config import AdversaryConfig, ModelConfig, TrainConfig
from faithgauge.models.classifier import AttentionClassifier, Shape, build
from faithgauge.train.fit import fit
from faithgauge.train.goals import Opposition
from faithgauge.train.predict import say
from faithgauge.types import Encoded, Ragged

GOAL = 1.15
REPEATS = 3
CONFIG = TrainConfig(epochs=1, select_by="loss")


class ByToken(nn.Module):
    """The same model, asked in the way that scores each token."""

    def __init__(self, model: AttentionClassifier) -> None:
        super().__init__()
        self.model, self.n_classes, self.capabilities = model, model.n_classes, model.capabilities

    def forward(self, *arguments: object) -> object:
        return self.model(*arguments)


def rows() -> Iterator[Row]:
    torch.set_num_threads(1)
    encoded, vocabulary = sst_sized()
    for encoder in ("bilstm", "mlp"):
        base, adversary = _epochs(encoder, encoded, vocabulary)
        # The time of the adversary as a multiple of that of the base: the less the better.
        yield Row(
            f"adversary's epoch over its base's, {encoder}", adversary / base, GOAL, adversary, base, "CPU s"
        )
    for name, (texts, words), goal in (
        ("mock-sized", mock_sized(), 1.5),
        ("SST-sized", (encoded, vocabulary), None),
    ):
        for encoder in ("mlp", "average"):
            ours, plain = _by_word(encoder, texts, words)
            yield Row(f"words scored once, {encoder}, {name}", plain / ours, goal, ours, plain, "CPU s")


def mock_sized() -> tuple[Encoded, int]:
    """2,000 texts of 50 to 100 tokens: the same word everywhere, and ten of 400 others."""
    random = np.random.default_rng(0)
    lengths = random.integers(50, 101, 2000) + 2
    offsets = np.concatenate([[0], lengths.cumsum()])
    ids = np.full(offsets[-1], 4, np.int32)
    for start, stop in pairwise(offsets):
        ids[random.choice(np.arange(start + 1, stop - 1), 10, replace=False)] = random.integers(5, 405, 10)
    ids[offsets[:-1]], ids[offsets[1:] - 1] = 2, 3
    spans = np.where(ids[:, None] < 4, -1, np.array([0, 1])).astype(np.int32)
    texts = Ragged(np.zeros(len(lengths), np.uint8), np.arange(len(lengths) + 1))
    labels = random.integers(0, 2, len(lengths))
    return Encoded(Ragged(ids, offsets), Ragged(spans, offsets), labels, texts), 405


def _epochs(encoder: str, encoded: Encoded, vocabulary: int) -> tuple[float, float]:
    """CPU seconds of an epoch of the base, and of an adversary of it; the median of some, in turns."""
    splits = {"train": encoded, "validation": first(encoded, 64)}
    trained = _model(encoder, vocabulary)
    said = {name: say(trained, part) for name, part in splits.items()}
    fit(trained, dict.fromkeys(splits, splits["validation"]), CONFIG)
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPEATS):
        goal = Opposition(splits, said, AdversaryConfig())  # type: ignore[arg-type]
        for own, seconds in zip((None, goal), times, strict=True):
            model = _model(encoder, vocabulary)
            seconds.append(cpu_seconds(lambda m=model, g=own: fit(m, splits, CONFIG, goal=g)))  # type: ignore
    return median(times[0]), median(times[1])


def _by_word(encoder: str, encoded: Encoded, vocabulary: int) -> tuple[float, float]:
    """CPU seconds of an epoch in which each word is scored once, and in which each token is."""
    splits = {"train": encoded, "validation": first(encoded, 64)}
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPEATS):
        model = _model(encoder, vocabulary)
        for own, seconds in zip((model, ByToken(_model(encoder, vocabulary))), times, strict=True):
            seconds.append(cpu_seconds(lambda m=own: fit(m, splits, CONFIG)))  # type: ignore
    return median(times[0]), median(times[1])


def _model(encoder: str, vocabulary: int) -> AttentionClassifier:
    return build(ModelConfig(encoder=encoder), Shape(vocabulary, ("0", "1"), "single"), seed=0)
