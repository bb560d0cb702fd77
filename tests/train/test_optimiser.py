from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import pytest
import torch
from fakes import batch_of, classifier, some_texts
from torch import Tensor, nn

from faithgauge.config import TrainConfig
from faithgauge.models.classifier import AttentionClassifier
from faithgauge.models.embedding import Rows, rows_of
from faithgauge.train.optimiser import clear_grad, make, rate
from faithgauge.types import Batch


def decay_by_name(model: nn.Module, config: TrainConfig) -> dict[str, list[float]]:
    """For every parameter, the weight decay of each group it is in."""
    groups = make(model, config).param_groups
    return {
        name: [group["weight_decay"] for group in groups if any(value is own for own in group["params"])]
        for name, value in model.named_parameters()
    }


@pytest.mark.parametrize("task", ["single", "pair"])
def test_weight_decay_spares_the_attention_module_and_nothing_else(task: str) -> None:
    found = decay_by_name(classifier("bilstm", task=task), TrainConfig(weight_decay=0.25))  # type: ignore[arg-type]
    spared = {name for name, decays in found.items() if decays == [0]}
    assert spared == {name for name in found if name.startswith("attention.")} != set()
    assert all(decays == [0.25] for name, decays in found.items() if name not in spared)


def test_weight_decay_reaches_everything_where_it_is_asked_to() -> None:
    found = decay_by_name(classifier("bilstm"), TrainConfig(weight_decay=0.25, decay_attention=True))
    assert all(decays == [0.25] for decays in found.values())


def test_what_is_frozen_is_in_no_group() -> None:
    model = classifier("bilstm")
    model.embedding.requires_grad_(False)
    model.attention.requires_grad_(False)
    found = decay_by_name(model, TrainConfig())
    frozen = {name for name, decays in found.items() if not decays}
    assert frozen == {name for name in found if name.startswith(("embedding.", "attention."))}


def test_attention_alone_can_be_trained() -> None:
    model = classifier("bilstm").requires_grad_(False)
    model.attention.requires_grad_(True)
    found = decay_by_name(model, TrainConfig())
    assert {name: decays for name, decays in found.items() if decays} == {
        name: [0] for name in found if name.startswith("attention.")
    }


class Scalar(nn.Module):
    def __init__(self, value: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(value, dtype=torch.float64))


@pytest.mark.parametrize("amsgrad", [True, False])
def test_two_steps_with_coupled_decay_by_hand(amsgrad: bool) -> None:
    model = Scalar(2.0)
    optimiser = make(model, TrainConfig(learning_rate=0.1, weight_decay=0.5, amsgrad=amsgrad))
    weight, mean, square, highest = 2.0, 0.0, 0.0, 0.0
    # The second gradient is small, so that AMSGrad goes on with the first one's square.
    for step, gradient in enumerate([3.0, -0.9], start=1):
        model.weight.grad = torch.tensor(gradient, dtype=torch.float64)
        optimiser.step()
        coupled = gradient + 0.5 * weight
        mean = 0.9 * mean + 0.1 * coupled
        square = 0.999 * square + 0.001 * coupled**2
        highest = max(highest, square) if amsgrad else square
        weight -= 0.1 * mean / (1 - 0.9**step) / (math.sqrt(highest / (1 - 0.999**step)) + 1e-8)
        assert model.weight.item() == pytest.approx(weight, abs=1e-12)
    if amsgrad:
        assert highest > square


