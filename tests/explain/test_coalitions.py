from __future__ import annotations

import numpy as np
from bags import Bag
from fakes import EOS, SOS, batch_of
from perturbed import MASK, asked

from faithgauge.explain.coalitions import answered

WEIGHTS = [0.0, 0.0, 10.0, 20.0, 1.0, 2.0, 4.0, 8.0]


def test_every_coalition_of_every_text_is_answered_in_order() -> None:
    batch = batch_of([[SOS, 4, 5, EOS], [6, 7, 4]])
    first = np.array([[True, False], [True, True], [False, False], [True, False]])
    second = np.array([[False, True, True], [True, False, False]])
    question = asked([1, 1], of="logit")
    found = answered(Bag(WEIGHTS), batch, question, coalitions=[first, second], fill=MASK)
    assert [values.tolist() for values in found] == [[31.0, 33.0, 30.0, 31.0], [9.0, 4.0]]


def test_equal_coalitions_are_asked_once() -> None:
    model = Bag(WEIGHTS)
    coalitions = np.random.default_rng(0).random((500, 2)) < 0.5
    found = answered(model, batch_of([[4, 5]]), asked([1], of="logit"), coalitions=[coalitions], fill=MASK)
    assert model.asked == [4]
    assert found[0].tolist() == (coalitions @ np.array([1.0, 2.0])).tolist()


def test_a_text_without_maskable_tokens_is_asked_once() -> None:
    model, none = Bag(WEIGHTS), np.zeros((5, 0), bool)
    found = answered(model, batch_of([[SOS, EOS]]), asked([1], of="logit"), coalitions=[none], fill=None)
    assert model.asked == [1]
    assert found[0].tolist() == [30.0] * 5
