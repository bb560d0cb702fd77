"""What a training works towards: the loss of a batch, and how well a split is done.

The loop knows nothing else of the labels, of a guide, or of the model that an adversary opposes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from faithgauge.config import AdversaryConfig
from faithgauge.encode.batching import padded
from faithgauge.faithfulness.compared import (
    attention_apart,
    attention_distance,
    output_distance,
    outputs_apart,
)
from faithgauge.models.classifier import probabilities
from faithgauge.seeds import generator
from faithgauge.train.metrics import metrics
from faithgauge.train.objectives import Weights, cross_entropy, one_shot, weighted
from faithgauge.train.predict import predict, say
from faithgauge.types import Batch, Encoded, Ragged, Said, Split

Splits = Mapping[Split, Encoded]
Guide = Mapping[Split, Ragged]
"""By split the attention that a model is given, one weight for every id."""
Reduction = Literal["mean", "sum"]


@runtime_checkable
class Goal(Protocol):
    """What `fit` asks of a goal."""

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """Of a batch of the training split."""

    def judge(self, model: nn.Module, split: Split) -> dict[str, float]:
        """The numbers by which an epoch is chosen, ``loss`` among them."""

    def identity(self) -> Iterable[bytes]:
        """What tells it from others of the same data and settings."""


@dataclass(frozen=True)
class Labels:
    """To say the labels; with a `guide`, under attention that is given."""

    splits: Splits
    weights: Weights
    reduction: Reduction = "mean"
    guide: Guide | None = None

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        assert batch.labels is not None
        given = {} if self.guide is None else {"attention": _of_batch(self.guide["train"], batch)}
        logits = _output(model, batch, **given).logits
        return cross_entropy(logits, batch.labels, self.weights, reduction=self.reduction)

    def judge(self, model: nn.Module, split: Split) -> dict[str, float]:
        encoded, guide = self.splits[split], None if self.guide is None else self.guide[split]
        return metrics(predict(model, encoded, guide=guide), encoded.labels)

    def identity(self) -> Iterable[bytes]:
        return [] if self.guide is None else [guide.values.tobytes() for guide in self.guide.values()]


@dataclass(frozen=True)
class Opposition:
    """To say what another model says (`said`, by split) and attend to other tokens: `one_shot`, `weighted`.

    A split is judged by the loss of its mean distances, as attefa does, beside the usual metrics. With a
    `sign` of −1 it is the same attention that is sought.
    """

    splits: Splits
    said: Mapping[Split, Said]
    how: AdversaryConfig
    reduction: Reduction = "mean"
    sign: Literal[1, -1] = 1

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        output, said = _output(model, batch), self.said["train"]
        moved = output_distance(probabilities(output.logits), _probability(said, batch))
        far = attention_distance(output.attention, _attention(said, batch), self.how.divergence)
        if said.pair is not None and batch.pair is not None:
            other = _of_batch(said.pair, batch, width=batch.pair.ids.shape[1])
            far = (far + attention_distance(output.pair.attention, other, self.how.divergence)) / 2
        each = self._combined(moved, far)
        return each.mean() if self.reduction == "mean" else each.sum()

    def judge(self, model: nn.Module, split: Split) -> dict[str, float]:
        own, said, labels = say(model, self.splits[split]), self.said[split], self.splits[split].labels
        moved = float(outputs_apart(own, said).mean())
        far = float(attention_apart(own, said, self.how.divergence).mean())
        loss = float(self._combined(torch.tensor(moved), torch.tensor(far)))
        return {**metrics(own.probability, labels), "tvd": moved, self.how.divergence: far, "loss": loss}

    def identity(self) -> Iterable[bytes]:
        yield repr((self.how, self.sign)).encode()
        for said in self.said.values():
            yield said.probability.tobytes()
            yield from (part.values.tobytes() for part in (said.attention, said.pair) if part is not None)

    def _combined(self, moved: Tensor, far: Tensor) -> Tensor:
        if self.how.divergence == "kl":
            return weighted(moved, far, self.sign * self.how.weight)
        return one_shot(moved, self.sign * far, classes=self.said["train"].probability.shape[1])


@dataclass(frozen=True)
class Covered:
    """To say the labels also where a part of the text is masked, so that no masked text is unlike the others.

    At each step about half the texts of a batch have each maskable token replaced by `mask` with a
    probability drawn for the text, uniform from 0 to 1. A split is judged by its texts once as they are and
    once masked like that. With `first_text` nothing of the second text of a pair in one row is masked.

    Paper: madsen2023.
    """

    labels: Labels
    mask: int
    seed: int
    first_text: bool = False

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        # torch's own generator has a seed of its own at every step.
        share = torch.rand(len(batch), 1) * (torch.rand(len(batch), 1) < 0.5)
        gone = (torch.rand(batch.ids.shape) < share).to(batch.ids.device) & batch.maskable
        if self.first_text and batch.segments is not None:
            gone &= batch.segments == 0
        return self.labels.loss(model, replace(batch, ids=batch.ids.masked_fill(gone, self.mask)))

    def judge(self, model: nn.Module, split: Split) -> dict[str, float]:
        encoded = self.labels.splits[split]
        draw, lengths = generator(self.seed, "covered", split), encoded.ids.lengths()
        share = np.repeat(draw.random(len(lengths)), lengths)
        real = np.asarray(encoded.spans.values[:, 0], np.int64) >= 0
        gone = real & (draw.random(len(share)) < share)
        if self.first_text and encoded.segments is not None:
            gone &= np.asarray(encoded.segments.values) == 0
        ids = replace(encoded.ids, values=np.where(gone, self.mask, encoded.ids.values).astype(np.int32))
        likely = [predict(model, one) for one in (encoded, replace(encoded, ids=ids))]
        return metrics(np.concatenate(likely), np.concatenate([encoded.labels] * 2))

    def identity(self) -> Iterable[bytes]:
        yield f"masked inputs {self.mask}{' of first texts' * self.first_text}".encode()


def _output(model: nn.Module, batch: Batch, **given: Tensor) -> Any:
    """What a model says of a batch; nobody asks for the states of its tokens."""
    forward: Any = getattr(model, "forward_stateless", model)
    return forward(batch, **given)


def _probability(said: Said, batch: Batch) -> Tensor:
    assert batch.rows is not None
    return torch.from_numpy(said.probability[batch.rows.cpu().numpy()]).to(batch.ids.device)


def _attention(said: Said, batch: Batch) -> Tensor:
    assert said.attention is not None
    return _of_batch(said.attention, batch)


def _of_batch(weights: Ragged, batch: Batch, *, width: int | None = None) -> Tensor:
    """The weights of the texts of a batch, as wide as it is."""
    assert batch.rows is not None
    found = padded(weights, batch.rows.cpu().numpy(), width=width or batch.ids.shape[1])
    return torch.from_numpy(found.astype(np.float32, copy=False)).to(batch.ids.device)
