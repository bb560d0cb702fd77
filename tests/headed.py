"""A model that is nothing but its heads: the attention it is given, and an output that is linear in it."""

from __future__ import annotations

from types import SimpleNamespace

import torch
from torch import Tensor, nn

from faithgauge.types import Batch, Output

THREE_TOKENS = torch.tensor(
    [
        [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]],
        [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
    ]
)[None, :, None]
"""Two layers of one head over three tokens: (batch, layer, head, token, token)."""


class Headed(nn.Module):
    """logit = Σ slopes ⊙ attentions, both (batch, layer, head, token, token)."""

    capabilities = frozenset({"embedding", "heads"})
    n_classes = 2

    def __init__(self, attentions: Tensor, slopes: Tensor | None = None) -> None:
        super().__init__()
        self.attentions = attentions
        self.slopes = torch.zeros_like(attentions) if slopes is None else slopes

    def forward(self, batch: Batch) -> Output:
        return Output(self.heads(batch).logits)

    def embed(self, batch: Batch) -> Tensor:
        return torch.zeros(*batch.ids.shape, 1)

    def heads(self, batch: Batch, *, embedded: Tensor | None = None) -> SimpleNamespace:
        nothing = 0 if embedded is None else embedded.sum() * 0
        attentions = tuple(one + nothing for one in self.attentions.unbind(1))
        total = sum(
            (own * one).flatten(1).sum(1) for own, one in zip(attentions, self.slopes.unbind(1), strict=True)
        )
        return SimpleNamespace(attentions=attentions, logits=torch.as_tensor(total)[:, None])
