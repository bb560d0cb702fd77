"""What a model reads out of the states of a batch under any attention, asked again and again.

Permuted and adversarial attention leave the states h as they are, so the texts are encoded once. A linear
decoder is then projected once, to what each token says when it has all the attention: every other attention
gives a weighted mean of that. Of any other decoder as much is shared as it lets us.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from faithgauge.errors import UnsupportedError
from faithgauge.models.budget import TOKENS
from faithgauge.models.classifier import probabilities
from faithgauge.models.question import swap
from faithgauge.seeds import derive, generator
from faithgauge.types import Batch

NEEDS = ("attention", "decode")
"""The capabilities without which attention cannot be attacked."""


@dataclass(frozen=True)
class Readout:
    """The logits of a batch as a function of its attention.

    attention    (batch, token)          the model's own
    maskable     (batch, token)
    rows         (batch)                 which examples of the split these are
    values       (batch, token, class)   the logits when one token has all the attention; None where the
                                         decoder is not linear
    side                                 which text of a pair has the attention
    """

    attention: Float[Tensor, "batch token"]
    maskable: Bool[Tensor, "batch token"]
    rows: Int[Tensor, "batch"]
    values: Float[Tensor, "batch token class"] | None
    decode: Callable[[Tensor], Tensor]
    side: str = "first"

    def logits(self, attention: Float[Tensor, "batch step token"]) -> Float[Tensor, "batch step class"]:
        """The logits under several attentions of each text."""
        return self.decode(attention)

    def likely(self, attention: Float[Tensor, "batch step token"]) -> Float[Tensor, "batch step class"]:
        """The probability of every class under several attentions of each text."""
        logits = self.logits(attention)
        likely = probabilities(logits.flatten(0, 1))
        return likely.reshape(*logits.shape[:2], -1)

    def random(self, text: int, seed: int, purpose: str) -> np.random.Generator:
        """The generator of one text for one purpose, which no order or size of batches changes."""
        return generator(seed, purpose, self.side, int(self.rows[text]))

    def streams(self, seed: int, purpose: str) -> NDArray[np.uint64]:
        """For each text the stream of `seeds.drawn` that is its own for one purpose."""
        streams = [derive(seed, purpose, self.side, row) for row in self.rows.tolist()]
        return np.array(streams, np.uint64)


def readouts(model: nn.Module, batch: Batch) -> Iterator[Readout]:
    """That of the first texts and, of a two-sided model, that of the second ones, the other as it is."""
    yield readout(model, batch)
    if batch.pair is not None and "two_sided" in _capabilities(model):
        other: Any = model
        yield replace(readout(other.swapped(), swap(batch)), side="second")


def readout(model: nn.Module, batch: Batch) -> Readout:
    """Encode the (first) texts of a batch once."""
    refuse_closed(model)
    with torch.no_grad():  # not in inference mode: a search may ask for gradients of the attention
        output = model(batch)
        attention, hidden = output.attention, output.hidden
        if attention is None or hidden is None or attention.dim() != 2:
            found = "none" if attention is None else f"shape {tuple(attention.shape)}"
            raise UnsupportedError(
                "attacks on attention need one attention weight for each token, and hidden states; "
                f"found attention of {found}"
            )
        values = None
        if "linear" in _capabilities(model) and batch.candidates is None:
            values = _values(model, hidden, batch)
        decode = _projected(values) if values is not None else _decoder(model, hidden, batch)
    rows = torch.arange(len(batch)) if batch.rows is None else batch.rows
    return Readout(attention.detach(), batch.maskable, rows, values, decode)


def refuse_closed(model: nn.Module) -> None:
    """A model that does not show its attention and how it decodes is an error that says so."""
    lacks = [name for name in NEEDS if name not in _capabilities(model)]
    if lacks:
        raise UnsupportedError(
            f"attacks on attention need a model with the capabilities {' and '.join(map(repr, NEEDS))}, this "
            f"one lacks {' and '.join(map(repr, lacks))}; choose other tests"
        )


def _values(model: Any, hidden: Tensor, batch: Batch) -> Tensor:
    """Each token decoded as if it had all the attention; the bias is in every value, as weights sum to 1."""
    n, width, size = hidden.shape
    tokens = _repeated(batch, width)
    tokens = replace(
        tokens,
        ids=batch.ids.reshape(-1, 1),
        lengths=torch.ones_like(tokens.lengths),
        valid=batch.valid.reshape(-1, 1),
        maskable=batch.maskable.reshape(-1, 1),
    )
    alone = hidden.reshape(n * width, 1, size)
    logits: Tensor = model.decode(alone, alone.new_ones(n * width, 1), tokens)
    return logits.reshape(n, width, -1)


def _projected(values: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda attention: torch.bmm(attention, values.to(attention.dtype))


def _decoder(model: Any, hidden: Tensor, batch: Batch) -> Callable[[Tensor], Tensor]:
    """By weighted states, some at a time, where the second texts can be encoded once; else one by one."""
    if "beside" not in inspect.signature(model.decode).parameters:
        return lambda attention: torch.stack(
            [model.decode(hidden, one, batch) for one in attention.unbind(1)], 1
        )
    beside = model.beside(batch)
    at_once = max(TOKENS // len(batch), 1)

    def decode(attention: Tensor) -> Tensor:
        return torch.cat([some(part) for part in torch.split(attention, at_once, 1)], 1)

    def some(attention: Tensor) -> Tensor:
        n, times, _ = attention.shape
        contexts = torch.bmm(attention, hidden).reshape(n * times, 1, -1)
        repeated = replace(batch, pair=None, candidates=_times(batch.candidates, times))
        ones = contexts.new_ones(n * times, 1)
        logits: Tensor = model.decode(contexts, ones, repeated, beside=_times(beside, times))
        return logits.reshape(n, times, -1)

    return decode


def _repeated(batch: Batch, times: int) -> Batch:
    """Every text so many times, one after the other."""
    ids, lengths, valid, maskable = (
        part.repeat_interleave(times, 0) for part in (batch.ids, batch.lengths, batch.valid, batch.maskable)
    )
    return Batch(ids, lengths, valid, maskable, pair=batch.pair and _repeated(batch.pair, times))


def _times(part: Tensor | None, times: int) -> Tensor | None:
    return None if part is None else part.repeat_interleave(times, 0)


def _capabilities(model: nn.Module) -> frozenset[str]:
    return frozenset(getattr(model, "capabilities", ()))
