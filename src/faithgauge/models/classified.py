"""The logits of a transformer, without what they do not depend on.

The head reads the state of the first token. So in the last layer only that token asks, is added to and goes
on through the feed-forward part; of all others only the keys and values are needed. Of the last layer that
leaves a fifth, and of all of a network of L layers about 1 − 0.8 / L.

The layer gets the state of the first token, its keys and values those of all; nothing of transformers' code
is changed, and its public attention interface puts the two together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from faithgauge.models.replaced import register
from faithgauge.models.stack import stack_of

NAME = "faithgauge-first"
"""What this attention is called in the tables of transformers."""
_KEYS, _VALUES = ("key", "k_lin"), ("value", "v_lin")


class _Last(NamedTuple):
    """The last layer, and what makes the keys and values of its attention."""

    whole: nn.Module
    sources: list[nn.Module]


@contextmanager
def first_only(network: Any) -> Iterator[None]:
    """Inside, the last layer returns the state of the first token alone, (batch, 1, hidden).

    A network of another family, or one whose attention somebody else has replaced, is left as it is. No
    gradient is computed through it.
    """
    last = _last(network)
    if last is None:
        yield
        return
    states: list[Tensor] = []

    def narrow(_module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        states[:] = args[:1]
        return (args[0][:, :1], *args[1:])

    def widen(_module: nn.Module, _args: tuple[Any, ...]) -> Tensor:
        return states[0]

    register(NAME, _attend)
    with ExitStack() as hooks:
        hooks.enter_context(_named(network))
        hooks.callback(last.whole.register_forward_pre_hook(narrow).remove)
        for source in last.sources:
            hooks.callback(source.register_forward_pre_hook(widen).remove)
        yield


def _last(network: Any) -> _Last | None:
    """The last layer of a network that is known to be built as is said above."""
    config = network.config
    chunked = (getattr(config, "chunk_size_feed_forward", 0) or 0) > 1
    stack = stack_of(network)
    if stack is None or chunked or config._attn_implementation != "eager" or network.training:
        return None
    whole = stack.layers[-1]
    named = {name.rpartition(".")[2]: module for name, module in whole.named_modules()}
    sources = [named[name] for name in (*_KEYS, *_VALUES) if name in named]
    return _Last(whole, sources) if len(sources) == 2 else None


@contextmanager
def _named(network: Any) -> Iterator[None]:
    before = network.config._attn_implementation
    network.set_attn_implementation(NAME)
    try:
        yield
    finally:
        network.set_attn_implementation(before)


def _attend(
    _module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **options: Any,
) -> tuple[Tensor, None]:
    """As transformers calls it; keys of more tokens than ask come with their tokens among their heads."""
    texts, heads, asking, size = query.shape
    if key.shape[1] != heads:
        key, value = (one.reshape(texts, -1, heads, size).transpose(1, 2) for one in (key, value))
        attention_mask = None if attention_mask is None else attention_mask[:, :, :asking]
    scaling = options.get("scaling")
    scores = torch.matmul(query, key.transpose(2, 3)) * (size**-0.5 if scaling is None else scaling)
    weights = (scores if attention_mask is None else scores + attention_mask).softmax(-1)
    return torch.matmul(weights, value).transpose(1, 2).contiguous(), None
