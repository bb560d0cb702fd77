"""The attention of a pretrained transformer, seen and replaced through the public interface of transformers.

Every layer asks that interface for its attention by name. Ours computes what the eager one does, keeps the
weights and the values, and where it is told to puts other weights in their place. Its mask is registered
under the same name: without one transformers would let padding be attended to, and say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from faithgauge.errors import UnsupportedError
from faithgauge.models.attention import DISTRIBUTIONS

NAME = "faithgauge"
"""What our attention is called in the tables of transformers."""


@dataclass(frozen=True)
class Replacement:
    """What takes the place of the attention of a transformer, in these `layers` (from 0) or in all of them.

    distribution     how scores become weights: one of `models.attention.DISTRIBUTIONS`
    given            (batch, layer, head, token, token): the weights themselves; one layer or one head
                     stand for all of them
    zeroed           (batch): a token of each text whose values are taken as 0
    """

    distribution: str = "softmax"
    given: Tensor | None = None
    layers: tuple[int, ...] | None = None
    zeroed: Int[Tensor, "batch"] | None = None

    def concerns(self, layer: int) -> bool:
        return self.layers is None or layer in self.layers


@dataclass(frozen=True)
class Attended:
    """The attention of one layer: its weights, and the values that they weigh."""

    weights: Float[Tensor, "batch head token token"]
    values: Float[Tensor, "batch head token hidden"]


@dataclass(frozen=True)
class _Watch:
    """One forward pass: what is replaced, and what was seen of its layers so far."""

    how: Replacement
    seen: list[Attended] = field(default_factory=list)


_WATCH: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def attending(network: Any, how: Replacement = Replacement()) -> Iterator[list[Attended]]:
    """Inside, one forward pass of a network attends like this; the list fills with the layers' attention.

    Where this stands inside of itself, the innermost says how is attended, and all see it.
    """
    before, outer = network.config._attn_implementation, _WATCH.get()
    _take_over(network)
    watch = _Watch(how) if outer is None else _Watch(how, outer.seen)
    token = _WATCH.set(watch)
    try:
        yield watch.seen
    finally:
        _WATCH.reset(token)
        network.set_attn_implementation(before)


@cache
def register(name: str, attend: Callable[..., tuple[Tensor, Tensor | None]]) -> None:
    """An attention in the tables of transformers, with its mask."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(name, attend)
    AttentionMaskInterface.register(name, eager_mask)


def _take_over(network: Any) -> None:
    if not network.is_backend_compatible():
        raise UnsupportedError(
            f"the attention of a {network.config.model_type} model can be read and not replaced: expected "
            "a model that uses transformers' attention interface (BERT, DistilBERT, RoBERTa, ELECTRA, "
            "ALBERT); choose one of these, or a test that reads attention only"
        )
    register(NAME, _attend)
    network.set_attn_implementation(NAME)


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **options: Any,
) -> tuple[Tensor, Tensor]:
    """As transformers calls it: returns the weighted values (batch, token, head, hidden) and the weights."""
    watch = _WATCH.get()
    layer = 0 if watch is None else len(watch.seen)
    how = Replacement() if watch is None or not watch.how.concerns(layer) else watch.how
    if how.given is None:
        scaling = options.get("scaling")
        scale = query.shape[-1] ** -0.5 if scaling is None else scaling
        weights = _weights(torch.matmul(query, key.transpose(2, 3)) * scale, attention_mask, how.distribution)
    else:
        own = how.given[:, layer if how.given.shape[1] > 1 else 0]
        weights = own.expand(*query.shape[:3], key.shape[2]).to(query.dtype)
    if how.zeroed is not None:
        here = torch.arange(value.shape[2], device=value.device) == how.zeroed[:, None]
        value = value.masked_fill(here[:, None, :, None], 0.0)
    if watch is not None:
        watch.seen.append(Attended(weights, value))
    used = F.dropout(weights, options.get("dropout", 0.0), module.training)
    return torch.matmul(used, value).transpose(1, 2).contiguous(), weights


def _weights(scores: Tensor, mask: Tensor | None, distribution: str) -> Tensor:
    if distribution == "softmax":  # exactly what the eager attention computes
        return (scores if mask is None else scores + mask).softmax(-1)
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else (mask == 0).expand_as(scores)
    flat = DISTRIBUTIONS[distribution](scores.flatten(0, 2), allowed.flatten(0, 2), 1.0)
    return flat.view_as(scores)
