from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import tiny
import torch
from fakes import batch_of
from forms import explained
from torch import Tensor

from faithgauge.explain import norms
from faithgauge.models.layers import layers_of
from faithgauge.models.transformer import Transformer
from faithgauge.types import Batch

FAMILIES = [family for family in tiny.FAMILIES if not family.startswith("deberta")]


def two_texts() -> Batch:
    """Of 5 and 3 tokens, whose first and last are special."""
    batch = batch_of([[2, 5, 6, 7, 3], [2, 8, 3]])
    return replace(batch, maskable=batch.valid & (batch.ids > tiny.MASK))


def bert(**more: Any) -> Transformer:
    return Transformer(tiny.network("bert", **more))


def parts_of(model: Transformer, layer: int) -> tuple[Any, Tensor, Tensor]:
    """A layer of BERT by its own names, the states that enter it, and its attention, of the first text."""
    with torch.no_grad():
        found = model.heads(two_texts())
    return model.network.bert.encoder.layer[layer], found.hidden[layer][0], found.attentions[layer][0]


def vectors(layer: Any, states: Tensor, attention: Tensor) -> Tensor:
    """What each token (second axis) adds to each (first axis): Σ_h α_hij v_hj W_h, one product at a time."""
    heads, tokens, _ = attention.shape
    values = layer.attention.self.value(states)
    size = values.shape[-1] // heads
    weight = layer.attention.output.dense.weight
    found = torch.zeros(tokens, tokens, states.shape[-1])
    for h in range(heads):
        here = slice(h * size, (h + 1) * size)
        for i in range(tokens):
            for j in range(tokens):
                found[i, j] += attention[h, i, j] * (weight[:, here] @ values[j, here])
    return found


@pytest.mark.parametrize("layer", [0, 1])
def test_head_norm_is_the_length_of_what_is_added(layer: int) -> None:
    model = bert()
    with torch.no_grad():
        expected = vectors(*parts_of(model, layer)).norm(dim=-1)
    first = explained(f"head_norm:layer={layer}", model, two_texts())
    torch.testing.assert_close(first.scores[0, 1:4], expected[0, 1:4])
    received = explained(f"head_norm:layer={layer}:by=received", model, two_texts())
    torch.testing.assert_close(received.scores[0, 1:4], expected.mean(0)[1:4])
    assert first.signed is False


def test_with_the_residual_connection_a_token_adds_itself() -> None:
    model = bert()
    with torch.no_grad():
        layer, states, attention = parts_of(model, 0)
        found = vectors(layer, states, attention)
        expected = (found + torch.eye(5)[..., None] * states[None]).norm(dim=-1)
    scores = explained("head_norm:layer=0:parts=residual:by=received", model, two_texts()).scores
    torch.testing.assert_close(scores[0, 1:4], expected.mean(0)[1:4])


def test_seen_through_the_layer_norm_all_parts_are_its_output_less_its_bias() -> None:
    """Σ_j of what is measured is LN(y_i) − β, but for the bias of the linear map, which no token adds."""
    model = bert()
    with torch.no_grad():
        layer, states, attention = parts_of(model, 0)
        norm = layer.attention.output.LayerNorm
        layer.attention.output.dense.bias.zero_()
        norm.weight.copy_(torch.linspace(0.5, 2, 16))
        layer, states, attention = parts_of(model, 0)
        found = vectors(layer, states, attention)
        found += torch.eye(5)[..., None] * states[None]
        whole = found.sum(1)
        deviation = (whole.var(-1, unbiased=False) + norm.eps).sqrt()
        seen = (found - found.mean(-1, keepdim=True)) * norm.weight / deviation[:, None, None]
        torch.testing.assert_close(seen.sum(1), norm(whole) - norm.bias)
    scores = explained("head_norm:layer=0:parts=norm", model, two_texts()).scores
    torch.testing.assert_close(scores[0, 1:4], seen.norm(dim=-1)[0, 1:4])


