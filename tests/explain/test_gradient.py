from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from bags import BagOfVectors
from fakes import EOS, SOS, batch_of, classifier, some_texts
from forms import FORMS, assert_a_batch_changes_nothing, explained, model_of, some_batch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import jain_wallace_sst
from torch import nn

from faithgauge.errors import UnsupportedError
from faithgauge.explain.gradient import input_x_gradient, smooth_gradient
from faithgauge.models.encoders import ENCODERS
from faithgauge.models.question import Known, Question
from faithgauge.types import Batch, Output

ALL = (
    "gradient",
    "gradient:recursive-roar-2022:target=predicted",
    "input_x_gradient",
    "input_x_gradient:jain-wallace-2019",
    "attention_x_gradient",
    "smooth_gradient:samples=2",
)


class Squares(nn.Module):
    """One logit Σ_t α_t ‖x_t‖², with α = 1 unless it is given; word i has the vector (i, −1)."""

    n_classes = 2
    capabilities = frozenset({"embedding", "attention"})

    def forward(self, batch: Batch, attention: torch.Tensor | None = None) -> Output:
        return self.forward_embedded(self.embed(batch), batch, attention)

    def embed(self, batch: Batch) -> torch.Tensor:
        return torch.stack([batch.ids.float(), -torch.ones(batch.ids.shape)], -1)

    def forward_embedded(
        self, embedded: torch.Tensor, batch: Batch, attention: torch.Tensor | None = None
    ) -> Output:
        weights = batch.maskable.float() if attention is None else attention
        return Output((weights * embedded.square().sum(-1)).sum(-1, keepdim=True), weights)


def test_a_gradient_by_hand() -> None:
    """∂ ‖x‖² / ∂x = 2x, so words 4 and 7 have the norms 2√17 and 2√50; class 0 has the logit −z."""
    for target in (0, 1):
        found = explained(f"gradient:of=logit:target={target}", Squares(), batch_of([[SOS, 4, 7, EOS]]))
        expected = [math.nan, 2 * math.sqrt(17), 2 * math.sqrt(50), math.nan]
        assert found.scores[0].tolist() == pytest.approx(expected, nan_ok=True)
        assert found.signed is False


def test_input_times_gradient_by_hand() -> None:
    """x · 2x = 2 ‖x‖² for class 1, and the opposite for class 0."""
    batch = batch_of([[SOS, 4, 7, EOS]])
    for target, sign in ((1, 1), (0, -1)):
        found = explained(f"input_x_gradient:of=logit:target={target}", Squares(), batch)
        assert found.scores[0, 1:3].tolist() == pytest.approx([sign * 34.0, sign * 100.0])
        assert found.signed is True


def test_an_absolute_score_has_no_sign() -> None:
    found = explained("input_x_gradient:of=logit:target=0:absolute=true", Squares(), batch_of([[4, 7]]))
    assert found.scores[0].tolist() == pytest.approx([34.0, 100.0])
    assert found.signed is False


def test_attention_times_gradient_by_hand() -> None:
    """∂z/∂α_t = ‖x_t‖² and α_t = 1."""
    found = explained("attention_x_gradient:of=logit:target=1", Squares(), batch_of([[SOS, 4, 7, EOS]]))
    assert found.scores[0, 1:3].tolist() == pytest.approx([17.0, 50.0])


def test_the_gradient_of_a_probability_is_that_of_the_logit_times_p_times_1_minus_p() -> None:
    batch, model = batch_of([[4, 7], [9, 5]]), BagOfVectors(classes=1)
    p = model(batch).logits[:, 0].sigmoid()
    of_logit = explained("gradient:of=logit:target=1", model, batch).scores
    of_probability = explained("gradient:target=1", model, batch).scores
    torch.testing.assert_close(of_probability, of_logit * (p * (1 - p))[:, None])


def test_on_a_linear_model_input_times_gradient_is_what_a_token_adds() -> None:
    model, batch = BagOfVectors(), batch_of(some_texts(4))
    found = explained("input_x_gradient:of=logit:target=2", model, batch).scores
    torch.testing.assert_close(found, model.contributions(batch, 2), equal_nan=True)


