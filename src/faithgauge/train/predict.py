"""What a model says of all examples of a split, in batches of nearly equal length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import nn

from faithgauge.encode.batching import collate, padded, reading_batches, unpad
from faithgauge.models.classifier import probabilities
from faithgauge.types import Encoded, Output, Ragged, Said


def predict(
    model: nn.Module, encoded: Encoded, *, guide: Ragged | None = None
) -> Float[np.ndarray, "example class"]:
    """(example, class), in the order of the split; the model's mode is left as it was.

    `guide` is attention that is given to the model, one weight for every id.
    """
    classes: int = model.n_classes  # type: ignore[assignment]
    result = np.empty((len(encoded), classes), np.float32)
    for rows, output in _outputs(model, encoded, guide):
        result[rows] = probabilities(output.logits).cpu().numpy()
    return result


def say(model: nn.Module, encoded: Encoded, *, guide: Ragged | None = None) -> Said:
    """As `predict`, with the attention that each text got."""
    classes: int = model.n_classes  # type: ignore[assignment]
    probability = np.empty((len(encoded), classes), np.float32)
    attention, pair = _empty(encoded.ids), None if encoded.pair_ids is None else _empty(encoded.pair_ids)
    attends = twice = False
    for rows, output in _outputs(model, encoded, guide):
        probability[rows] = probabilities(output.logits).cpu().numpy()
        attends = output.attention is not None
        twice = output.pair is not None and output.pair.attention is not None
        if output.attention is not None:
            unpad(attention, rows, output.attention.cpu().numpy())
        if output.pair is not None and output.pair.attention is not None and pair is not None:
            unpad(pair, rows, output.pair.attention.cpu().numpy())
    return Said(probability, attention if attends else None, pair if twice else None)


def device_of(model: nn.Module) -> torch.device:
    """Where a model computes: where its first parameter lies."""
    return next((parameter.device for parameter in model.parameters()), torch.device("cpu"))


def _outputs(
    model: nn.Module, encoded: Encoded, guide: Ragged | None
) -> Iterator[tuple[NDArray[np.int64], Output]]:
    classes: int = model.n_classes  # type: ignore[assignment]
    training, device = model.training, device_of(model)
    model.eval()
    try:
        for rows in reading_batches(encoded.ids.lengths()):
            batch = collate(encoded, rows, classes=classes, device=device)
            given = {} if guide is None else {"attention": torch.from_numpy(padded(guide, rows)).to(device)}
            with torch.inference_mode():
                output = model(batch, **given)
            yield rows, output
    finally:
        model.train(training)


def _empty(ids: Ragged) -> Ragged:
    return Ragged(np.zeros(len(ids.values), np.float32), ids.offsets)
