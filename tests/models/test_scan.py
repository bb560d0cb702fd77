from __future__ import annotations

import math

import pytest
import torch
from fakes import noise
from torch import Tensor

from faithgauge.models.scan import scan


def doubled(by_gate: Tensor) -> Tensor:
    """The columns of the cell candidate times two, as `scan` wants them; the last axis is (i f g o)."""
    i, f, g, o = by_gate.chunk(4, -1)
    return torch.cat([i, f, 2 * g, o], -1)


def plainly(weight: Tensor, gates: Tensor) -> Tensor:
    """The recurrence as it stands in a textbook, with undoubled columns."""
    steps, directions, batch, width = gates.shape
    hidden = cell = gates.new_zeros(directions, batch, width // 4)
    states = []
    for step in range(steps):
        i, f, g, o = (gates[step] + hidden @ weight).chunk(4, -1)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        hidden = o.sigmoid() * cell.tanh()
        states.append(hidden)
    return torch.stack(states)


def example(
    steps: int, batch: int, size: int, *, seed: int = 0, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(seed)
    weight = torch.randn(2, size, 4 * size, generator=random, dtype=dtype)
    gates = torch.randn(steps, 2, batch, 4 * size, generator=random, dtype=dtype)
    return weight, gates


def test_one_unit_and_two_steps_by_hand() -> None:
    def sigmoid(x: float) -> float:
        return 1 / (1 + math.exp(-x))

    i, f, g, o = 0.1, 0.2, 0.3, 0.4
    wi, wf, wg, wo = 1.0, -0.5, 2.0, 0.25
    c1 = sigmoid(i) * math.tanh(g)
    h1 = sigmoid(o) * math.tanh(c1)
    c2 = sigmoid(f + wf * h1) * c1 + sigmoid(i + wi * h1) * math.tanh(g + wg * h1)
    h2 = sigmoid(o + wo * h1) * math.tanh(c2)

    weight = torch.tensor([wi, wf, wg, wo], dtype=torch.float64).expand(2, 1, 4)
    gates = torch.tensor([i, f, g, o], dtype=torch.float64).repeat(2, 2, 1, 1)
    hidden = scan(doubled(weight), doubled(gates))
    assert hidden[:, 0, 0, 0].tolist() == pytest.approx([h1, h2], abs=1e-15)
    assert hidden[:, 1, 0, 0].tolist() == pytest.approx([h1, h2], abs=1e-15)


@pytest.mark.parametrize(("steps", "batch", "size"), [(1, 1, 1), (1, 3, 2), (5, 1, 3), (7, 4, 2)])
def test_the_states_are_those_of_the_textbook(steps: int, batch: int, size: int) -> None:
    weight, gates = example(steps, batch, size)
    expected = plainly(weight, gates)
    torch.testing.assert_close(scan(doubled(weight), doubled(gates)), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("steps", "batch", "size"), [(1, 1, 1), (1, 3, 2), (5, 1, 3), (7, 4, 2)])
def test_the_gradients_are_those_of_the_textbook(steps: int, batch: int, size: int) -> None:
    leaves = [x.requires_grad_() for x in example(steps, batch, size)]
    weight, gates = leaves
    upstream = noise(steps, 2, batch, size, dtype=torch.float64)
    ours = torch.autograd.grad(scan(doubled(weight), doubled(gates)), leaves, upstream)
    theirs = torch.autograd.grad(plainly(weight, gates), leaves, upstream)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def test_the_gradient_is_the_limit_of_differences() -> None:
    weight, gates = (x.requires_grad_() for x in example(4, 2, 3))
    assert torch.autograd.gradcheck(lambda w, g: scan(w, g.clone()), (weight, gates))


def test_a_gradient_may_reach_a_single_state() -> None:
    leaves = [x.requires_grad_() for x in example(6, 2, 2)]
    weight, gates = leaves
    for step in (0, 3, 5):
        ours = torch.autograd.grad(scan(doubled(weight), doubled(gates))[step, 0, 1].sum(), leaves)
        theirs = torch.autograd.grad(plainly(weight, gates)[step, 0, 1].sum(), leaves)
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-14)


def test_the_backward_pass_may_run_twice() -> None:
    weight, gates = (x.requires_grad_() for x in example(4, 2, 2))
    loss = scan(doubled(weight), doubled(gates)).square().sum()
    first = torch.autograd.grad(loss, (weight, gates), retain_graph=True)
    second = torch.autograd.grad(loss, (weight, gates))
    torch.testing.assert_close(first, second, rtol=0, atol=0)


def test_the_two_directions_do_not_mix() -> None:
    weight, gates = example(4, 2, 2)
    other = gates.clone()
    other[:, 1] = 0
    before, after = scan(weight, gates.clone()), scan(weight, other)
    assert torch.equal(before[:, 0], after[:, 0])
    assert not torch.equal(before[:, 1], after[:, 1])


def test_float32_is_exact_to_its_rounding() -> None:
    weight, gates = example(30, 8, 16, dtype=torch.float32)
    expected = plainly(weight.double() / 4, gates.double())
    found = scan(doubled(weight / 4), doubled(gates)).double()
    torch.testing.assert_close(found, expected, rtol=0, atol=2e-6)


def test_gates_far_from_zero_saturate_without_nan() -> None:
    weight, gates = example(3, 2, 2)
    hidden = scan(weight, gates * 1e6)
    assert hidden.isfinite().all()
    assert hidden.abs().max() <= 1
