from __future__ import annotations

import math
from itertools import permutations

import pytest
import torch
from fakes import noise
from torch import Tensor

from faithgauge.faithfulness.divergence import JSD_MAX, jsd
from faithgauge.faithfulness.heads import (
    best_matching,
    head_costs,
    matched_distance,
    rollout_distance,
)

ALL = torch.ones(2, 4, dtype=torch.bool)


def some_heads(*, heads: int = 3, seed: int = 0) -> Tensor:
    """(2 texts, 2 layers, heads, 4 tokens, 4 tokens)."""
    return noise(2, 2, heads, 4, 4, seed=seed).mul(2).softmax(-1)


def one_hot(*tokens: int) -> Tensor:
    """One text, layer and row: a head for each of these tokens, which has all its attention."""
    return torch.eye(3)[list(tokens)].view(1, 1, len(tokens), 1, 3).expand(-1, -1, -1, 3, -1)


def test_heads_in_another_order_are_the_same_attention() -> None:
    first = some_heads()
    second = torch.stack([first[:, 0, [2, 0, 1]], first[:, 1, [1, 0, 2]]], 1)
    assert matched_distance(first, second, ALL).tolist() == pytest.approx([0, 0], abs=1e-6)
    assert best_matching(head_costs(first, second, ALL).mean(0)).heads.tolist() == [[1, 2, 0], [1, 0, 2]]


def test_heads_of_different_layers_are_not_matched() -> None:
    first = some_heads()
    assert (matched_distance(first, first.flip(1), ALL) > 0.05).all()


def test_costs_by_hand() -> None:
    """All on the same token is 0 apart, all on different ones ln 2."""
    costs = head_costs(one_hot(0, 1), one_hot(1, 2), torch.ones(1, 3, dtype=torch.bool))
    torch.testing.assert_close(costs[0, 0], torch.tensor([[1.0, 1.0], [0.0, 1.0]]) * JSD_MAX)
    assert matched_distance(one_hot(0, 1), one_hot(1, 2), torch.ones(1, 3, dtype=torch.bool)).item() == (
        pytest.approx(math.log(2) / 2)
    )


def test_only_these_rows_count() -> None:
    first = some_heads()
    second = first.clone()
    second[:, :, :, 0] = torch.tensor([1.0, 0.0, 0.0, 0.0])  # the row of a special token
    rows = ALL.clone()
    rows[:, 0] = False
    assert matched_distance(first, second, rows).tolist() == [0, 0]
    assert (matched_distance(first, second, ALL) > 0).all()


def test_a_text_without_rows_has_distance_0() -> None:
    rows = torch.tensor([[False] * 4, [True] * 4])
    found = matched_distance(some_heads(), some_heads(seed=1), rows)
    assert found[0] == 0
    assert found[1] > 0


def test_padding_changes_nothing() -> None:
    first, second = some_heads(), some_heads(seed=1)
    wide = [torch.nn.functional.pad(one, (0, 2, 0, 2)) for one in (first, second)]
    rows = torch.nn.functional.pad(ALL, (0, 2))
    torch.testing.assert_close(matched_distance(*wide, rows), matched_distance(first, second, ALL))


def test_the_matching_is_the_best_of_all_permutations() -> None:
    first, second = some_heads(), some_heads(seed=1)
    slow = 0.0
    for layer in range(2):
        sums = [
            sum(jsd(first[:, layer, h], second[:, layer, g]).mean() for h, g in enumerate(order))
            for order in permutations(range(3))
        ]
        slow += float(min(sums))
    assert matched_distance(first, second, ALL).mean().item() == pytest.approx(slow / 6)


def test_a_gradient_reaches_the_attention_through_the_matched_heads() -> None:
    first = some_heads().requires_grad_()
    matched_distance(first, some_heads(seed=1), ALL).mean().backward()
    assert first.grad is not None
    assert bool((first.grad != 0).any())


def test_rollouts_are_compared_on_these_tokens_alone() -> None:
    """Of (.5, .3, .2) and (.9, .06, .04) the last two are .6 and .4 of what they have together."""
    rows = torch.tensor([[False, True, True]])
    first, second = torch.tensor([[0.5, 0.3, 0.2]]), torch.tensor([[0.9, 0.06, 0.04]])
    assert rollout_distance(first, second, rows).item() == pytest.approx(0, abs=1e-7)
    other = torch.tensor([[0.5, 0.0, 0.2]])
    # JSD((.6, .4), (0, 1)): m = (.3, .7)
    expected = (0.6 * math.log(2) + 0.4 * math.log(0.4 / 0.7) - math.log(0.7)) / 2
    assert rollout_distance(first, other, rows).item() == pytest.approx(expected, abs=1e-6)