def test_the_norm_of_the_vocabulary_is_that_of_the_gradient_by_word() -> None:
    """The gradient with respect to the one-hot coding of a token is E g: here it is made."""
    model, batch = model_of("single", "bilstm"), some_batch("single")
    embedded = model.embed(batch).detach().requires_grad_()
    logit = Question(torch.ones(3, dtype=torch.long), "logit").value(
        model.forward_embedded(embedded, batch).logits
    )
    gradient = torch.autograd.grad(logit.sum(), embedded)[0]
    by_word = gradient @ model.embedding.weight.detach().t()
    assert by_word.shape == (*batch.ids.shape, 24)
    found = explained("gradient:recursive-roar-2022:target=1", model, batch).scores
    expected = by_word.norm(dim=-1).masked_fill(~batch.maskable, torch.nan)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-7, equal_nan=True)


def test_the_products_of_word_vectors_are_made_once_for_a_split() -> None:
    known = Known()
    explained("gradient:norm=vocabulary", BagOfVectors(), batch_of([[4, 5]]), known)
    assert [tuple(value.shape) for value in known.memo.values()] == [(5, 5)]


def test_the_norm_of_the_vocabulary_needs_its_vectors() -> None:
    with pytest.raises(UnsupportedError) as raised:
        explained("gradient:norm=vocabulary", Squares(), batch_of([[4, 7]]))
    assert str(raised.value) == (
        "norm=vocabulary needs the matrix of word vectors: expected Squares to have it as "
        "get_input_embeddings().weight or embedding.weight, found neither; choose norm=embedding"
    )


def test_a_model_of_transformers_says_itself_where_its_vectors_are() -> None:
    model, batch = BagOfVectors(), batch_of([[4, 5]])
    expected = explained("gradient:norm=vocabulary", model, batch).scores
    hidden = model.embedding
    model.get_input_embeddings = lambda: hidden  # type: ignore[assignment]
    model.embed = lambda batch: hidden(batch.ids)  # type: ignore[method-assign]
    del model.embedding
    assert torch.equal(explained("gradient:norm=vocabulary", model, batch).scores, expected)


def test_with_attention_fixed_no_gradient_goes_through_it() -> None:
    """Given its own attention as a number, the model has the same output and another gradient."""
    model, batch = model_of("single", "mlp"), some_batch("single")
    weights = model(batch).attention.detach()
    embedded = model.embed(batch).detach().requires_grad_()
    value = model.forward_embedded(embedded, batch, weights).logits.sigmoid().sum()
    by_hand = (torch.autograd.grad(value, embedded)[0] * embedded).sum(-1)
    question = Question(torch.ones(3, dtype=torch.long))
    fixed = input_x_gradient(model, batch, question, attention="fixed").scores
    through = input_x_gradient(model, batch, question).scores
    torch.testing.assert_close(fixed[batch.maskable], by_hand[batch.maskable].detach())
    assert (fixed - through)[batch.maskable].abs().max() > 1e-3


def test_with_uniform_attention_it_makes_no_difference_whether_it_is_fixed() -> None:
    model, batch = model_of("single", "bilstm", distribution="uniform"), some_batch("single")
    fixed = explained("input_x_gradient:attention=fixed", model, batch).scores
    through = explained("input_x_gradient", model, batch).scores
    torch.testing.assert_close(fixed, through, equal_nan=True)


@pytest.mark.parametrize("text", ["input_x_gradient:attention=fixed", "attention_x_gradient"])
def test_a_model_without_attention_is_refused_where_attention_is_needed(text: str) -> None:
    with pytest.raises(UnsupportedError, match="this model shows no attention; choose another explainer"):
        explained(text, BagOfVectors(), batch_of([[4, 5]]))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_gradient_is_what_small_steps_say(encoder: str) -> None:
    """Against numeric differentiation in float64."""
    model, batch = classifier(encoder, classes=3).double().eval(), batch_of([[SOS, 4, 12, 7, EOS]])
    question = Question(torch.tensor([1]))
    vectors = model.embed(batch).detach()

    def value(x: torch.Tensor) -> float:
        with torch.no_grad():
            return question.value(model.forward_embedded(x, batch).logits).item()

    steps = torch.zeros_like(vectors)
    numeric = torch.zeros_like(vectors)
    for place in np.ndindex(*vectors.shape):
        steps[place] = 1e-5
        numeric[place] = (value(vectors + steps) - value(vectors - steps)) / 2e-5
        steps[place] = 0
    found = input_x_gradient(model, batch, question).scores[0, 1:4]
    torch.testing.assert_close(found, (numeric * vectors).sum(-1)[0, 1:4], rtol=1e-6, atol=1e-9)


def test_without_noise_the_smooth_gradient_is_the_gradient() -> None:
    model, batch = model_of("single", "bilstm"), some_batch("single")
    smooth = explained("smooth_gradient:noise=0:samples=2", model, batch).scores
    torch.testing.assert_close(smooth, explained("gradient", model, batch).scores, equal_nan=True)


