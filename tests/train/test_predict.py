from __future__ import annotations

import numpy as np
import pytest
import torch
from fakes import classifier, encode, some_split
from torch import nn

from faithgauge.encode.batching import collate
from faithgauge.models.classifier import probabilities
from faithgauge.train import predict as module
from faithgauge.train.predict import device_of, predict
from faithgauge.types import Batch, Output


class Counter(nn.Module):
    """The probability of class 1 is that of as many words as there are: σ(length)."""

    n_classes = 2

    def __init__(self) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.5)

    def forward(self, batch: Batch) -> Output:
        return Output(self.dropout(batch.lengths[:, None].float()))


def test_probabilities_come_in_the_order_of_the_split() -> None:
    found = predict(Counter(), encode([[4] * 3, [4], [4] * 2]))
    sigmoids = 1 / (1 + np.exp(-np.array([3.0, 1, 2])))
    np.testing.assert_allclose(found, np.stack([1 - sigmoids, sigmoids], 1), atol=1e-7)
    assert found.dtype == np.float32


@pytest.mark.parametrize("training", [True, False])
def test_dropout_is_off_and_the_mode_is_left_as_it_was(training: bool) -> None:
    model = Counter().train(training)
    predict(model, encode([[4]]))
    assert model.training is training
    assert model.dropout.training is training


@pytest.mark.parametrize("task", ["single", "pair", "cloze"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_split_is_predicted_as_its_texts_one_by_one(task: str, classes: int) -> None:
    model = classifier("bilstm", task=task, classes=classes)  # type: ignore[arg-type]
    encoded = some_split(30, classes=classes, task=task)  # type: ignore[arg-type]
    found = predict(model, encoded)
    for i in range(30):
        batch = collate(encoded, np.array([i]), classes=classes)
        with torch.inference_mode():
            alone = probabilities(model(batch).logits)[0]
        np.testing.assert_allclose(found[i], alone, atol=1e-6)


def test_the_size_of_the_batches_changes_at_most_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    model, encoded = classifier("bilstm"), some_split(40)
    at_once = predict(model, encoded)
    in_parts = module.reading_batches
    monkeypatch.setattr(module, "reading_batches", lambda lengths: in_parts(lengths, 16))
    np.testing.assert_allclose(predict(model, encoded), at_once, atol=1e-6)


def test_predicting_leaves_gradients_and_random_state_alone() -> None:
    model = classifier("bilstm")
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    predict(model, some_split(10))
    assert torch.equal(torch.rand(3), expected)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_nothing_to_predict_gives_no_rows() -> None:
    assert predict(classifier(classes=3), encode([])).shape == (0, 3)


def test_a_model_computes_where_its_weights_lie() -> None:
    assert device_of(nn.Linear(2, 2, device="meta")) == torch.device("meta")
    assert device_of(nn.Identity()) == torch.device("cpu")
