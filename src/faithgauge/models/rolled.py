"""The attention of all layers of a transformer as one row: the arithmetic of attention rollout.

Paper: abnar2020, section 3.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

READ = 0
"""The place of the token whose last state the classifier reads: [CLS], <s>."""

Heads = Float[Tensor, "batch layer head token token"]
Steps = Float[Tensor, "batch layer token token"]


def mean_of_heads(attentions: Heads) -> Steps:
    return attentions.mean(2)


def with_residual(steps: Steps) -> Steps:
    """Each token beside what it attends to, rows divided by their sums."""
    both = steps + torch.eye(steps.shape[-1]).to(steps)
    return both / both.sum(-1, keepdim=True)


def first_row(steps: Steps) -> Float[Tensor, "batch token"]:
    """The row of the token that the classifier reads, in the product of all layers, the last one first."""
    row = steps[:, -1, READ]
    for step in reversed(steps.unbind(1)[:-1]):
        row = torch.bmm(row[:, None], step)[:, 0]
    return row
