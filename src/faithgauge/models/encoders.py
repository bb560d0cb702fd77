"""Encoders: from the vectors of a text to one hidden state per token, and one state for the whole text.

Every encoder has the same shape: it is made from the size of its input and its own size (None for the
papers'), names the size of its output, and maps `Rows` and lengths to (hidden, final). `final` is the state
that a query is made of: the last states of both directions where there is a direction, else the mean over the
text. Padding changes neither. What is linear or pointwise in the input is computed once per distinct vector.

Where the first thing that happens to a vector is an affine map, an encoder has that map as `enter`, and goes
on from its result with `forward_entered`: what asks for many variants of one text computes it once for all.
Where the state of a token depends on nothing but its vector, `states` maps vectors to states.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from faithgauge.errors import ConfigError
from faithgauge.models.embedding import Rows
from faithgauge.models.line import Line, scan_line
from faithgauge.models.scan import scan
from faithgauge.models.shared import shared_states
from faithgauge.registry import Table

Hidden = Float[Tensor, "batch token hidden"]
Final = Float[Tensor, "batch hidden"]
Lengths = Int[Tensor, "batch"]


class BiLSTM(nn.Module):
    """A long short-term memory in both directions, `hidden_size` units in each.

    h_t = [LSTM(x_1 … x_t); LSTM(x_T … x_t)].

    Paper: jain-wallace-2019, appendix A.1 (128 units).
    Differs: the backward direction starts at the last real token, in any batch.
    Cost: (distinct vectors × embed + tokens × hidden) × 8 hidden products.
    """

    doubled: Tensor

    def __init__(self, embed_size: int, hidden_size: int | None = None) -> None:
        super().__init__()
        hidden_size = hidden_size or 128
        self.size = 2 * hidden_size
        self.rnn = nn.LSTM(embed_size, hidden_size, batch_first=True, bidirectional=True)
        doubled = torch.ones(4 * hidden_size)
        doubled[2 * hidden_size : 3 * hidden_size] = 2
        self.register_buffer("doubled", doubled, persistent=False)

    def forward(self, rows: Rows, lengths: Lengths) -> tuple[Hidden, Final]:
        if rows.vectors.is_cuda:
            return packed(self.rnn, rows, lengths)
        return self._scanned(Rows(self.enter(rows.vectors), rows.places), lengths)

    def enter(self, vectors: Float[Tensor, "vocab embed"]) -> Float[Tensor, "vocab hidden"]:
        """What a vector adds to the gates of both directions."""
        weight = self._both("weight_ih_l0").flatten(0, 1)
        bias = (self._both("bias_ih_l0") + self._both("bias_hh_l0")).flatten()
        return torch.addmm(bias, vectors, weight.t())

    def forward_entered(self, rows: Rows, lengths: Lengths) -> tuple[Hidden, Final]:
        if torch.is_grad_enabled() or rows.vectors.is_cuda:
            return self._scanned(rows, lengths)
        projected = rows.vectors.view(-1, 2, len(self.doubled)) / self.doubled
        weight = self._both("weight_hh_l0") / self.doubled[:, None]
        hidden = shared_states(weight, projected, rows.places, lengths=lengths)
        return hidden.flatten(2), _ends(hidden[:, :, 0], hidden[:, :, 1], lengths)

    def _scanned(self, rows: Rows, lengths: Lengths) -> tuple[Hidden, Final]:
        backwards = reversal(lengths, rows.places.shape[1])
        hidden = scan(self._both("weight_hh_l0").transpose(1, 2), self._gates(rows, backwards))
        return self._by_text(hidden, lengths, backwards)

    def along(self, line: Line, lengths: Lengths) -> Hidden:
        """The states of `forward_entered` at all points of lines, with a gradient of their starts alone."""
        shape = (*line.start.shape[:2], 2, -1)
        valid = valid_tokens(lengths[: shape[0]], shape[1])[..., None, None]
        # A closed input gate leaves the state at zero until the text begins, for the direction from the end.
        closed = torch.arange(len(self.doubled), device=valid.device) < self.size // 2
        start = _by_step(line.start.reshape(*shape)).masked_fill(_by_step(~valid) & closed, -1e4)
        change = _by_step(line.change.reshape(*shape)) * _by_step(valid)
        weight = self._both("weight_hh_l0")
        return scan_line(weight, start, change, shares=line.shares, room=line.room)

    def _by_text(self, hidden: Tensor, lengths: Lengths, backwards: Tensor) -> tuple[Hidden, Final]:
        forward, backward = hidden[:, 0].transpose(0, 1), hidden[:, 1].transpose(0, 1)
        backward = _reorder(backward, backwards)
        return torch.cat([forward, backward], -1), _ends(forward, backward, lengths)

    def _gates(self, rows: Rows, backwards: Tensor) -> Tensor:
        """What enters, gathered to (step, 2, batch, 4 hidden); direction 1 reads from the end."""
        projected = rows.vectors.view(-1, self.doubled.shape[0])
        ahead, behind = rows.places, rows.places.gather(1, backwards)
        return F.embedding(torch.stack([ahead.t() * 2, behind.t() * 2 + 1], 1), projected)

    def _both(self, name: str) -> Tensor:
        """A parameter of both directions, the part of the cell candidate doubled as `scan` wants it."""
        stacked = torch.stack([getattr(self.rnn, name), getattr(self.rnn, name + "_reverse")])
        return stacked * (self.doubled[:, None] if stacked.dim() == 3 else self.doubled)


class BiGRU(nn.Module):
    """Gated recurrent units in both directions, `hidden_size` units in each.

    h_t = [GRU(x_1 … x_t); GRU(x_T … x_t)].

    Paper: cho2014, section 2.3.
    Cost: tokens × (embed + hidden) × 6 hidden products.
    """

    def __init__(self, embed_size: int, hidden_size: int | None = None) -> None:
        super().__init__()
        hidden_size = hidden_size or 128
        self.size = 2 * hidden_size
        self.ahead = nn.GRU(embed_size, hidden_size, batch_first=True)
        self.behind = nn.GRU(embed_size, hidden_size, batch_first=True)

    def forward(self, rows: Rows, lengths: Lengths) -> tuple[Hidden, Final]:
        backwards = reversal(lengths, rows.places.shape[1])
        forward, _ = self.ahead(rows.spread())
        backward, _ = self.behind(Rows(rows.vectors, rows.places.gather(1, backwards)).spread())
        backward = _reorder(backward, backwards)
        return torch.cat([forward, backward], -1), _ends(forward, backward, lengths)


class CNN(nn.Module):
    """Convolutions of widths 1, 3, 5 and 7, `hidden_size` filters of each, ReLU.

    h_t = ReLU([K_1 * x; K_3 * x; K_5 * x; K_7 * x]_t), with zeros around the text.

    Paper: jain-wallace-2019, appendix A.2 (64 filters).
    Differs: the paper's code has 32 filters.
    Cost: tokens × embed × 16 hidden products.
    """

    widths = (1, 3, 5, 7)

    def __init__(self, embed_size: int, hidden_size: int | None = None) -> None:
        super().__init__()
        hidden_size = hidden_size or 64
        self.size = hidden_size * len(self.widths)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(embed_size, hidden_size, width, padding=width // 2) for width in self.widths
        )

    def forward(self, rows: Rows, lengths: Lengths) -> tuple[Hidden, Final]:
        valid = valid_tokens(lengths, rows.places.shape[1])
        signal = (rows.spread() * valid[..., None]).transpose(1, 2)
        hidden = torch.cat([F.relu(layer(signal)) for layer in self.convolutions], 1).transpose(1, 2)
        return hidden, _mean(hidden, valid)


class MLP(nn.Module):
    """One affine layer and tanh, token by token.

    h_t = tanh(W x_t + b).

    Paper: attefa, section 5; wiegreffe-pinter-2019, section 3.4 (128 units).
    Cost: distinct vectors × embed × hidden products.
    """

    def __init__(self, embed_size: int, hidden_size: int | None = None) -> None:
        super().__init__()
        self.size = hidden_size or 128
        self.layer = nn.Linear(embed_size, self.size)

    def forward(self, rows: Rows, lengths: Lengths) -> tuple[Hidden, Final]:
        return self.forward_entered(Rows(self.enter(rows.vectors), rows.places), lengths)

    def enter(self, vectors: Float[Tensor, "vocab embed"]) -> Float[Tensor, "vocab hidden"]:
        return cast("Tensor", self.layer(vectors))

    def forward_entered(self, rows: Rows, lengths: Lengths) -> tuple[Hidden, Final]:
        hidden = Rows(self._activated(rows.vectors), rows.places).spread()
        return hidden, _mean(hidden, valid_tokens(lengths, rows.places.shape[1]))

    def states(self, vectors: Float[Tensor, "vocab embed"]) -> Float[Tensor, "vocab hidden"]:
        """The state of each vector, which is the same wherever it stands."""
        return self._activated(self.enter(vectors))

    def _activated(self, entered: Tensor) -> Tensor:
        return torch.sigmoid(entered * 2) * 2 - 1


class Average(nn.Module):
    """One affine layer and ReLU, token by token: the papers' encoder of averaged embeddings.

    h_t = ReLU(W x_t + b).

    Paper: jain-wallace-2019, appendix A.3 (256 units).
    Differs: the paper's code has 128 units and tanh, which is `mlp`.
    Cost: distinct vectors × embed × hidden products.
    """

    def __init__(self, embed_size: int, hidden_size: int | None = None) -> None:
        super().__init__()
        self.size = hidden_size or 256
        self.layer = nn.Linear(embed_size, self.size)

    def forward(self, rows: Rows, lengths: Lengths) -> tuple[Hidden, Final]:
        return self.forward_entered(Rows(self.enter(rows.vectors), rows.places), lengths)

    def enter(self, vectors: Float[Tensor, "vocab embed"]) -> Float[Tensor, "vocab hidden"]:
        return cast("Tensor", self.layer(vectors))

    def forward_entered(self, rows: Rows, lengths: Lengths) -> tuple[Hidden, Final]:
        hidden = Rows(self._activated(rows.vectors), rows.places).spread()
        return hidden, _mean(hidden, valid_tokens(lengths, rows.places.shape[1]))

    def states(self, vectors: Float[Tensor, "vocab embed"]) -> Float[Tensor, "vocab hidden"]:
        """The state of each vector, which is the same wherever it stands."""
        return self._activated(self.enter(vectors))

    def _activated(self, entered: Tensor) -> Tensor:
        return F.relu(entered)


class SmallTransformer(nn.Module):
    """Two transformer blocks with four heads, after a map to `hidden_size` and sinusoidal positions.

    x ← x + SelfAttention(LayerNorm(x)),  x ← x + W₂ GELU(W₁ LayerNorm(x)), twice, then LayerNorm.

    Paper: vaswani2017, section 3.
    Differs: normalised before each part instead of after it, which trains without a warm-up; no dropout.
    Cost: tokens² × hidden + tokens × 12 hidden² products per block.
    """

    def __init__(self, embed_size: int, hidden_size: int | None = None) -> None:
        super().__init__()
        self.size = hidden_size or 128
        if self.size % 4:
            raise ConfigError(f"transformer-small has 4 heads: expected a multiple of 4, found {self.size}")
        self.project = nn.Linear(embed_size, self.size)
        self.blocks = nn.ModuleList(_Block(self.size, heads=4) for _ in range(2))
        self.norm = nn.LayerNorm(self.size)

    def forward(self, rows: Rows, lengths: Lengths) -> tuple[Hidden, Final]:
        return self.forward_entered(Rows(self.enter(rows.vectors), rows.places), lengths)

    def enter(self, vectors: Float[Tensor, "vocab embed"]) -> Float[Tensor, "vocab hidden"]:
        return cast("Tensor", self.project(vectors))

    def forward_entered(self, rows: Rows, lengths: Lengths) -> tuple[Hidden, Final]:
        valid = valid_tokens(lengths, rows.places.shape[1])
        hidden = rows.spread()
        hidden = hidden + positions(hidden.shape[1], self.size).to(hidden)
        for block in self.blocks:
            hidden = block(hidden, valid)
        hidden = self.norm(hidden)
        return hidden, _mean(hidden, valid)


class _Block(nn.Module):
    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(size), nn.LayerNorm(size)])
        self.attend = nn.Linear(size, 3 * size)
        self.merge = nn.Linear(size, size)
        self.widen, self.narrow = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, hidden: Hidden, valid: Tensor) -> Hidden:
        batch, token, size = hidden.shape
        split = self.attend(self.norms[0](hidden)).view(batch, token, 3, self.heads, -1)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=valid[:, None, None])
        hidden = hidden + self.merge(mixed.transpose(1, 2).reshape(batch, token, size))
        widened = F.gelu(self.widen(self.norms[1](hidden)))
        return torch.as_tensor(hidden + self.narrow(widened))


ENCODERS: Table[Callable[[int, int | None], nn.Module]] = Table(
    "encoder",
    {
        "bilstm": BiLSTM,
        "gru": BiGRU,
        "cnn": CNN,
        "mlp": MLP,
        "average": Average,
        "transformer-small": SmallTransformer,
    },
    group="faithgauge.encoders",
)


def packed(rnn: nn.LSTM, rows: Rows, lengths: Lengths) -> tuple[Hidden, Final]:
    """What `BiLSTM` computes, by torch's packed sequences: the way of a GPU, and the reference on a CPU."""
    sequence = nn.utils.rnn.pack_padded_sequence(
        rows.spread(), lengths.cpu(), batch_first=True, enforce_sorted=False
    )
    hidden, _ = nn.utils.rnn.pad_packed_sequence(
        rnn(sequence)[0], batch_first=True, total_length=rows.places.shape[1]
    )
    ahead, behind = hidden.chunk(2, -1)
    return hidden, _ends(ahead, behind, lengths)


