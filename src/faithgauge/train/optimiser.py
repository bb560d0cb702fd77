"""Adam as the papers use it: AMSGrad, and weight decay that is coupled to the gradient.

Coupled decay moves every word vector at every step, in the batch or not, so the step is dense. torch's fused
kernel does it in one pass over memory: the same numbers, several times faster than by its default.
"""

from __future__ import annotations

import torch
from torch import nn

from faithgauge.config import TrainConfig
from faithgauge.models.embedding import Embedding


def make(model: nn.Module, config: TrainConfig) -> torch.optim.Adam:
    """The optimiser of a model's parameters that want a gradient."""
    named = [(name, value) for name, value in model.named_parameters() if value.requires_grad]
    spared = [value for name, value in named if name.startswith("attention.") and not config.decay_attention]
    decayed = [value for value in (v for _, v in named) if not any(value is other for other in spared)]
    groups = [{"params": decayed}]
    if spared:
        groups.append({"params": spared, "weight_decay": 0.0})  # type: ignore[dict-item]
    return torch.optim.Adam(
        groups,
        lr=config.learning_rate,
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
