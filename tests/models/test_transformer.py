"""Models of the transformers library behind the Classifier protocol, on random models of every family."""

from __future__ import annotations

from typing import Any

import pytest
import tiny
import torch
from torch import Tensor

from faithgauge.errors import DataError, UnsupportedError
from faithgauge.models.check import check_model, example_batch
from faithgauge.models.classifier import Shape
from faithgauge.models.transformer import AllEmbeddings, Transformer
from faithgauge.types import Batch

FAMILY = pytest.mark.parametrize("family", tiny.FAMILIES)
FIRST = [tiny.CLS, 5, 7, 10, tiny.SEP]
SECOND = [tiny.CLS, 6, tiny.SEP]


def batch_of(*texts: list[int], segments: list[list[int]] | None = None) -> Batch:
    width = max(map(len, texts))
    ids = torch.tensor([text + [0] * (width - len(text)) for text in texts])
    lengths = torch.tensor([len(text) for text in texts])
    valid = torch.arange(width) < lengths[:, None]
    special = (ids == tiny.CLS) | (ids == tiny.SEP)
    own = None if segments is None else torch.tensor(segments)
    return Batch(ids, lengths, valid, valid & ~special, segments=own)


def plain(network: Any, text: list[int], **more: Tensor) -> Any:
    """What transformers says of one text, without padding and from ids."""
    with torch.no_grad():
        return network(input_ids=torch.tensor([text]), attention_mask=torch.ones(1, len(text)), **more)


@FAMILY
def test_logits_are_those_of_transformers_text_by_text(family: str) -> None:
    network = tiny.network(family, classes=3)
    with torch.no_grad():
        found = Transformer(network)(batch_of(FIRST, SECOND)).logits
    expected = torch.cat([plain(network, FIRST).logits, plain(network, SECOND).logits])
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    assert float((found[0] - found[1]).abs().max()) > 1e-3


@FAMILY
def test_every_family_keeps_the_promises_of_the_protocol(family: str) -> None:
    model = Transformer(tiny.network(family, classes=3))
    findings = check_model(model, Shape(len(tiny.VOCABULARY), ("a", "b", "c"), "single"))
    kept = {finding.promise for finding in findings if finding.status == "ok"}
    assert [finding for finding in findings if finding.status == "wrong"] == []
    assert kept == {"forward", "padding", "embedding", "heads"}


@FAMILY
def test_heads_show_what_transformers_shows(family: str) -> None:
    network = tiny.network(family)
    with torch.no_grad():
        found = Transformer(network).heads(batch_of(FIRST, SECOND))
    alone = plain(network, SECOND, output_attentions=True, output_hidden_states=True)
    assert len(found.attentions) == 2
    assert len(found.hidden) == 3
    for ours, theirs in zip(found.attentions, alone.attentions, strict=True):
        torch.testing.assert_close(ours[1:, :, :3, :3], theirs, atol=1e-5, rtol=1e-5)
        assert not ours[1, :, :3, 3:].any()
    for ours, theirs in zip(found.hidden, alone.hidden_states, strict=True):
        torch.testing.assert_close(ours[1:, :3], theirs, atol=1e-5, rtol=1e-5)


def test_hidden_states_of_an_output_are_those_after_the_last_layer() -> None:
    model, batch = Transformer(tiny.network()), batch_of(FIRST, SECOND)
    with torch.no_grad():
        found = model(batch).hidden
        assert found is not None
        torch.testing.assert_close(found, model.heads(batch).hidden[-1])


def test_a_gradient_reaches_the_attention_of_every_layer() -> None:
    found = Transformer(tiny.network()).heads(batch_of(FIRST, SECOND))
    for gradient in torch.autograd.grad(found.logits[:, 1].sum(), found.attentions):
        assert bool(gradient.any())


def test_the_second_text_of_a_pair_has_a_type_of_its_own() -> None:
    network = tiny.network()
    pair = [tiny.CLS, 5, tiny.SEP, 6, tiny.SEP]
    types = [[0, 0, 0, 1, 1]]
    expected = plain(network, pair, token_type_ids=torch.tensor(types)).logits
    with torch.no_grad():
        found = Transformer(network)(batch_of(pair, segments=types)).logits
        other = Transformer(network)(batch_of(pair)).logits
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    assert float((found - other).abs().max()) > 1e-3


