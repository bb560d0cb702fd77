"""What happens inside the layers of a transformer, seen by hooks: no model's code is copied or changed.

Whatever the family calls its parts, a layer is the outermost module around one attention, its output map the
first linear layer that is entered after the attention, and the sum with what went in is what the next layer
norm gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from faithgauge.errors import UnsupportedError
from faithgauge.models.replaced import Attended, attending


@dataclass
class Layer:
    """One layer in one forward pass.

    attended   the weights of its attention, and the values
    whole      the layer as a module, and what it was called with
    output     what it returned (batch, token, hidden)
    project    the linear map of the weighted values of all heads together
    summed     that and what went in together (batch, token, hidden), as `norm` gets them
    """

    attended: Attended
    whole: nn.Module
    arguments: tuple[tuple[Any, ...], dict[str, Any]]
    output: Tensor
    project: nn.Linear
    summed: Tensor
    norm: nn.LayerNorm

    @property
    def entered(self) -> Tensor:
        """The states that it was called with (batch, token, hidden)."""
        positional, named = self.arguments
        return torch.as_tensor(positional[0] if positional else named["hidden_states"])


def layers_of(network: nn.Module, run: Callable[[], object]) -> list[Layer]:
    """The layers of a network of transformers, in order, while `run` runs it once."""
    with attending(network) as seen, _watched(network, seen) as found:
        run()
    parts = ("whole", "arguments", "output", "project", "summed", "norm")
    if not seen or any(set(one) != set(parts) for one in (found.get(i, {}) for i in range(len(seen)))):
        raise UnsupportedError(
            f"the layers of {type(network).__name__} are not built of attention, a linear map and a layer "
            "norm; choose an explainer that needs the attention alone, such as rollout"
        )
    return [Layer(attended, **found[i]) for i, attended in enumerate(seen)]


def again(layer: Layer, states: Tensor) -> Tensor:
    """What the layer returns for other states: as many of each text as there are, one after the other."""
    positional, named = layer.arguments
    here = layer.entered
    copies = len(states) // len(here)

    def repeated(value: Any) -> Any:
        if isinstance(value, Tensor) and value.ndim and len(value) == len(here):
            return value.repeat_interleave(copies, 0)
        return value

    rest = {name: repeated(value) for name, value in named.items()}
    others = tuple(repeated(value) for value in positional[1:])
    if positional:
        return _first(layer.whole(states, *others, **rest))
    return _first(layer.whole(**{**rest, "hidden_states": states}))


@contextmanager
def _watched(model: nn.Module, seen: list[Attended]) -> Iterator[dict[int, dict[str, Any]]]:
    """Inside, by number of the attention what was found of the layer around it."""
    found: dict[int, dict[str, Any]] = {}
    entered: list[int] = []

    def enter(module: nn.Module, args: tuple[Any, ...]) -> None:
        entered.append(len(seen))
        if not seen:
            return
        own = found.setdefault(len(seen) - 1, {})
        if isinstance(module, nn.Linear):
            own.setdefault("project", module)
        elif isinstance(module, nn.LayerNorm) and "project" in own and "norm" not in own:
            own.update(norm=module, summed=args[0].detach())

    def _leave(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        before = entered.pop()
        if len(seen) == before + 1 and not any(isinstance(one, nn.ModuleList) for one in module.modules()):
            own = found.setdefault(before, {})
            own.update(whole=module, arguments=(args, kwargs), output=_first(output))

    hooks: list[Any] = []
    for module in model.modules():
        hooks.append(module.register_forward_pre_hook(enter))
        hooks.append(module.register_forward_hook(_leave, with_kwargs=True))
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def _first(output: Any) -> Tensor:
    return torch.as_tensor(output[0] if isinstance(output, tuple) else output)
