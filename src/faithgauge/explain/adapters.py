"""What captum and shap return, in the forms in which scores travel here; neither is imported."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from faithgauge.errors import ConfigError
from faithgauge.types import Batch, Importance


def from_captum(attributions: Tensor | tuple[Tensor, ...], batch: Batch) -> Importance:
    """What captum attributes to a batch, (batch, token) or (batch, token, embed), as an explainer returns it.

    score_t = Σ_d attributions_td
    """
    found = attributions[0] if isinstance(attributions, tuple) else attributions
    scores = found.detach().sum(-1) if found.ndim == 3 else found.detach()
    if scores.shape != batch.ids.shape:
        raise ConfigError(
            f"expected attributions for (batch, token) {tuple(batch.ids.shape)}, found {tuple(found.shape)}"
        )
    return Importance(scores.masked_fill(~batch.maskable, torch.nan), signed=True)


def from_shap(explanation: Any, target: int | None = None) -> list[dict[str, Any]]:
    """The rows of a shap Explanation of texts: of class `target`, where it has values for several.

    The pieces of a text in its `data` make up the text when they are joined, so they say their own places.
    """
    rows = []
    for values, data in zip(explanation.values, explanation.data, strict=True):
        scores = np.asarray(values, float)
        if scores.ndim == 2:
            if target is None or not 0 <= target < scores.shape[1]:
                raise ConfigError(f"expected a target below {scores.shape[1]}, found {target}; give one")
            scores = scores[:, target]
        pieces = [str(piece) for piece in data]
        ends = np.cumsum([len(piece) for piece in pieces]).tolist()
        spans = [
            [end - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())]
            if piece.strip()
            else [end, end]
            for piece, end in zip(pieces, ends, strict=True)
        ]
        rows.append({"text": "".join(pieces), "tokens": pieces, "spans": spans, "scores": scores.tolist()})
    return rows
