"""Permuted attention of all heads: by hand, against a slow reference, and what must not matter."""

from __future__ import annotations

from dataclasses import replace
from math import log
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from fakes import batch_of
from forms import alone
from readouts import readout_of
from torch import Tensor, nn

from faithgauge.faithfulness import permuted_heads as module
from faithgauge.faithfulness.permutation import permutation_tvd, permuted
from faithgauge.faithfulness.permuted_heads import attention_of, equal, most, permutation_tvd_heads
from faithgauge.models.readout import Readout
from faithgauge.models.transformer import Transformer
from faithgauge.types import Batch, Output


class Read(nn.Module):
    """logit = Σ_t values_t A_1t, A the attention of the only head of the last layer."""

    n_classes = 2
    capabilities = frozenset({"heads"})

    def __init__(self, row: list[float], values: list[float], layers: int = 1) -> None:
        super().__init__()
        self.own = torch.tensor(row).expand(1, layers, 1, len(row), len(row))
        self.values = torch.tensor(values)

    def heads(self, batch: Batch) -> Any:
        return SimpleNamespace(attentions=tuple(self.own.expand(len(batch), -1, -1, -1, -1).unbind(1)))

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Output:
        given = self.own if attention is None else attention
        return Output((given[:, -1, 0, 0] * self.values).sum(-1, keepdim=True))


def text_of(maskable: list[bool]) -> Batch:
    ids = torch.arange(len(maskable))[None]
    valid = torch.ones_like(ids, dtype=torch.bool)
    return Batch(ids, torch.tensor([len(maskable)]), valid, torch.tensor([maskable]), rows=torch.tensor([0]))


def a_transformer(family: str = "bert") -> Transformer:
    return Transformer(tiny.network(family, classes=3))


def a_text() -> Batch:
    """[CLS] film a the [SEP] good bad [SEP], in one row."""
    batch = batch_of([[2, 7, 8, 9, 3, 5, 6, 3]])
    segments = torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1]])
    return replace(batch, maskable=batch.ids > tiny.MASK, segments=segments, rows=torch.tensor([4]))


def places_of(text: Batch) -> Readout:
    """A readout whose "attention" is the place of each token, so that what is permuted are places."""
    places = torch.arange(8.0)[None]
    own = readout_of([[0.0] * 8], [[0.0] * 8])
    assert text.rows is not None
    return replace(own, attention=places, maskable=text.maskable, rows=text.rows)


def test_one_hot_attention_moves_to_a_token_that_says_nothing_two_times_in_three() -> None:
    """p is σ(ln 3) = ¾ with the weight on the last of three words and ½ elsewhere: the median |Δp| is ¼."""
    model = Read([0, 0, 0, 1, 0], [9, 0, 0, log(3), 9])
    text = text_of([False, True, True, True, False])
    for layers in ("last", "all"):
        found = permutation_tvd_heads(model, text, layers, permutations=1001)  # type: ignore[arg-type]
        assert found == pytest.approx(0.25, abs=1e-6)


def test_what_special_tokens_get_stays_theirs() -> None:
    """All weight is on [CLS] or [SEP]: there is nothing to permute."""
    model = Read([0.4, 0, 0, 0, 0.6], [1, 2, 3, 4, 5])
    assert permutation_tvd_heads(model, text_of([False, True, True, True, False]), "all") == 0


def test_of_one_head_it_is_the_test_of_one_attention_with_the_same_orders() -> None:
    """The first row is the attention, no token is special: the same number to rounding, seed by seed."""
    row, values = [0.5, 0.3, 0.15, 0.05], [2.0, -1.0, 0.5, 3.0]
    for seed in range(4):
        expected = permutation_tvd(readout_of([row], [values]), permutations=7, seed=seed)[0]
        found = permutation_tvd_heads(
            Read(row, values), text_of([True] * 4), "last", permutations=7, seed=seed
        )
        assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "electra", "albert"])
@pytest.mark.parametrize("layers", ["last", "all"])
def test_a_slow_obvious_reference_gives_the_same(family: str, layers: Any) -> None:
    model, text = a_transformer(family), a_text()
    own = attention_of(model, text)
    orders = permuted(places_of(text), permutations=9, seed=3)[0].long()
    with torch.no_grad():
        before = model(text).logits.softmax(-1)[0]
        changes = []
        for order in orders.tolist():
            given = own.clone()
            for layer in range(own.shape[1]) if layers == "all" else [own.shape[1] - 1]:
                for head in range(own.shape[2]):
                    for i in range(8):
                        for j in range(8):
                            given[0, layer, head, i, j] = own[0, layer, head, i, order[j]]
            after = model(text, given).logits.softmax(-1)[0]
            changes.append(float((after - before).abs().sum() / 2))
    found = permutation_tvd_heads(model, text, layers, permutations=9, seed=3)
    assert found == pytest.approx(float(np.median(changes)), abs=1e-5)
    assert found > 0


def test_attention_in_its_own_order_is_the_model_itself() -> None:
    model, text = a_transformer(), a_text()
    with torch.no_grad():
        assert torch.equal(model(text, attention_of(model, text)).logits, model(text).logits)
    one = replace(text, maskable=text.maskable & (text.ids == 5))  # a single word has one order
    assert permutation_tvd_heads(model, one, "all") == pytest.approx(0, abs=1e-6)


def test_how_many_run_together_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, text = a_transformer(), a_text()
    expected = permutation_tvd_heads(model, text, "all", permutations=11)
    monkeypatch.setattr(module, "AT_ONCE", 1)
    assert permutation_tvd_heads(model, text, "all", permutations=11) == pytest.approx(expected, abs=1e-6)


def test_a_text_has_its_orders_whatever_the_batch_it_came_in() -> None:
    model, text = a_transformer(), a_text()
    both = batch_of([[2, 7, 8, 9, 3, 5, 6, 3], [2, 5, 3]])
    both = replace(both, maskable=both.valid & (both.ids > tiny.MASK), rows=torch.tensor([4, 5]))
    plain = replace(text, segments=None)
    assert permutation_tvd_heads(model, alone(both, 0), "all") == permutation_tvd_heads(model, plain, "all")
    other = replace(plain, rows=torch.tensor([5]))
    assert permutation_tvd_heads(model, other, "all") != permutation_tvd_heads(model, plain, "all")


def test_a_text_without_words_has_no_number() -> None:
    found = permutation_tvd_heads(Read([1.0, 0], [1, 2]), text_of([False, False]), "last")
    assert np.isnan(found)


def test_equal_attention_is_equal_in_every_row_that_is_concerned() -> None:
    text = text_of([False, True, True])
    rows = torch.tensor([[[0.2, 0.4, 0.4]] * 3, [[0.2, 0.4, 0.4], [0.2, 0.1, 0.7], [0.2, 0.4, 0.4]]])
    own = rows[None, :, None]
    assert equal(own.flip(1), text, "last", same=1e-6)
    assert not equal(own, text, "last", same=1e-6)
    assert not equal(own.flip(1), text, "all", same=1e-6)


def test_the_largest_attention_is_that_of_the_last_layers_first_row_over_all_heads() -> None:
    """Heads (.1, .6, .3) and (.5, .1, .4): their mean is (.3, .35, .35), of which the first is special."""
    heads = torch.zeros(1, 2, 2, 3, 3)
    heads[0, 1, :, 0] = torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.1, 0.4]])
    assert most(heads, text_of([False, True, True])) == pytest.approx(0.35)
    assert most(heads, text_of([True, True, True])) == pytest.approx(0.35)
