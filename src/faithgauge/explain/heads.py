"""What the heads of a transformer attend to, read as an explanation: the raw weights, and weights × gradient.

A transformer has an attention of every token to every token, in every head of every layer. Which of these
numbers is a token's score has to be chosen: whose attention (`by`), of which heads, of which layer.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from faithgauge.errors import ConfigError
from faithgauge.explain.gradient import importance
from faithgauge.models.question import Question
from faithgauge.models.rolled import READ, Heads
from faithgauge.types import Batch, Importance

By = Literal["first", "received"]
Pooled = Literal["mean", "max"] | int


def head_attention(
    model: nn.Module,
    batch: Batch,
    question: Question,  # noqa: ARG001
    *,
    layer: Pooled = -1,
    head: Pooled = "mean",
    by: By = "first",
) -> Importance:
    """How much a token is attended to: by the token that the classifier reads, or by all.

    score_t = A_lh1t (`by` first), or 1/n Σ_i A_lhit over the n tokens of the text (received)

    The mean or the greatest over all heads, or one of them (`head`, from 0, −1 the last); and so with layers.

    Paper: clark2019, section 3 (what [CLS] and others attend to).
    Differs: none of the choices is the paper's; the default is the last layer, which the classifier reads.
    Range: [0, 1].
    Cost: one forward pass.
    """
    rows = read(seen(model, batch), batch, by=by)
    return importance(
        pooled(pooled(rows, 2, head, noun="head"), 1, layer, noun="layer"), batch, absolute=True
    )


def head_x_gradient(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    layer: Pooled = -1,
    head: Pooled = "mean",
    by: By = "first",
) -> Importance:
    """What attending to a token adds to the output, were the output linear in the attention.

    score_t = A_lh1t ∂f/∂A_lh1t, read as `head_attention` is

    Of the last layer only the first row moves the output: `by` received is that row divided by n there.

    Paper: serrano2019, section 4 (one attention over the tokens).
    Range: (−∞, ∞).
    Cost: one forward and one backward pass.
    """
    weights, slopes = sloped(model, batch, question)
    rows = read(weights * slopes, batch, by=by)
    return importance(
        pooled(pooled(rows, 2, head, noun="head"), 1, layer, noun="layer"), batch, absolute=False
    )


def seen(model: nn.Module, batch: Batch) -> Heads:
    """The attention of every layer and head."""
    with torch.inference_mode():
        return _stacked(model, batch, None)


def sloped(model: nn.Module, batch: Batch, question: Question) -> tuple[Heads, Heads]:
    """The attention of every layer and head, and how fast f moves with it."""
    own: Any = model
    with torch.no_grad():
        vectors = own.embed(batch)
    with torch.enable_grad():
        found = own.heads(batch, embedded=vectors.detach().requires_grad_())
        value = question.value(found.logits)
    slopes = torch.autograd.grad(value.sum(), list(found.attentions), allow_unused=True)
    weights = torch.stack([one.detach() for one in found.attentions], 1)
    return weights, torch.stack([torch.zeros_like(weights[:, 0]) if s is None else s for s in slopes], 1)


def read(attentions: Float[Tensor, "batch *layer token token"], batch: Batch, *, by: By) -> Tensor:
    """The row of the classifier's token, or the mean row of all real tokens: (batch, layer, head, token)."""
    if by == "first":
        return attentions[..., READ, :]
    rows = batch.valid.view(len(batch), *[1] * (attentions.ndim - 3), -1, 1)
    return (attentions * rows).sum(-2) / rows.sum(-2)


def pooled(rows: Tensor, axis: int, how: Pooled, *, noun: str) -> Tensor:
    """The mean, the greatest, or one of the numbers along an axis."""
    if how == "mean":
        return rows.mean(axis)
    if how == "max":
        return rows.amax(axis)
    size = rows.shape[axis]
    if not -size <= how < size:
        raise ConfigError(f"expected a {noun} from 0 to {size - 1}, or from −{size} to −1, found {how}")
    return rows.select(axis, how)


def _stacked(model: Any, batch: Batch, embedded: Tensor | None) -> Heads:
    return torch.stack(list(model.heads(batch, embedded=embedded).attentions), 1)
