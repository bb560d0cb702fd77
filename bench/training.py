"""One training epoch against the loop that a good PyTorch user writes, on texts of the size of SST.

That loop draws batches at random, packs them for the LSTM, and steps with `torch.optim.Adam(amsgrad=True)` as
it comes. Both sides have one thread, the same network and the same number of batches. Each runs in a fresh
process, as a training does, for two epochs: the first counts, the second is shown beside it, since the plain
loop may then gain from memory that the C library has learnt to keep.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from statistics import median

import numpy as np
import torch
from torch import Tensor

from bench.measure import Row, cpu_seconds, sst_sized
from bench.plain import Plain, plain_epoch
from faithgauge.config import ModelConfig, TrainConfig
from faithgauge.encode.batching import training_batches
from faithgauge.models.classifier import AttentionClassifier, Shape, build
from faithgauge.train.fit import Event, fit
from faithgauge.types import Encoded, Ragged

GOALS = {"bilstm": 2.5, "mlp": 4.0, "cnn": 1.4}
REPEATS = 3


def rows() -> Iterator[Row]:
    torch.set_num_threads(1)
    for encoder, goal in GOALS.items():
        times: dict[str, list[list[float]]] = {"ours": [], "plain": []}
        for _ in range(REPEATS):
            for side, found in times.items():
                found.append(_in_fresh_process(side, encoder))
        for epoch, name in enumerate(("first epoch", "second epoch")):
            ours, plain = (median(one[epoch] for one in times[side]) for side in ("ours", "plain"))
            yield Row(
                f"training, {encoder}, {name}", plain / ours, None if epoch else goal, ours, plain, "CPU s"
            )
        if encoder == "bilstm":
            yield _speed(min(one[0] for one in times["ours"]))
    gap = loss_gap()
    yield Row("largest gap of the losses on equal batches", gap, None, gap, 0.0, "nat")


def our_epochs(encoder: str, epochs: int = 2) -> list[float]:
    """CPU seconds of each epoch of `faithgauge.train.fit`, its evaluation taken down to a few texts."""
    encoded, vocabulary = sst_sized()
    few = first(encoded, 64)
    fit(_model(encoder, vocabulary), {"train": few, "validation": few}, TrainConfig(epochs=1))
    ends: list[float] = []

    def note(event: Event) -> None:
        if event.metrics:
            ends.append(time.process_time())

    model = _model(encoder, vocabulary)
    started = time.process_time()
    fit(model, {"train": encoded, "validation": few}, TrainConfig(epochs=epochs), on_event=note)
    return [end - start for start, end in zip([started, *ends], ends, strict=False)]


def plain_epochs(encoder: str, epochs: int = 2) -> list[float]:
    """CPU seconds of each epoch of the plain loop."""
    encoded, vocabulary = sst_sized()
    texts, labels = _tensors(encoded)
    model = Plain(vocabulary, encoder)
    optimiser = model.optimiser()
    few = [np.arange(32), np.arange(32, 64)]
    plain_epoch(Plain(vocabulary, encoder), texts, labels, few)
    return [
        cpu_seconds(lambda: plain_epoch(model, texts, labels, _random_batches(len(texts)), optimiser))
        for _ in range(epochs)
    ]


def loss_gap() -> float:
    """The largest difference between the running losses of both loops on the same batches of one epoch."""
    encoded, vocabulary = sst_sized()
    model, plain = _model("bilstm", vocabulary), Plain(vocabulary, "bilstm")
    own = model.state_dict()
    plain.load_state_dict({name: own[_ours(name)] for name in plain.state_dict()})
    running: list[float] = []
    fit(
        model,
        {"train": encoded, "validation": first(encoded, 64)},
        TrainConfig(epochs=1),
        on_event=lambda event: running.append(event.loss) if not event.metrics else None,
    )
    batches = training_batches(encoded.ids.lengths(), 32, seed=0, epoch=0)
    losses = np.array(plain_epoch(plain, *_tensors(encoded), batches))
    sizes = np.array([len(batch) for batch in batches])
    return float(np.abs((losses * sizes).cumsum() / sizes.cumsum() - np.array(running)).max())


def first(encoded: Encoded, n: int) -> Encoded:
    """The first n texts."""

    def cut(ragged: Ragged) -> Ragged:
        return Ragged(ragged.values, ragged.offsets[: n + 1])

    return Encoded(cut(encoded.ids), cut(encoded.spans), encoded.labels[:n], cut(encoded.texts))


def _in_fresh_process(side: str, encoder: str) -> list[float]:
    command = [sys.executable, "-m", "bench.training", side, encoder]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [float(seconds) for seconds in json.loads(done.stdout)]


def _speed(seconds: float) -> Row:
    """GFLOP/s of an epoch, as textbooks count its operations, against the best matrix multiplication."""
    encoded, _ = sst_sized()
    per_token = 3 * (2 * 2 * (300 + 128) * 4 * 128 + 2 * 256 * 128)
    speed = per_token * float(encoded.ids.lengths().sum()) / seconds / 1e9
    best = 0.0
    for m, k, n in ((680, 300, 1024), (2000, 2000, 2000)):
        left, right = torch.randn(m, k), torch.randn(k, n)
        fastest = min(cpu_seconds(lambda a=left, b=right: a @ b) for _ in range(20))  # type: ignore[misc]
        best = max(best, 2 * m * k * n / fastest / 1e9)
    return Row("GFLOP/s of training and of the best matmul", speed / best, None, speed, best, "GFLOP/s")


def _model(encoder: str, vocabulary: int) -> AttentionClassifier:
    return build(ModelConfig(encoder=encoder), Shape(vocabulary, ("0", "1"), "single"), seed=0)


def _tensors(encoded: Encoded) -> tuple[list[Tensor], Tensor]:
    texts = [torch.from_numpy(np.asarray(encoded.ids.row(i), np.int64)) for i in range(len(encoded))]
    return texts, torch.from_numpy(encoded.labels)


def _random_batches(n: int) -> list[np.ndarray]:
    order = np.random.default_rng(0).permutation(n)
    return [order[i : i + 32] for i in range(0, n, 32)]


def _ours(name: str) -> str:
    """The name that a parameter of the plain network has in ours."""
    names = {"attention.0": "attention.attn1", "attention.2": "attention.attn2", "rnn": "encoder.rnn"}
    prefix = next((prefix for prefix in names if name.startswith(prefix)), "")
    return names.get(prefix, "") + name.removeprefix(prefix)


if __name__ == "__main__":
    torch.set_num_threads(1)
    side, encoder = sys.argv[1:]
    print(json.dumps({"ours": our_epochs, "plain": plain_epochs}[side](encoder)))
