"""The logits under any attention: those of the model itself, for every form of text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from bags import Bag
from fakes import batch_of, classifier, set_weights
from forms import FORMS, alone, model_of, some_batch
from torch import Tensor

from faithgauge.errors import UnsupportedError
from faithgauge.models import readout as module
from faithgauge.models.question import swap
from faithgauge.models.readout import readout, readouts
from faithgauge.types import Batch, Output


def some_attention(maskable: Tensor, n: int = 3) -> Tensor:
    """Rising, falling and uneven weights on the maskable tokens."""
    steps = torch.arange(1.0, maskable.shape[1] + 1)
    scores = torch.stack([steps, -steps, (steps * 7) % 5])[:n]
    return scores.expand(len(maskable), -1, -1).masked_fill(~maskable[:, None], -torch.inf).softmax(-1)


@pytest.mark.parametrize("form", FORMS)
def test_the_logits_are_those_of_the_model_under_the_same_attention(form: str) -> None:
    model, batch = model_of(form), some_batch(form)
    one = readout(model, batch)
    given = some_attention(batch.maskable)
    found = one.logits(given)
    for step in range(given.shape[1]):
        torch.testing.assert_close(found[:, step], model(batch, attention=given[:, step]).logits)
    torch.testing.assert_close(one.logits(one.attention[:, None])[:, 0], model(batch).logits)
    assert (one.values is not None) == form.startswith("single")


@pytest.mark.parametrize("form", ["queried", "two-sided", "cloze"])
def test_parts_change_nothing_and_a_decoder_that_shares_nothing_is_asked_one_by_one(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, batch = model_of(form), some_batch(form)
    given = some_attention(batch.maskable)
    whole = readout(model, batch).logits(given)
    monkeypatch.setattr(module, "TOKENS", 1)
    torch.testing.assert_close(readout(model, batch).logits(given), whole)
    plain = model.decode

    def decode(hidden: Tensor, attention: Tensor, batch: Batch) -> Tensor:
        return plain(hidden, attention, batch)

    monkeypatch.setattr(model, "decode", decode)
    torch.testing.assert_close(readout(model, batch).logits(given), whole)


def test_the_value_of_a_token_is_the_logit_when_it_has_all_the_attention() -> None:
    """An average of word vectors 1, 2, 4 by attention, times 3, plus 1."""
    model = classifier("mlp", embed_size=1, hidden_size=1, vocabulary=8).eval()
    set_weights(model, decoder__weight=[[3.0]], decoder__bias=[1.0])
    batch = batch_of([[4, 5, 6]])
    hidden = torch.tensor([[[1.0], [2.0], [4.0]]])
    said = Output(torch.zeros(1, 1), torch.ones(1, 3) / 3, hidden)
    model.forward = lambda _batch: said  # type: ignore[method-assign]
    one = readout(model, batch)
    assert one.values is not None
    assert one.values[0, :, 0].tolist() == [4.0, 7.0, 13.0]
    assert one.logits(torch.tensor([[[0.5, 0.0, 0.5]]])).item() == pytest.approx(8.5)


def test_a_linear_model_with_candidates_is_decoded_and_what_is_none_stays_impossible() -> None:
    model, batch = model_of("cloze"), some_batch("cloze")
    model.capabilities = model.capabilities | {"linear"}
    one = readout(model, batch)
    assert one.values is None
    assert torch.equal(one.likely(one.attention[:, None])[:, 0] > 0, batch.candidates)  # type: ignore[arg-type]


def test_of_a_two_sided_model_both_texts_have_one_and_the_other_stays_as_it_is() -> None:
    model, batch = model_of("two-sided"), some_batch("two-sided")
    first, second = readouts(model, batch)
    assert (first.side, second.side) == ("first", "second")
    other = swap(batch)
    given = some_attention(other.maskable, 1)
    expected = model.swapped()(other, attention=given[:, 0]).logits
    torch.testing.assert_close(second.logits(given)[:, 0], expected)
    assert [one.side for one in readouts(model_of("queried"), some_batch("queried"))] == ["first"]


def test_randomness_is_that_of_the_text_wherever_it_stands() -> None:
    model, batch = model_of("single"), some_batch("single")
    together, single = readout(model, batch), readout(model, alone(batch, 1))
    assert together.streams(0, "x")[1] == single.streams(0, "x")[0]
    assert together.random(1, 0, "x").random() == single.random(0, 0, "x").random()
    assert together.streams(0, "x")[1] != replace(together, side="second").streams(0, "x")[1]
    assert len({*together.streams(0, "x").tolist(), *together.streams(1, "x").tolist()}) == 6


@pytest.mark.parametrize(
    ("capabilities", "lacks"),
    [({"embedding"}, "'attention' and 'decode'"), ({"attention"}, "'decode'")],
)
def test_a_model_that_does_not_show_how_it_decodes_is_refused(capabilities: set[str], lacks: str) -> None:
    model: Any = Bag([0.0] * 8)
    model.capabilities = frozenset(capabilities)
    with pytest.raises(UnsupportedError, match=f"this one lacks {lacks}; choose other tests"):
        readout(model, batch_of([[4, 5]]))


def test_several_heads_are_refused() -> None:
    model = classifier("mlp", vocabulary=8)
    heads = Output(torch.zeros(1, 1), torch.zeros(1, 2, 3), torch.zeros(1, 3, 4))
    model.forward = lambda _batch: heads  # type: ignore[method-assign]
    with pytest.raises(UnsupportedError, match=r"one attention weight for each token.*shape \(1, 2, 3\)"):
        readout(model, batch_of([[4, 5, 6]]))
