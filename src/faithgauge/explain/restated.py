"""The attention classifier once more, in the operations of the rescale rule.

It reads the weights of a model and computes what the model computes, for texts stacked on their baselines,
so that what autograd carries back are DeepLIFT's multipliers (`rescale`). An encoder, an attention or a
distribution that does not stand here cannot be explained in this way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from faithgauge.errors import UnsupportedError
from faithgauge.explain.rescale import (
    absolute,
    distribute,
    gelu,
    layer_norm,
    matrix_product,
    product,
    relu,
    sigmoid,
    tanh,
)
from faithgauge.models import attention as attentions
from faithgauge.models import encoders
from faithgauge.models.classifier import AttentionClassifier
from faithgauge.models.question import Question
from faithgauge.types import Batch


def refuse_what_is_not_restated(model: nn.Module) -> None:
    """Only what is written down here is known to be carried through exactly."""
    stranger = _stranger(model)
    if stranger is not None:
        raise UnsupportedError(
            "the rescale rule is written for faithgauge's own encoders, attentions and distributions, found"
            f" the {stranger}; choose integrated_gradient"
        )


def _stranger(model: nn.Module) -> str | None:
    """The first part of a model that is not restated."""
    if type(model) is not AttentionClassifier:
        return f"model {type(model).__name__}"
    if type(model.encoder) not in _ENCODERS:
        return f"encoder {type(model.encoder).__name__}"
    if type(model.attention) not in _ATTENTIONS:
        return f"attention {type(model.attention).__name__}"
    if model.distribution not in _DISTRIBUTIONS:
        return f"distribution {getattr(model.distribution, '__name__', model.distribution)}"
    return None


def restated(
    model: AttentionClassifier,
    stack: Float[Tensor, "example token embed"],
    batch: Batch,
    *,
    question: Question,
) -> Float[Tensor, "example"]:
    """f of the texts of a batch with the word vectors of the first half of the stack, then of the second."""
    with torch.no_grad():
        beside = model.beside(batch)
    other = None if beside is None else beside.repeat(2, 1)
    maskable = batch.maskable.repeat(2, 1)
    hidden = _ENCODERS[type(model.encoder)](model.encoder, stack, batch.lengths.repeat(2))
    weights = _attend(model, hidden, maskable, query=other if model.form == "queried" else None)
    context = matrix_product(weights[:, None], hidden)[:, 0]
    return _value(model.decoder(_features(model, context, other)), batch, question)


def _attend(model: AttentionClassifier, hidden: Tensor, maskable: Tensor, *, query: Tensor | None) -> Tensor:
    if model.distribution is attentions.uniform:
        return attentions.uniform(hidden.new_zeros(maskable.shape), maskable, 1.0)
    scores = _ATTENTIONS[type(model.attention)](model.attention, hidden, query)
    return distribute(scores / model.config.temperature, maskable, model.distribution)


def _features(model: AttentionClassifier, context: Tensor, other: Tensor | None) -> Tensor:
    if other is None:
        return context
    if model.context is not None and model.query is not None:
        return tanh(model.context(context) + model.query(other))
    return torch.cat([context, other, absolute(context - other), context * other], -1)


def _value(logits: Tensor, batch: Batch, question: Question) -> Tensor:
    target = question.target.repeat(2)
    if logits.shape[-1] == 1:
        own = torch.where(target == 1, logits[:, 0], -logits[:, 0])
        return sigmoid(own) if question.of == "probability" else own
    allowed = torch.ones_like(logits, dtype=torch.bool)
    if batch.candidates is not None:
        allowed = batch.candidates.repeat(2, 1)
    if question.of == "probability":
        logits = distribute(logits, allowed, attentions.softmax)
    else:
        logits = logits.masked_fill(~allowed, -torch.inf)
    return logits.gather(1, target[:, None])[:, 0]


def _additive(attention: attentions.Additive, hidden: Tensor, query: Tensor | None) -> Tensor:
    projected = attention.attn1(hidden)
    if attention.query is not None and query is not None:
        projected = projected + attention.query(query)[:, None]
    return torch.as_tensor(attention.attn2(tanh(projected)))[..., 0]


def _dot(attention: attentions.Dot, hidden: Tensor, query: Tensor | None) -> Tensor:
    return torch.as_tensor(attention(hidden, query))  # linear in the states


def _bilstm(encoder: encoders.BiLSTM, embedded: Tensor, lengths: Tensor) -> Tensor:
    return _both_ways(_lstm, encoder.rnn.all_weights, embedded, lengths=lengths)


def _bigru(encoder: encoders.BiGRU, embedded: Tensor, lengths: Tensor) -> Tensor:
    weights = encoder.ahead.all_weights + encoder.behind.all_weights
    return _both_ways(_gru, weights, embedded, lengths=lengths)


def _both_ways(
    read: Callable[..., Tensor], weights: list[list[nn.Parameter]], embedded: Tensor, *, lengths: Tensor
) -> Tensor:
    backwards = encoders.reversal(lengths, embedded.shape[1])[..., None]
    ahead = read(embedded, *weights[0])
    behind = read(embedded.gather(1, backwards.expand_as(embedded)), *weights[1])
    return torch.cat([ahead, behind.gather(1, backwards.expand_as(behind))], -1)


def _lstm(embedded: Tensor, enter: Tensor, repeat: Tensor, bias: Tensor, other_bias: Tensor) -> Tensor:
    hidden = cell = embedded.new_zeros(len(embedded), repeat.shape[1])
    states = []
    for entered in F.linear(embedded, enter, bias + other_bias).unbind(1):
        i, f, g, o = (entered + F.linear(hidden, repeat)).chunk(4, -1)
        cell = product(sigmoid(f), cell) + product(sigmoid(i), tanh(g))
        hidden = product(sigmoid(o), tanh(cell))
        states.append(hidden)
    return torch.stack(states, 1)


def _gru(embedded: Tensor, enter: Tensor, repeat: Tensor, bias: Tensor, other_bias: Tensor) -> Tensor:
    hidden = embedded.new_zeros(len(embedded), repeat.shape[1])
    states = []
    for entered in F.linear(embedded, enter, bias).unbind(1):
        r, z, n = entered.chunk(3, -1)
        again_r, again_z, again_n = F.linear(hidden, repeat, other_bias).chunk(3, -1)
        new = tanh(n + product(sigmoid(r + again_r), again_n))
        hidden = new + product(sigmoid(z + again_z), hidden - new)
        states.append(hidden)
    return torch.stack(states, 1)


def _cnn(encoder: encoders.CNN, embedded: Tensor, lengths: Tensor) -> Tensor:
    valid = encoders.valid_tokens(lengths, embedded.shape[1])
    signal = (embedded * valid[..., None]).transpose(1, 2)
    return relu(torch.cat([layer(signal) for layer in encoder.convolutions], 1)).transpose(1, 2)


def _mlp(encoder: encoders.MLP, embedded: Tensor, lengths: Tensor) -> Tensor:  # noqa: ARG001 one shape for all
    return tanh(encoder.layer(embedded))


def _average(encoder: encoders.Average, embedded: Tensor, lengths: Tensor) -> Tensor:  # noqa: ARG001
    return relu(encoder.layer(embedded))


def _transformer(encoder: encoders.SmallTransformer, embedded: Tensor, lengths: Tensor) -> Tensor:
    valid = encoders.valid_tokens(lengths, embedded.shape[1])
    hidden = encoder.project(embedded)
    hidden = hidden + encoders.positions(hidden.shape[1], encoder.size).to(hidden)
    for block in encoder.blocks:
        hidden = _block(block, hidden, valid)
    return layer_norm(hidden, encoder.norm)


def _block(block: Any, hidden: Tensor, valid: Tensor) -> Tensor:
    batch, token, size = hidden.shape
    split = block.attend(layer_norm(hidden, block.norms[0])).view(batch, token, 3, block.heads, -1)
    query, key, value = split.permute(2, 0, 3, 1, 4)
    scores = matrix_product(query / math.sqrt(query.shape[-1]), key.transpose(-1, -2))
    seen = valid[:, None, None].expand_as(scores)
    weights = distribute(scores.flatten(0, 2), seen.flatten(0, 2), attentions.softmax).view_as(scores)
    mixed = matrix_product(weights, value).transpose(1, 2).reshape(batch, token, size)
    hidden = hidden + block.merge(mixed)
    return hidden + torch.as_tensor(block.narrow(gelu(block.widen(layer_norm(hidden, block.norms[1])))))


_ENCODERS: dict[type, Callable[[Any, Tensor, Tensor], Tensor]] = {
    encoders.BiLSTM: _bilstm,
    encoders.BiGRU: _bigru,
    encoders.CNN: _cnn,
    encoders.MLP: _mlp,
    encoders.Average: _average,
    encoders.SmallTransformer: _transformer,
}
_ATTENTIONS: dict[type, Callable[[Any, Tensor, Tensor | None], Tensor]] = {
    attentions.Additive: _additive,
    attentions.Dot: _dot,
}
_DISTRIBUTIONS = (attentions.softmax, attentions.entmax15, attentions.sparsemax, attentions.uniform)
