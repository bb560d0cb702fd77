"""What a layer really passes on: not how much a token is attended to, but how much of it arrives.

Both read the inside of each layer: the lengths of the vectors that attention sums up, and what becomes of the
layer's output when the vectors of one token are taken out.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from faithgauge.explain.gradient import importance
from faithgauge.explain.heads import By, pooled, read
from faithgauge.models.layers import Layer, again, layers_of
from faithgauge.models.question import Question
from faithgauge.models.replaced import Replacement, attending
from faithgauge.models.rolled import Steps, first_row, with_residual
from faithgauge.types import Batch, Importance

OfLayers = Literal["rollout", "mean", "max"] | int
Parts = Literal["attention", "residual", "norm"]
AT_ONCE = 64
"""How many copies of a text, each without the values of one token, go through a layer together."""


def head_norm(
    model: nn.Module,
    batch: Batch,
    question: Question,  # noqa: ARG001
    *,
    layer: OfLayers = -1,
    by: By = "first",
    parts: Parts = "attention",
) -> Importance:
    """The length of the vector that a token adds to the sum which attention makes of all tokens.

    score_t = ‖Σ_h α_h1t f_h(x_t)‖₂,  f_h(x) = v_h(x) W_h

    v_h are the values of head h, W_h its part of the linear map after the attention. With `parts` residual,
    x_t itself is added where a token attends to itself; with norm, all is also seen through the layer norm
    that follows: its mean taken out, divided by the standard deviation of the whole sum, times its weights.
    `by` is that of `head_attention`; `layer` rollout multiplies the matrices, rows divided by their sums, of
    all layers, with the identity beside them where `parts` leaves the residual connection out.

    Paper: kobayashi2020, eq. 4; kobayashi2021, section 3 (residual, norm).
    Range: [0, ∞).
    Cost: one forward pass, and heads² products of weights per layer.
    """
    steps = torch.stack([_lengths(one, parts) for one in _layers(model, batch)], 1)
    return importance(_read(steps, batch, layer, by=by, residual=parts == "attention"), batch, absolute=True)


def value_zeroing(
    model: nn.Module,
    batch: Batch,
    question: Question,  # noqa: ARG001
    *,
    layer: OfLayers = "rollout",
    by: By = "first",
) -> Importance:
    """How far the states of a layer turn when the values of a token are taken as 0 in it.

    C_it = 1 − cos(y_i, y_i without the values of t), rows divided by their sums

    y are the states that the layer returns. Its attention stays as it is: what is missing is what t says, not
    that it is looked at. `layer` and `by` as in `head_norm`; the residual connection is in y, so that rollout
    adds none.

    Paper: mohebbi2023, section 4.
    Range: [0, 1].
    Cost: one forward pass, and of every layer as many as there are tokens.
    """
    steps = torch.stack([_turned(model, one) for one in _layers(model, batch)], 1)
    steps = steps.masked_fill(~batch.valid[:, None, None], 0.0)
    return importance(_read(_rows(steps), batch, layer, by=by, residual=False), batch, absolute=True)


def _layers(model: Any, batch: Batch) -> list[Layer]:
    with torch.inference_mode():
        return layers_of(model.network, lambda: model(batch))


def _lengths(layer: Layer, parts: Parts) -> Float[Tensor, "batch token token"]:
    """‖Σ_h α_hij f_hj‖ by the products f_hj · f_gj, so that no vector is made of each pair of tokens."""
    weights, values = layer.attended.weights, layer.attended.values
    maps = layer.project.weight.detach().view(len(layer.project.weight), values.shape[1], -1)
    vectors = torch.einsum("bhtd,ehd->bhte", values, maps)  # f_hj
    scale = torch.ones_like(layer.summed[..., :1])
    own = _went_in(layer)
    if parts == "norm":
        vectors, own = (_through(layer.norm, one) for one in (vectors, own))
        scale = (layer.summed.var(-1, keepdim=True, unbiased=False) + layer.norm.eps).sqrt()
    products = torch.einsum("bhte,bgte->bthg", vectors, vectors)
    squares = torch.einsum("bhij,bjhg,bgij->bij", weights, products, weights)
    if parts != "attention":
        mixed = torch.einsum("bhii,bhie->bie", weights, vectors) + own
        squares = squares.diagonal_scatter((mixed * mixed).sum(-1), dim1=1, dim2=2)
    return squares.clamp(min=0).sqrt() / scale


def _went_in(layer: Layer) -> Float[Tensor, "batch token hidden"]:
    """What is added to the output of the attention: the sum less that output."""
    mixed = torch.matmul(layer.attended.weights, layer.attended.values).transpose(1, 2).flatten(2)
    return layer.summed - F.linear(mixed, layer.project.weight, layer.project.bias).detach()


def _through(norm: nn.LayerNorm, vectors: Tensor) -> Tensor:
    """The part of a layer norm that is linear in what it gets, but for its scale."""
    return (vectors - vectors.mean(-1, keepdim=True)) * norm.weight.detach()


def _turned(model: Any, layer: Layer) -> Float[Tensor, "batch token token"]:
    """How far each state of each text (second axis) turns without the values of each token (last axis)."""
    found = []
    every = torch.arange(layer.output.shape[1], device=layer.output.device)
    with torch.inference_mode():
        for tokens in torch.split(every, AT_ONCE):
            many, whole = (one.repeat_interleave(len(tokens), 0) for one in (layer.entered, layer.output))
            with attending(model.network, _without(model, tokens.repeat(len(layer.output)))):
                turned = 1 - F.cosine_similarity(whole, again(layer, many), dim=-1)
            found.append(turned.view(len(layer.output), len(tokens), -1).transpose(1, 2))
    return torch.cat(found, -1).clamp(min=0)


def _without(model: Any, tokens: Tensor) -> Replacement:
    return Replacement(getattr(model, "distribution", "softmax"), zeroed=tokens)


def _rows(steps: Steps) -> Steps:
    return steps / steps.sum(-1, keepdim=True).clamp(min=torch.finfo(steps.dtype).tiny)


def _read(steps: Steps, batch: Batch, layer: OfLayers, *, by: By, residual: bool) -> Tensor:
    """One number per token of a matrix per layer."""
    if layer == "rollout":
        rows = _rows(steps)
        return first_row(with_residual(rows) if residual else rows)
    return pooled(read(steps, batch, by=by), 1, layer, noun="layer")
