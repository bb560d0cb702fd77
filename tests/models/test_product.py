from __future__ import annotations

from typing import Any

import pytest
import torch
from fakes import noise
from torch import nn

from faithgauge.models import product as module
from faithgauge.models.product import linear, product, public_product


@pytest.mark.parametrize("way", [product, public_product])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_each_way_of_multiplying_gives_the_product(way: Any, dtype: torch.dtype) -> None:
    weight, vectors = noise(6, 4).to(dtype), noise(7, 9, 4).to(dtype)
    for strided in (vectors[0], vectors[:, 3], vectors[2, ::2]):
        torch.testing.assert_close(way(weight)(strided), strided @ weight.t(), rtol=1e-5, atol=1e-6)


def test_what_torch_no_longer_has_is_done_by_public_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def noted(weight: torch.Tensor) -> object:
        asked.append(len(weight))
        return lambda x: x @ weight.t()

    monkeypatch.setattr(module, "public_product", noted)
    monkeypatch.setattr(torch.ops, "mkldnn", object())
    assert product(noise(6, 4))(noise(2, 4)).shape == (2, 6)
    assert asked == [6]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_frozen_layer_gives_what_it_gives_and_passes_the_gradient_on(
    bias: bool, dtype: torch.dtype
) -> None:
    layer = nn.Linear(4, 6, bias=bias).to(dtype).requires_grad_(False)
    weigh, found = noise(3, 5, 6).to(dtype), []
    for way in (linear, nn.Linear.__call__):
        x = noise(3, 5, 4).to(dtype).requires_grad_()
        out = way(layer, x)
        found.append((out.detach(), torch.autograd.grad((out * weigh).sum(), x)[0]))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


def test_a_layer_that_learns_has_gradients_of_its_weights() -> None:
    layer = nn.Linear(4, 6)
    linear(layer, noise(3, 4)).sum().backward()
    assert layer.weight.grad is not None
    assert layer.bias.grad is not None
