"""A model's probabilities for all examples of a split, in batches of nearly equal length."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from faithgauge.encode.batching import collate, reading_batches
from faithgauge.models.classifier import probabilities
from faithgauge.types import Encoded


def predict(model: nn.Module, encoded: Encoded) -> Float[np.ndarray, "example class"]:
    """(example, class), in the order of the split; the model's mode is left as it was."""
    classes: int = model.n_classes  # type: ignore[assignment]
    result = np.empty((len(encoded), classes), np.float32)
    training = model.training
    model.eval()
    with torch.inference_mode():
        for rows in reading_batches(encoded.ids.lengths()):
            batch = collate(encoded, rows, classes=classes, device=device_of(model))
            result[rows] = probabilities(model(batch).logits).cpu().numpy()
    model.train(training)
    return result


def device_of(model: nn.Module) -> torch.device:
    """Where a model computes: where its first parameter lies."""
    return next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
