"""The attention a model pays to each token, as its explanation."""

from __future__ import annotations

import torch
from torch import nn

from faithgauge.errors import UnsupportedError
from faithgauge.types import Batch, Importance


def attention(model: nn.Module, batch: Batch) -> Importance:
    """The weight of each token in the sum that the prediction is made of.

    score_t = α_t

    Here α is the `attention` of the model's output.

    Paper: jain-wallace-2019, section 2.
    Range: [0, 1], sum 1.
    Cost: one forward pass.
    """
    with torch.inference_mode():
        weights = model(batch).attention
    if weights is None:
        raise UnsupportedError("this model shows no attention; choose another explainer")
    return Importance(weights.masked_fill(~batch.maskable, torch.nan), signed=False)
