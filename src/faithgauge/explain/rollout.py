"""Attention rollout: attention multiplied through the layers, each with the residual connection beside it.

The attention of a layer says what each of its tokens is made of in terms of the layer below. Taken all the
way down, the row of the token that the classifier reads says what its last state is made of.
"""

from __future__ import annotations

import torch
from torch import nn

from faithgauge.explain.gradient import importance
from faithgauge.explain.heads import seen, sloped
from faithgauge.models.question import Question
from faithgauge.models.rolled import first_row, mean_of_heads, with_residual
from faithgauge.types import Batch, Importance


def rollout(model: nn.Module, batch: Batch, question: Question) -> Importance:  # noqa: ARG001
    """What the classifier's token is made of, were each layer its attention and a residual connection.

    score_t = (Â_L Â_{L−1} … Â_1)_{1t},  Â_l = (Ā_l + I) / 2

    Ā_l is the mean of the heads of layer l, and the first row is that of the token that the classifier reads.

    Paper: abnar2020, section 3 (attention rollout); neely-2022, section 3.2.
    Differs: rows are divided by their sums, which are 2 where attention sums to one, as there.
    Range: [0, 1], sum 1 together with the special tokens.
    Cost: one forward pass, and one product of a vector and a matrix per layer.
    """
    return importance(first_row(with_residual(mean_of_heads(seen(model, batch)))), batch, absolute=True)


def gradient_rollout(model: nn.Module, batch: Batch, question: Question) -> Importance:
    """Rollout of that part of the attention of every head which speaks for the class.

    score_t = ((I + Ā_L) … (I + Ā_1))_{1t},  Ā_l = mean over heads of max(∂f/∂A_lh ⊙ A_lh, 0)

    Paper: chefer2021, section 3 (self-attention).
    Differs: in the product from below, R ← R + Ā_l R, which it is; what the first token has of itself is left
        out with the other special tokens.
    Range: [0, ∞).
    Cost: one forward and one backward pass.
    """
    weights, slopes = sloped(model, batch, question)
    mean = mean_of_heads((weights * slopes).clamp(min=0))
    return importance(first_row(mean + torch.eye(mean.shape[-1]).to(mean)), batch, absolute=True)
