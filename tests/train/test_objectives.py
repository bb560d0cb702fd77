from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from fakes import noise
from torch.nn import functional as F

from faithgauge.config import TrainConfig
from faithgauge.errors import FaithgaugeError
from faithgauge.train.objectives import class_weights, cross_entropy

NONE = torch.ones(2)


def doubles(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_the_loss_of_one_logit_by_hand() -> None:
    # σ(log 3) = 3/4: a positive costs log 4/3, a negative log 4.
    logits, labels = doubles(math.log(3), math.log(3))[:, None], torch.tensor([1, 0])
    expected = math.log(4 / 3) + math.log(4)
    assert cross_entropy(logits, labels, NONE, reduction="sum").item() == pytest.approx(expected)
    assert cross_entropy(logits, labels, NONE, reduction="mean").item() == pytest.approx(expected / 2)


def test_the_loss_of_several_logits_by_hand() -> None:
    # softmax(log 2, log 5, log 3) = (.2, .5, .3)
    logits = doubles(math.log(2), math.log(5), math.log(3)).expand(2, 3)
    labels = torch.tensor([0, 2])
    expected = -math.log(0.2) - math.log(0.3)
    assert cross_entropy(logits, labels, torch.ones(3), reduction="sum").item() == pytest.approx(expected)
    assert cross_entropy(logits, labels, torch.ones(3), reduction="mean").item() == pytest.approx(
        expected / 2
    )


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_an_example_weighs_what_its_class_weighs(reduction: str) -> None:
    share = 2 if reduction == "mean" else 1
    logits, labels = doubles(math.log(3), math.log(3))[:, None], torch.tensor([1, 0])
    found = cross_entropy(logits, labels, torch.tensor([0.5, 4]), reduction=reduction)
    assert found.item() == pytest.approx((4 * math.log(4 / 3) + 0.5 * math.log(4)) / share)

    logits = doubles(math.log(2), math.log(5), math.log(3)).expand(2, 3)
    labels, weights = torch.tensor([0, 2]), torch.tensor([2.0, 1, 0.5])
    found = cross_entropy(logits, labels, weights, reduction=reduction)
    assert found.item() == pytest.approx((-2 * math.log(0.2) - 0.5 * math.log(0.3)) / share)


def test_one_logit_costs_what_the_two_logits_zero_and_it_cost() -> None:
    logits, labels = noise(20, 1), torch.arange(20) % 2
    weights = torch.tensor([0.7, 1.3])
    both = torch.cat([torch.zeros(20, 1), logits], 1)
    torch.testing.assert_close(
        cross_entropy(logits, labels, weights, reduction="sum"),
        cross_entropy(both, labels, weights, reduction="sum"),
    )


def test_weights_on_the_positives_are_the_pos_weight_of_torch() -> None:
    logits, labels = noise(20, 1), torch.arange(20) % 2
    theirs = F.binary_cross_entropy_with_logits(
        logits[:, 0], labels.float(), reduction="sum", pos_weight=torch.tensor(0.9136)
    )
    ours = cross_entropy(logits, labels, torch.tensor([1, 0.9136]), reduction="sum")
    torch.testing.assert_close(ours, theirs)


def test_logits_far_from_zero_have_a_finite_loss_and_gradient() -> None:
    logits = torch.tensor([[1e4], [-1e4]], requires_grad=True)
    loss = cross_entropy(logits, torch.tensor([0, 1]), NONE, reduction="sum")
    assert loss.item() == 2e4
    loss.backward()
    assert logits.grad is not None
    assert logits.grad.tolist() == [[1], [-1]]


def test_classes_that_are_no_candidates_cost_nothing_and_get_no_gradient() -> None:
    logits = torch.tensor([[0.0, -torch.inf, math.log(3)]], requires_grad=True)
    loss = cross_entropy(logits, torch.tensor([2]), torch.ones(3), reduction="sum")
    assert loss.item() == pytest.approx(math.log(4 / 3))
    loss.backward()
    assert logits.grad is not None
    assert logits.grad[0].tolist() == pytest.approx([1 / 4, 0, -1 / 4])


def weights_of(labels: list[int], classes: int, how: str) -> list[float]:
    config = TrainConfig(class_weights=how)  # type: ignore[arg-type]
    return class_weights(np.array(labels, np.int64), classes, config).tolist()


def test_without_class_weights_every_class_weighs_one() -> None:
    assert weights_of([0, 0, 0, 1], 3, "none") == [1, 1, 1]


def test_the_positives_weigh_negatives_over_positives() -> None:
    assert weights_of([0, 0, 0, 1, 1], 2, "positive") == [1, 1.5]


def test_balanced_weights_by_hand() -> None:
    # 6 examples, 3 classes: 2 examples each would weigh 1.
    assert weights_of([0, 0, 0, 1, 1, 2], 3, "balanced") == pytest.approx([2 / 3, 1, 2])


def test_balanced_weights_give_every_class_that_occurs_the_same_total() -> None:
    labels = [0] * 7 + [2] * 3
    weights = weights_of(labels, 3, "balanced")
    assert 7 * weights[0] == pytest.approx(5)
    assert 3 * weights[2] == pytest.approx(5)


def test_positive_weights_leave_a_task_of_three_classes_alone() -> None:
    assert weights_of([0, 1, 1, 2], 3, "positive") == [1, 1, 1]


@pytest.mark.parametrize("labels", [[0, 0], [1, 1]])
def test_positive_weights_need_examples_of_both_classes(labels: list[int]) -> None:
    with pytest.raises(FaithgaugeError, match=r"expected training examples of both classes"):
        weights_of(labels, 2, "positive")
