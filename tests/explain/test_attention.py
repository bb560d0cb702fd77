from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from fakes import EOS, SOS, batch_of, classifier, set_weights, some_texts
from forms import FORMS, assert_a_batch_changes_nothing, explained, model_of, some_batch
from reference import jain_wallace_sst
from torch import nn

from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.explain.attention import attention
from faithgauge.explain.table import EXPLAINERS
from faithgauge.models.classifier import AttentionClassifier
from faithgauge.models.encoders import ENCODERS
from faithgauge.types import Batch, Output

TEXTS = [[SOS, 4, 12, 7, EOS], [SOS, 9, EOS], [5, 6]]


class Blind(nn.Module):
    """Shows no attention."""

    def forward(self, batch: Batch) -> Output:
        return Output(torch.zeros(len(batch), 1))


def three_words() -> AttentionClassifier:
    """The states of the words 4, 12 and 7 are −1, 1 and −1, and their scores −1.5, 1.5 and −1.5."""
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
    return model


def test_it_is_the_attention_of_the_output() -> None:
    """Scores of additive attention are v · tanh(W h + b) = here ±1.5."""
    scores = explained("attention", three_words(), batch_of([[SOS, 4, 12, 7, EOS]])).scores[0]
    rest = 1 / (2 + torch.e**3)
    assert scores[1:4].tolist() == pytest.approx([rest, rest * torch.e**3, rest], abs=1e-6)


def test_the_norm_of_what_is_added_by_hand() -> None:
    """α_t ‖h_t‖ with states of two units: (1, 1) and, below 0, (−1, −1)."""
    model = classifier("mlp", hidden_size=2, embed_size=1, distribution="uniform")
    set_weights(
        model,
        embedding__weight=torch.arange(24.0)[:, None] - 10,
        encoder__layer__weight=[[50.0], [50.0]],
        encoder__layer__bias=[0.0, 0.0],
    )
    found = explained("attention_norm", model, batch_of([[SOS, 4, 12, EOS]]))
    expected = [math.nan, math.sqrt(2) / 2, math.sqrt(2) / 2, math.nan]
    assert found.scores[0].tolist() == pytest.approx(expected, nan_ok=True)
    assert found.signed is False


def test_with_states_of_length_one_the_norm_is_the_attention() -> None:
    model, batch = three_words(), batch_of([[SOS, 4, 12, 7, EOS]])
    norm, weights = (explained(name, model, batch).scores for name in ("attention_norm", "attention"))
    torch.testing.assert_close(norm, weights, equal_nan=True)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_neither_padding_nor_other_texts_change_a_score(encoder: str, form: str) -> None:
    model, batch = model_of(form, encoder), some_batch(form)
    assert_a_batch_changes_nothing("attention", model, batch)
    assert_a_batch_changes_nothing("attention_norm", model, batch)


def test_the_attention_of_jain_and_wallaces_code() -> None:
    model, batch, theirs = jain_wallace_sst()
    found = explained("attention", model, batch).scores.nan_to_num()
    torch.testing.assert_close(found, torch.from_numpy(theirs["attention"]), rtol=0, atol=1e-6)


def test_a_token_that_is_not_maskable_has_no_score() -> None:
    batch = batch_of(TEXTS)
    scores = explained("attention", classifier(), batch).scores
    assert torch.equal(scores.isnan(), ~batch.maskable)
    assert scores.isnan().tolist() == [
        [True, False, False, False, True],
        [True, False, True, True, True],
        [False, False, True, True, True],
    ]


@pytest.mark.parametrize("encoder", ["bilstm", "gru", "cnn", "mlp", "average", "transformer-small"])
@pytest.mark.parametrize("distribution", ["softmax", "sparsemax", "entmax15", "uniform"])
def test_the_scores_of_a_text_sum_to_one(encoder: str, distribution: str) -> None:
    model = classifier(encoder, distribution=distribution)
    scores = explained("attention", model, batch_of(some_texts(6))).scores
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
    scores = explained("attention", classifier(classes=3, **options), batch).scores
    assert scores.shape == (2, 3)
    assert scores.nansum(-1).tolist() == pytest.approx([1.0, 1.0], abs=1e-6)


def test_it_has_no_sign_and_leaves_no_graph() -> None:
    importance = explained("attention", classifier(), batch_of(TEXTS))
    assert importance.signed is False
    assert importance.scores.requires_grad is False


def test_a_model_without_attention_is_refused() -> None:
    with pytest.raises(UnsupportedError) as raised:
        explained("attention:target=0", Blind(), batch_of(TEXTS))
    assert str(raised.value) == "this model shows no attention; choose another explainer"


def test_the_table_has_it_by_its_name() -> None:
    assert EXPLAINERS["attention"].function is attention


def test_an_unknown_explainer_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as raised:
        EXPLAINERS["atention"]
    assert str(raised.value) == "unknown explainer 'atention': did you mean 'attention'?"
