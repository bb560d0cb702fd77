"""Gradient SHAP: integrated gradients at points that are drawn instead of chosen."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from faithgauge.config import AtLeastOne
from faithgauge.explain.baseline import Baseline
from faithgauge.explain.baseline import baseline as baseline_vectors
from faithgauge.explain.gradient import importance
from faithgauge.models.question import Question
from faithgauge.models.slopes import along
from faithgauge.types import Batch, Importance


def gradient_shap(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    samples: AtLeastOne = 25,
    baseline: Baseline = "pad",
    absolute: bool = False,
) -> Importance:
    """The mean gradient at random points between a baseline and the text, times the way between them.

    score_t = 1/n Σ_k (x_t − b_t) · ∂f/∂x_t (b + u_k (x − b)),  u_k ~ U(0, 1).

    x are the word vectors, b the same with those of maskable tokens replaced (`baseline`), n is `samples`; a
    point u_k is shared by all tokens of a text. `error` is f(x) − f(b) − Σ_t score_t, which tends to 0 as n
    grows. With `absolute`, |score_t|.

    Paper: lundberg2017, section 4; erion2021, eq. 3; neely-2022, section 4.3.
    Differs: one baseline and not many, and no noise at the points, as neely-2022 has it; their draws have no
        seed.
    Range: (−∞, ∞).
    Cost: `samples` forward and backward passes, without the first affine map of the model.
    """
    start = baseline_vectors(model, batch, question, kind=baseline)
    drawn = [question.random(batch, text, "gradient_shap").random(samples) for text in range(len(batch))]
    scores, error = along(
        model,
        batch,
        question,
        start=start,
        shares=torch.from_numpy(np.stack(drawn, 1)).to(start),
        weights=start.new_full((samples,), 1 / samples),
    )
    return importance(scores, batch, absolute=absolute, error=error)