def test_value_zeroing_is_how_far_the_output_of_a_layer_turns() -> None:
    """The layer of BERT written out once more, without the values of one token at a time."""
    model = bert()
    with torch.no_grad():
        layer, states, attention = parts_of(model, 1)

        def output(without: int | None) -> Tensor:
            values = layer.attention.self.value(states)
            if without is not None:
                values[without] = 0
            mixed = torch.einsum("hij,jhd->ihd", attention, values.view(5, 2, 8)).reshape(5, 16)
            after = layer.attention.output(mixed, states)
            return layer.output(layer.intermediate(after), after)

        turned = torch.stack(
            [1 - torch.cosine_similarity(output(None), output(t), dim=-1) for t in range(5)], -1
        )
    expected = turned / turned.sum(-1, keepdim=True)
    scores = explained("value_zeroing:layer=1", model, two_texts()).scores
    torch.testing.assert_close(scores[0, 1:4], expected[0, 1:4], rtol=1e-4, atol=1e-6)


def test_the_values_of_a_uniform_model_are_zeroed_under_uniform_attention() -> None:
    uniform = Transformer(tiny.network(), "uniform")
    found = explained("value_zeroing:layer=0", uniform, two_texts()).scores
    other = explained("value_zeroing:layer=0", bert(), two_texts()).scores
    assert not torch.allclose(found[0, 1:4], other[0, 1:4], atol=1e-3)


def test_more_tokens_than_go_at_once_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, whole = bert(), explained("value_zeroing", bert(), two_texts()).scores
    monkeypatch.setattr(norms, "AT_ONCE", 2)
    found = explained("value_zeroing", model, two_texts()).scores
    torch.testing.assert_close(found, whole, equal_nan=True)


def test_rollout_of_matrices_is_the_product_of_their_rows() -> None:
    model = bert()
    with torch.no_grad():
        steps = [vectors(*parts_of(model, layer)).norm(dim=-1) for layer in (0, 1)]
    rows = [step / step.sum(-1, keepdim=True) for step in steps]
    expected = ((rows[1] + torch.eye(5)) / 2 @ (rows[0] + torch.eye(5)) / 2)[0]
    scores = explained("head_norm:layer=rollout", model, two_texts()).scores
    torch.testing.assert_close(scores[0, 1:4], expected[1:4])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "text", ["head_norm:parts=norm:by=received", "head_norm:layer=rollout", "value_zeroing"]
)
def test_every_family_is_read_and_padding_changes_nothing(family: str, text: str) -> None:
    model, batch = Transformer(tiny.network(family)), two_texts()
    alone = replace(
        batch,
        ids=batch.ids[1:, :3],
        lengths=batch.lengths[1:],
        valid=batch.valid[1:, :3],
        maskable=batch.maskable[1:, :3],
    )
    together = explained(text, model, batch).scores
    assert torch.equal(together.isnan(), ~batch.maskable)
    assert bool((together[batch.maskable] > 0).all())
    single = explained(text, model, alone).scores
    torch.testing.assert_close(together[1:, :3], single, equal_nan=True, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_seen_of_a_layer_is_what_the_model_computes(family: str) -> None:
    name = "n_layers" if family == "distilbert" else "num_hidden_layers"
    model, batch = Transformer(tiny.network(family, **{name: 3})), two_texts()
    with torch.no_grad():
        expected = model.heads(batch)
        layers = layers_of(model.network, lambda: model(batch))
    assert len(layers) == 3
    for number, layer in enumerate(layers):
        assert torch.equal(layer.attended.weights, expected.attentions[number])
        torch.testing.assert_close(layer.entered, expected.hidden[number])
        torch.testing.assert_close(layer.output, expected.hidden[number + 1])


def test_a_model_of_one_layer_is_read() -> None:
    model = bert(num_hidden_layers=1)
    with torch.no_grad():
        (layer,) = layers_of(model.network, lambda: model(two_texts()))
    assert layer.whole is model.network.bert.encoder.layer[0]
