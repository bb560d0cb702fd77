"""DeepLIFT's rescale rule, operation by operation.

A text and its baseline go through a network together: the first half of a stack (dimension 0) holds texts,
the second half their baselines. Forward, each operation is what it always is. Backward, from the first half
alone, it passes multipliers instead of derivatives: numbers m with Δy = Σ m Δx, where Δ is text minus
baseline. They multiply as derivatives do, so autograd carries them, and what is linear needs nothing of its
own. As every operation here is exact, so is whatever is made of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from faithgauge.models import attention as distributions

Stack = Float[Tensor, "example ..."]
Weights = Float[Tensor, "example token"]
Slope = Callable[[Tensor, Tensor], Tensor]
"""The multiplier of y = f(x): from the two halves of x stacked, and those of y."""


def sigmoid(x: Stack) -> Stack:
    """σ, with m = Δσ/Δx."""
    return _elementwise(x, torch.sigmoid, lambda x, y: _quotient(x, y, (m := _middle(y)) * (1 - m)))


def tanh(x: Stack) -> Stack:
    """tanh, with m = Δtanh/Δx; taken as 2σ(2x) − 1, which the model does as well."""
    return sigmoid(x * 2) * 2 - 1


def gelu(x: Stack) -> Stack:
    """GELU, with m = Δgelu/Δx."""
    return _elementwise(x, nn.functional.gelu, lambda x, y: _quotient(x, y, _slope_of_gelu(_middle(x))))


def relu(x: Stack) -> Stack:
    """ReLU, with m = Δrelu/Δx."""
    return _elementwise(x, torch.relu, _slope_of_relu)


def absolute(x: Stack) -> Stack:
    """|x|, with m = Δ|x|/Δx."""
    return _elementwise(x, torch.abs, lambda x, y: _cornered(x, y, _middle(x).sign()))


def reciprocal_root(x: Stack) -> Stack:
    """1/√x, with m = Δ(1/√x)/Δx, which is −(y y₀)² / (y + y₀)."""
    return _elementwise(x, torch.rsqrt, lambda _, y: -(_product(y) ** 2) / (2 * _middle(y)))


def product(a: Stack, b: Stack) -> Stack:
    """a b of equal shapes, split evenly between the two: Δ(ab) = ½(a + a₀) Δb + ½(b + b₀) Δa."""
    return _applied(_Product, a, b)


def matrix_product(a: Stack, b: Stack) -> Stack:
    """The matrix product, every product in it split evenly between its two factors."""
    return _applied(_MatrixProduct, a, b)


def layer_norm(x: Stack, layer: nn.LayerNorm) -> Stack:
    """A layer norm as centring (linear), square, 1/√ and products."""
    centred = x - x.mean(-1, keepdim=True)
    variance = product(centred, centred).mean(-1, keepdim=True)
    scale = reciprocal_root(variance + layer.eps)
    return product(centred, scale.expand_as(centred)) * layer.weight + layer.bias


def distribute(
    scores: Weights, maskable: Bool[Tensor, "example token"], distribution: Callable[..., Tensor]
) -> Weights:
    """Softmax, entmax15 or sparsemax over the maskable tokens, one of `models.attention`.

    Each of them is α_t = φ(s_t − τ), where the threshold τ is such that Σ_t α_t = 1, and φ is exp, (·/2)₊²
    or (·)₊. The rescale rule for φ is k_t = Δα_t / Δ(s_t − τ). Σ_t Δα_t is 0, so Σ_t k_t (Δs_t − Δτ) is, and

    Δα_t = k_t (Δs_t − Σ_u k_u Δs_u / Σ_u k_u).

    With derivatives for the k this is the gradient. Like it, it does not see what is added to all scores.
    """
    return _applied(_Distribution, scores, maskable, distribution)


def _applied(operation: Any, *inputs: Any) -> Tensor:
    return torch.as_tensor(operation.apply(*inputs))


def _elementwise(x: Tensor, function: Callable[[Tensor], Tensor], slope: Slope) -> Tensor:
    return _applied(_Elementwise, x, function, slope)


def _difference(x: Tensor) -> Tensor:
    text, base = x.chunk(2)
    return text - base


def _middle(x: Tensor) -> Tensor:
    text, base = x.chunk(2)
    return (text + base) / 2


def _product(x: Tensor) -> Tensor:
    text, base = x.chunk(2)
    return text * base


def _quotient(x: Tensor, y: Tensor, derivative: Tensor) -> Tensor:
    """Δy/Δx of a smooth function whose scale is 1; the derivative half-way where Δx is close to 0.

    Closer than ∛(precision), a quotient loses more to rounding than the derivative does to curvature.
    """
    step = _difference(x)
    near = step.abs() < torch.finfo(x.dtype).eps ** (1 / 3)
    return torch.where(near, derivative, _difference(y) / step.masked_fill(near, 1))


def _cornered(x: Tensor, y: Tensor, derivative: Tensor) -> Tensor:
    """Δy/Δx of a function of straight pieces, which loses nothing to rounding."""
    step = _difference(x)
    near = step == 0
    return torch.where(near, derivative, _difference(y) / step.masked_fill(near, 1))


def _slope_of_relu(x: Tensor, y: Tensor) -> Tensor:
    return _cornered(x, y, (_middle(x) > 0).to(x.dtype))


def _slope_of_gelu(x: Tensor) -> Tensor:
    normal = torch.as_tensor(torch.special.ndtr(x))
    return normal + x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _stacked(half: Tensor) -> Tensor:
    """A gradient of the first half; nothing is asked of the second."""
    return torch.cat([half, torch.zeros_like(half)])


class _Elementwise(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, function: Callable[[Tensor], Tensor], slope: Slope) -> Tensor:
        y = function(x)
        ctx.save_for_backward(slope(x, y))
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (slope,) = ctx.saved_tensors
        return _stacked(grad[: len(slope)] * slope), None, None


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(_middle(a), _middle(b))
        return a * b

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        a, b = ctx.saved_tensors
        grad = grad[: len(a)]
        return _stacked(grad * b), _stacked(grad * a)


class _MatrixProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(_middle(a), _middle(b))
        return a @ b

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        a, b = ctx.saved_tensors
        grad = grad[: len(a)]
        return _stacked(grad @ b.transpose(-1, -2)), _stacked(a.transpose(-1, -2) @ grad)


class _Distribution(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, maskable: Tensor, distribution: Callable[..., Tensor]) -> Tensor:
        weight, inverse, slope = _LINKS[distribution]
        top, place = scores.masked_fill(~maskable, -torch.inf).max(-1, keepdim=True)
        # The largest score lies in the support, so its weight tells the threshold.
        threshold = top - inverse(distribution(scores, maskable, 1.0).gather(-1, place))
        above = torch.where(maskable, scores - threshold, 0)
        weights = weight(above) * maskable
        ctx.save_for_backward(slope(above, weights) * maskable.chunk(2)[0])
        return weights

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (slope,) = ctx.saved_tensors
        each = slope * grad[: len(slope)]
        total = slope.sum(-1, keepdim=True).clamp(min=torch.finfo(slope.dtype).tiny)
        return _stacked(each - slope * (each.sum(-1, keepdim=True) / total)), None, None


_LINKS: dict[Callable[..., Tensor], tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor], Slope]] = {
    distributions.softmax: (torch.exp, torch.log, lambda x, y: _quotient(x, y, _middle(y))),
    distributions.entmax15: (
        lambda x: (x.relu() / 2) ** 2,
        lambda y: 2 * y.sqrt(),
        lambda x, _: _slope_of_relu(x, x.relu()) * _middle(x.relu()) / 2,
    ),
    distributions.sparsemax: (torch.relu, lambda y: y, _slope_of_relu),
}
"""φ, its inverse, and its multiplier."""
