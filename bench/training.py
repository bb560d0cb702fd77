"""One training epoch against the loop that a good PyTorch user writes, on texts of the size of SST.

That loop draws batches at random, packs them for the LSTM, and steps with `torch.optim.Adam(amsgrad=True)` as it
comes. Both sides have one thread, the same sizes, weights and number of batches; ours is `faithgauge.train.fit`
with its evaluation taken down to a few texts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bench.measure import Row, cpu_seconds, sst_sized
from faithgauge.config import ModelConfig, TrainConfig
from faithgauge.encode.batching import training_batches
from faithgauge.models.classifier import Shape, build
from faithgauge.train.fit import fit
from faithgauge.types import Encoded, Ragged

GOALS = {"bilstm": 2.5, "mlp": 4.0, "cnn": 1.4}


def rows() -> Iterator[Row]:
    torch.set_num_threads(1)
    encoded, vocabulary = sst_sized()
    few = first(encoded, 64)
    texts = [torch.from_numpy(np.asarray(encoded.ids.row(i), np.int64)) for i in range(len(encoded))]
    labels = torch.from_numpy(encoded.labels)
    best = matrix_speed()
    for encoder, goal in GOALS.items():
        plain = Plain(vocabulary, encoder)

        def ours(encoder: str = encoder) -> None:
            model = build(ModelConfig(encoder=encoder), Shape(vocabulary, ("0", "1"), "single"), seed=0)
            fit(model, {"train": encoded, "validation": few}, TrainConfig(epochs=1))

        def baseline(plain: Plain = plain) -> None:
            plain_epoch(plain, texts, labels, random_batches(len(texts)))

        fit_once_small(encoder, few, vocabulary)
        fast, slow = cpu_seconds(ours), cpu_seconds(baseline)
        yield Row(f"training epoch, {encoder}", slow / fast, goal, fast, slow, "CPU s")
        if encoder == "bilstm":
            speed = lstm_flops(encoded) / fast / 1e9
            yield Row("GFLOP/s in training against best matmul", speed / best, None, speed, best, "GFLOP/s")
            same = loss_gap(encoded, texts, labels, vocabulary)
            yield Row("largest gap of the losses, same batches", same, None, same, 0.0, "nat")


class Plain(nn.Module):
    """The same network as a good PyTorch user writes it."""

    def __init__(self, vocabulary: int, encoder: str) -> None:
        super().__init__()
        self.kind = encoder
        self.embedding = nn.Embedding(vocabulary, 300, padding_idx=0)
        nn.init.normal_(self.embedding.weight, std=0.1)
        size = {"bilstm": 256, "mlp": 128, "cnn": 256}[encoder]
        if encoder == "bilstm":
            self.rnn = nn.LSTM(300, 128, batch_first=True, bidirectional=True)
        elif encoder == "mlp":
            self.layer = nn.Linear(300, 128)
        else:
            self.convolutions = nn.ModuleList(nn.Conv1d(300, 64, k, padding=k // 2) for k in (1, 3, 5, 7))
        self.attention = nn.Sequential(
            nn.Linear(size, size // 2), nn.Tanh(), nn.Linear(size // 2, 1, bias=False)
        )
        self.decoder = nn.Linear(size, 1)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        embedded = self.embedding(ids)
        if self.kind == "bilstm":
            packed = nn.utils.rnn.pack_padded_sequence(
                embedded, lengths, batch_first=True, enforce_sorted=False
            )
            hidden, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        elif self.kind == "mlp":
            hidden = torch.tanh(self.layer(embedded))
        else:
            signal = embedded.transpose(1, 2)
            hidden = torch.cat([F.relu(layer(signal)) for layer in self.convolutions], 1).transpose(1, 2)
        steps = torch.arange(ids.shape[1])
        outside = (steps == 0) | (steps >= lengths[:, None] - 1)
        weights = self.attention(hidden)[..., 0].masked_fill(outside, -torch.inf).softmax(-1)
        return torch.as_tensor(self.decoder((weights[..., None] * hidden).sum(1))[:, 0])


def plain_epoch(model: Plain, texts: list[Tensor], labels: Tensor, batches: list[np.ndarray]) -> list[float]:
    """One epoch of the plain loop; the loss of every batch."""
    spared = list(model.attention.parameters())
    rest = [p for p in model.parameters() if not any(p is other for other in spared)]
    groups = [{"params": rest, "weight_decay": 1e-5}, {"params": spared}]
    optimiser = torch.optim.Adam(groups, lr=1e-3, amsgrad=True)
    losses = []
    for rows_ in batches:
        chosen = [texts[i] for i in rows_]
        ids = nn.utils.rnn.pad_sequence(chosen, batch_first=True)
        lengths = torch.tensor([len(text) for text in chosen])
        loss = F.binary_cross_entropy_with_logits(model(ids, lengths), labels[rows_].float())
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(loss.item())
    return losses


def loss_gap(encoded: Encoded, texts: list[Tensor], labels: Tensor, vocabulary: int) -> float:
    """The largest difference between the running losses of both loops on the same batches of one epoch."""
    model = build(ModelConfig(), Shape(vocabulary, ("0", "1"), "single"), seed=0)
    plain = Plain(vocabulary, "bilstm")
    own = model.state_dict()
    names = {"attention.0": "attention.attn1", "attention.2": "attention.attn2", "rnn": "encoder.rnn"}
    plain.load_state_dict({name: own[_renamed(name, names)] for name in plain.state_dict()})
    running: list[float] = []
    fit(
        model,
        {"train": encoded, "validation": first(encoded, 64)},
        TrainConfig(epochs=1),
        on_event=lambda event: running.append(event.loss) if not event.metrics else None,
    )
    batches = training_batches(encoded.ids.lengths(), 32, seed=0, epoch=0)
    losses = plain_epoch(plain, texts, labels, batches)
    sizes = np.array([len(batch) for batch in batches])
    means = np.cumsum(np.array(losses) * sizes) / sizes.cumsum()
    return float(np.abs(means - np.array(running)).max())


def _renamed(name: str, names: dict[str, str]) -> str:
    prefix = next((prefix for prefix in names if name.startswith(prefix)), "")
    return names.get(prefix, "") + name.removeprefix(prefix)


def random_batches(n: int) -> list[np.ndarray]:
    order = np.random.default_rng(0).permutation(n)
    return [order[i : i + 32] for i in range(0, n, 32)]


def fit_once_small(encoder: str, few: Encoded, vocabulary: int) -> None:
    """Load the kernels before the clock runs."""
    model = build(ModelConfig(encoder=encoder), Shape(vocabulary, ("0", "1"), "single"), seed=0)
    fit(model, {"train": few, "validation": few}, TrainConfig(epochs=1))


def first(encoded: Encoded, n: int) -> Encoded:
    def cut(ragged: Ragged) -> Ragged:
        return Ragged(ragged.values, ragged.offsets[: n + 1])

    return Encoded(cut(encoded.ids), cut(encoded.spans), encoded.labels[:n], cut(encoded.texts))


def lstm_flops(encoded: Encoded) -> float:
    """The floating-point operations of one epoch as textbooks count them: backward is twice forward."""
    forward = 2 * 2 * (300 + 128) * 4 * 128 + 2 * 256 * 128
    return 3.0 * forward * float(encoded.ids.lengths().sum())


def matrix_speed() -> float:
    """GFLOP/s of the best matrix multiplication of a size that training could use."""
    best = 0.0
    for m, k, n in ((680, 300, 1024), (2000, 2000, 2000)):
        left, right = torch.randn(m, k), torch.randn(k, n)
        times = [cpu_seconds(lambda left=left, right=right: left @ right) for _ in range(20)]  # type: ignore[misc]
        best = max(best, 2 * m * k * n / min(times) / 1e9)
    return best
