from __future__ import annotations

from typing import Any

import pytest
import torch
from bags import BagOfVectors
from fakes import batch_of
from forms import FORMS, model_of, some_batch
from torch import Tensor

from faithgauge.models.encoders import ENCODERS
from faithgauge.models.question import Question
from faithgauge.models.slopes import along, slope
from faithgauge.types import Batch


def question_of(batch: Batch) -> Question:
    return Question(torch.zeros(len(batch), dtype=torch.long))


def plain_slope(model: Any, batch: Batch, vectors: Tensor) -> Tensor:
    """One forward pass with the vectors and one backward pass to them."""
    leaf = vectors.detach().requires_grad_()
    value = question_of(batch).value(model.forward_embedded(leaf, batch).logits)
    return torch.autograd.grad(value.sum(), leaf)[0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_slope_is_the_gradient_through_the_whole_model(encoder: str, form: str) -> None:
    model, batch = model_of(form, encoder), some_batch(form)
    vectors = model.embed(batch).detach()
    found = slope(model, batch, question_of(batch), vectors=vectors)
    expected = plain_slope(model, batch, vectors)
    torch.testing.assert_close(found[batch.valid], expected[batch.valid], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_sum_along_a_line_is_that_of_its_points_one_by_one(encoder: str, form: str) -> None:
    """Each text has shares of its own; the end of the line is the text, its start here all zeros."""
    model, batch = model_of(form, encoder), some_batch(form)
    vectors = model.embed(batch).detach()
    start = vectors * ~batch.maskable[..., None]
    shares, weights = torch.rand(4, len(batch), generator=torch.Generator().manual_seed(0)), torch.arange(4.0)
    expected = torch.zeros(batch.ids.shape)
    for share, weight in zip(shares, weights, strict=True):
        there = start + share[:, None, None] * (vectors - start)
        expected += weight * ((vectors - start) * plain_slope(model, batch, there)).sum(-1)
    scores, error = along(model, batch, question_of(batch), start=start, shares=shares, weights=weights)
    torch.testing.assert_close(scores, expected * batch.maskable, rtol=1e-4, atol=1e-5)
    with torch.no_grad():
        ends = [
            question_of(batch).value(model.forward_embedded(end, batch).logits) for end in (start, vectors)
        ]
    torch.testing.assert_close(error, ends[1] - ends[0] - scores.sum(-1), rtol=0, atol=1e-5)


def test_a_model_that_offers_its_vectors_alone_has_slopes_too() -> None:
    model, batch = BagOfVectors(), batch_of([[4, 5], [6]])
    vectors = model.embed(batch)
    found = slope(model, batch, Question(torch.tensor([1, 2]), "logit"), vectors=vectors)
    torch.testing.assert_close(found[0], model.decoder.weight[1].detach().expand(2, 5))
    torch.testing.assert_close(found[1, 0], model.decoder.weight[2].detach())


def test_a_model_with_an_entry_of_its_own_need_not_know_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = model_of("single", "mlp"), some_batch("single")
    vectors = model.embed(batch).detach()
    expected = slope(model, batch, question_of(batch), vectors=vectors)
    monkeypatch.delattr(type(model), "forward_along")
    torch.testing.assert_close(slope(model, batch, question_of(batch), vectors=vectors), expected)
