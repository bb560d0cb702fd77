"""Kernel SHAP: Shapley values as a weighted regression over coalitions of tokens."""

from __future__ import annotations

from math import comb

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from faithgauge.config import AtLeastOne
from faithgauge.explain.coalitions import Coalitions, Replace, answered, filler
from faithgauge.models.question import Question
from faithgauge.types import Batch, Importance


def kernel_shap(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    samples: AtLeastOne = 1000,
    replace: Replace = "mask",
) -> Importance:
    """The share of each token in the difference between the text and the text without any maskable token.

    score = argmin_φ Σ_z k(z) (f(x_z) − f(x_0) − φ·z)²,  subject to Σ_t φ_t = f(x) − f(x_0),
    k(z) = (T − 1) / (C(T, s) s (T − s)) for a coalition z of s of the T maskable tokens.

    x_z is the text without the tokens of which z is 0 (`replace`: with the mask or padding in their place, or
    deleted). Where there are no more than `samples` coalitions besides none and all, every one is asked, and
    the scores are the Shapley values. Else coalitions are drawn in proportion to k, each with its complement;
    where they leave the scores open, as fewer of them than tokens do, those nearest to equal shares count.
    `error` is what the scores lack of their sum: rounding.

    Paper: lundberg2017, theorem 2; covert2021, on variance reduction (pairs).
    Differs: the paper regresses on all coalitions; its code draws some and first picks few tokens by a lasso.
    Range: (−∞, ∞), sum f(x) − f(x_0).
    Cost: `samples` texts, and a regression on tokens of as many answers.
    """
    fill = filler(question, replace)
    counts = batch.maskable.sum(-1).tolist()
    drawn = []
    for text, count in enumerate(counts):
        random = question.random(batch, text, "kernel shap")
        some = _every(count) if _exact(count, samples) else _pairs(random, count, samples)
        drawn.append(np.concatenate([np.zeros((1, count), bool), np.ones((1, count), bool), some]))
    found = answered(model, batch, question, coalitions=drawn, fill=fill)
    scores = torch.full(batch.ids.shape, torch.nan)
    error = torch.empty(len(batch))
    for text, own in enumerate(batch.maskable.cpu()):
        empty, whole, *values = found[text]
        some = drawn[text][2:]
        weights = _kernel(some) if _exact(counts[text], samples) else np.ones(len(some))
        fitted = _shapley(some, np.array(values) - empty, total=whole - empty, weights=weights)
        scores[text, own] = torch.from_numpy(fitted).to(scores)
        error[text] = whole - empty - scores[text, own].double().sum()
    return Importance(scores.to(batch.ids.device), signed=True, error=error.to(batch.ids.device))


def _exact(count: int, samples: int) -> bool:
    """Whether all coalitions of so many tokens, except none and all, are asked."""
    return bool(2**count - 2 <= samples)


def _kernel(coalitions: Coalitions) -> NDArray[np.float64]:
    """k of coalitions of which none is empty or whole."""
    count = coalitions.shape[1]
    return np.array([(count - 1) / (comb(count, s) * s * (count - s)) for s in coalitions.sum(-1).tolist()])


def _every(count: int) -> Coalitions:
    """All coalitions of so many tokens, except none and all."""
    numbers = np.arange(1, max(2**count - 1, 1))
    return (numbers[:, None] >> np.arange(count) & 1).astype(bool)


def _pairs(random: np.random.Generator, count: int, samples: int) -> Coalitions:
    """Coalitions with their complements, of sizes s drawn in proportion to 1 / (s (T − s))."""
    sizes = np.arange(1, count)
    share = 1 / (sizes * (count - sizes))
    drawn = random.choice(sizes, max(samples // 2, 1), p=share / share.sum())
    ranks = random.random((len(drawn), count)).argsort(-1).argsort(-1)
    first = ranks < drawn[:, None]
    return np.concatenate([first, ~first])


def _shapley(
    coalitions: Coalitions, values: NDArray[np.float64], *, total: float, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The scores of the smallest weighted error among those that sum to `total`.

    What they have beyond an equal share of the total sums to 0, so that of a coalition only its difference
    from its own mean counts. Of several best solutions the shortest is taken, which sums to 0 as well.
    """
    count = coalitions.shape[1]
    share = total / max(count, 1)
    if len(coalitions) == 0:  # no token, or one
        return np.full(count, share)
    root = np.sqrt(weights)[:, None]
    inputs = (coalitions - coalitions.mean(-1, keepdims=True)) * root
    outputs = (values - coalitions.sum(-1) * share)[:, None] * root
    solved = torch.linalg.lstsq(torch.from_numpy(inputs), torch.from_numpy(outputs), driver="gelsy")
    rest = solved.solution[:, 0].numpy()
    return np.asarray(share + rest - rest.mean())
