from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from fakes import noise, set_weights
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from faithgauge.models.attention import (
    ATTENTIONS,
    DISTRIBUTIONS,
    Additive,
    Dot,
    entmax15,
    softmax,
    sparsemax,
    uniform,
)

ALL = pytest.mark.parametrize("name", DISTRIBUTIONS)
LEARNT = pytest.mark.parametrize("distribution", [softmax, sparsemax, entmax15])


def row(*values: float) -> Tensor:
    return torch.tensor([values], dtype=torch.float64)


def everything(scores: Tensor) -> Tensor:
    return torch.ones_like(scores, dtype=torch.bool)


def test_additive_attention_of_two_tokens_by_hand() -> None:
    attention = Additive(2, 0, 2).double()
    set_weights(attention, attn1__weight=[[1.0, 2], [0, -1]], attn1__bias=[0.5, 0], attn2__weight=[[3.0, 4]])
    hidden = torch.tensor([[[0.1, 0.2], [-1, 1]]], dtype=torch.float64)
    expected = [
        3 * math.tanh(0.1 + 0.4 + 0.5) + 4 * math.tanh(-0.2),
        3 * math.tanh(-1 + 2 + 0.5) + 4 * math.tanh(-1),
    ]
    assert attention(hidden, None)[0].tolist() == pytest.approx(expected, abs=1e-14)


def test_additive_attention_with_a_query_by_hand() -> None:
    attention = Additive(1, 2, 1).double()
    set_weights(
        attention,
        attn1__weight=[[2.0]],
        attn1__bias=[0.1],
        attn2__weight=[[3.0]],
        query__weight=[[1.0, -1]],
        query__bias=[0.2],
    )
    hidden = torch.tensor([[[0.5], [-0.5]], [[0], [1]]], dtype=torch.float64)
    query = torch.tensor([[1, 3], [0.5, 0]], dtype=torch.float64)
    expected = [
        [3 * math.tanh(1 + 0.1 - 2 + 0.2), 3 * math.tanh(-1 + 0.1 - 2 + 0.2)],
        [3 * math.tanh(0.1 + 0.5 + 0.2), 3 * math.tanh(2 + 0.1 + 0.5 + 0.2)],
    ]
    torch.testing.assert_close(attention(hidden, query), torch.tensor(expected, dtype=torch.float64))


def test_additive_attention_has_no_bias_at_the_end() -> None:
    assert {name for name, _ in Additive(2, 0, 3).named_parameters()} == {
        "attn1.weight",
        "attn1.bias",
        "attn2.weight",
    }


def test_dot_attention_of_two_tokens_by_hand() -> None:
    attention = Dot(4, 0, 99).double()
    set_weights(attention, weight__weight=[[1.0, 2, 3, 4]])
    hidden = torch.tensor([[[1, 1, 1, 1], [0, 0.5, 0, -1]]], dtype=torch.float64)
    assert attention(hidden, None).tolist() == [[5.0, -1.5]], "10 / √4 and (1 − 4) / √4"


def test_dot_attention_with_a_query_of_the_same_size_has_no_parameters() -> None:
    attention = Dot(4, 4, 99)
    hidden = torch.tensor([[[1.0, 1, 1, 1], [0, 0.5, 0, -1]], [[2, 0, 0, 0], [0, 0, 0, 2]]])
    query = torch.tensor([[1.0, 2, 3, 4], [-3, 0, 0, 1]])
    assert attention(hidden, query).tolist() == [[5.0, -1.5], [-3, 1]]
    assert list(attention.parameters()) == []


def test_dot_attention_maps_a_query_of_another_size() -> None:
    attention = Dot(4, 1, 99)
    set_weights(attention, query__weight=[[1.0], [2], [3], [4]])
    hidden = torch.tensor([[[1.0, 1, 1, 1], [0, 0.5, 0, -1]]])
    assert attention(hidden, torch.tensor([[2.0]])).tolist() == [[10, -3]]


@pytest.mark.parametrize("name", ATTENTIONS)
def test_every_attention_scores_token_by_token(name: str) -> None:
    attention = ATTENTIONS[name](6, 3, 2)
    hidden, query = noise(2, 5, 6), noise(2, 3)
    scores = attention(hidden, query)
    assert scores.shape == (2, 5)
    torch.testing.assert_close(attention(hidden[:, 2:4], query), scores[:, 2:4])