def test_the_smooth_gradient_of_a_linear_model_is_its_gradient() -> None:
    model, batch = BagOfVectors(), some_batch("single")
    smooth = explained("smooth_gradient:of=logit:target=0:samples=3", model, batch).scores
    gradient = explained("gradient:of=logit:target=0", model, batch).scores
    torch.testing.assert_close(smooth, gradient, equal_nan=True)


def test_the_noise_is_a_share_of_the_range_of_the_vectors() -> None:
    """f = ‖x‖² has the gradient 2x, so the mean gradient is 2 (x + mean noise): the noise can be read off.

    The words 4 and 8 with their −1 span a range of 9.
    """
    batch, question = batch_of([[SOS, 4, 8, EOS]]), Question(torch.tensor([1]), "logit", Known(seed=5))
    found = smooth_gradient(Squares(), batch, question, samples=3, noise=0.5).scores[0, 1:3]
    drawn = [question.random(batch, 0, f"noise {k}").standard_normal((2, 2)) for k in range(3)]
    vectors = np.array([[4, -1], [8, -1]]) + np.mean(drawn, 0) * 9 * 0.5
    assert found.tolist() == pytest.approx(np.linalg.norm(2 * vectors, axis=1).tolist(), rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_neither_padding_nor_other_texts_change_a_score(encoder: str, form: str) -> None:
    assert_a_batch_changes_nothing("input_x_gradient", model_of(form, encoder), some_batch(form))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ALL)
def test_it_is_so_for_every_explainer_made_of_gradients(text: str, form: str) -> None:
    assert_a_batch_changes_nothing(text, model_of(form), some_batch(form))


@settings(max_examples=15)
@given(st.lists(st.lists(st.integers(4, 23), min_size=1, max_size=9), min_size=1, max_size=4))
def test_whatever_the_texts_their_batch_changes_nothing(texts: list[list[int]]) -> None:
    model = model_of("single", "bilstm")
    assert_a_batch_changes_nothing("input_x_gradient", model, batch_of(texts))


@pytest.mark.parametrize("text", ALL)
def test_a_text_of_special_tokens_alone_has_no_scores(text: str) -> None:
    found = explained(text, model_of("single", "bilstm"), batch_of([[SOS, EOS], [SOS, 4, EOS]]))
    assert found.scores.isnan().tolist() == [[True, True, True], [True, False, True]]


@pytest.mark.parametrize("text", ALL)
def test_no_weight_gets_a_gradient_and_no_graph_is_left(text: str) -> None:
    model = model_of("single", "bilstm")
    assert explained(text, model, some_batch("single")).scores.requires_grad is False
    assert [name for name, weight in model.named_parameters() if weight.grad is not None] == []


@pytest.mark.parametrize("encoder", [name for name in ENCODERS if name != "bilstm"])
def test_captum_has_the_same_input_times_gradient(encoder: str) -> None:
    captum = pytest.importorskip("captum.attr")
    model, batch = model_of("single, three classes", encoder), some_batch("single")

    def probability(vectors: torch.Tensor) -> torch.Tensor:
        return model.forward_embedded(vectors, batch).logits.softmax(-1)

    theirs = captum.InputXGradient(probability).attribute(
        model.embed(batch).detach().requires_grad_(), target=1
    )
    ours = explained("input_x_gradient:target=1", model, batch).scores
    own = batch.maskable
    torch.testing.assert_close(ours[own], theirs.sum(-1)[own].detach(), rtol=1e-5, atol=1e-6)


def test_the_gradients_of_jain_and_wallaces_code() -> None:
    """Of the probability of class 1, signed and, as they compare it, absolute and with sum 1."""
    model, batch, theirs = jain_wallace_sst()
    own = batch.maskable
    signed = explained("input_x_gradient:attention=fixed:target=1", model, batch).scores[own]
    expected = torch.from_numpy(theirs["grad_raw_embXgrad"])[own]
    torch.testing.assert_close(signed, expected, rtol=0, atol=5e-6)
    absolute = explained("input_x_gradient:jain-wallace-2019:target=1", model, batch).scores.nan_to_num()
    # Their sum counts the two special tokens as well, which have no score here.
    shares = torch.from_numpy(theirs["grad_processed"]).masked_fill(~own, 0)
    assert shares.sum(-1).max() < 1
    torch.testing.assert_close(
        absolute / absolute.sum(-1, keepdim=True), shares / shares.sum(-1, keepdim=True), rtol=0, atol=5e-6
    )
