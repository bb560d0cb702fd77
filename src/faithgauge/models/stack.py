"""The layers of a transformer as a list, of families that are known to be built as one.

What comes before the layers, what they hand on, and what comes after is then the same for all: a forward pass
may end after some of the layers, or begin behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

FAMILIES = frozenset({"bert", "camembert", "distilbert", "electra", "roberta", "xlm-roberta"})
"""Whose layers are a list of modules, none of them twice, and whose head reads the first token alone."""


@dataclass(frozen=True)
class Stack:
    """`whole` has the layers under `name`, calls one after the other, and returns the last one's states."""

    whole: nn.Module
    name: str
    layers: nn.ModuleList

    @contextmanager
    def only(self, layers: list[nn.Module]) -> Iterator[None]:
        """Inside, a forward pass goes through these layers and no others."""
        setattr(self.whole, self.name, nn.ModuleList(layers))
        try:
            yield
        finally:
            setattr(self.whole, self.name, self.layers)

    @contextmanager
    def begun(self, layer: int, states: Tensor) -> Iterator[None]:
        """Inside, a forward pass begins at this layer, from 0, with these states (batch, token, hidden)."""

        def begin(_module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if args:
                return (states, *args[1:]), kwargs
            return args, {**kwargs, "hidden_states": states}

        handle = self.whole.register_forward_pre_hook(begin, with_kwargs=True)
        try:
            with self.only(list(self.layers)[layer:]):
                yield
        finally:
            handle.remove()


def stack_of(network: Any) -> Stack | None:
    """The layers of a network; None of a family that is not known."""
    if network.config.model_type not in FAMILIES:
        return None
    found = [
        Stack(module, name, child)
        for module in network.base_model.modules()
        for name, child in module.named_children()
        if isinstance(child, nn.ModuleList)
    ]
    alone = len(found) == 1 and len(found[0].layers) == network.config.num_hidden_layers
    return found[0] if alone else None
