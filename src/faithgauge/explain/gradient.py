"""Gradients: how much f moves with the vector, or with the attention, of each token.

`f` is the probability or the logit of one class, x_t the word vector of token t.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from faithgauge.config import AtLeastOne, NotNegative
from faithgauge.errors import UnsupportedError
from faithgauge.models.question import Question
from faithgauge.models.slopes import slope
from faithgauge.types import Batch, Importance


def gradient(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    norm: Literal["embedding", "vocabulary"] = "embedding",
) -> Importance:
    """How far the output moves with the vector of a token.

    score_t = ‖g_t‖₂ with g_t = ∂f/∂x_t, or ‖E g_t‖₂ = √(g_tᵀ (EᵀE) g_t) in the norm of the vocabulary.

    E is the matrix of all word vectors; ‖E g_t‖ is the norm of the gradient with respect to the one-hot
    coding of the token, which has as many numbers as there are words and is never made. E is the `weight` of
    what `get_input_embeddings()` of the model returns or, without such a method, of its `embedding`.

    Paper: simonyan2014, section 3; recursive-roar-2022, section 4.
    Range: [0, ∞).
    Cost: one forward and one backward pass.
    """
    found = slope(model, batch, question, vectors=_vectors(model, batch))
    if norm == "embedding":
        return importance(found.norm(dim=-1), batch, absolute=True)
    products = question.known.once("products of word vectors", lambda: _products(model))
    squares = ((found @ products) * found).sum(-1)
    return importance(squares.clamp(min=0).sqrt(), batch, absolute=True)


def input_x_gradient(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    absolute: bool = False,
    attention: Literal["through", "fixed"] = "through",
) -> Importance:
    """What a token adds to the output, were the output linear in its vector.

    score_t = Σ_d x_td ∂f/∂x_td, and |score_t| with `absolute`.

    With `attention` fixed, α does not move with x: its value is given to the model.

    Paper: shrikumar2016, section 3; jain-wallace-2019, section 4.1; recursive-roar-2022, section 4.
    Differs: jain-wallace-2019 write the gradient with respect to the one-hot coding of each word, which at
        the word that is there is this product; attention fixed is the cut of the graph in their algorithm 1.
    Range: (−∞, ∞).
    Cost: one forward and one backward pass; with attention fixed one more forward pass.
    """
    vectors = _vectors(model, batch)
    given = _attention(model, batch) if attention == "fixed" else None
    found = slope(model, batch, question, vectors=vectors, attention=given)
    return importance((vectors * found).sum(-1), batch, absolute=absolute)


def attention_x_gradient(model: nn.Module, batch: Batch, question: Question) -> Importance:
    """What a token adds to the output, were the output linear in its attention.

    score_t = α_t ∂f/∂α_t, with the hidden states as they are.

    Paper: serrano2019, section 4.
    Range: (−∞, ∞).
    Cost: two forward passes, and the backward pass of the decoder.
    """
    weights = _attention(model, batch).detach().requires_grad_()
    with torch.enable_grad():
        value = question.value(model(batch, weights).logits)
    found = torch.autograd.grad(value.sum(), weights)[0]
    return importance(weights.detach() * found, batch, absolute=False)


def smooth_gradient(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    samples: AtLeastOne = 50,
    noise: NotNegative = 0.15,
) -> Importance:
    """The norm of the mean gradient around the text.

    score_t = ‖1/n Σ_k ∂f/∂x_t (x + ε_k)‖₂,  ε_k ~ N(0, σ²),  σ = `noise` · (max x − min x).

    n is `samples`. The range max x − min x is that of all numbers in the word vectors of the maskable tokens
    of a text, and only these tokens get noise.

    Paper: smilkov2017, sections 2.2 and 3.2 (noise of 0.1 to 0.2, 50 samples).
    Range: [0, ∞).
    Cost: `samples` forward and backward passes.
    """
    vectors = _vectors(model, batch)
    total = torch.zeros_like(vectors)
    for sample in range(samples):
        moved = vectors + _noise(vectors, batch, question, share=noise, sample=sample)
        total += slope(model, batch, question, vectors=moved)
    return importance((total / samples).norm(dim=-1), batch, absolute=True)


def importance(
    scores: Float[Tensor, "batch token"],
    batch: Batch,
    *,
    absolute: bool,
    error: Float[Tensor, "batch"] | None = None,
) -> Importance:
    """The scores where they belong, nan elsewhere; without their sign where that is asked for."""
    own = (scores.abs() if absolute else scores).masked_fill(~batch.maskable, torch.nan)
    return Importance(own, signed=not absolute, error=error)


def _vectors(model: nn.Module, batch: Batch) -> Tensor:
    embed: Any = model
    with torch.no_grad():
        return torch.as_tensor(embed.embed(batch))


def _attention(model: nn.Module, batch: Batch) -> Tensor:
    with torch.no_grad():
        weights = model(batch).attention
    if weights is None:
        raise UnsupportedError("this model shows no attention; choose another explainer")
    return torch.as_tensor(weights)


def _products(model: nn.Module) -> Tensor:
    """EᵀE."""
    asked = getattr(model, "get_input_embeddings", lambda: getattr(model, "embedding", None))
    weight = getattr(asked(), "weight", None)
    if not isinstance(weight, Tensor):
        raise UnsupportedError(
            f"norm=vocabulary needs the matrix of word vectors: expected {type(model).__name__} to have it "
            "as get_input_embeddings().weight or embedding.weight, found neither; choose norm=embedding"
        )
    with torch.no_grad():
        return weight.t() @ weight


def _noise(vectors: Tensor, batch: Batch, question: Question, *, share: float, sample: int) -> Tensor:
    noise = torch.zeros_like(vectors)
    for text, own in enumerate(batch.maskable):
        if own.any():
            words = vectors[text, own]
            drawn = question.random(batch, text, f"noise {sample}").standard_normal(words.shape)
            noise[text, own] = torch.from_numpy(drawn).to(words) * (words.max() - words.min()) * share
    return noise
