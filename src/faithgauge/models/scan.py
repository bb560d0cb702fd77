"""The recurrence of a long short-term memory over gates that are already projected.

The input projection of an LSTM is linear, so it is done once for each distinct vector of a batch
(`encoders.py`); what is left is this scan, which runs both directions side by side. Its gradient is written
by hand: one product with the recurrent weights per step, nothing of the size of the input projection.
It computes what `torch.nn.LSTM` computes, to the rounding of float32, and is the faster of the two on a CPU.

`torch.tanh` costs several times `torch.sigmoid` there, so tanh(x) is taken as 2σ(2x) − 1. The caller doubles
the columns of the cell candidate, in the gates and in the recurrent weights: one σ then serves all gates.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable


def scan(
    weight: Float[Tensor, "2 hidden 4*hidden"], gates: Float[Tensor, "step 2 batch 4*hidden"]
) -> Float[Tensor, "step 2 batch hidden"]:
    """The hidden states after every step, from zero states; `gates` is overwritten.

    h_t = o·tanh(c_t),  c_t = f·c_{t−1} + i·g,  with i, f, o = σ(·), g = tanh(·) of gates_t + h_{t−1}·weight.
    The four stand in torch's order i f g o, with the columns of g doubled in both arguments.
    """
    hidden: Tensor = _Scan.apply(gates, weight)[0]  # type: ignore[no-untyped-call]
    return hidden


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gates: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        steps, directions, batch, width = gates.shape
        size = width // 4
        cells = gates.new_empty(steps, directions, batch, size)
        squashed, hidden = torch.empty_like(cells), torch.empty_like(cells)
        for step in range(steps):
            now = gates[step]
            if step:
                now.baddbmm_(hidden[step - 1], weight)
            i, f, g, o = torch.split(now.sigmoid_(), size, -1)
            g.mul_(2).sub_(1)
            cell = torch.mul(i, g, out=cells[step])
            if step:
                cell.addcmul_(f, cells[step - 1])
            torch.mul(cell, 2, out=squashed[step]).sigmoid_().mul_(2).sub_(1)
            torch.mul(o, squashed[step], out=hidden[step])
        ctx.mark_dirty(gates)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(gates, cells, squashed, hidden, weight)
        return hidden, gates

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, hidden_grad: Tensor | None, _: None) -> tuple[Tensor | None, Tensor | None]:
        if hidden_grad is None:
            return None, None
        gates, cells, squashed, hidden, weight = ctx.saved_tensors
        steps, directions, batch, width = gates.shape
        size = width // 4
        grad = _slopes(gates, cells, squashed)
        by_gate = grad.view(steps, directions, batch, 4, size)
        forget, output = gates[..., size : 2 * size], gates[..., 3 * size :]
        through_output = output * (1 - squashed * squashed)
        back = weight.transpose(1, 2).contiguous()
        arriving, cell_grad = hidden_grad[-1], None
        for step in range(steps - 1, -1, -1):
            if cell_grad is None:
                cell_grad = arriving * through_output[step]
            else:
                cell_grad = cell_grad.mul_(forget[step + 1]).addcmul_(arriving, through_output[step])
            by_gate[step, :, :, :3].mul_(cell_grad.unsqueeze(2))
            by_gate[step, :, :, 3].mul_(arriving)
            if step:
                arriving = torch.baddbmm(hidden_grad[step - 1], grad[step], back)
        if not ctx.needs_input_grad[1]:
            return grad, None
        earlier = hidden[:-1].permute(1, 3, 0, 2).reshape(directions, size, -1)
        later = grad[1:].transpose(0, 1).reshape(directions, -1, width)
        return grad, torch.bmm(earlier, later)


def _slopes(gates: Tensor, cells: Tensor, squashed: Tensor) -> Tensor:
    """What the gradient of the cell (for i, f, g) or of the state (for o) is multiplied with at each gate."""
    size = cells.shape[-1]
    i, f, g, o = torch.split(gates, size, -1)
    slopes = torch.empty_like(gates)
    to_i, to_f, to_g, to_o = torch.split(slopes, size, -1)
    torch.mul(i, 1 - i, out=to_i).mul_(g)
    torch.mul(f, 1 - f, out=to_f)[1:].mul_(cells[:-1])
    to_f[0] = 0
    torch.mul(g, g, out=to_g).neg_().add_(1).mul_(i).mul_(0.5)
    torch.mul(o, 1 - o, out=to_o).mul_(squashed)
    return slopes
