"""Integrated gradients against captum, the same model, steps and values.

The model is the papers' BiLSTM with additive attention, 50 steps of Gauss and Legendre. The baseline runs the
same weights as torch's own modules, whose weights want no gradient, and since the texts are equally long it
does not pack them. Captum is measured at the best of several batch sizes, and as neely-2022 used it: one text
at a time, its 50 points in one batch. Both sides take turns, with one thread; medians of CPU time count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from unittest.mock import patch

import torch
from captum.attr import IntegratedGradients
from torch import Tensor, nn

from bench.measure import Row, cpu_seconds
from bench.plain import Plain
from faithgauge.config import ModelConfig
from faithgauge.explain.integrated_gradient import integrated_gradient
from faithgauge.explain.split import frozen
from faithgauge.models import product
from faithgauge.models.classifier import AttentionClassifier, Shape, build
from faithgauge.models.question import Question
from faithgauge.types import Batch

VOCABULARY = 14_829
STEPS, REPEATS = 50, 3
TEXTS = {25: 32, 200: 8}
GOALS = {25: (3.0, 2.0), 200: (2.2, 1.7)}
"""By length: as it is, and with public torch calls alone."""
POINTS = (1, 25, 50, 100)
"""How many points captum may be given at once, and never fewer than there are texts; the best counts."""


def rows() -> Iterator[Row]:
    torch.set_num_threads(1)
    model = build(ModelConfig(), Shape(VOCABULARY, ("0", "1"), "single"), seed=0).eval()
    with frozen(model):
        for length, texts in TEXTS.items():
            yield from _compared(model, some_texts(texts, length))


def some_texts(texts: int, length: int) -> Batch:
    """Texts of random words between two special tokens."""
    ids = torch.randint(4, VOCABULARY, (texts, length), generator=torch.Generator().manual_seed(length))
    ids[:, 0], ids[:, -1] = 2, 3
    return Batch(ids, torch.full((texts,), length), ids > 0, ids > 3)


class Answer(nn.Module):
    """The probability of class 1 from word vectors, by the plain network with our weights."""

    def __init__(self, model: AttentionClassifier) -> None:
        super().__init__()
        plain = Plain(2, "bilstm").eval()
        plain.rnn, plain.decoder = model.encoder.rnn, model.decoder
        plain.attention[0], plain.attention[2] = model.attention.attn1, model.attention.attn2
        self.plain = plain

    def forward(self, vectors: Tensor) -> Tensor:
        hidden, _ = self.plain.rnn(vectors)
        weights = self.plain.attention(hidden)[:, 1:-1, 0].softmax(-1)
        context = torch.bmm(weights[:, None], hidden[:, 1:-1])[:, 0]
        return torch.as_tensor(self.plain.decoder(context)[:, 0].sigmoid())


def _compared(model: AttentionClassifier, batch: Batch) -> Iterator[Row]:
    texts, length = batch.ids.shape
    captum = IntegratedGradients(Answer(model))
    vectors = model.embed(batch).detach()
    start = torch.where(batch.maskable[..., None], model.embedding.weight[0].detach(), vectors)
    question = Question(torch.ones(texts, dtype=torch.long))

    def ours() -> Tensor:
        return integrated_gradient(model, batch, question, steps=STEPS).scores

    def public() -> Tensor:
        with patch.object(product, "_suits", return_value=False):
            return ours()

    def theirs(points: int) -> Tensor:
        return torch.as_tensor(
            captum.attribute(vectors, start, n_steps=STEPS, internal_batch_size=points).sum(-1)
        )

    def one_by_one() -> None:
        for i in range(texts):
            captum.attribute(vectors[i : i + 1], start[i : i + 1], n_steps=STEPS)

    batched = {f"{n} points": lambda n=n: theirs(n) for n in {max(points, texts) for points in POINTS}}
    times = _in_turns({"ours": ours, "public": public, "one by one": one_by_one, **batched}, texts)
    best = min(times[name] for name in batched)
    goal, goal_public = GOALS[length]
    name = f"integrated gradients, length {length}"
    yield Row(f"{name}, captum batched", best / times["ours"], goal, times["ours"], best, "CPU s a text")
    yield Row(
        f"{name}, public calls alone",
        best / times["public"],
        goal_public,
        times["public"],
        best,
        "CPU s a text",
    )
    alone = times["one by one"]
    yield Row(f"{name}, captum one by one", alone / times["ours"], None, times["ours"], alone, "CPU s a text")
    expected = theirs(max(50, texts))
    gap = ((ours() - expected)[batch.maskable].abs().max() / expected.abs().max()).item()
    assert gap < 1e-4, gap
    yield Row(f"{name}, largest difference", gap, None, gap, 0.0, "of the largest score")


def _in_turns(works: dict[str, Callable[[], object]], texts: int) -> dict[str, float]:
    """The median CPU seconds of each for one text, after a round that does not count."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(REPEATS + 1):
        for name, work in works.items():
            found[name].append(cpu_seconds(work) / texts)
    return {name: median(seconds[1:]) for name, seconds in found.items()}
