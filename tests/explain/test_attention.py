from __future__ import annotations

from typing import Any

import pytest
import torch
from fakes import EOS, SOS, batch_of, classifier, set_weights, some_texts
from torch import nn

from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.explain.attention import attention
from faithgauge.explain.table import EXPLAINERS
from faithgauge.types import Batch, Output

TEXTS = [[SOS, 4, 12, 7, EOS], [SOS, 9, EOS], [5, 6]]


class Blind(nn.Module):
    """Shows no attention."""

    def forward(self, batch: Batch) -> Output:
        return Output(torch.zeros(len(batch), 1))


def test_it_is_the_attention_of_the_output() -> None:
    """Scores of additive attention are v · tanh(W h + b) = here ±1.5."""
    model = classifier("mlp", hidden_size=1, embed_size=1, attention_size=1)
    set_weights(
        model,
        embedding__weight=torch.arange(24.0)[:, None] - 10,
        encoder__layer__weight=[[50.0]],
        encoder__layer__bias=[0.0],
        attention__attn1__weight=[[50.0]],
        attention__attn1__bias=[0.0],
        attention__attn2__weight=[[1.5]],
    )
    # Word 12 is 2, so its state is 1 and its score 1.5; words 4 and 7 are below 0 and score -1.5.
    scores = attention(model, batch_of([[SOS, 4, 12, 7, EOS]])).scores[0]
    rest = 1 / (2 + torch.e**3)
    assert scores[1:4].tolist() == pytest.approx([rest, rest * torch.e**3, rest], abs=1e-6)


def test_a_token_that_is_not_maskable_has_no_score() -> None:
    batch = batch_of(TEXTS)
    scores = attention(classifier(), batch).scores
    assert torch.equal(scores.isnan(), ~batch.maskable)
    assert scores.isnan().tolist() == [
        [True, False, False, False, True],
        [True, False, True, True, True],
        [False, False, True, True, True],
    ]


@pytest.mark.parametrize("encoder", ["bilstm", "gru", "cnn", "mlp", "average", "transformer-small"])
@pytest.mark.parametrize("distribution", ["softmax", "sparsemax", "entmax15", "uniform"])
def test_the_scores_of_a_text_sum_to_one(encoder: str, distribution: str) -> None:
    scores = attention(classifier(encoder, distribution=distribution), batch_of(some_texts(6))).scores
    assert scores.nansum(-1).tolist() == pytest.approx([1.0] * 6, abs=1e-6)


@pytest.mark.parametrize(
    "options", [{"task": "pair"}, {"task": "pair", "pair": "two_sided"}, {"task": "cloze"}]
)
def test_the_first_text_of_a_pair_is_explained(options: dict[str, Any]) -> None:
    cloze = options["task"] == "cloze"
    batch = batch_of(
        [[4, 5, 6], [7]],
        pairs=[[8, 9], [4, 4, 4, 4]],
        candidates=[[0, 1], [1, 2]] if cloze else None,
        classes=3,
    )
    scores = attention(classifier(classes=3, **options), batch).scores
    assert scores.shape == (2, 3)
    assert scores.nansum(-1).tolist() == pytest.approx([1.0, 1.0], abs=1e-6)


def test_it_has_no_sign_and_leaves_no_graph() -> None:
    importance = attention(classifier(), batch_of(TEXTS))
    assert importance.signed is False
    assert importance.scores.requires_grad is False


def test_a_model_without_attention_is_refused() -> None:
    with pytest.raises(UnsupportedError) as raised:
        attention(Blind(), batch_of(TEXTS))
    assert str(raised.value) == "this model shows no attention; choose another explainer"


def test_the_table_has_it_by_its_name() -> None:
    assert EXPLAINERS["attention"] is attention


def test_an_unknown_explainer_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as raised:
        EXPLAINERS["atention"]
    assert str(raised.value) == "unknown explainer 'atention': did you mean 'attention'?"
