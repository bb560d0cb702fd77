"""LIME: a weighted linear model of the answers to random parts of the text."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from faithgauge.config import AtLeastOne, Positive
from faithgauge.errors import UnsupportedError
from faithgauge.explain.baseline import baseline
from faithgauge.explain.coalitions import Coalitions, Replace, answered, filler
from faithgauge.models.question import Question
from faithgauge.types import Batch, Importance

Kernel = Literal["tokens", "embedding"]


def lime(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    samples: AtLeastOne = 1000,
    ridge: Positive = 1.0,
    replace: Replace = "mask",
    kernel: Kernel = "tokens",
    kernel_width: Positive = 0.25,
    absolute: bool = False,
) -> Importance:
    """The coefficients of a ridge regression of the answers on which tokens are there.

    score = argmin_w min_b Σ_z k(z) (f(x_z) − b − w·z)² + ridge ‖w‖²,  k(z) = exp(−d(z)² / (2 kernel_width²)).

    The `samples` z are drawn from Bernoulli(½) for every maskable token, and x_z is the text without those
    tokens of which z is 0: with the mask or padding in their place, or deleted (`replace`). d(z) is the
    cosine distance to the whole text, of z, 1 − √(Σ z / T), or of the embedded x_z, all its vectors in a row
    (`kernel`; a deleted token is then a vector of zeros).

    Paper: ribeiro2016, eqs. 1 and 2; neely-2022, section 4.4 (the preset `neely-2022` is their code).
    Differs: the kernel is that of the paper's code, which has the 2 and this width; that code picks few
        tokens first and draws how many stay. neely-2022 puts padding for missing tokens and compares embedded
        texts, as captum does; but no training shows padding inside a text, and how long its vector is, often
        0, then decides how near a text is: so the default is the mask, and counts tokens. What is special
        they score as well, and of pairs token i of both texts at once, which explains neither.
    Range: (−∞, ∞).
    Cost: `samples` texts, and a linear system of the smaller of samples and tokens.
    """
    fill = filler(question, replace)
    counts = batch.maskable.sum(-1).tolist()
    drawn = [
        question.random(batch, text, "lime").integers(0, 2, (samples, count), dtype=np.int8).astype(bool)
        for text, count in enumerate(counts)
    ]
    distances = [1 - np.sqrt(z.mean(-1)) if z.size else np.zeros(samples) for z in drawn]
    if kernel == "embedding":
        distances = _distances(model, batch, question, coalitions=drawn, replace=replace)
    found = answered(model, batch, question, coalitions=drawn, fill=fill)
    scores = torch.full(batch.ids.shape, torch.nan)
    for text, own in enumerate(batch.maskable.cpu()):
        weights = np.exp(-(distances[text] ** 2) / (2 * kernel_width**2))
        coefficients = _ridge(drawn[text], found[text], weights=weights, ridge=ridge)
        scores[text, own] = torch.from_numpy(coefficients).to(scores)
    return Importance((scores.abs() if absolute else scores).to(batch.ids.device), signed=not absolute)


def _ridge(
    coalitions: Coalitions, values: NDArray[np.float64], *, weights: NDArray[np.float64], ridge: float
) -> NDArray[np.float64]:
    """The coefficients of a weighted ridge regression whose intercept is free."""
    share = weights / max(weights.sum(), np.finfo(float).tiny)
    root = np.sqrt(weights)
    inputs = (coalitions - share @ coalitions) * root[:, None]
    outputs = (values - share @ values) * root
    if inputs.shape[1] <= inputs.shape[0]:
        gram = inputs.T @ inputs
        return np.linalg.solve(gram + ridge * np.eye(len(gram)), inputs.T @ outputs)
    gram = inputs @ inputs.T  # the same solution, of a system of the size of the samples
    return np.asarray(inputs.T @ np.linalg.solve(gram + ridge * np.eye(len(gram)), outputs))


def _distances(
    model: nn.Module, batch: Batch, question: Question, *, coalitions: list[Coalitions], replace: Replace
) -> list[NDArray[np.float64]]:
    """The cosine distance of each perturbed text, embedded, to its text."""
    if "embedding" not in getattr(model, "capabilities", ()):
        raise UnsupportedError(
            "kernel=embedding needs a model whose word vectors are known; choose kernel=tokens"
        )
    anything: Any = model
    with torch.inference_mode():
        text = torch.as_tensor(anything.embed(batch))
        empty = baseline(model, batch, question, kind="zero" if replace == "delete" else replace)
        products = [
            ((left * right).sum(-1) * batch.valid).double().cpu().numpy()
            for left, right in ((text, text), (text, empty), (empty, empty))
        ]
    distances = []
    for z, own, *each in zip(coalitions, batch.maskable.cpu().numpy(), *products, strict=True):
        square, shared, rest = (product.sum() for product in each)
        here, half, gone = (product[own] for product in each)
        dot = shared + z @ (here - half)
        length = np.sqrt(square * np.maximum(rest + z @ (here - gone), 0))
        distances.append(1 - np.divide(dot, length, out=np.zeros(len(z)), where=length > 0))
    return distances