def valid_tokens(lengths: Lengths, width: int) -> Tensor:
    """(batch, token): whether a place lies inside its text."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]


def reversal(lengths: Lengths, width: int) -> Tensor:
    """(batch, token): the place that stands at each place when every text is read from its last token.

    Padding stays where it is, behind the text, so that it is read last in either direction.
    """
    places = torch.arange(width, device=lengths.device).expand(len(lengths), width)
    mirrored = lengths[:, None] - 1 - places
    return torch.where(mirrored >= 0, mirrored, places)


def _by_step(gates: Shaped[Tensor, "batch token _ _"]) -> Tensor:
    """(token, 2, batch, …), where direction 1 stands in its own order, from the last token."""
    ahead, behind = gates[:, :, 0], gates[:, :, -1].flip(1)
    return torch.stack([ahead, behind], 2).permute(1, 2, 0, 3)


def _reorder(hidden: Hidden, places: Tensor) -> Hidden:
    return hidden.gather(1, places[..., None].expand_as(hidden))


def _ends(forward: Hidden, backward: Hidden, lengths: Lengths) -> Float[Tensor, "batch 2*hidden"]:
    last = forward[torch.arange(len(lengths), device=lengths.device), lengths - 1]
    return torch.cat([last, backward[:, 0]], -1)


def _mean(hidden: Hidden, valid: Tensor) -> Final:
    return (hidden * valid[..., None]).sum(1) / valid.sum(1, keepdim=True).clamp(min=1)


def positions(width: int, size: int) -> Tensor:
    steps = torch.arange(width)[:, None] * torch.exp(torch.arange(0, size, 2) * (-math.log(1e4) / size))
    return torch.stack([steps.sin(), steps.cos()], -1).flatten(1)[:, :size]
