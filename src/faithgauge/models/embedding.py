"""Word vectors whose gradient touches only the rows of the batch.

Of a vocabulary of 15,000 words a batch holds a few hundred. A dense gradient costs a fill of the whole matrix
at every step; here it is kept from step to step and only the rows that were written are cleared. The
optimiser still sees a dense gradient, so coupled weight decay moves every row as it should.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


class Rows(NamedTuple):
    """Vectors, and which of them stands at each place: a text is ``vectors[places]``.

    Encoders get their input in this form, so that what is linear in it is computed once per distinct vector.
    """

    vectors: Float[Tensor, "vocab embed"]
    places: Int[Tensor, "batch token"]

    def spread(self) -> Float[Tensor, "batch token embed"]:
        return nn.functional.embedding(self.places, self.vectors)


def rows_of(embedded: Float[Tensor, "batch token embed"]) -> Rows:
    """The rows of vectors that are given place by place."""
    batch, token, embed = embedded.shape
    places = torch.arange(batch * token, device=embedded.device).view(batch, token)
    return Rows(embedded.reshape(-1, embed), places)


class Embedding(nn.Module):
    """A matrix of word vectors; row 0 is padding."""

    def __init__(self, vocabulary: int, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, size))
        self._written: list[Tensor] = []

    def forward(self, ids: Int[Tensor, "batch token"]) -> Rows:
        """The distinct vectors of a batch and their places."""
        distinct, places = torch.unique(ids, return_inverse=True)
        vectors = _Look.apply(self.weight, distinct, self._written)  # type: ignore[no-untyped-call]
        return Rows(vectors, places)

    def clear_grad(self) -> None:
        """Set the gradient to zero, by the rows that were written since the last time."""
        if self.weight.grad is not None:
            for rows in self._written:
                self.weight.grad.index_fill_(0, rows, 0)
        self._written.clear()


class _Look(torch.autograd.Function):
    """``weight[rows]``, whose gradient is added to `weight.grad` in place and noted in `written`.

    `rows` are distinct. ``torch.autograd.grad`` with respect to the whole matrix is thereby given up.
    """

    @staticmethod
    def forward(ctx: Any, weight: Tensor, rows: Tensor, written: list[Tensor]) -> Tensor:
        ctx.weight, ctx.rows, ctx.written = weight, rows, written
        return weight.detach().index_select(0, rows)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None, None]:
        weight = ctx.weight
        if ctx.needs_input_grad[0]:
            if weight.grad is None:
                weight.grad = torch.zeros_like(weight)
                ctx.written.clear()
            weight.grad.index_add_(0, ctx.rows, grad)
            ctx.written.append(ctx.rows)
        return None, None, None