class Plain(nn.Module):
    """Word vectors with the dense gradient of torch."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.detach().clone())

    def forward(self, ids: Tensor) -> Rows:
        return rows_of(nn.functional.embedding(ids, self.weight))


def train(model: AttentionClassifier, batches: Iterable[Batch], *, backward_calls: int) -> list[Tensor]:
    """The gradients of the word vectors before each step."""
    dense = isinstance(model.embedding, Plain)
    optimiser = make(model, TrainConfig(learning_rate=0.05, weight_decay=0.1))
    gradients = []
    for batch in batches:
        if dense:
            optimiser.zero_grad()
        else:
            clear_grad(model)
        for _ in range(backward_calls):
            model(batch).logits.square().sum().backward()
        assert model.embedding.weight.grad is not None
        gradients.append(model.embedding.weight.grad.clone())
        optimiser.step()
    return gradients


@pytest.mark.parametrize("backward_calls", [1, 2])
@pytest.mark.parametrize(
    ("task", "pair"), [("single", "queried"), ("pair", "queried"), ("pair", "two_sided")]
)
def test_word_vectors_are_trained_as_with_the_dense_gradient_of_torch(
    task: str, pair: str, backward_calls: int
) -> None:
    ours, theirs = (
        classifier("bilstm", task=task, pair=pair).double()  # type: ignore[arg-type]
        for _ in range(2)
    )
    theirs.embedding = Plain(theirs.embedding.weight)  # type: ignore[assignment]
    # Few words, so that they repeat within a batch and come back in a later one; and some never come.
    batches = [
        batch_of(
            some_texts(4, seed=seed, words=6),
            pairs=some_texts(4, seed=seed + 10, words=9) if task == "pair" else None,
        )
        for seed in range(4)
    ]
    found = train(ours, batches, backward_calls=backward_calls)
    expected = train(theirs, batches, backward_calls=backward_calls)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    for (name, own), other in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(own, other, rtol=0, atol=1e-9, msg=name)


def test_coupled_decay_moves_the_words_that_are_not_in_the_batch() -> None:
    model = classifier("bilstm")
    before = model.embedding.weight.detach().clone()
    train(model, [batch_of([[4, 5]])], backward_calls=1)
    moved = (model.embedding.weight != before).any(1)
    assert moved.all()


def test_clearing_takes_every_gradient_away() -> None:
    model = classifier("bilstm", task="pair")
    for seed in range(2):
        batch = batch_of(some_texts(4, seed=seed), pairs=some_texts(4, seed=seed + 1))
        model(batch).logits.sum().backward()
    clear_grad(model)
    for name, parameter in model.named_parameters():
        if name == "embedding.weight":
            assert parameter.grad is not None
            assert parameter.grad.count_nonzero() == 0
        else:
            assert parameter.grad is None, name


def test_clearing_knows_word_vectors_anywhere_in_a_model() -> None:
    inner = classifier("mlp")
    outer = nn.ModuleDict({"first": inner, "second": nn.Linear(2, 2)})
    inner(batch_of([[4, 5]])).logits.sum().backward()
    clear_grad(outer)
    gradient = inner.embedding.weight.grad
    assert gradient is not None
    assert gradient.count_nonzero() == 0


def test_the_learning_rate_is_the_size_of_the_first_step() -> None:
    model = Scalar(1.0)
    optimiser = make(model, replace(TrainConfig(), learning_rate=0.01, weight_decay=0))
    model.weight.grad = torch.tensor(123.0, dtype=torch.float64)
    optimiser.step()
    assert model.weight.item() == pytest.approx(0.99, abs=1e-9)


def fine_tuning(**more: object) -> TrainConfig:
    own = {"optimiser": "adamw", "learning_rate": 0.1, "weight_decay": 0.5, "amsgrad": False}
    return TrainConfig(**{**own, **more})  # type: ignore[arg-type]


def test_decay_of_adamw_shrinks_weights_and_spares_biases_and_norms() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2))
    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    optimiser = make(model, fine_tuning())
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimiser.step()
    for name, value in model.named_parameters():
        expected = before[name] * (1 - 0.1 * 0.5) if name == "0.weight" else before[name]
        torch.testing.assert_close(value.detach(), expected)


def test_adamw_forgets_squares_at_the_rate_that_is_given() -> None:
    model = Scalar(1.0)
    optimiser = make(model, fine_tuning(weight_decay=0, beta2=0.5))
    for gradient in (1.0, 3.0):
        model.weight.grad = torch.tensor(gradient, dtype=torch.float64)
        optimiser.step()
    # m = (0.9·0.1·1 + 0.1·3) / (1 − 0.81), v = (0.5·0.5·1 + 0.5·9) / (1 − 0.25)
    second = 0.1 * (0.39 / 0.19) / math.sqrt(4.75 / 0.75)
    assert model.weight.item() == pytest.approx(0.9 - second, abs=1e-7)


def test_a_linear_rate_rises_to_its_height_and_falls_to_the_last_step() -> None:
    config = fine_tuning(learning_rate=1.0, schedule="linear", warm_up=0.4)
    found = [rate(config, step, 10) for step in range(10)]
    assert found == pytest.approx([0.25, 0.5, 0.75, 1, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6])


def test_a_rate_may_rise_to_the_end_or_not_at_all_and_is_constant_by_default() -> None:
    assert [rate(fine_tuning(schedule="linear", warm_up=1.0), step, 2) for step in range(2)] == [0.05, 0.1]
    assert [rate(fine_tuning(schedule="linear"), step, 2) for step in range(2)] == [0.1, 0.05]
    assert {rate(fine_tuning(warm_up=0.5), step, 9) for step in range(9)} == {0.1}
