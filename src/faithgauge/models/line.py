"""Straight lines between two texts in the space where a model begins, and the memory that runs along them.

Integrated gradients and their kin ask for one thing: the gradients of f at many points of a line, summed.
Since start + share · change moves with `start`, that sum is the gradient with respect to `start` alone. So an
LSTM makes its gates where they are used, from start and change, and adds up their gradients where they arise;
nothing of the size of points × gates is gathered or scattered, and no weight gets a gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from faithgauge.models.embedding import Rows, rows_of
from faithgauge.models.product import product


class Line(NamedTuple):
    """Points of one line per text: start + share · change for each share, the points of a share together.

    `room` is memory that may be written on once the gradient of the line before has been taken: to touch new
    memory costs more than what is computed in it.
    """

    start: Float[Tensor, "batch token hidden"]
    change: Float[Tensor, "batch token hidden"]
    shares: Float[Tensor, "step batch"]
    room: dict[str, Tensor] | None = None

    def points(self) -> Float[Tensor, "example token hidden"]:
        return (self.start + self.shares[..., None, None] * self.change).flatten(0, 1)

    def rows(self) -> Rows:
        return rows_of(self.points())


def scan_line(
    weight: Float[Tensor, "2 _ hidden"],
    start: Float[Tensor, "token 2 batch 4*hidden"],
    change: Float[Tensor, "token 2 batch 4*hidden"],
    *,
    shares: Float[Tensor, "step batch"],
    room: dict[str, Tensor] | None = None,
) -> Float[Tensor, "example token _"]:
    """The states of a long short-term memory at all points of lines; only `start` gets a gradient.

    Direction 0 reads from the first token and direction 1 from the last: in that order their gates stand. The
    columns of the cell candidate are doubled in gates and `weight`, as `scan` has them.
    """
    hidden: Tensor = _ScanLine.apply(weight, start, change, shares, room)  # type: ignore[no-untyped-call]
    return hidden


class _ScanLine(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        weight: Tensor,
        start: Tensor,
        change: Tensor,
        shares: Tensor,
        room: dict[str, Tensor] | None,
    ) -> Tensor:
        tokens, directions, texts, width = start.shape
        examples, size = shares.numel(), width // 4
        gates = _take(room, "gates", start, (tokens, directions, examples, width))
        cells = _take(room, "cells", start, (tokens, directions, examples, size))
        squashed = _take(room, "squashed", start, (tokens, directions, examples, size))
        hidden = _take(room, "hidden", start, (examples, tokens, directions * size))
        recur, along = _products(weight), shares[..., None]
        for t in range(tokens):
            now = gates[t]
            points = now.view(directions, -1, texts, width)
            torch.addcmul(start[t].unsqueeze(1), change[t].unsqueeze(1), along, out=points)
            if t:
                for own, step, before in zip(now, recur, _both(hidden, t - 1), strict=True):
                    own.add_(step(before))
            i, f, g, o = torch.split(now.sigmoid_(), size, -1)
            cell = torch.mul(i, g, out=cells[t]).mul_(2).sub_(i)  # g is left as σ; tanh is 2σ − 1
            if t:
                cell.addcmul_(f, cells[t - 1])
            torch.mul(cell, 2, out=squashed[t]).sigmoid_().mul_(2).sub_(1)
            for own, half, after in zip(o, squashed[t], _both(hidden, t), strict=True):
                torch.mul(own, half, out=after)
        ctx.save_for_backward(gates, cells, squashed, weight)
        ctx.texts, ctx.room = texts, room
        return hidden

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, hidden_grad: Tensor) -> tuple[None, Tensor, None, None, None]:
        gates, cells, squashed, weight = ctx.saved_tensors
        tokens, directions, examples, width = gates.shape
        size, back = width // 4, _products(weight.transpose(1, 2))
        total = gates.new_empty(tokens, directions, ctx.texts, width)
        grad = _take(ctx.room, "grad", gates, (directions, examples, width))
        arriving, through, squares, cell_grad = _take(
            ctx.room, "states", gates, (4, directions, examples, size)
        )
        cell_grad.zero_()
        to_i, to_f, to_g, to_o = torch.split(grad, size, -1)
        for t in range(tokens - 1, -1, -1):
            for direction, here in enumerate(_both(hidden_grad, t)):
                if t == tokens - 1:
                    arriving[direction].copy_(here)
                else:
                    torch.add(here, back[direction](grad[direction]), out=arriving[direction])
            i, f, g, o = torch.split(gates[t], size, -1)
            torch.mul(arriving, o, out=through)
            torch.mul(squashed[t], squashed[t], out=squares)
            cell_grad.add_(through).addcmul_(through, squares, value=-1)
            torch.mul(cell_grad, g, out=to_i).mul_(2).sub_(cell_grad)
            torch.mul(cell_grad, cells[t - 1], out=to_f) if t else to_f.zero_()
            torch.mul(cell_grad, i, out=to_g).mul_(2)
            torch.mul(arriving, squashed[t], out=to_o)
            cell_grad.mul_(f)
            # σ′ = σ − σ², for all four gates at once
            grad.mul_(gates[t]).addcmul_(grad, gates[t], value=-1)
            torch.sum(grad.view(directions, -1, ctx.texts, width), 1, out=total[t])
        return None, total, None, None, None


def _both(
    hidden: Float[Tensor, "example token _"], step: int
) -> tuple[Float[Tensor, "example _"], Float[Tensor, "example _"]]:
    """What both directions have at their step, direction 1 having begun at the last token."""
    size = hidden.shape[-1] // 2
    return hidden[:, step, :size], hidden[:, hidden.shape[1] - 1 - step, size:]


def _take(room: dict[str, Tensor] | None, name: str, like: Tensor, shape: tuple[int, ...]) -> Tensor:
    if room is None:
        return like.new_empty(shape)
    size = math.prod(shape)
    if name not in room or room[name].numel() < size:
        room[name] = like.new_empty(size)
    return room[name][:size].view(shape)


def _products(weights: Float[Tensor, "2 hidden _"]) -> list[Callable[[Tensor], Tensor]]:
    return [product(own.contiguous()) for own in weights]
