"""Linear maps by oneDNN, where torch would use another library: on AMD that halves their time.

torch takes MKL for dense matrices, and oneDNN for convolutions. A linear map is a convolution of width 1
whose channels stand last, which is how the states of a batch lie in memory: nothing is copied, and the
results are the same but for rounding. The gradients of a convolution are oneDNN's as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

_LEAST = 2**16
"""A matrix with fewer numbers gains nothing."""
_TEXTS = 16
"""torch has a convolution of width 1 done by oneDNN from so many pictures on, with one thread."""


class OneDNN(TorchFunctionMode):
    """Inside, ``torch.nn.functional.linear`` of large matrices is oneDNN's."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func is F.linear and not kwargs and len(args) == 3 and _suits(*args):
            return _linear(*args)
        return func(*args, **(kwargs or {}))


def _suits(values: Any, weight: Any, bias: Any) -> bool:
    return (
        isinstance(bias, Tensor)
        and values.layout == torch.strided
        and values.device.type == "cpu"
        and values.dtype == weight.dtype == torch.float32
        and values.numel() >= _LEAST
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    )


def _linear(values: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The states of each text are a picture one token high; of few long texts, so is a part of them all."""
    if values.dim() == 3 and len(values) >= _TEXTS:
        return _convolved(values, weight, bias)
    rows = values.reshape(-1, values.shape[-1])
    found, rest = rows[: len(rows) // _TEXTS * _TEXTS], rows[len(rows) // _TEXTS * _TEXTS :]
    found = _convolved(found.view(_TEXTS, -1, rows.shape[-1]), weight, bias).flatten(0, 1)
    if len(rest):
        found = torch.cat([found, F.linear(rest, weight, bias)])
    return found.view(*values.shape[:-1], len(weight))


def _convolved(values: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    pictures = values.transpose(1, 2)[:, :, None]
    kernel = weight[:, :, None, None].contiguous(memory_format=torch.channels_last)
    return F.conv2d(pictures, kernel, bias)[:, :, 0].transpose(1, 2)
