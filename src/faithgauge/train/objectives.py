"""What a training minimises: cross-entropy, weighted by class where the configuration says so.

For an adversary it is the distance of its output from that of another, less the distance of its attention.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from faithgauge.config import TrainConfig
from faithgauge.errors import DataError
from faithgauge.faithfulness.compared import largest_distance
from faithgauge.faithfulness.divergence import JSD_MAX

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


def one_shot(
    moved: Float[Tensor, "*batch"], far: Float[Tensor, "*batch"], *, classes: int
) -> Float[Tensor, "*batch"]:
    """The adversary's loss whose two parts have one range, and so need no weight between them.

    TVD / TVD_max − JSD / ln 2

    TVD is `moved`, JSD `far`; TVD_max is ½ of two classes and 1 of more.

    Paper: attefa, eqs. 4 to 6.
    Differs: JSD without the 1e-10 in each logarithm; more than two classes, which the paper has not.
    Range: [−1, 1].
    """
    return moved / largest_distance(classes) - far / JSD_MAX


def weighted(
    moved: Float[Tensor, "*batch"], far: Float[Tensor, "*batch"], weight: float
) -> Float[Tensor, "*batch"]:
    """The adversary's loss with a weight between its two parts.

    TVD(p, p̂) − λ KL(α ‖ α̂)

    TVD is `moved`, KL `far`, λ the `weight`; p, α are the adversary's, p̂, α̂ those of the model it opposes.

    Paper: wiegreffe-pinter-2019, section 4.
    Differs: their code weighs each text by its class, as in cross-entropy; their words and this do not.
    Range: (−∞, 1].
    """
    return moved - weight * far


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