def test_softmax_by_hand() -> None:
    scores = row(math.log(1), math.log(3), math.log(12))
    assert softmax(scores, everything(scores), 1)[0].tolist() == pytest.approx([1 / 16, 3 / 16, 12 / 16])


def test_softmax_at_temperature_two_takes_the_root_of_the_odds() -> None:
    scores = row(math.log(1), math.log(9))
    assert softmax(scores, everything(scores), 2)[0].tolist() == pytest.approx([1 / 4, 3 / 4])


def test_softmax_leaves_out_what_is_not_maskable() -> None:
    scores = row(math.log(1), 50.0, math.log(3))
    assert softmax(scores, torch.tensor([[True, False, True]]), 1)[0].tolist() == pytest.approx(
        [1 / 4, 0, 3 / 4]
    )


def test_sparsemax_by_hand() -> None:
    scores = row(1, 0.5, -1)
    assert sparsemax(scores, everything(scores), 1)[0].tolist() == pytest.approx([0.75, 0.25, 0], abs=1e-15)


def test_sparsemax_at_temperature_a_half_by_hand() -> None:
    scores = row(0.5, 0.25, -0.5)
    assert sparsemax(scores, everything(scores), 0.5)[0].tolist() == pytest.approx([0.75, 0.25, 0], abs=1e-15)


def test_sparsemax_of_scores_one_apart_takes_the_highest_alone() -> None:
    scores = row(0, 1, -3)
    assert sparsemax(scores, everything(scores), 1)[0].tolist() == [0, 1, 0]


def test_sparsemax_leaves_out_what_is_not_maskable() -> None:
    scores = row(1, 7, 0.5, -1)
    maskable = torch.tensor([[True, False, True, True]])
    assert sparsemax(scores, maskable, 1)[0].tolist() == pytest.approx([0.75, 0, 0.25, 0], abs=1e-15)


def test_entmax15_of_two_tokens_by_hand() -> None:
    # (a − τ)² + (b − τ)² = 1 with halved scores a = .25, b = 0:  2τ² − τ/2 + 1/16 = 1.
    scores = row(0.5, 0)
    threshold = (0.5 - math.sqrt(0.25 + 8 * 15 / 16)) / 4
    expected = [(0.25 - threshold) ** 2, threshold**2]
    assert entmax15(scores, everything(scores), 1)[0].tolist() == pytest.approx(expected, abs=1e-14)


def entmax_by_bisection(scores: Tensor) -> Tensor:
    """Σ max(s/2 − τ, 0)² = 1 has one root τ; the terms are the distribution."""
    low, high = scores.max() / 2 - 1, scores.max() / 2
    for _ in range(100):
        middle = (low + high) / 2
        if (scores / 2 - middle).clamp(min=0).square().sum() > 1:
            low = middle
        else:
            high = middle
    return (scores / 2 - low).clamp(min=0).square()


def simplex_by_bisection(scores: Tensor) -> Tensor:
    """Σ max(s − τ, 0) = 1 has one root τ; the terms are the distribution."""
    low, high = scores.max() - 1, scores.max()
    for _ in range(100):
        middle = (low + high) / 2
        if (scores - middle).clamp(min=0).sum() > 1:
            low = middle
        else:
            high = middle
    return (scores - low).clamp(min=0)


def softmax_by_definition(scores: Tensor) -> Tensor:
    exponentials = scores.exp()
    return exponentials / exponentials.sum()


DEFINITIONS = [
    (softmax, softmax_by_definition),
    (sparsemax, simplex_by_bisection),
    (entmax15, entmax_by_bisection),
]


@given(
    st.lists(st.tuples(st.floats(-20, 20), st.booleans()), min_size=1, max_size=12).filter(
        lambda tokens: any(maskable for _, maskable in tokens)
    ),
    st.floats(0.2, 5),
)
def test_every_learnt_distribution_is_what_its_definition_says(
    tokens: list[tuple[float, bool]], temperature: float
) -> None:
    scores = row(*(score for score, _ in tokens))
    maskable = torch.tensor([[flag for _, flag in tokens]])
    for distribution, definition in DEFINITIONS:
        expected = torch.zeros_like(scores)
        expected[maskable] = definition(scores[maskable] / temperature)
        found = distribution(scores, maskable, temperature)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)


