from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch
from bags import Bag
from fakes import EOS, SOS, batch_of, classifier, encode
from hypothesis import given, settings
from hypothesis import strategies as st
from perturbed import ENCODERS, FORMS, MASK, PAD, asked, case, perturbed, together, value
from torch import Tensor, nn

from faithgauge.errors import UnsupportedError
from faithgauge.explain import kernel_shap as module
from faithgauge.explain.kernel_shap import kernel_shap
from faithgauge.models.question import Question
from faithgauge.types import Batch, Encoded, Output

WEIGHTS = [0.0, 0.0, 9.0, 9.0, 1.5, -2.0, 0.25, 3.0]
FILL = {"mask": MASK, "pad": PAD, "delete": None}


class Both(Bag):
    """One logit: 1 where the words 4 and 5 are both there, and 0 else."""

    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Output:
        there = [(batch.ids == word).any(-1) for word in (4, 5)]
        return Output((there[0] & there[1]).float()[:, None])


def by_permutations(
    model: nn.Module, question: Question, encoded: Encoded, row: int, fill: int | None
) -> list[float]:
    """What each token adds, on average over all orders in which the tokens may come."""
    n = int(together(encoded, [row]).maskable.sum())
    orders = list(permutations(range(n)))
    known: dict[tuple[bool, ...], float] = {}

    def answer(stay: list[bool]) -> float:
        if tuple(stay) not in known:
            known[tuple(stay)] = value(model, question, perturbed(encoded, row, stay, fill=fill), row)
        return known[tuple(stay)]

    added = np.zeros(n)
    for order in orders:
        stay = [False] * n
        for token in order:
            before = answer(stay)
            stay[token] = True
            added[token] += answer(stay) - before
    return list(added / len(orders))


@pytest.mark.parametrize("method", ["mask", "pad", "delete"])
def test_a_word_of_a_bag_scores_its_weight(method: Any) -> None:
    batch = batch_of([[SOS, 4, 5, 4, EOS], [7, 6], [5]])
    question = asked([1, 1, 0], of="logit")
    found = kernel_shap(Bag(WEIGHTS, bias=0.5), batch, question, replace=method)
    nan = torch.nan
    expected = torch.tensor([[nan, 1.5, -2.0, 1.5, nan], [3.0, 0.25, nan, nan, nan], [2.0] + [nan] * 4])
    torch.testing.assert_close(found.scores, expected, rtol=0, atol=1e-6, equal_nan=True)
    assert found.signed is True


def test_drawn_coalitions_too_give_a_word_of_a_bag_its_weight() -> None:
    words = [4 + i % 4 for i in range(30)]
    scores = kernel_shap(Bag(WEIGHTS), batch_of([words]), asked([1], of="logit"), samples=200).scores[0]
    assert scores.tolist() == pytest.approx([WEIGHTS[word] for word in words], abs=1e-5)


def test_two_words_that_count_only_together_share_alike() -> None:
    scores = kernel_shap(Both(WEIGHTS), batch_of([[4, 6, 5]]), asked([1], of="logit")).scores[0]
    assert scores.tolist() == pytest.approx([0.5, 0.0, 0.5], abs=1e-7)


@ENCODERS
@FORMS
@pytest.mark.parametrize("method", ["mask", "delete"])
def test_where_all_coalitions_are_asked_the_scores_are_shapley_values(
    encoder: str, form: dict[str, Any], method: Any
) -> None:
    model, encoded, question = case(encoder, form)
    batch = together(encoded)
    scores = kernel_shap(model, batch, question, replace=method, samples=14).scores
    for row, own in enumerate(batch.maskable):
        expected = by_permutations(model, question, encoded, row, FILL[method])
        assert scores[row, own].tolist() == pytest.approx(expected, abs=1e-6)


def test_so_are_they_of_five_tokens() -> None:
    model, encoded = classifier("bilstm").eval(), encode([[5, 6, 5, 12, 20]])
    found = kernel_shap(model, together(encoded), asked([1]), replace="pad")
    expected = by_permutations(model, asked([1]), encoded, 0, PAD)
    assert found.scores[0].tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("samples", [1, 2, 13, 1000])
