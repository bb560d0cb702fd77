"""The training loop that a good PyTorch user writes: the baseline of `training`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Plain(nn.Module):
    """The network of jain-wallace-2019 as torch's own modules."""

    def __init__(self, vocabulary: int, encoder: str) -> None:
        super().__init__()
        self.kind = encoder
        self.embedding = nn.Embedding(vocabulary, 300, padding_idx=0)
        nn.init.normal_(self.embedding.weight, std=0.1)
        size = {"bilstm": 256, "mlp": 128, "cnn": 256}[encoder]
        if encoder == "bilstm":
            self.rnn = nn.LSTM(300, 128, batch_first=True, bidirectional=True)
        elif encoder == "mlp":
            self.layer = nn.Linear(300, 128)
        else:
            self.convolutions = nn.ModuleList(nn.Conv1d(300, 64, k, padding=k // 2) for k in (1, 3, 5, 7))
        self.attention = nn.Sequential(
            nn.Linear(size, size // 2), nn.Tanh(), nn.Linear(size // 2, 1, bias=False)
        )
        self.decoder = nn.Linear(size, 1)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        embedded = self.embedding(ids)
        if self.kind == "bilstm":
            packed = nn.utils.rnn.pack_padded_sequence(
                embedded, lengths, batch_first=True, enforce_sorted=False
            )
            hidden, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        elif self.kind == "mlp":
            hidden = torch.tanh(self.layer(embedded))
        else:
            signal = embedded.transpose(1, 2)
            hidden = torch.cat([F.relu(layer(signal)) for layer in self.convolutions], 1).transpose(1, 2)
        steps = torch.arange(ids.shape[1])
        outside = (steps == 0) | (steps >= lengths[:, None] - 1)
        weights = self.attention(hidden)[..., 0].masked_fill(outside, -torch.inf).softmax(-1)
        return torch.as_tensor(self.decoder((weights[..., None] * hidden).sum(1))[:, 0])

    def optimiser(self) -> torch.optim.Optimizer:
        """Adam as torch has it by default; as in the paper's code, no decay of the attention."""
        spared = list(self.attention.parameters())
        rest = [p for p in self.parameters() if not any(p is other for other in spared)]
        groups = [{"params": rest, "weight_decay": 1e-5}, {"params": spared}]
        return torch.optim.Adam(groups, lr=1e-3, amsgrad=True)


def plain_epoch(
    model: Plain,
    texts: Sequence[Tensor],
    labels: Tensor,
    batches: Sequence[np.ndarray],
    optimiser: torch.optim.Optimizer | None = None,
) -> list[float]:
    """One epoch; the loss of every batch."""
    optimiser = optimiser or model.optimiser()
    losses = []
    for rows in batches:
        chosen = [texts[i] for i in rows]
        ids = nn.utils.rnn.pad_sequence(chosen, batch_first=True)
        lengths = torch.tensor([len(text) for text in chosen])
        loss = F.binary_cross_entropy_with_logits(model(ids, lengths), labels[rows].float())
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(loss.item())
    return losses
