from __future__ import annotations

from dataclasses import replace

import pytest
import tiny
import torch
from fakes import batch_of

from faithgauge.models.answers import Variants, answers
from faithgauge.models.classified import first_only
from faithgauge.models.question import Question
from faithgauge.models.replaced import Replacement, attending
from faithgauge.models.stack import FAMILIES
from faithgauge.models.transformer import Transformer
from faithgauge.types import Batch

EVERY = pytest.mark.parametrize("family", tiny.FAMILIES)
KNOWN = [family for family in tiny.FAMILIES if family in FAMILIES]


def two_texts() -> Batch:
    """Of 5 and 3 tokens."""
    batch = batch_of([[2, 5, 6, 7, 3], [2, 8, 3]])
    return replace(batch, maskable=batch.valid & (batch.ids > tiny.MASK))


@EVERY
def test_the_logits_are_the_same(family: str) -> None:
    model, batch = Transformer(tiny.network(family, classes=3)), two_texts()
    with torch.inference_mode():
        expected = model(batch).logits
        with first_only(model.network):
            found = model(batch).logits
        assert torch.equal(model(batch).logits, expected)  # and nothing is left behind
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", KNOWN)
def test_the_last_layer_returns_the_first_state_alone(family: str) -> None:
    model, batch = Transformer(tiny.network(family)), two_texts()
    with torch.inference_mode():
        whole = model(batch).hidden
        with first_only(model.network):
            first = model(batch).hidden
    assert whole is not None
    assert first is not None
    torch.testing.assert_close(first, whole[:, :1], atol=1e-5, rtol=1e-5)


def test_four_families_are_known_and_others_are_left_as_they_are() -> None:
    assert sorted(KNOWN) == ["bert", "distilbert", "electra", "roberta"]
    for family in set(tiny.FAMILIES) - set(KNOWN):
        network = tiny.network(family)
        with first_only(network):
            assert network.config._attn_implementation == "eager"


@pytest.mark.parametrize("chunk", [1, 2])
def test_a_feed_forward_part_in_chunks_changes_nothing(chunk: int) -> None:
    batch = batch_of([[2, 5, 6, 3], [2, 8, 7, 3]])
    plain, chunked = (Transformer(tiny.network(chunk_size_feed_forward=size)) for size in (0, chunk))
    with torch.inference_mode(), first_only(chunked.network):
        found = chunked(batch).logits
    torch.testing.assert_close(found, plain(batch).logits.detach(), atol=1e-5, rtol=1e-5)


def test_attention_that_somebody_else_replaced_stays_theirs() -> None:
    model, batch = Transformer(tiny.network()), two_texts()
    uniform = Replacement("uniform")
    with torch.inference_mode(), attending(model.network, uniform) as seen, first_only(model.network):
        model(batch)
    assert [one.weights.shape[-2:] for one in seen] == [(5, 5)] * 2


def test_after_an_error_the_model_is_as_it_was() -> None:
    model, batch = Transformer(tiny.network()), two_texts()
    expected = model(batch).logits
    with pytest.raises(RuntimeError), first_only(model.network):
        raise RuntimeError
    assert model.network.config._attn_implementation == "eager"
    assert torch.equal(model(batch).logits, expected)


@EVERY
@pytest.mark.parametrize("fill", [None, tiny.MASK])
@pytest.mark.parametrize("distribution", ["softmax", "uniform"])
def test_answers_are_those_of_the_plain_model(family: str, fill: int | None, distribution: str) -> None:
    if distribution != "softmax" and family.startswith("deberta"):
        pytest.skip("its attention cannot be replaced")
    model, batch = Transformer(tiny.network(family), distribution).eval(), two_texts()
    keep = torch.rand(40, 5, generator=torch.Generator().manual_seed(0)) < 0.5
    variants = Variants(torch.arange(40) % 2, lambda numbers: keep[numbers], fill)
    question = Question(torch.tensor([1, 0]))
    found = answers(model, batch, question, variants=variants)
    for number, value in enumerate(found.tolist()):
        one = torch.tensor([number])
        with torch.no_grad():
            logits = model(variants.batch(batch, one)).logits
        assert value == pytest.approx(float(question.value(logits, variants.source[one])), abs=1e-5)
