"""Attention: a score for every token, and how the scores become a distribution.

Both are tables, so that a new form is a function or a small module and one line. Scores are defined on all
tokens; a distribution is zero outside `maskable` and, in a text without any maskable token, zero everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import entmax
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from faithgauge.errors import UnsupportedError
from faithgauge.models.product import linear
from faithgauge.registry import Table

Scores = Float[Tensor, "batch token"]
Maskable = Bool[Tensor, "batch token"]


class Additive(nn.Module):
    """Additive attention.

    score_t = v · tanh(W h_t + b), and with a query q: v · tanh(W h_t + b + U q + d).

    Here h_t is `hidden`, W and U map to `size`, and v maps to one number without a bias.

    Paper: jain-wallace-2019, section 2; recursive-roar-2022, eqs. 4 and 5; attefa, section 5.
    Differs: no bias after v, which a softmax could not see; eq. 5 of recursive-roar-2022 has no b and d.
    Range: (−∞, ∞).
    Cost: one product of (token × hidden) by (hidden × size).
    """

    def __init__(self, hidden_size: int, query_size: int, size: int) -> None:
        super().__init__()
        self.attn1 = nn.Linear(hidden_size, size)
        self.query = nn.Linear(query_size, size) if query_size else None
        self.attn2 = nn.Linear(size, 1, bias=False)

    def forward(
        self, hidden: Float[Tensor, "batch token hidden"], query: Float[Tensor, "batch embed"] | None
    ) -> Scores:
        projected = linear(self.attn1, hidden)
        if self.query is not None and query is not None:
            projected = projected + self.query(query)[:, None]
        return torch.as_tensor(self.attn2(_tanh(projected)))[..., 0]

    def negate(self) -> None:
        """From now on every score is the negative of what it was."""
        self.attn2.weight.data.neg_()


class Dot(nn.Module):
    """Scaled dot-product attention with one head.

    score_t = h_t · q / √m with a query q, and h_t · w / √m without, where w is a parameter and m its length.

    Paper: jain-wallace-2019, section 2.
    Differs: a query whose size is not that of h_t is first mapped to it, linearly and without a bias.
    Range: (−∞, ∞).
    Cost: one product of (token × hidden) by a vector.
    """

    def __init__(self, hidden_size: int, query_size: int, size: int) -> None:  # noqa: ARG002 one shape for all
        super().__init__()
        self.scale = 1 / math.sqrt(hidden_size)
        self.weight = nn.Linear(hidden_size, 1, bias=False) if not query_size else None
        self.query: nn.Module = nn.Identity()
        if query_size and query_size != hidden_size:
            self.query = nn.Linear(query_size, hidden_size, bias=False)

    def forward(
        self, hidden: Float[Tensor, "batch token hidden"], query: Float[Tensor, "batch embed"] | None
    ) -> Scores:
        if self.weight is not None:
            scores = self.weight(hidden)[..., 0]
        else:
            scores = torch.einsum("bth,bh->bt", hidden, self.query(query))
        return torch.as_tensor(scores * self.scale)

    def negate(self) -> None:
        """From now on every score is the negative of what it was."""
        layer = self.weight if self.weight is not None else self.query
        if isinstance(layer, nn.Identity):
            raise UnsupportedError(
                "dot attention with a query of its own size has no weights to negate; leave the start "
                "'negated' out, or choose additive attention"
            )
        layer.weight.data.neg_()  # type: ignore[operator]


ATTENTIONS: Table[Callable[[int, int, int], nn.Module]] = Table(
    "attention", {"additive": Additive, "dot": Dot}, group="faithgauge.attentions"
)


def softmax(scores: Scores, maskable: Maskable, temperature: float) -> Scores:
    """Softmax over the maskable tokens.

    α_t = exp(s_t / τ) / Σ_u exp(s_u / τ), with `scores` s and `temperature` τ.

    Paper: jain-wallace-2019, section 2.
    Range: (0, 1], sum 1.
    Cost: linear in the tokens.
    """
    filled = (scores / temperature).masked_fill(~maskable, -torch.inf)
    # A row without a maskable token would be 0/0; it becomes all zeros.
    return torch.nan_to_num(filled.softmax(-1), nan=0.0) if _empty_rows(maskable) else filled.softmax(-1)


def sparsemax(scores: Scores, maskable: Maskable, temperature: float) -> Scores:
    """Sparsemax over the maskable tokens.

    α = argmin_{p in the simplex} ‖p − s/τ‖², the Euclidean projection of the scores on the simplex.

    Paper: martins2016, eq. 1.
    Range: [0, 1], sum 1, exact zeros.
    Cost: one sort of the tokens.
    """
    return _projected(entmax.sparsemax, scores / temperature, maskable)


def entmax15(scores: Scores, maskable: Maskable, temperature: float) -> Scores:
    """The 1.5-entmax over the maskable tokens, between softmax and sparsemax.

    α = argmax_{p in the simplex} p · s/τ + H_{1.5}(p), with Tsallis' entropy of order 1.5.

    Paper: peters2019, eq. 11.
    Range: [0, 1], sum 1, exact zeros.
    Cost: one sort of the tokens.
    """
    return _projected(entmax.entmax15, scores / temperature, maskable)


def uniform(scores: Scores, maskable: Maskable, temperature: float) -> Scores:  # noqa: ARG001 one shape for all
    """The same weight for every maskable token, whatever the scores.

    α_t = 1 / (number of maskable tokens).

    Paper: wiegreffe-pinter-2019, section 3.2.
    Range: (0, 1], sum 1.
    Cost: linear in the tokens.
    """
    weights = maskable.to(scores.dtype)
    return weights / weights.sum(-1, keepdim=True).clamp(min=1)


DISTRIBUTIONS: Table[Callable[[Tensor, Tensor, float], Tensor]] = Table(
    "distribution",
    {"softmax": softmax, "entmax15": entmax15, "sparsemax": sparsemax, "uniform": uniform},
    group="faithgauge.distributions",
)


def _tanh(numbers: Tensor) -> Tensor:
    """tanh as 2σ(2x) − 1, in a fraction of its time on a CPU; without a gradient `numbers` is overwritten."""
    if numbers.requires_grad:
        return torch.sigmoid(numbers * 2) * 2 - 1
    return numbers.mul_(2).sigmoid_().mul_(2).sub_(1)


def _projected(project: Callable[..., Tensor], scores: Tensor, maskable: Tensor) -> Tensor:
    # Both projections see differences only, and give an exact zero to whatever lies 2 below the largest
    # score, so 10 below is out, and finite, which their cumulated sums need.
    lowest = torch.finfo(scores.dtype).min
    top = scores.detach().masked_fill(~maskable, lowest).amax(-1, keepdim=True)
    weights = project((scores - top).masked_fill(~maskable, -10), dim=-1)
    return torch.where(maskable, weights, torch.zeros_like(weights))


def _empty_rows(maskable: Tensor) -> bool:
    return not bool(maskable.any(-1).all())
