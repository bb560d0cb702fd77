from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from faithgauge.models.onednn import OneDNN


def parts(*shape: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    size = shape[-1]
    return tuple(torch.randn(one, generator=generator) for one in (shape, (48, size), (48,)))  # type: ignore


@pytest.mark.parametrize("shape", [(1024, 64), (32, 32, 64), (5, 241, 64), (1, 1100, 64), (3, 64)])
def test_linear_maps_are_the_same_but_for_rounding(shape: tuple[int, ...]) -> None:
    values, weight, bias = parts(*shape)
    expected = F.linear(values, weight, bias)
    with torch.inference_mode(), OneDNN():
        for _ in range(2):
            torch.testing.assert_close(F.linear(values, weight, bias), expected, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("shape", [(1024, 64), (32, 32, 64), (5, 241, 64), (1, 1100, 64)])
def test_gradients_are_the_same_but_for_rounding(shape: tuple[int, ...]) -> None:
    values = [one.requires_grad_() for one in parts(*shape)]
    pull = torch.randn(*shape[:-1], 48, generator=torch.Generator().manual_seed(1))
    expected = torch.autograd.grad(F.linear(*values), values, pull)
    with OneDNN():
        found = torch.autograd.grad(F.linear(*values), values, pull)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-3, rtol=1e-5)


def test_another_weight_in_the_same_place_is_not_taken_for_the_first() -> None:
    with torch.inference_mode(), OneDNN():
        for scale in range(1, 4):
            values, weight, bias = parts(1024, 64)
            found = F.linear(values, weight * scale, bias)
            torch.testing.assert_close(found, values @ weight.t() * scale + bias, atol=1e-3, rtol=1e-4)