@pytest.mark.parametrize("family", ["distilbert", "roberta", "deberta-v2"])
def test_a_family_without_types_reads_pairs_without_them(family: str) -> None:
    network = tiny.network(family)
    pair = [tiny.CLS, 5, tiny.SEP, 6, tiny.SEP]
    with torch.no_grad():
        found = Transformer(network)(batch_of(pair, segments=[[0, 0, 0, 1, 1]])).logits
    torch.testing.assert_close(found, plain(network, pair).logits, atol=1e-5, rtol=1e-5)


@FAMILY
def test_all_embeddings_are_what_enters_the_first_layer(family: str) -> None:
    model, batch = Transformer(tiny.network(family)), batch_of(FIRST, SECOND)
    view = AllEmbeddings(model)
    with torch.no_grad():
        embedded = view.embed(batch)
        torch.testing.assert_close(view.forward_embedded(embedded, batch).logits, model(batch).logits)
        other = view.forward_embedded(embedded * 0.5, batch).logits
        assert float((other - model(batch).logits).abs().max()) > 1e-3
        if family not in ("electra", "albert"):  # these change the size in between
            torch.testing.assert_close(embedded, model.heads(batch).hidden[0])
    promises = {finding.promise: finding.status for finding in check_model(view, _shape())}
    assert promises["embedding"] == "ok"


@FAMILY
def test_positions_are_counted_without_those_kept_for_padding(family: str) -> None:
    model = Transformer(tiny.network(family))
    assert model.positions == tiny.POSITIONS
    longest = batch_of([tiny.CLS, *[5] * (tiny.POSITIONS - 2), tiny.SEP])
    with torch.no_grad():
        assert bool(model(longest).logits.isfinite().all())
        with pytest.raises(DataError, match=r"expected rows of at most 24 tokens.*found 25; cut the texts"):
            model(batch_of([tiny.CLS, *[5] * (tiny.POSITIONS - 1), tiny.SEP]))


def test_what_one_distribution_over_a_text_would_mean_is_not_defined() -> None:
    model, batch = Transformer(tiny.network()), batch_of(FIRST)
    with pytest.raises(UnsupportedError, match="for each token, head and layer"):
        model(batch, torch.ones(1, 5) / 5)


def test_a_pair_in_two_batches_is_refused() -> None:
    batch = example_batch(Shape(len(tiny.VOCABULARY), ("a", "b"), "pair"))
    with pytest.raises(UnsupportedError, match="reads a pair as one row with separators"):
        Transformer(tiny.network())(batch)


def test_the_attention_of_deberta_can_be_read_and_not_replaced() -> None:
    Transformer(tiny.network("bert")).refuse_read_only()
    with pytest.raises(UnsupportedError, match="of a deberta-v2 model can be read and not replaced"):
        Transformer(tiny.network("deberta-v2")).refuse_read_only()


def test_a_model_that_returns_no_attention_is_named() -> None:
    sizes = {key: value for key, value in tiny.FAMILIES["bert"][1].items() if key != "num_attention_heads"}
    config = tiny.transformers.FNetConfig(**sizes, num_labels=2)
    model = Transformer(tiny.transformers.AutoModelForSequenceClassification.from_config(config).eval())
    with pytest.raises(UnsupportedError, match="found a fnet model that returns none"):
        model.heads(batch_of(FIRST))


def test_attention_that_is_no_distribution_is_refused() -> None:
    model, batch = Transformer(tiny.network()), batch_of(FIRST)
    shown = model.heads(batch).attentions
    with pytest.raises(UnsupportedError, match=r"found layer 2 off by 0\.5"):
        model._refuse_what_is_no_attention((shown[0], shown[1] / 2), batch)


def _shape() -> Shape:
    return Shape(len(tiny.VOCABULARY), ("a", "b"), "single")
