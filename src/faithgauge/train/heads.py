"""An adversary of a transformer: to say what it says, and to attend in every head to other tokens.

The attention of the base is asked for batch by batch, as that of all heads of all texts would not fit a disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from faithgauge.config import AdversaryConfig
from faithgauge.encode.batching import collate, reading_batches
from faithgauge.errors import UnsupportedError
from faithgauge.faithfulness.compared import output_distance
from faithgauge.faithfulness.heads import best_matching, head_costs, matched_distance, rollout_distance
from faithgauge.models.classifier import probabilities
from faithgauge.models.replaced import attending
from faithgauge.models.rolled import first_row, mean_of_heads, with_residual
from faithgauge.models.transformer import Transformer
from faithgauge.train.goals import Reduction, Splits
from faithgauge.train.metrics import metrics
from faithgauge.train.objectives import one_shot
from faithgauge.train.predict import device_of
from faithgauge.types import Batch, Encoded, Said, Split

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HeadsApart:
    """How far two transformers are apart, text by text: outputs, heads after matching, and rollouts.

    `probability` is that of the first.
    """

    probability: NDArray[np.float32]
    tvd: Floats
    heads: Floats
    rollout: Floats


@dataclass(frozen=True)
class HeadOpposition:
    """`goals.Opposition` of a transformer: `objectives.one_shot` with the distance of matched heads.

    Heads are matched anew in every batch, and once for a split when it is judged.
    """

    splits: Splits
    said: Mapping[Split, Said]
    base: Transformer
    how: AdversaryConfig
    reduction: Reduction = "mean"

    def __post_init__(self) -> None:
        if self.how.divergence != "jsd" or self.how.start not in ("fresh", "base"):
            raise UnsupportedError(
                "an adversary of a transformer has the loss of attefa and starts fresh or from its base: "
                f"expected divergence jsd, found {self.how.divergence}, and start {self.how.start}"
            )

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        model = cast("Transformer", model)
        with attending(model.network) as own:
            output = model(batch)
        said, other = heads_of(self.base, batch)
        moved = output_distance(probabilities(output.logits), said)
        far = matched_distance(torch.stack([one.weights for one in own], 1), other, batch.maskable)
        each = one_shot(moved, far, classes=self.base.n_classes)
        return each.mean() if self.reduction == "mean" else each.sum()

    def judge(self, model: nn.Module, split: Split) -> dict[str, float]:
        apart = heads_apart(cast("Transformer", model), self.base, self.splits[split])
        moved, far = float(apart.tvd.mean()), float(apart.heads.mean())
        loss = float(one_shot(torch.tensor(moved), torch.tensor(far), classes=self.base.n_classes))
        found = metrics(apart.probability, self.splits[split].labels)
        return {**found, "tvd": moved, "jsd": far, "rollout_jsd": float(apart.rollout.mean()), "loss": loss}

    def identity(self) -> Iterable[bytes]:
        yield repr(("heads", self.how)).encode()
        for said in self.said.values():
            yield said.probability.tobytes()


def heads_of(model: Transformer, batch: Batch) -> tuple[Tensor, Tensor]:
    """The probabilities, and the attention of all heads before any dropout, without a graph."""
    training = model.training
    model.eval()
    with torch.no_grad(), attending(model.network) as seen:
        output = model(batch)
    model.train(training)
    return probabilities(output.logits), torch.stack([one.weights for one in seen], 1)


def heads_apart(model: Transformer, base: Transformer, encoded: Encoded) -> HeadsApart:
    """How far a transformer is from another one of the same form, on all texts of a split.

    Heads are matched by their mean distance over the whole split. Rollouts are compared on maskable tokens.
    """
    classes, n = model.n_classes, len(encoded)
    probability, moved, rolled = np.empty((n, classes), np.float32), np.empty(n), np.empty(n)
    costs: list[Tensor] = [torch.empty(0)] * n
    for rows in reading_batches(encoded.ids.lengths()):
        batch = collate(encoded, rows, classes=classes, device=device_of(model))
        (said, own), (expected, other) = heads_of(model, batch), heads_of(base, batch)
        probability[rows] = said.cpu().numpy()
        moved[rows] = output_distance(said.double(), expected.double()).cpu().numpy()
        first, second = (first_row(with_residual(mean_of_heads(one))) for one in (own, other))
        rolled[rows] = rollout_distance(first, second, batch.maskable).cpu().numpy()
        for row, cost in zip(rows, head_costs(own, other, batch.maskable).cpu(), strict=True):
            costs[row] = cost
    every = torch.stack(costs)
    matched = best_matching(every.mean(0)).of(every)
    return HeadsApart(probability, moved, matched.double().numpy(), rolled)
