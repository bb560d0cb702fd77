"""The explainers by name: each takes a model and a batch and gives one number per token."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from faithgauge.registry import Table
from faithgauge.types import Batch, Importance

Explainer = Callable[[nn.Module, Batch], Importance]

EXPLAINERS: Table[Explainer] = Table(
    "explainer",
    {"attention": "faithgauge.explain.attention:attention"},
    group="faithgauge.explainers",
)