def test_uniform_weights_by_hand() -> None:
    maskable = torch.tensor([[True, False, True, True], [False, True, False, False]])
    third = pytest.approx(1 / 3)
    found = uniform(noise(2, 4), maskable, 1).tolist()
    assert found == [[third, 0, third, third], [0, 1, 0, 0]]


@ALL
def test_a_distribution_is_zero_outside_maskable_and_sums_to_one(name: str) -> None:
    random = torch.Generator().manual_seed(0)
    scores = torch.randn(50, 12, generator=random) * 3
    maskable = torch.rand(50, 12, generator=random) < 0.6
    maskable[:, 3] = True
    weights = DISTRIBUTIONS[name](scores, maskable, 1)
    assert (weights[~maskable] == 0).all()
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(1), torch.ones(50))


@ALL
def test_a_text_without_maskable_tokens_has_zero_weights_and_disturbs_no_other(name: str) -> None:
    scores = torch.tensor([[1.0, 2], [3, 4], [0, 0]], requires_grad=True)
    maskable = torch.tensor([[True, True], [False, False], [True, False]])
    weights = DISTRIBUTIONS[name](scores, maskable, 1)
    assert weights[1].tolist() == [0, 0]
    assert weights[2].tolist() == [1, 0]
    assert torch.equal(weights[:1], DISTRIBUTIONS[name](scores[:1], maskable[:1], 1))


@LEARNT
def test_gradients_are_finite_and_zero_where_nothing_may_be_attended_to(
    distribution: Callable[[Tensor, Tensor, float], Tensor],
) -> None:
    scores = torch.tensor([[1.0, 1.2, 1.1], [3, 4, 5]], requires_grad=True)
    maskable = torch.tensor([[True, False, True], [False, False, False]])
    (distribution(scores, maskable, 1) * torch.tensor([1.0, 2, 4])).sum().backward()
    assert scores.grad is not None
    assert scores.grad[1].tolist() == [0, 0, 0]
    assert scores.grad[0, 1] == 0
    assert scores.grad[0, 0] < 0 < scores.grad[0, 2]


@LEARNT
def test_gradients_are_the_limit_of_differences(
    distribution: Callable[[Tensor, Tensor, float], Tensor],
) -> None:
    scores = torch.tensor([[0.3, 0.1, 2.5, -0.4, 0.2]], dtype=torch.float64, requires_grad=True)
    maskable = torch.tensor([[True, True, False, True, True]])
    assert torch.autograd.gradcheck(lambda s: distribution(s, maskable, 0.7), (scores,))


@LEARNT
@pytest.mark.parametrize("offset", [0.0, 1e4, -1e4, -3e4, 1e6])
def test_only_differences_of_scores_count_however_far_from_zero(
    distribution: Callable[[Tensor, Tensor, float], Tensor], offset: float
) -> None:
    scores = torch.tensor([[0.0, 0.5, 8, -1, 3]])
    maskable = torch.tensor([[True, True, False, True, False]])
    expected = distribution(scores, maskable, 1)
    torch.testing.assert_close(distribution(scores + offset, maskable, 1), expected, rtol=0, atol=1e-6)


@LEARNT
def test_scores_far_apart_give_all_to_the_highest(
    distribution: Callable[[Tensor, Tensor, float], Tensor],
) -> None:
    scores = torch.tensor([[-1e4, 1e4, 0, 9e4]], requires_grad=True)
    weights = distribution(scores, torch.tensor([[True, True, True, False]]), 1)
    assert weights.tolist() == [[0, 1, 0, 0]]
    weights[0, 1].backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [[0, 0, 0, 0]]


@LEARNT
def test_a_low_temperature_gives_more_to_the_highest(
    distribution: Callable[[Tensor, Tensor, float], Tensor],
) -> None:
    scores = row(1, 0.8, 0.5)
    cold, warm = (distribution(scores, everything(scores), t)[0, 0].item() for t in (0.5, 2))
    assert cold > warm > 1 / 3
