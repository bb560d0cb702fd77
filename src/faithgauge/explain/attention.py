"""The attention a model pays to each token, and what comes of it, as its explanation."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from faithgauge.errors import UnsupportedError
from faithgauge.models.question import Question
from faithgauge.types import Batch, Importance


def attention(model: nn.Module, batch: Batch, question: Question) -> Importance:  # noqa: ARG001
    """The weight of each token in the sum that the prediction is made of.

    score_t = α_t

    Here α is the `attention` of the model's output.

    Paper: jain-wallace-2019, section 2.
    Range: [0, 1], sum 1.
    Cost: one forward pass.
    """
    weights, _ = _seen(model, batch)
    return Importance(weights.masked_fill(~batch.maskable, torch.nan), signed=False)


def attention_norm(model: nn.Module, batch: Batch, question: Question) -> Importance:  # noqa: ARG001
    """The length of what a token adds to the sum that the prediction is made of.

    score_t = ‖α_t h_t‖₂

    Here α is the `attention` of the model's output and h its `hidden` states.

    Paper: kobayashi2020, eq. 4.
    Differs: there the vectors are the transformed values of a transformer's heads, here the states.
    Range: [0, ∞).
    Cost: one forward pass.
    """
    weights, hidden = _seen(model, batch)
    if hidden is None:
        raise UnsupportedError("this model shows no hidden states; choose another explainer")
    scores = weights.abs() * hidden.norm(dim=-1)
    return Importance(scores.masked_fill(~batch.maskable, torch.nan), signed=False)


def _seen(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor | None]:
    with torch.inference_mode():
        output = model(batch)
    if output.attention is None:
        raise UnsupportedError("this model shows no attention; choose another explainer")
    return output.attention, output.hidden
