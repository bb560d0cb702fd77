from __future__ import annotations

import numpy as np
import torch
from fakes import batch_of, classifier
from forms import alone, explained, some_batch

from faithgauge.explain.random import random
from faithgauge.models.question import Known, Question


def scores(text: str = "random", seed: int = 0) -> torch.Tensor:
    return explained(text, classifier(), some_batch("single"), Known(seed=seed)).scores


def test_every_maskable_token_gets_a_number_between_0_and_1() -> None:
    batch = some_batch("single")
    drawn = scores()
    assert torch.equal(drawn.isnan(), ~batch.maskable)
    assert 0 <= drawn[batch.maskable].min() <= drawn[batch.maskable].max() < 1


def test_the_numbers_are_those_of_the_generator_of_the_text() -> None:
    batch, question = batch_of([[4, 5, 6]]), Question(torch.tensor([0]), known=Known(seed=8))
    expected = question.random(batch, 0, "random 1").random(3)
    np.testing.assert_allclose(random(classifier(), batch, question).scores[0], expected, rtol=1e-6)


def test_a_text_has_the_same_numbers_alone() -> None:
    batch, together = some_batch("single"), scores()
    for i in range(len(batch)):
        single = explained("random", classifier(), alone(batch, i), Known()).scores[0]
        assert torch.equal(single.nan_to_num(), together[i, : len(single)].nan_to_num())


def test_two_draws_two_seeds_and_two_texts_differ() -> None:
    one, two, three = (x.nan_to_num() for x in (scores(), scores("random:draw=2"), scores(seed=1)))
    assert not torch.equal(one, two)
    assert not torch.equal(one, three)
    same = explained("random", classifier(), batch_of([[4, 5], [4, 5]])).scores
    assert not torch.equal(same[0], same[1])


def test_the_second_text_of_a_pair_has_its_own_numbers() -> None:
    batch = batch_of([[4, 5]], pairs=[[4, 5]])
    found = explained("random", classifier(task="pair", pair="two_sided"), batch)
    assert found.pair is not None
    assert not torch.equal(found.scores, found.pair.scores)
