"""How far the attention of two transformers is apart, where neither has an order of its heads.

A head that does the work of another one in the same layer is the same attention in another place. So heads
are first matched, in each layer those that together make the distance least; the second form compares what
the layers come to together, the rollout of both, where heads are not seen at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from faithgauge.faithfulness.divergence import jsd

Heads = Float[Tensor, "batch layer head token token"]


@dataclass(frozen=True)
class Matching:
    """By layer and head of the first model the head of the second that it is compared with: (layer, head)."""

    heads: NDArray[np.int64]

    def of(self, costs: Float[Tensor, "*batch layer head head"]) -> Float[Tensor, "*batch"]:
        """The mean over layers and heads of the costs of the heads that belong together."""
        chosen = torch.from_numpy(self.heads).to(costs.device)
        layers, heads = (torch.arange(size, device=costs.device) for size in self.heads.shape)
        return costs[..., layers[:, None], heads[None], chosen].mean((-2, -1))


def head_costs(
    first: Heads, second: Heads, rows: Bool[Tensor, "batch token"]
) -> Float[Tensor, "batch layer head head"]:
    """The mean JSD of every head of the first with every head of the second in the same layer.

    cost_lhg = mean over rows i of JSD(A_lhi·, B_lgi·)

    Rows are those of the tokens in `rows`, usually the maskable ones; each is a distribution over all tokens.
    A text without such a token has cost 0.

    Paper: attefa, eq. 2, of one attention over the tokens.
    Range: [0, ln 2].
    Cost: heads² times as many divergences as heads have rows.
    """
    count = rows.sum(-1).clamp(min=1)[:, None, None]
    costs = [
        torch.stack([(jsd(own, other) * rows[:, None]).sum(-1) for other in second.unbind(2)], -1)
        for own in first.unbind(2)
    ]
    return torch.stack(costs, 2) / count[..., None]


def best_matching(costs: Float[Tensor, "layer head head"]) -> Matching:
    """The heads of two models that belong together: in each layer the pairs with the least sum of costs.

    argmin over permutations π of Σ_h cost_{l h π(h)}, by linear assignment

    The costs are means over the texts of a split, so that a model has one matching, not one per text.

    Cost: heads³ per layer.
    """
    found = [linear_sum_assignment(layer)[1] for layer in costs.detach().double().cpu().numpy()]
    return Matching(np.stack(found).astype(np.int64))


def matched_distance(
    first: Heads, second: Heads, rows: Bool[Tensor, "batch token"]
) -> Float[Tensor, "batch"]:
    """How far the attention of each text is apart after the best matching of heads over all of these texts.

    mean over layers and heads of JSD(A_lh, B_lπ(h)), π of `best_matching`

    Paper: attefa, eq. 2.
    Differs: the paper has one attention; heads in another order are the same attention here.
    Range: [0, ln 2]; 0 for heads in another order.
    """
    costs = head_costs(first, second, rows)
    return best_matching(costs.mean(0)).of(costs)


def rollout_distance(
    first: Float[Tensor, "batch token"],
    second: Float[Tensor, "batch token"],
    rows: Bool[Tensor, "batch token"],
) -> Float[Tensor, "batch"]:
    """How far two rollouts are apart on these tokens, on which each is made to sum to one.

    JSD(r / Σ_t r_t, s / Σ_t s_t)

    Paper: attefa, eq. 2; abnar2020, section 3.
    Range: [0, ln 2].
    """
    own, other = (torch.where(rows, one, 0.0) for one in (first, second))
    return jsd(*(one / one.sum(-1, keepdim=True).clamp(min=1e-12) for one in (own, other)))
