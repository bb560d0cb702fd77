"""Linear maps by oneDNN, where torch would use another library: on AMD that halves their time.

torch takes MKL for dense matrices and oneDNN for tensors in the latter's own layout; the results are the same
but for rounding. Only for inference: where a gradient is recorded nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

_LEAST = 2**16
"""Of a matrix with fewer numbers the change of layout costs more than it brings."""


class OneDNN(TorchFunctionMode):
    """Inside, ``torch.nn.functional.linear`` of large matrices is oneDNN's."""

    def __init__(self) -> None:
        super().__init__()
        self._laid_out: dict[int, tuple[Tensor, Tensor]] = {}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func is F.linear and not kwargs and len(args) == 3 and _suits(*args):
            values, weight, bias = args
            # The weight itself is kept beside, or its number could be that of another one later.
            _, own = self._laid_out.setdefault(id(weight), (weight, weight.to_mkldnn()))
            return F.linear(values.to_mkldnn(), own, bias).to_dense()
        return func(*args, **(kwargs or {}))


def _suits(values: Any, weight: Any, bias: Any) -> bool:
    return (
        isinstance(bias, Tensor)
        and values.layout == torch.strided
        and values.device.type == "cpu"
        and values.dtype == weight.dtype == torch.float32
        and values.numel() >= _LEAST
        and not torch.is_grad_enabled()
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    )
