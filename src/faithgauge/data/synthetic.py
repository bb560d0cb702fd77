"""Synthetic data sets by name, each generated in a moment from `config.seed`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from faithgauge.config import DataConfig
from faithgauge.data.dataset import Dataset
from faithgauge.data.mock import AMOUNTS, mock
from faithgauge.data.planted import planted
from faithgauge.registry import Table

SYNTHETIC: Table[Callable[[DataConfig], Dataset]] = Table(
    "synthetic data set",
    {**{name: partial(mock, name=name) for name in AMOUNTS}, "planted": planted},
    group="faithgauge.synthetic",
)
