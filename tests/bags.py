"""Models of somebody else's of which every explanation is known: they add up words, or vectors of words."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from fakes import noise
from torch import Tensor, nn

from faithgauge.types import Batch, Output


class Bag(nn.Module):
    """One logit, Σ_t w[id_t] + b: what a word contributes is its weight, whatever stands beside it."""

    n_classes = 2
    capabilities = frozenset({"embedding"})

    def __init__(self, weights: Sequence[float], bias: float = 0.0) -> None:
        super().__init__()
        self.weights, self.bias = torch.tensor(weights), bias
        self.asked: list[int] = []
        """How many texts each call had."""

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Output:
        return self.forward_embedded(self.embed(batch), batch)

    def embed(self, batch: Batch) -> Tensor:
        return self.weights[batch.ids][..., None]

    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Output:
        self.asked.append(len(batch))
        return Output((embedded * batch.valid[..., None]).sum(1) + self.bias)


class BagOfVectors(nn.Module):
    """logits = Σ_t W x_t + b over the real tokens: it offers its word vectors and nothing else."""

    n_classes = 3
    capabilities = frozenset({"embedding"})

    def __init__(self, classes: int = 3, words: int = 24) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(noise(words, 5))
        self.decoder = nn.Linear(5, classes)
        self.n_classes = max(classes, 2)
        with torch.no_grad():
            self.decoder.weight.copy_(noise(classes, 5, seed=1))
            self.decoder.bias.copy_(noise(classes, seed=2))

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Output:
        return self.forward_embedded(self.embed(batch), batch)

    def embed(self, batch: Batch) -> Tensor:
        return self.embedding(batch.ids)

    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Output:
        return Output(self.decoder((embedded * batch.valid[..., None]).sum(1)))

    def contributions(self, batch: Batch, target: int) -> Tensor:
        """What each maskable token adds to the logit of one class; nan elsewhere."""
        added = self.embedding(batch.ids) @ self.decoder.weight[target]
        return added.detach().masked_fill(~batch.maskable, torch.nan)
