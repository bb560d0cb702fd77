from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from fakes import batch_of, classifier, some_split

from faithgauge.encode.batching import collate
from faithgauge.models.question import Known, Question, swap


def asked(target: list[int], **rest: Any) -> Question:
    return Question(torch.tensor(target), **rest)


def test_of_one_logit_the_value_is_the_probability_of_the_target() -> None:
    """σ(ln 3) = 3/4."""
    logits = torch.tensor([3.0, 3.0]).log()[:, None]
    assert asked([1, 0]).value(logits).tolist() == pytest.approx([0.75, 0.25])


def test_of_one_logit_the_logit_of_class_0_is_its_negative() -> None:
    assert asked([1, 0], of="logit").value(torch.tensor([[2.0], [2.0]])).tolist() == [2.0, -2.0]


def test_of_several_logits_the_value_is_that_of_the_target() -> None:
    logits = torch.tensor([[1.0, 2.0, 5.0], [0.0, 3.0, 0.0]]).log()
    assert asked([2, 1]).value(logits).tolist() == pytest.approx([5 / 8, 1.0])
    raw = torch.tensor([[1.0, 2.0, 5.0], [0.0, 3.0, 0.0]])
    assert asked([2, 1], of="logit").value(raw).tolist() == [5.0, 3.0]


def test_a_value_may_be_of_some_texts_in_any_order_and_number() -> None:
    """Text 1 asks for class 0, text 0 for class 1."""
    logits = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = asked([1, 0], of="logit").value(logits, torch.tensor([1, 0, 1]))
    assert found.tolist() == [1.0, 4.0, 5.0]


def test_random_numbers_are_those_of_the_text_wherever_it_stands() -> None:
    encoded = some_split(6)
    question = asked([0])
    together = collate(encoded, np.array([4, 1, 3]))
    alone = collate(encoded, np.array([1]))
    first = question.random(together, 1, "x").random(3).tolist()
    assert first == question.random(alone, 0, "x").random(3).tolist()
    assert first != question.random(together, 0, "x").random(3).tolist()


def test_random_numbers_differ_by_purpose_seed_and_side() -> None:
    batch, question = batch_of([[4, 5]]), asked([0])
    others = [question, replace(question, side="second"), replace(question, known=Known(seed=1))]
    drawn = [other.random(batch, 0, "x").random() for other in others]
    assert len({*drawn, question.random(batch, 0, "y").random()}) == 4


def test_what_is_made_once_is_kept() -> None:
    known, made = Known(), []
    for _ in range(2):
        assert known.once("table", lambda: made.append(1) or len(made)) == 1
    assert made == [1]


def test_pairs_that_are_swapped_twice_are_as_they_were() -> None:
    encoded = some_split(3, task="pair")
    batch = collate(encoded, np.arange(3))
    assert batch.pair is not None
    other = swap(batch)
    assert other.pair is not None
    assert torch.equal(other.ids, batch.pair.ids)
    assert torch.equal(other.pair.ids, batch.ids)
    assert other.labels is batch.labels
    assert other.rows is batch.rows
    again = swap(other)
    assert again.pair is not None
    assert torch.equal(again.ids, batch.ids)
    assert torch.equal(again.pair.ids, batch.pair.ids)


def test_swapped_pairs_and_model_give_the_same_logits() -> None:
    model = classifier("mlp", task="pair", pair="two_sided")
    batch = collate(some_split(4, task="pair"), np.arange(4))
    torch.testing.assert_close(model.swapped()(swap(batch)).logits, model(batch).logits, rtol=0, atol=1e-6)
