"""How far apart two distributions are: of the classes, or of attention over the tokens of a text.

Distributions lie along the last axis. Logarithms are natural ones. What is 0 in both distributions, as the
attention of padding is, adds nothing and has gradient 0.

There are two conventions for a binary output. `tvd` goes over both classes and is |Δp| (jain-wallace-2019);
`half_tvd` goes over the one output of a sigmoid and is ½|Δp| (wiegreffe-pinter-2019, attefa). Numbers of the
one must not be set beside numbers of the other.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

PAPERS = 1e-10
"""What the code of jain-wallace-2019 and wiegreffe-pinter-2019 adds inside each logarithm."""

JSD_MAX = math.log(2)
TVD_MAX = 1.0
HALF_TVD_MAX = 0.5

Distance = Literal["tvd", "half_tvd"]
"""Which of the two conventions a limit on the change of a binary output is meant in."""

PER_TVD: dict[Distance, float] = {"tvd": 1.0, "half_tvd": 0.5}
"""What a binary output's `tvd` is multiplied by to be in each convention."""


def tvd(
    first: Float[Tensor, "*#batch class"], second: Float[Tensor, "*#batch class"]
) -> Float[Tensor, "*batch"]:
    """The total variation distance of two outputs over all classes.

    ½ Σ_c |p_c − q_c|;  of two classes |Δp|

    p, q: the probabilities `first` and `second` of every class, both classes where the task is binary.

    Paper: jain-wallace-2019, section 4.
    Range: [0, 1].
    Cost: linear.
    """
    return (first - second).abs().sum(-1) / 2


def half_tvd(first: Float[Tensor, "*#batch"], second: Float[Tensor, "*#batch"]) -> Float[Tensor, "*batch"]:
    """The total variation distance of a binary model, over its one output: half of what `tvd` is.

    ½ |p − q|

    p, q: the probability of class 1.

    Paper: wiegreffe-pinter-2019, section 3; attefa, eq. 3.
    Range: [0, ½].
    Cost: linear.
    """
    return (first - second).abs() / 2


def kl(
    first: Float[Tensor, "*#batch token"], second: Float[Tensor, "*#batch token"], *, epsilon: float = 0.0
) -> Float[Tensor, "*batch"]:
    """The Kullback–Leibler divergence of `second` from `first`.

    KL(p ‖ q) = Σ_t p_t (ln(p_t + ε) − ln(q_t + ε)), where p_t = 0 adds nothing

    Paper: wiegreffe-pinter-2019, section 4.
    Differs: ε is 0 by default, and `PAPERS` in the papers' code; a p_t of 0 has gradient 0, not −∞.
    Range: [0, ∞] with ε = 0; infinite where q is 0 and p is not.
    Cost: linear.
    """
    here = first > 0
    own, other = (torch.where(here, each, 1.0) for each in (first, second))
    terms = own * ((own + epsilon).log() - (other + epsilon).log())
    return torch.where(here, terms, 0.0).sum(-1)


def jsd(
    first: Float[Tensor, "*#batch token"], second: Float[Tensor, "*#batch token"], *, epsilon: float = 0.0
) -> Float[Tensor, "*batch"]:
    """The Jensen–Shannon divergence.

    JSD(p, q) = ½ KL(p ‖ m) + ½ KL(q ‖ m),  m = (p + q) / 2

    Paper: jain-wallace-2019, section 4; lin1991.
    Differs: as `kl`.
    Range: [0, ln 2]; ln 2 where no token has weight in both.
    Cost: linear.
    """
    middle = (first + second) / 2
    return (kl(first, middle, epsilon=epsilon) + kl(second, middle, epsilon=epsilon)) / 2