def test_the_scores_sum_to_the_whole_difference_however_few_are_asked(samples: int) -> None:
    model, encoded, question = case("bilstm", {"task": "pair"})
    batch = together(encoded)
    found = kernel_shap(model, batch, question, samples=samples)
    assert found.error is not None
    assert found.error.abs().max() <= 1e-7
    for row, own in enumerate(batch.maskable):
        nothing = perturbed(encoded, row, [False] * int(own.sum()), fill=MASK)
        whole = value(model, question, together(encoded, [row]), row)
        expected = whole - value(model, question, nothing, row)
        assert found.scores[row, own].sum().item() == pytest.approx(expected, abs=1e-6)


def test_what_too_few_coalitions_leave_open_is_shared_alike() -> None:
    """One pair of coalitions A and B of 10 words: within each all words score the same.

    The words all weigh 1, so that every share is 1 whatever was drawn.
    """
    model = Bag([0.0, 0.0, 0.0, 0.0, 1.0, 2.0])
    alike = kernel_shap(model, batch_of([[4] * 10]), asked([1], of="logit"), samples=2).scores[0]
    assert alike.tolist() == pytest.approx([1.0] * 10, abs=1e-6)
    mixed = kernel_shap(model, batch_of([[4] * 5 + [5] * 5]), asked([1], of="logit"), samples=2).scores[0]
    assert len({round(score, 5) for score in mixed.tolist()}) <= 2
    assert mixed.sum().item() == pytest.approx(15.0, abs=1e-5)


def test_coalitions_are_drawn_in_pairs_of_sizes_in_proportion_to_the_kernel() -> None:
    """Of five tokens 1/(1·4) : 1/(2·3) : 1/(3·2) : 1/(4·1) = 3 : 2 : 2 : 3."""
    drawn = module._pairs(np.random.default_rng(0), 5, 20_000)
    first, second = np.split(drawn, 2)
    assert np.array_equal(first, ~second)
    shares = np.bincount(drawn.sum(-1), minlength=6) / len(drawn)
    assert shares.tolist() == pytest.approx([0, 0.3, 0.2, 0.2, 0.3, 0], abs=0.01)
    assert drawn.mean(0).tolist() == pytest.approx([0.5] * 5)


def test_all_coalitions_are_all_but_none_and_the_whole() -> None:
    assert module._every(3).sum(-1).tolist() == [1, 1, 2, 1, 2, 2]
    assert len(np.unique(module._every(4), axis=0)) == 14
    assert module._every(1).shape == (0, 1)
    assert module._every(0).shape == (0, 0)


def test_the_kernel_by_hand() -> None:
    """(T − 1) / (C(T, s) s (T − s)) for T = 4: 3/(4·3), 3/(6·4), 3/(4·3)."""
    coalitions = np.arange(4) < np.array([[1], [2], [3]])
    assert module._kernel(coalitions).tolist() == [0.25, 0.125, 0.25]


@settings(max_examples=15)
@given(st.permutations(range(4)), st.integers(1, 4), st.integers(2, 20))
def test_padding_and_the_composition_of_the_batch_change_nothing(
    order: list[int], size: int, samples: int
) -> None:
    model, encoded, question = case("bilstm", {"task": "pair"})
    everything = kernel_shap(model, together(encoded), question, samples=samples).scores
    rows = order[:size]
    batch = together(encoded, rows)
    found = kernel_shap(model, batch, replace(question, target=question.target[rows]), samples=samples)
    expected = everything[rows, : batch.ids.shape[1]]
    torch.testing.assert_close(found.scores, expected, rtol=0, atol=1e-6, equal_nan=True)


def test_a_text_without_maskable_tokens_has_no_score_and_lacks_nothing() -> None:
    found = kernel_shap(Bag(WEIGHTS), batch_of([[SOS, EOS]]), asked([1]))
    assert found.scores.isnan().all()
    assert found.error is not None
    assert found.error.tolist() == [0.0]


def test_without_a_mask_token_it_says_what_else_to_choose() -> None:
    with pytest.raises(UnsupportedError, match="choose replace=pad or replace=delete"):
        kernel_shap(Bag(WEIGHTS), batch_of([[4]]), Question(torch.tensor([1])))
