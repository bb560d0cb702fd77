"""What a training minimises: cross-entropy, weighted by class where the configuration says so."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from faithgauge.config import TrainConfig
from faithgauge.errors import DataError

Weights = Float[Tensor, "class"]


def cross_entropy(
    logits: Float[Tensor, "batch #class"],
    labels: Int[Tensor, "batch"],
    weights: Weights,
    *,
    reduction: str,
) -> Float[Tensor, ""]:
    """Negative log likelihood of the labels, each example weighted by its class.

    −Σ_i w_{y_i} log p_i(y_i), over the number of examples where `reduction` is "mean".

    Here p is the sigmoid of one logit, or the softmax of several, and w are the `weights`.

    Paper: jain-wallace-2019, appendix A.1 (the papers' code sums over the batch).
    Differs: with weights, "mean" divides by the number of examples, not by the sum of their weights.
    Range: [0, ∞).
    """
    weight = weights[labels]
    if logits.shape[-1] == 1:
        target = labels.to(logits.dtype)
        total = F.binary_cross_entropy_with_logits(logits[:, 0], target, weight, reduction="sum")
    else:
        total = (F.cross_entropy(logits, labels, reduction="none") * weight).sum()
    return total / len(labels) if reduction == "mean" else total


def class_weights(labels: NDArray[np.int64], classes: int, config: TrainConfig) -> Weights:
    """The weight of each class, by its frequency among the training labels.

    "positive" weighs the positives of a binary task by negatives/positives, as the code of jain-wallace-2019
    does, and leaves any other task alone.
    """
    counts = np.bincount(labels, minlength=classes).astype(np.float64)
    weights = np.ones(classes)
    if config.class_weights == "positive" and classes == 2:
        if not counts.all():
            raise DataError(
                f"expected training examples of both classes to weigh them, found {counts[0]:.0f} negatives "
                f"and {counts[1]:.0f} positives; set --class-weights none"
            )
        weights[1] = counts[0] / counts[1]
    elif config.class_weights == "balanced":
        weights = len(labels) / (np.maximum((counts > 0).sum(), 1) * np.maximum(counts, 1))
    return torch.tensor(weights, dtype=torch.float32)
