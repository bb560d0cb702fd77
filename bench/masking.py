"""Masking 17,000 reviews of the lengths of IMDB's and writing them, against one epoch of training on them.

The epoch is that of the papers' BiLSTM, of which a part of the batches is timed and the rest counted.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.measure import Row, cpu_seconds
from faithgauge.encode.corpus import Corpus, open_corpus, save_corpus, save_masked
from faithgauge.encode.tokenizer import WordTokenizer
from faithgauge.faithfulness.masking import Amount, masked
from faithgauge.types import Encoded, Ragged

TEXTS, WORDS, TIMED = 17_212, 30_000, 24
"""As many texts as recursive-roar-2022 trains on; and how many batches of 32 are timed."""
REPEATS = 3


def rows() -> Iterator[Row]:
    encoded = _reviews()
    tokenizer = WordTokenizer.of("plain", [f"w{i}" for i in range(WORDS)])
    scores = np.random.default_rng(1).random(len(encoded.ids.values)).astype(np.float32)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        save_corpus(
            Corpus("reviews", "", "single", ("0", "1"), {"train": encoded}, tokenizer, {}), place / "0"
        )
        seconds = min(
            cpu_seconds(lambda i=i: _mask(place / "0", place / str(i + 1), scores)) for i in range(REPEATS)
        )
    epoch = _epoch(encoded, len(tokenizer.vocabulary))
    name = f"masking {TEXTS:,} reviews, share of an epoch"
    yield Row(name, seconds / epoch, 0.05, seconds, epoch, "CPU s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    yield Row("masking and training, peak of 1.5 GB", peak / 1.5, 1.0, peak, 1.5, "GB")


def _mask(source: Path, target: Path, scores: np.ndarray) -> None:
    corpus = open_corpus(source)
    found = masked(corpus.splits["train"], scores, Amount(0.3), mask=corpus.tokenizer.mask or 0)
    save_masked(corpus, {"train": found.ids}, source, folder=target)


def _epoch(encoded: Encoded, vocabulary: int) -> float:
    """CPU seconds of one epoch, told from some of its batches, drawn as training draws them."""
    import torch

    from faithgauge.config import ModelConfig, TrainConfig
    from faithgauge.encode.batching import collate, training_batches
    from faithgauge.models.classifier import Shape, build
    from faithgauge.train import optimiser
    from faithgauge.train.goals import Labels
    from faithgauge.train.objectives import class_weights

    torch.set_num_threads(1)
    model = build(ModelConfig(embed_size=300), Shape(vocabulary, ("0", "1"), "single"), 0)
    config = TrainConfig()
    goal = Labels({"train": encoded}, class_weights(encoded.labels, 2, config))
    stepper = optimiser.make(model, config)
    batches = training_batches(encoded.ids.lengths(), config.batch_size, seed=0, epoch=0)

    def train(some: list[np.ndarray]) -> None:
        for rows in some:
            optimiser.clear_grad(model)
            goal.loss(model, collate(encoded, rows, classes=2)).backward()
            stepper.step()

    train(batches[:2])
    return cpu_seconds(lambda: train(batches[2 : 2 + TIMED])) * len(batches) / TIMED


def _reviews() -> Encoded:
    random = np.random.default_rng(0)
    lengths = np.clip(random.lognormal(5.05, 0.55, TEXTS), 7, 399).astype(np.int64) + 2
    frequency = 1 / (np.arange(WORDS) + 2.7)
    ids = random.choice(WORDS, lengths.sum(), p=frequency / frequency.sum()).astype(np.int32) + 4
    offsets = np.concatenate([[0], lengths.cumsum()])
    ids[offsets[:-1]], ids[offsets[1:] - 1] = 2, 3
    spans = np.where(ids[:, None] < 4, -1, np.array([0, 1])).astype(np.int32)
    labels = random.integers(0, 2, len(lengths))
    texts = Ragged(np.zeros(len(lengths), np.uint8), np.arange(len(lengths) + 1))
    return Encoded(Ragged(ids, offsets), Ragged(spans, offsets), labels, texts)
