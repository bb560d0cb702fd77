"""Fine-tuning with frozen lower layers: what they say of a text is the same in every epoch, so it is kept.

Frozen are what comes before the layers, word vectors among it, and the lowest layers. They have no dropout,
or there would be nothing to keep. A gradient does not go through them either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

import torch
from torch import Tensor, nn

from faithgauge.encode.batching import collate, reading_batches
from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.models.stack import Stack, stack_of
from faithgauge.train.predict import device_of
from faithgauge.types import Batch, Encoded

BYTES = 2**31
"""Of a split whose states need more than this nothing is kept: its frozen layers are computed each time."""

Reuse = Callable[[Batch], AbstractContextManager[object]]
"""Inside ``reuse(batch)`` the model computes nothing anew of that batch that is kept."""


def frozen_parts(model: Any, layers: int) -> list[nn.Module]:
    """The parts of a transformer that are frozen with its lowest layers."""
    if layers == 0:
        return []
    stack = _stack(model)
    if layers > (there := len(stack.layers)):
        raise ConfigError(
            f"expected at most {there} frozen layers, which are those of the model, found {layers}"
        )
    before = [part for name, part in model.body.named_children() if name.startswith("embeddings")]
    return [*before, *list(stack.layers)[:layers]]


@contextmanager
def held(parts: list[nn.Module]) -> Iterator[None]:
    """Inside, no gradient of the weights of these parts is computed."""
    weights = [weight for part in parts for weight in part.parameters() if weight.requires_grad]
    for weight in weights:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in weights:
            weight.requires_grad_(True)


def anew(_batch: Batch) -> AbstractContextManager[object]:
    """Nothing is kept."""
    return nullcontext()


def kept(model: Any, encoded: Encoded, layers: int) -> Reuse:
    """The states of these texts behind the frozen layers, computed once, as long as they fit in memory."""
    tokens, size = int(encoded.ids.offsets[-1]), int(model.config.hidden_size)
    if tokens * size * 4 > BYTES:
        return anew
    states = _states(model, encoded, layers)
    stack = _stack(model)
    offsets = torch.from_numpy(encoded.ids.offsets.copy())

    def reuse(batch: Batch) -> AbstractContextManager[object]:
        assert batch.rows is not None
        starts = offsets[batch.rows.cpu()]
        found = torch.zeros(*batch.ids.shape, size)
        for text, (start, length) in enumerate(zip(starts.tolist(), batch.lengths.tolist(), strict=True)):
            found[text, :length] = states[start : start + length]
        return stack.begun(layers, found.to(batch.ids.device))

    return reuse


def _states(model: nn.Module, encoded: Encoded, layers: int) -> Tensor:
    """(token of the split, hidden), in batches that do not depend on where a training was resumed."""
    stack, found = _stack(model), torch.empty(0)
    training = model.training
    model.eval()
    with torch.no_grad(), stack.only(list(stack.layers)[:layers]):
        for rows in reading_batches(encoded.ids.lengths()):
            batch = collate(encoded, rows, classes=cast("int", model.n_classes), device=device_of(model))
            hidden = model(batch).hidden.cpu()
            if not len(found):
                found = torch.empty(int(encoded.ids.offsets[-1]), hidden.shape[-1])
            for text, (row, length) in enumerate(zip(rows.tolist(), batch.lengths.tolist(), strict=True)):
                start = int(encoded.ids.offsets[row])
                found[start : start + length] = hidden[text, :length]
    model.train(training)
    return found


def _stack(model: Any) -> Stack:
    network = getattr(model, "network", None)
    found = None if network is None else stack_of(network)
    if found is None:
        kind = type(model).__name__ if network is None else f"a {network.config.model_type} model"
        raise UnsupportedError(
            "frozen_layers freezes the lowest layers of a pretrained BERT, DistilBERT, RoBERTa or ELECTRA, "
            f"found {kind}; leave it out"
        )
    return found
