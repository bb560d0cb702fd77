from __future__ import annotations

import numpy as np
import pytest
import torch
from bags import BagOfVectors
from fakes import batch_of, some_texts
from forms import FORMS, assert_a_batch_changes_nothing, explained, model_of, some_batch
from torch import Tensor

from faithgauge.explain.table import EXPLAINERS
from faithgauge.models.encoders import ENCODERS
from faithgauge.models.question import Known, Question
from faithgauge.types import Batch


def drawn(batch: Batch, samples: int, seed: int = 3) -> np.ndarray:
    """The points that are drawn for each text: (batch, example)."""
    question = Question(torch.zeros(len(batch), dtype=torch.long), known=Known(seed=seed))
    return np.stack([question.random(batch, i, "gradient_shap").random(samples) for i in range(len(batch))])


def test_on_a_linear_model_it_is_what_a_token_adds() -> None:
    model, batch = BagOfVectors(), batch_of(some_texts(4))
    found = explained("gradient_shap:of=logit:target=2:samples=2:baseline=zero", model, batch)
    torch.testing.assert_close(found.scores, model.contributions(batch, 2), equal_nan=True)
    assert found.error is not None
    torch.testing.assert_close(found.error, torch.zeros(4), rtol=0, atol=1e-5)
    assert found.signed is True


def test_each_point_of_a_text_is_shared_by_its_tokens() -> None:
    """f = σ(z) of a linear z: the gradient at share u is σ′(z(u)) w, with z(u) = b + u Σ_t w · x_t."""
    model, batch = BagOfVectors(classes=1), batch_of([[4, 9, 7], [5, 11]])
    adds = model.contributions(batch, 0)
    shares = torch.from_numpy(drawn(batch, 3)).float()
    p = (model.decoder.bias + shares * adds.nansum(-1, keepdim=True)).sigmoid()
    expected = adds * (p * (1 - p)).mean(-1, keepdim=True)
    found = explained("gradient_shap:target=1:samples=3:baseline=zero", model, batch).scores
    torch.testing.assert_close(found, expected.detach(), equal_nan=True)


@pytest.mark.parametrize("encoder", list(ENCODERS))
def test_captum_has_the_same_gradient_shap_at_the_same_points(
    encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    captum = pytest.importorskip("captum.attr")
    model, batch = model_of("single, three classes", encoder).double(), batch_of([[4, 9, 7, 12, 5]])
    shares = drawn(batch, 6)[0]
    monkeypatch.setattr(np.random, "uniform", lambda *ends: shares[: ends[-1]])
    vectors = model.embed(batch).detach()

    def probability(points: Tensor) -> Tensor:
        n = len(points)
        own = Batch(
            batch.ids.expand(n, -1),
            batch.lengths.expand(n),
            batch.valid.expand(n, -1),
            batch.valid.expand(n, -1),
        )
        return model.forward_embedded(points, own).logits.softmax(-1)

    theirs = captum.GradientShap(probability).attribute(
        vectors, torch.zeros_like(vectors[:1]), n_samples=6, stdevs=0.0, target=1
    )
    ours = explained("gradient_shap:samples=6:baseline=zero:target=1", model, batch).scores
    torch.testing.assert_close(ours, theirs.sum(-1).detach(), rtol=1e-6, atol=1e-9)


def test_with_many_samples_it_tends_to_integrated_gradients() -> None:
    """The standard error of 2,000 samples is about 1/45 of the spread of one."""
    model, batch = model_of("single", "mlp"), batch_of([[4, 9, 7]])
    shap = explained("gradient_shap:samples=2000", model, batch)
    integral = explained("integrated_gradient", model, batch)
    assert shap.error is not None
    assert shap.error.abs().max().item() < 0.01
    torch.testing.assert_close(shap.scores, integral.scores, rtol=0.1, atol=5e-3)


def test_the_seed_decides_and_nothing_else() -> None:
    model, batch = model_of("single", "bilstm"), some_batch("single")
    first, again = (explained("gradient_shap", model, batch, Known(seed=1)).scores for _ in range(2))
    other = explained("gradient_shap", model, batch, Known(seed=2)).scores
    assert torch.equal(first.nan_to_num(), again.nan_to_num())
    assert not torch.equal(first.nan_to_num(), other.nan_to_num())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_neither_padding_nor_other_texts_change_a_score(encoder: str, form: str) -> None:
    assert_a_batch_changes_nothing("gradient_shap:samples=3", model_of(form, encoder), some_batch(form))


def test_the_paper_of_neely_et_al_has_five_samples_from_padding() -> None:
    assert EXPLAINERS["gradient_shap"].presets["neely-2022"] == {
        "baseline": "pad",
        "samples": 5,
        "absolute": True,
    }
