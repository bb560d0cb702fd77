"""Adversarial attention by search: as far from the text's own as can be found while the output stays.

What is found is a lower bound of what there is (`exact` has the number itself for a linear decoder and one
output). The search sees a linear decoder only through what each token says when it has all the attention, and
takes the gradient with respect to attention by its formula, so that a step costs nothing but arithmetic on
weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from faithgauge.config import SearchConfig
from faithgauge.errors import ConfigError
from faithgauge.faithfulness.divergence import jsd, tvd
from faithgauge.models.readout import Readout

JAIN_WALLACE = SearchConfig(weight=500.0, diversity=0.08, over="discard")
"""The preset ``jain-wallace-2019``: their code. It pays 500 for each distribution where they print 500/k, and
gains 1/k² for each ordered pair where they print 1/(k (k − 1)) for each unordered one. The ε that it reports
is 0.05, not the 0.01 that is in print and that it has while it searches."""

Penalty = Callable[[Tensor, Tensor], None]
"""From the attention, (token, step, batch), what is added to the gradient with respect to it."""

PULLS = 25
"""How often the part of the way is halved that is pulled back."""
NOTHING = 1e-9
"""Beside a sum of weights inside a logarithm of a gradient, so that a product of AT_ONCE is not 0."""
AT_ONCE = 4
"""Factors of which one logarithm is taken."""
FAR_BELOW = -60.0
"""The score of what is no token: its weight is nothing beside that of one, and no slow denormal number."""


@dataclass(frozen=True)
class Adversaries:
    """What a search found for each text of a batch.

    attention  (batch, step, token)   the distributions
    jsd        (batch, step)          from the text's own attention
    tvd        (batch, step)          of the output from that under the text's own attention
    """

    readout: Readout
    how: SearchConfig
    attention: Float[Tensor, "batch step token"]
    jsd: Float[Tensor, "batch step"]
    tvd: Float[Tensor, "batch step"]


def adversarial_search(readout: Readout, how: SearchConfig | None = None, *, seed: int = 0) -> Adversaries:
    """Distributions that Adam finds far from the attention of each text, with the output within ε.

    minimise Σ_i [ −JSD(α_i, α̂) + λ max(0, TVD(ŷ(α_i), ŷ(α̂)) − ε) ] − δ Σ_{i<j} JSD(α_i, α_j)

    α_i = softmax(a_i): the k `distributions`, from a_i = ln(1/T) + N(0, `spread`²); α̂: the attention of the
    text, T its maskable tokens, ŷ the probabilities of the classes; ε: `limit`, λ: `weight`, δ: `diversity`.
    The last iterate counts. Texts are independent of each other; each has random numbers of its own.

    Paper: jain-wallace-2019, section 4.2.2, eqs. 1 and 2, algorithm 3.
    Differs: minus the penalty, which the paper adds to what it maximises; its λ/k and 1/(k (k − 1)) are λ and
        δ here. `JAIN_WALLACE` has the numbers of its code. No 1e-10 inside the logarithms.
    Cost: `steps` times (distributions × tokens × (distributions + classes)) for each text of a linear
        decoder; any other is run and differentiated at every step.
    """
    how = how or SearchConfig()
    if how.weight < 0 or not how.limit > 0:
        raise ConfigError(
            f"expected a weight of 0 or more and a limit above 0, found {how.weight} and {how.limit}"
        )
    with torch.no_grad():
        own = readout.attention[:, None]
        likely = readout.likely(own)
        scores = _start(readout, how, seed)
        adam = torch.optim.Adam([scores], lr=how.learning_rate, amsgrad=True, fused=not scores.is_cuda)
        penalise = _penalty(readout, likely, how)
        for _ in range(how.steps):
            scores.grad = _gradient(scores, _tokens_first(own), penalise, diversity=how.diversity)
            adam.step()
        found = scores.softmax(0).permute(2, 1, 0).contiguous()
        attention = found * readout.maskable[:, None]  # a text without tokens has none
        return Adversaries(
            readout, how, attention, jsd(attention, own), tvd(readout.likely(attention), likely)
        )


def epsilon_max_jsd(
    found: Adversaries, epsilon: float
) -> tuple[Float[Tensor, "batch"], Float[Tensor, "batch token"]]:
    """The largest JSD among the distributions that leave the output within ε, and the one that has it.

    max(0, max_i 1[TVD_i ≤ ε] JSD_i);  the text's own attention is always among them

    Paper: jain-wallace-2019, algorithm 3.
    Differs: what is beyond ε is pulled back first, unless `over` is "discard".
    Range: [0, ln 2].
    """
    if not epsilon >= 0:
        raise ConfigError(f"expected an epsilon of 0 or more, found {epsilon}")
    own = found.readout.attention[:, None]
    with torch.no_grad():
        if found.how.over == "pull":
            attention = _pulled(found, epsilon)
            far = jsd(attention, own)
        else:
            attention, far = found.attention, found.jsd.masked_fill(found.tvd > epsilon, 0.0)
        attention = torch.where(far[..., None] > 0, attention, own)
        best = far.argmax(-1, keepdim=True)
        chosen = attention.gather(1, best[..., None].expand(-1, -1, attention.shape[-1]))[:, 0]
        return far.gather(1, best)[:, 0].clamp(min=0), chosen


def _tokens_first(weights: Float[Tensor, "batch step token"]) -> Float[Tensor, "token step batch"]:
    """While it is searched, what is summed over tokens is summed over the first axis, which is fastest."""
    return weights.permute(2, 1, 0).contiguous()


def _start(readout: Readout, how: SearchConfig, seed: int) -> Float[Tensor, "token step batch"]:
    maskable = readout.maskable.cpu().numpy()
    scores = np.full((len(maskable), how.distributions, maskable.shape[1]), FAR_BELOW, np.float32)
    for text, there in enumerate(maskable):
        n = int(there.sum())
        noise = readout.random(text, seed, "adversarial").standard_normal((how.distributions, n))
        scores[text, :, there] = (how.spread * noise - math.log(max(n, 1))).T
    return _tokens_first(torch.from_numpy(scores).to(readout.attention.device))


def _gradient(scores: Tensor, own: Tensor, penalise: Penalty, *, diversity: float) -> Tensor:
    """Of the loss with respect to the scores: α ⊙ (g − Σ_t α_t g_t), g that with respect to the attention.

    ∂JSD(α, β)/∂α_t = ½ ln(2 α_t / (α_t + β_t)), whose constant the softmax takes out.
    """
    k = scores.shape[1]
    log = scores.log_softmax(0)
    attention = log.exp()
    gradient = (attention + own).add_(NOTHING).log_()
    around = torch.cat([attention, attention[:, : k - 1]], 1)  # behind each distribution all others, in turn
    sums: list[Tensor] = []
    for other in range(1, k):
        sums.append((attention + around[:, other : other + k]).add_(NOTHING))
        if len(sums) == AT_ONCE or other == k - 1:  # one logarithm of a product for several of its factors
            gradient.add_(reduce(torch.Tensor.mul_, sums).log_(), alpha=diversity)
            sums = []
    gradient.sub_(log, alpha=1 + diversity * (k - 1)).mul_(0.5)
    penalise(attention, gradient)
    mean = (attention * gradient).sum(0)
    return gradient.sub_(mean).mul_(attention)


def _penalty(readout: Readout, likely: Tensor, how: SearchConfig) -> Penalty:
    """What adds the gradient of λ max(0, TVD − ε) with respect to the attention to another gradient."""
    values = readout.values

    def searched(attention: Tensor, gradient: Tensor) -> None:
        with torch.enable_grad():
            leaf = attention.permute(2, 1, 0).detach().requires_grad_()
            over = (tvd(readout.likely(leaf), likely) - how.limit).clamp(min=0).sum() * how.weight
            (slope,) = torch.autograd.grad(over, leaf)
        gradient.add_(slope.permute(2, 1, 0))

    def of_classes(attention: Tensor, gradient: Tensor) -> None:
        assert values is not None
        p = readout.likely(attention.permute(2, 1, 0))
        moved = p - likely
        sign = moved.sign() * (moved.abs().sum(-1, keepdim=True) / 2 > how.limit) * (how.weight / 2)
        by_logit = p * (sign - (p * sign).sum(-1, keepdim=True))
        gradient.add_(torch.bmm(by_logit, values.transpose(1, 2)).permute(2, 1, 0))

    if values is None:
        return searched
    if values.shape[-1] > 1:
        return of_classes
    value, before = _tokens_first(values.permute(0, 2, 1)), likely[..., 1].T

    def of_one_output(attention: Tensor, gradient: Tensor) -> None:
        p = (attention * value).sum(0).sigmoid_()  # its slope is p (1 − p)
        moved = p - before
        by_logit = moved.sign() * (moved.abs() > how.limit) * p * (1 - p) * how.weight
        gradient.addcmul_(value, by_logit)

    return of_one_output


def _pulled(found: Adversaries, epsilon: float) -> Tensor:
    """The furthest point found on the line from the text's own attention that leaves the output within ε."""
    readout, own = found.readout, found.readout.attention[:, None]
    likely, way = readout.likely(own), found.attention - own
    share = (found.tvd <= epsilon).to(way.dtype)  # of the way; what is within ε goes all of it
    step = torch.where(share > 0, 0.0, 0.5)
    for _ in range(PULLS):
        tried = share + step
        within = tvd(readout.likely(own + tried[..., None] * way), likely) <= epsilon
        share, step = torch.where(within, tried, share), step / 2
    return own + share[..., None] * way
