"""Integrated gradients: what each token adds on the straight way from a baseline to the text."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from faithgauge.config import AtLeastOne
from faithgauge.explain.baseline import Baseline
from faithgauge.explain.baseline import baseline as baseline_vectors
from faithgauge.explain.gradient import importance
from faithgauge.models.question import Question
from faithgauge.models.slopes import along
from faithgauge.models.transformer import whole_embeddings
from faithgauge.types import Batch, Importance

Rule = Literal["gauss-legendre", "right"]
Embeddings = Literal["word", "all"]


def integrated_gradient(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    steps: AtLeastOne = 50,
    rule: Rule = "gauss-legendre",
    baseline: Baseline = "pad",
    embeddings: Embeddings = "word",
    absolute: bool = False,
) -> Importance:
    """The integral of the gradient along the line from a baseline to the text, times the way that was gone.

    score_t = Σ_k w_k (x_t − b_t) · ∂f/∂x_t (b + s_k (x − b)).

    x are the word vectors, and b the same with those of maskable tokens replaced (`baseline`). The points s_k
    and their weights w_k, `steps` of each, are those of Gauss and Legendre, or k/steps and 1/steps (`rule`).
    `error` is f(x) − f(b) − Σ_t score_t, which is 0 for the exact integral. With `absolute`, |score_t|. Of a
    transformer, `embeddings` "word" takes for x the vectors of the words alone, with positions and types as
    they are all along the way; "all" takes what enters its first layer, where these are added and normed.

    Paper: sundararajan2017, eqs. 1 and 3; neely-2022, section 4.3; recursive-roar-2022, section 4.
    Differs: the code of recursive-roar-2022 takes the gradient with respect to the unscaled embedding, which
        puts a factor s_k into every step, so that its scores sum to no difference.
    Range: (−∞, ∞), sum f(x) − f(b).
    Cost: `steps` forward and backward passes, without the first affine map of the model.
    """
    if embeddings == "all":
        model = whole_embeddings(model)
    start = baseline_vectors(model, batch, question, kind=baseline)
    shares, weights = (part.to(start) for part in points(rule, steps))
    scores, error = along(
        model,
        batch,
        question,
        start=start,
        shares=shares[:, None].expand(steps, len(batch)),
        weights=weights,
    )
    return importance(scores, batch, absolute=absolute, error=error)


def points(rule: Rule, steps: int) -> tuple[Tensor, Tensor]:
    """Where in (0, 1] the gradient is taken, and what it weighs there."""
    if rule == "right":
        return torch.arange(1, steps + 1) / steps, torch.full((steps,), 1 / steps)
    places, weights = np.polynomial.legendre.leggauss(steps)
    return torch.from_numpy((places + 1) / 2), torch.from_numpy(weights / 2)
