"""What captum and shap return, as scores of ours."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fakes import EOS, SOS, batch_of, classifier, noise
from torch import Tensor

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Dataset
from faithgauge.encode.corpus import encode
from faithgauge.encode.tokenizer import WordTokenizer
from faithgauge.errors import ConfigError
from faithgauge.explain.adapters import from_captum, from_shap
from faithgauge.explain.asked import asked
from faithgauge.explain.given import align, of_rows
from faithgauge.explain.split import explain_batch
from faithgauge.models.classifier import probabilities
from faithgauge.models.question import Known
from faithgauge.types import Example

BATCH = batch_of([[SOS, 4, 5, EOS], [SOS, 6, EOS]])


def test_attributions_of_vectors_are_summed_over_the_vector() -> None:
    found = from_captum(torch.arange(24.0).reshape(2, 4, 3), BATCH)
    assert found.signed
    assert found.scores[0, 1:3].tolist() == [3 + 4 + 5, 6 + 7 + 8]
    assert found.scores[1, 1].item() == 15 + 16 + 17
    assert found.scores.isnan().tolist() == (~BATCH.maskable).tolist()


def test_attributions_of_tokens_are_taken_as_they_are_also_the_first_of_several_inputs() -> None:
    given = noise(2, 4).requires_grad_()
    for attributions in (given, (given, noise(2, 9))):
        found = from_captum(attributions, BATCH).scores
        assert torch.equal(found[BATCH.maskable], given[BATCH.maskable])
        assert not found.requires_grad


def test_what_captum_says_is_what_our_explainer_of_that_name_says() -> None:
    attribution = pytest.importorskip("captum.attr")
    model = classifier("bilstm", classes=3)

    def answers(vectors: Tensor) -> Tensor:
        return probabilities(model.forward_embedded(vectors, BATCH).logits)[:, 2]

    vectors = model.embed(BATCH).detach().requires_grad_()
    theirs = from_captum(attribution.InputXGradient(answers).attribute(vectors), BATCH)
    ours = explain_batch(model, BATCH, asked("input_x_gradient:target=2"), known=Known())
    assert torch.allclose(theirs.scores, ours.scores, atol=1e-6, equal_nan=True)


def test_attributions_of_another_batch_are_refused() -> None:
    with pytest.raises(ConfigError) as raised:
        from_captum(noise(2, 3, 5), BATCH)
    assert str(raised.value) == "expected attributions for (batch, token) (2, 4), found (2, 3, 5)"


def test_the_pieces_of_shap_say_their_places_in_the_text() -> None:
    explanation = SimpleNamespace(
        values=[np.array([0.0, 1.0, 2.0, 3.0, 0.0])], data=[np.array(["", "A ", "fi", "ne  ", ""])]
    )
    assert from_shap(explanation) == [
        {
            "text": "A fine  ",
            "tokens": ["", "A ", "fi", "ne  ", ""],
            "spans": [[0, 0], [0, 1], [2, 4], [4, 6], [8, 8]],
            "scores": [0.0, 1.0, 2.0, 3.0, 0.0],
        }
    ]


def test_values_of_shap_stand_on_our_words() -> None:
    words = WordTokenizer.of("plain", ["a", "fine"])
    texts = [Example("A fine  ", -1, "t1"), Example("a", -1, "t2")]
    data = Dataset("texts", "", "single", ("no", "yes"), {"test": texts})
    encoded = encode(data, EncodeConfig(), tokenizer=words).splits["test"]
    explanation = SimpleNamespace(
        values=np.array([np.array([1.0, 2.0, 3.0]), np.array([4.0])], dtype=object),
        data=(np.array(["A ", "fi", "ne  "]), np.array(["a"])),
    )
    found = align(of_rows(from_shap(explanation)), texts, encoded, tokenizer=words)["scores"]
    assert found.scores.scores[[1, 2, 5]].tolist() == [1, 5, 4]


def test_of_several_classes_one_must_be_chosen() -> None:
    explanation = SimpleNamespace(values=np.array([[[1.0, -1.0], [2.0, -2.0]]]), data=[["a ", "b"]])
    assert from_shap(explanation, 1)[0]["scores"] == [-1.0, -2.0]
    for target in (None, 2, -1):
        with pytest.raises(ConfigError, match="expected a target below 2, found"):
            from_shap(explanation, target)
