"""Adam as the papers use it (AMSGrad, weight decay coupled to the gradient), and AdamW for transformers.

Coupled decay moves every word vector at every step, in the batch or not, so the step is dense. torch's fused
kernel does it in one pass over memory: the same numbers, several times faster than by its default. The rate
of a step is a function of its number alone, so nothing of a schedule needs to be kept.
"""

from __future__ import annotations

import torch
from torch import nn

from faithgauge.config import TrainConfig
from faithgauge.models.embedding import Embedding


def make(model: nn.Module, config: TrainConfig) -> torch.optim.Adam:
    """The optimiser of a model's parameters that want a gradient."""
    return _adamw(model, config) if config.optimiser == "adamw" else _adam(model, config)


def rate(config: TrainConfig, step: int, steps: int) -> float:
    """The learning rate of step 0, 1, … of so many.

    r min((t + 1) / W, (S − t) / (S − W)) with the schedule "linear", else r.

    r is the `learning_rate`, t the `step`, S all `steps`, and W those of the warm-up: the share `warm_up` of
    S, rounded. Every step moves; the first of W > 1 less than the second.

    Paper: recursive-roar-2022, appendix C.2 (a share of 0.06).
    Differs: the scheduler of transformers begins at a rate of 0, so that its first step moves nothing.
    Range: (0, r].
    """
    if config.schedule == "constant":
        return config.learning_rate
    warm = round(config.warm_up * steps)
    rising = (step + 1) / warm if step < warm else 1.0
    falling = (steps - step) / (steps - warm) if steps > warm else 1.0
    return config.learning_rate * min(rising, falling)


def set_rate(optimiser: torch.optim.Optimizer, value: float) -> None:
    """The rate of the next step."""
    for group in optimiser.param_groups:
        group["lr"] = value


def _adamw(model: nn.Module, config: TrainConfig) -> torch.optim.Adam:
    """Decay that is not coupled to the gradient, and spares what has one axis: biases and norms."""
    wanted = [value for value in model.parameters() if value.requires_grad]
    spared = {"params": [value for value in wanted if value.dim() < 2], "weight_decay": 0.0}
    decayed = {"params": [value for value in wanted if value.dim() >= 2]}
    return torch.optim.AdamW(
        [group for group in (decayed, spared) if group["params"]],
        lr=config.learning_rate,
        betas=(0.9, config.beta2),
        weight_decay=config.weight_decay,
        amsgrad=config.amsgrad,
        fused=True,
    )


def _adam(model: nn.Module, config: TrainConfig) -> torch.optim.Adam:
    named = [(name, value) for name, value in model.named_parameters() if value.requires_grad]
    spared = [value for name, value in named if name.startswith("attention.") and not config.decay_attention]
    decayed = [value for value in (v for _, v in named) if not any(value is other for other in spared)]
    groups = [{"params": decayed}]
    if spared:
        groups.append({"params": spared, "weight_decay": 0.0})  # type: ignore[dict-item]
    return torch.optim.Adam(
        groups,
        lr=config.learning_rate,
        betas=(0.9, config.beta2),
        weight_decay=config.weight_decay,
        amsgrad=config.amsgrad,
        fused=True,
    )


def clear_grad(model: nn.Module) -> None:
    """Set all gradients to zero: word vectors by the rows that were written, everything else whole."""
    tables = [module for module in model.modules() if isinstance(module, Embedding)]
    by_row = {id(table.weight) for table in tables}
    for table in tables:
        table.clear_grad()
    for parameter in model.parameters():
        if id(parameter) not in by_row:
            parameter.grad = None
