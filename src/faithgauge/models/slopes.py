"""Gradients of f with respect to the word vectors of a batch: at the texts, or summed along straight lines.

Everything happens in the space where the model begins: where it has an `entry`, that is behind its first
affine map A, which all points of a line share. There

    (x − b) · Σ_k w_k ∂f/∂x = (Ax − Ab) · Σ_k w_k ∂f/∂(Ax),

so that what is asked of a token needs A once for the text and once for the baseline, and no way back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from faithgauge.models.budget import in_parts
from faithgauge.models.line import Line
from faithgauge.models.question import Question
from faithgauge.types import Batch

PLACES, POINTS = 20_000, 400
"""How many places, and points, are held at once: few for the caches, many for each product of matrices."""


@dataclass(frozen=True)
class Ground:
    """Where a model begins: the affine map to there, and the way from points of these texts to logits.

    `room` is how many places it reads at once, where the model says so.
    """

    enter: Callable[[Float[Tensor, "batch token embed"]], Float[Tensor, "batch token hidden"]]
    logits: Callable[[Line, Int[Tensor, "batch"]], Float[Tensor, "example class"]]
    room: int | None = None

    def places(self, longest: int) -> int:
        """How many places of texts up to this long are held at once."""
        if self.room is None:
            return min(PLACES, POINTS * longest)
        # A transformer keeps far more of each token, and of each pair of tokens, for the way back.
        return max(self.room // (2 + longest // 64), longest)


def ground(model: nn.Module, batch: Batch, attention: Float[Tensor, "batch token"] | None = None) -> Ground:
    """The ground of a model under its own attention, or under one that is given and stays as it is."""
    anything: Any = model
    entry = "entry" in getattr(model, "capabilities", ())
    with torch.no_grad():
        beside = anything.beside(batch) if entry else None

    def logits(line: Line, texts: Tensor) -> Tensor:
        which = texts.repeat(len(line.shares))
        given = None if attention is None else attention[which, : line.start.shape[1]]
        own = _texts(batch, which, line.start.shape[1], second=not entry)
        if not entry:
            return torch.as_tensor(anything.forward_embedded(line.points(), own, given).logits)
        shared = None if beside is None else beside[which]
        if hasattr(anything, "forward_along"):
            return torch.as_tensor(anything.forward_along(line, own, given, beside=shared).logits)
        return torch.as_tensor(anything.forward_entered(line.rows(), own, given, beside=shared).logits)

    def enter(vectors: Tensor) -> Tensor:
        entered = torch.as_tensor(anything.enter(vectors.flatten(0, 1)))
        return entered.view(*vectors.shape[:2], -1)

    return Ground(enter if entry else _as_they_are, logits, getattr(model, "places", None))


def slope(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    vectors: Float[Tensor, "batch token embed"],
    attention: Float[Tensor, "batch token"] | None = None,
) -> Float[Tensor, "batch token embed"]:
    """∂f/∂x at these word vectors x."""
    base = ground(model, batch, attention)
    leaf = vectors.detach().requires_grad_()
    with torch.enable_grad():
        entered = base.enter(leaf)
    here = entered.detach()
    still = Line(here, torch.zeros_like(here), here.new_zeros(1, len(batch)))
    gradient = _summed(base, batch, question, line=still, weights=here.new_ones(1))
    return torch.autograd.grad(entered, leaf, gradient)[0]


def along(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    start: Float[Tensor, "batch token embed"],
    shares: Float[Tensor, "step batch"],
    weights: Float[Tensor, "step"],
) -> tuple[Float[Tensor, "batch token"], Float[Tensor, "batch"]]:
    """Σ_k w_k (x − b) · ∂f/∂x at b + share_k (x − b) for every token of texts x from `start` b.

    With it comes what these sums lack of f(x) − f(b). Both are without a graph.
    """
    base = ground(model, batch)
    with torch.no_grad():
        beginning = base.enter(start)
        change = base.enter(torch.as_tensor(_embedded(model, batch))) - beginning
    line = Line(beginning, change, shares)
    gradient = _summed(base, batch, question, line=line, weights=weights)
    scores = (gradient * change).sum(-1).masked_fill(~batch.maskable, 0)
    return scores, _differences(base, batch, question, line=line) - scores.sum(-1)


def _embedded(model: nn.Module, batch: Batch) -> Tensor:
    anything: Any = model
    return torch.as_tensor(anything.embed(batch))


def _summed(
    base: Ground,
    batch: Batch,
    question: Question,
    *,
    line: Line,
    weights: Float[Tensor, "step"],
) -> Float[Tensor, "batch token hidden"]:
    """Σ_k w_k ∂f/∂x at the points of the lines, in parts: some texts, and of those some steps at a time."""
    total = torch.zeros_like(line.start)
    steps, room = len(weights), dict[str, Tensor]()
    places = base.places(int(batch.lengths.max()))

    def texts(rows: Tensor) -> None:
        own = _part(line, batch, rows)
        gradient = torch.zeros_like(own.start)

        def some(numbers: Tensor) -> None:
            leaf = own.start.detach().requires_grad_()
            with torch.enable_grad():
                here = Line(leaf, own.change, own.shares[numbers], room)
                value = question.value(base.logits(here, rows), rows.repeat(len(numbers)))
                value = value * weights[numbers].repeat_interleave(len(rows))
            gradient.add_(torch.autograd.grad(value.sum(), leaf)[0])

        in_parts(some, torch.full((steps,), own.start[..., 0].numel()), tokens=places)
        total[rows, : own.start.shape[1]] = gradient

    in_parts(texts, batch.lengths * steps, tokens=places)
    return total


def _differences(base: Ground, batch: Batch, question: Question, *, line: Line) -> Float[Tensor, "batch"]:
    """f at the end of each line less f at its beginning."""
    found = line.start.new_zeros(len(batch))

    def texts(rows: Tensor) -> None:
        ends = line.shares.new_tensor([0, 1])[:, None].expand(2, len(rows))
        own = _part(line, batch, rows)._replace(shares=ends)
        first, last = question.value(base.logits(own, rows), rows.repeat(2)).chunk(2)
        found[rows] = last - first

    with torch.no_grad():
        in_parts(texts, batch.lengths * 2, tokens=PLACES)
    return found


def _part(line: Line, batch: Batch, rows: Tensor) -> Line:
    """The lines of these texts, no wider than the longest of them."""
    width = int(batch.lengths[rows].max())
    return Line(line.start[rows, :width], line.change[rows, :width], line.shares[:, rows])


def _texts(batch: Batch, which: Tensor, width: int, *, second: bool) -> Batch:
    """These texts of the batch, some more than once; with their second texts where they are read anew."""
    pair = None if batch.pair is None or not second else batch.pair
    return Batch(
        batch.ids[which, :width],
        batch.lengths[which],
        batch.valid[which, :width],
        batch.maskable[which, :width],
        candidates=None if batch.candidates is None else batch.candidates[which],
        pair=None if pair is None else _texts(pair, which, pair.ids.shape[1], second=False),
        segments=None if batch.segments is None else batch.segments[which, :width],
    )


def _as_they_are(vectors: Tensor) -> Tensor:
    return vectors
