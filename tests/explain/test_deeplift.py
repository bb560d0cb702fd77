from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import DeepLift
from fakes import EOS, SOS, batch_of, classifier, encode, noise, set_weights, some_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import jain_wallace_sst
from torch import Tensor, nn

from faithgauge.errors import UnsupportedError
from faithgauge.explain.asked import asked
from faithgauge.explain.deeplift import deep_shap, deeplift
from faithgauge.explain.split import explain_batch
from faithgauge.models.attention import DISTRIBUTIONS
from faithgauge.models.classifier import AttentionClassifier
from faithgauge.models.encoders import ENCODERS
from faithgauge.models.question import Known, Of, Question, swap
from faithgauge.types import Batch, Output

FORMS: dict[str, dict[str, Any]] = {
    "single": {"task": "single"},
    "single, three classes": {"task": "single", "classes": 3},
    "queried": {"task": "pair", "pair": "queried"},
    "two-sided": {"task": "pair", "pair": "two_sided", "classes": 3},
    "cloze": {"task": "cloze", "classes": 4},
}
EACH_ENCODER = pytest.mark.parametrize("encoder", ENCODERS)
EACH_FORM = pytest.mark.parametrize("form", FORMS)


def some_batch(form: str) -> Batch:
    task, classes = FORMS[form]["task"], FORMS[form].get("classes", 2)
    return batch_of(
        some_texts(5),
        pairs=None if task == "single" else some_texts(5, seed=1),
        candidates=[[0, 2], [1, 0], [3, 1, 0], [2, 1], [0, 1]] if task == "cloze" else None,
        classes=classes,
    )


def question(batch: Batch, of: Of = "probability", **known: Any) -> Question:
    return Question(torch.arange(len(batch)) % 2, of, Known(**known))


def one_unit() -> AttentionClassifier:
    """Word i has the vector (i/10), h = tanh(2x + .1); score = 3 tanh(h + .2); p = σ(1.5 c − .4)."""
    model = classifier(hidden_size=1, embed_size=1, attention_size=1).double()
    set_weights(
        model,
        embedding__weight=torch.arange(24)[:, None] / 10,
        encoder__layer__weight=[[2.0]],
        encoder__layer__bias=[0.1],
        attention__attn1__weight=[[1.0]],
        attention__attn1__bias=[0.2],
        attention__attn2__weight=[[3.0]],
        decoder__weight=[[1.5]],
        decoder__bias=[-0.4],
    )
    return model


def two_words_by_hand(words: tuple[int, int]) -> list[float]:
    """The states, scores and weights of text and padding; then what each word adds to c, and to p."""
    states = [math.tanh(2 * word / 10 + 0.1) for word in words]
    state = math.tanh(0.1)
    scores = [3 * math.tanh(h + 0.2) for h in states]
    score = 3 * math.tanh(state + 0.2)
    log_sum = math.log(sum(math.exp(s) for s in scores))
    weights = [math.exp(s - log_sum) for s in scores]
    k = [(a - 0.5) / ((s - log_sum) - math.log(0.5)) for a, s in zip(weights, scores, strict=True)]
    through = [
        k[0] * k[1] / (k[0] + k[1]) * (scores[0] - scores[1]),  # both scores on the first weight
        0.0,
    ]
    through[1] = -through[0]
    assert through[0] == pytest.approx(weights[0] - 0.5)
    share = k[0] * k[1] / (k[0] + k[1])
    middles = [(h + state) / 2 for h in states]
    to_context = [
        (weights[0] + 0.5) / 2 * (states[0] - state)
        + share * (scores[0] - score) * (middles[0] - middles[1]),
        (weights[1] + 0.5) / 2 * (states[1] - state)
        + share * (scores[1] - score) * (middles[1] - middles[0]),
    ]
    context = sum(a * h for a, h in zip(weights, states, strict=True))
    slope = (sigma(1.5 * context - 0.4) - sigma(1.5 * state - 0.4)) / (context - state)
    return [slope * part for part in to_context]


def sigma(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_two_words_by_hand() -> None:
    batch = batch_of([[SOS, 4, 12, EOS]])
    found = deeplift(one_unit(), batch, Question(torch.tensor([1])))
    assert found.scores[0, 1:3].tolist() == pytest.approx(two_words_by_hand((4, 12)), abs=1e-7)
    assert found.signed is True
    assert found.error is not None
    assert found.error.item() == pytest.approx(0, abs=1e-7)


def test_against_class_0_the_scores_change_their_sign() -> None:
    batch = batch_of([[SOS, 4, 12, EOS]])
    found = deeplift(one_unit(), batch, Question(torch.tensor([0]))).scores[0, 1:3].tolist()
    assert found == pytest.approx([-x for x in two_words_by_hand((4, 12))], abs=1e-7)


def test_a_token_that_is_not_maskable_has_no_score() -> None:
    batch = batch_of([[SOS, 4, EOS], [5, 6, 7, 8], [SOS, EOS]])
    for found in (
        deeplift(classifier(), batch, question(batch)),
        deeplift(classifier(), batch, question(batch), rule="gradient"),
        deep_shap(classifier(), batch, question(batch, train=encode([[4, 5]]))),
    ):
        assert torch.equal(found.scores.isnan(), ~batch.maskable)
        assert found.error is not None
        assert not found.error.isnan().any()
        assert found.scores.requires_grad is False


@EACH_ENCODER
@EACH_FORM
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("of", ["probability", "logit"])
def test_the_scores_sum_to_the_difference_from_the_baseline(
    encoder: str, form: str, distribution: str, of: Of
) -> None:
    model = classifier(encoder, distribution=distribution, **FORMS[form])
    batch = some_batch(form)
    asked_for = question(batch, of)
    found = deeplift(model, batch, asked_for)
    empty = replace(batch, ids=batch.ids.masked_fill(batch.maskable, 0))
    difference = asked_for.value(model(batch).logits) - asked_for.value(model(empty).logits)
    torch.testing.assert_close(found.scores.nansum(-1), difference.detach(), rtol=0, atol=1e-5)
    assert found.error is not None
    assert found.error.abs().max().item() < 1e-5


@pytest.mark.parametrize("sharper", [1, 3, 10])
def test_they_do_so_for_a_trained_model_and_when_its_attention_is_sharper(sharper: int) -> None:
    """Softmax taken apart into exp, sum and 1/x would be off by 3e-4 at 3, and by 7e7 at 10."""
    model, batch, _ = jain_wallace_sst()
    model = copy.deepcopy(model)
    model.attention.attn2.weight.data *= sharper
    found = deeplift(model, batch, Question((model(batch).logits[:, 0] > 0).long()))
    assert found.error is not None
    assert found.error.abs().max().item() < 1e-5
    assert found.scores.nan_to_num().abs().max().item() < 1.5


@settings(max_examples=25)
@given(
    texts=st.lists(st.lists(st.integers(4, 23), min_size=1, max_size=9), min_size=1, max_size=4),
    encoder=st.sampled_from(sorted(ENCODERS)),
    seed=st.integers(0, 5),
)
def test_they_do_so_for_texts_of_any_length(texts: list[list[int]], encoder: str, seed: int) -> None:
    batch = batch_of(texts)
    found = deeplift(classifier(encoder, seed=seed), batch, question(batch, mask=7), baseline="mask")
    assert found.error is not None
    assert found.error.abs().max().item() < 1e-5


@pytest.mark.parametrize("rule", ["rescale", "gradient"])
@EACH_ENCODER
def test_padding_and_the_composition_of_the_batch_change_nothing(encoder: str, rule: Any) -> None:
    model = classifier(encoder)
    texts = some_texts(6)
    batch = batch_of(texts)
    together = deeplift(model, batch, question(batch), rule=rule)
    for i, text in enumerate(texts):
        one = batch_of([text])
        alone = deeplift(model, one, Question(torch.tensor([i % 2])), rule=rule)
        torch.testing.assert_close(together.scores[i, : len(text)], alone.scores[0], equal_nan=True)


@EACH_ENCODER
def test_parts_that_fit_into_memory_change_nothing(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = classifier(encoder), batch_of(some_texts(6))
    asked_for = question(batch, train=encode(some_texts(6)))
    whole = [deeplift(model, batch, asked_for), deep_shap(model, batch, asked_for, references=2)]
    monkeypatch.setattr(sys.modules[deeplift.__module__], "TOKENS", 20)
    parts = [deeplift(model, batch, asked_for), deep_shap(model, batch, asked_for, references=2)]
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one.scores, other.scores, equal_nan=True)


def test_a_linear_bag_of_words_is_shared_out_as_it_is_made() -> None:
    """Uniform attention over ReLU(W x) with W ≥ 0 and x ≥ 0 is linear: word t adds w · W x_t / 3."""
    model = classifier("average", distribution="uniform")
    set_weights(
        model,
        embedding__weight=noise(24, 5).abs() * (torch.arange(24) > 0)[:, None],
        encoder__layer__weight=noise(4, 5, seed=1).abs(),
        encoder__layer__bias=torch.zeros(4),
    )
    batch = batch_of([[4, 9, 15]])
    words = model.embedding.weight[[4, 9, 15]]
    expected = (words @ model.encoder.layer.weight.t() @ model.decoder.weight[0] / 3).tolist()
    for found in (
        deeplift(model, batch, Question(torch.tensor([1]), "logit")),
        deeplift(model, batch, Question(torch.tensor([1]), "logit"), rule="gradient"),
    ):
        assert found.scores[0].tolist() == pytest.approx(expected, abs=1e-6)


class Plain(nn.Module):
    """An encoder without order, uniform attention and a sigmoid, of modules that captum hooks."""

    def __init__(
        self, model: AttentionClassifier, encode: Callable[[Tensor], Tensor], squash: nn.Module
    ) -> None:
        super().__init__()
        self.encode, self.squash, self.decoder = encode, squash, model.decoder
        self.sigmoid = nn.Sigmoid()

    def forward(self, embedded: Tensor) -> Tensor:
        return self.sigmoid(self.decoder(self.squash(self.encode(embedded)).mean(1)))[:, 0]


def convolved(encoder: Any) -> Callable[[Tensor], Tensor]:
    def encode(embedded: Tensor) -> Tensor:
        signal = embedded.transpose(1, 2)
        return torch.cat([layer(signal) for layer in encoder.convolutions], 1).transpose(1, 2)

    return encode


@pytest.mark.filterwarnings("ignore:Setting forward, backward hooks:UserWarning")
@pytest.mark.parametrize(("encoder", "squash"), [("mlp", nn.Tanh), ("average", nn.ReLU), ("cnn", nn.ReLU)])
def test_captum_agrees_where_everything_is_a_module(encoder: str, squash: type[nn.Module]) -> None:
    model = classifier(encoder, distribution="uniform")
    way = convolved(model.encoder) if encoder == "cnn" else model.encoder.layer
    plain = Plain(model, way, squash())
    for text in some_texts(5):
        batch = batch_of([text[1:-1]])
        embedded = model.embed(batch).detach().requires_grad_()
        without = model.embedding.weight[0].detach().expand_as(embedded)
        theirs = DeepLift(plain).attribute(embedded, without).sum(-1)
        ours = deeplift(model, batch, Question(torch.tensor([1]))).scores
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-4, atol=1e-6)


class Embedded(nn.Module):
    """A model from word vectors to the probability of class 1, as captum takes it."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, embedded: Tensor, batch: Batch) -> Tensor:
        both = replace(
            batch,
            ids=batch.ids.repeat(2, 1),
            lengths=batch.lengths.repeat(2),
            valid=batch.valid.repeat(2, 1),
            maskable=batch.maskable.repeat(2, 1),
        )
        used = both if len(embedded) == 2 * len(batch) else batch
        output: Output = self.model.forward_embedded(embedded, used)
        return output.logits[:, 0].sigmoid()


@pytest.mark.filterwarnings("ignore:Setting forward, backward hooks:UserWarning")
def test_the_form_of_neely_2022_is_what_captum_gives_on_a_bilstm() -> None:
    model = classifier("bilstm")
    batch = batch_of([text[1:-1] for text in some_texts(5)])
    wanted = asked("deeplift:neely-2022:target=1")
    assert wanted.options == {"rule": "gradient", "baseline": "pad", "absolute": True}
    ours = explain_batch(model, batch, wanted, known=Known())
    embedded = model.embed(batch).detach().requires_grad_()
    without = model.embedding.weight[0].detach().expand_as(embedded)
    theirs = DeepLift(Embedded(model)).attribute(embedded, without, additional_forward_args=(batch,))
    torch.testing.assert_close(ours.scores.nan_to_num(), theirs.sum(-1).abs().detach() * batch.maskable)
    assert ours.signed is False
    signed = deeplift(model, batch, Question(torch.ones(5, dtype=torch.long)), rule="gradient").scores
    torch.testing.assert_close(signed.nan_to_num(), theirs.sum(-1).detach() * batch.maskable)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(5, 4, batch_first=True)

    def forward(self, embedded: Tensor) -> Tensor:
        return self.rnn(embedded)[0][:, -1].sum(-1)


@pytest.mark.filterwarnings("ignore:Setting forward, backward hooks:UserWarning")
def test_captum_sees_no_gate_of_an_lstm_and_gives_input_x_gradient() -> None:
    model, text, base = Recurrent(), noise(1, 6, 5, seed=1), noise(1, 6, 5, seed=2)
    text.requires_grad_()
    (derivative,) = torch.autograd.grad(model(text).sum(), text)
    theirs = DeepLift(model).attribute(text, base)
    torch.testing.assert_close(theirs, (text - base) * derivative)
    difference = (model(text) - model(base)).item()
    assert abs(theirs.sum().item() - difference) > 1e-3


def test_the_rule_gradient_says_what_it_lacks() -> None:
    model, batch = classifier("bilstm"), batch_of(some_texts(4))
    asked_for = question(batch)
    found = deeplift(model, batch, asked_for, rule="gradient")
    empty = replace(batch, ids=batch.ids.masked_fill(batch.maskable, 0))
    difference = asked_for.value(model(batch).logits) - asked_for.value(model(empty).logits)
    assert found.error is not None
    torch.testing.assert_close(found.error, (difference - found.scores.nansum(-1)).detach())
    assert found.error.abs().max().item() > 1e-3


class ThirdParty(nn.Module):
    """Only what the protocol asks for; f is quadratic in the sum of the word vectors."""

    n_classes = 2
    capabilities = frozenset({"embedding"})

    def embed(self, batch: Batch) -> Tensor:
        return batch.ids[..., None].float()

    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Output:
        return Output((embedded * batch.valid[..., None]).sum((1, 2))[:, None] ** 2)


def test_the_rule_gradient_works_for_any_model() -> None:
    """f = (4 + 6)², so word 6 has the derivative 20 and the score (6 − 0)·20."""
    batch = batch_of([[4, 6]])
    found = deeplift(ThirdParty(), batch, Question(torch.tensor([1]), "logit"), rule="gradient")
    assert found.scores[0].tolist() == [80, 120]
    assert found.error is not None
    assert found.error.tolist() == [-100]


@pytest.mark.parametrize("explain", [deeplift, deep_shap])
def test_the_rescale_rule_refuses_a_model_that_is_not_ours(explain: Callable[..., Any]) -> None:
    batch = batch_of([[4, 6]])
    with pytest.raises(UnsupportedError) as raised:
        explain(ThirdParty(), batch, question(batch, train=encode([[4]])))
    assert "found the model ThirdParty; choose integrated_gradient" in str(raised.value)


@pytest.mark.parametrize("name", ["deeplift", "deep_shap:references=3", "deeplift:rule=gradient"])
def test_both_texts_of_a_two_sided_pair_are_explained_each_with_the_other_as_it_is(name: str) -> None:
    model, batch = classifier("gru", **FORMS["two-sided"]), some_batch("two-sided")
    assert batch.pair is not None
    train = encode(some_texts(8), pairs=some_texts(8, seed=2))
    found = explain_batch(model, batch, asked(f"{name}:target=1"), known=Known(train=train))
    assert found.pair is not None
    assert torch.equal(found.pair.scores.isnan(), ~batch.pair.maskable)
    if name == "deeplift":
        target = torch.ones(5, dtype=torch.long)
        other = replace(batch.pair, ids=batch.pair.ids.masked_fill(batch.pair.maskable, 0))
        empty = replace(batch, pair=other)
        difference = Question(target).value(model(batch).logits) - Question(target).value(model(empty).logits)
        torch.testing.assert_close(found.pair.scores.nansum(-1), difference.detach(), rtol=0, atol=1e-6)
        mirrored = deeplift(model.swapped(), swap(batch), Question(target))
        torch.testing.assert_close(found.pair.scores, mirrored.scores, equal_nan=True)


def test_weights_get_no_gradient() -> None:
    model, batch = classifier("bilstm"), batch_of(some_texts(3))
    deeplift(model, batch, question(batch))
    deep_shap(model, batch, question(batch, train=encode([[4]])))
    assert all(weight.grad is None for weight in model.parameters())


def test_deep_shap_over_copies_of_one_baseline_is_deeplift() -> None:
    model, batch = classifier("bilstm"), batch_of(some_texts(4))
    known = question(batch, mask=7, train=encode([[SOS, 7, EOS], [7, 7]]))
    expected = deeplift(model, batch, known, baseline="mask").scores
    torch.testing.assert_close(deep_shap(model, batch, known, references=3).scores, expected, equal_nan=True)


@EACH_ENCODER
def test_deep_shap_is_the_mean_over_its_references(encoder: str) -> None:
    """Σ score = f(x) − mean f(b_r), with the words that were drawn."""
    model, batch = classifier(encoder), batch_of(some_texts(4))
    words = np.array([5, 9, 9, 14])
    asked_for = question(batch, train=encode([[SOS, *words.tolist(), EOS]]))
    found = deep_shap(model, batch, asked_for, references=5)
    answers = []
    for text, own in enumerate(batch.maskable):
        drawn = words[asked_for.random(batch, text, "deep_shap").integers(4, size=(5, int(own.sum())))]
        ids = batch.ids[text].repeat(5, 1)
        ids[:, own] = torch.from_numpy(drawn)
        others = batch_of([row[: batch.lengths[text]] for row in ids.tolist()])
        logits = model(others).logits
        answers.append(Question(asked_for.target[[text] * 5]).value(logits).mean().item())
    expected = asked_for.value(model(batch).logits).tolist()
    assert found.scores.nansum(-1).tolist() == pytest.approx(
        [x - b for x, b in zip(expected, answers, strict=True)], abs=1e-6
    )
    assert found.error is not None
    assert found.error.abs().max().item() < 1e-6
    assert found.signed is True


def test_the_draws_of_deep_shap_belong_to_the_text_whatever_its_batch() -> None:
    model, texts = classifier("gru"), some_texts(5)
    known = Known(train=encode(some_texts(9, seed=4)), seed=3)
    together = deep_shap(model, batch_of(texts), Question(torch.ones(5, dtype=torch.long), known=known))
    for i, text in enumerate(texts):
        one = replace(batch_of([text]), rows=torch.tensor([i]))
        alone = deep_shap(model, one, Question(torch.tensor([1]), known=known))
        torch.testing.assert_close(together.scores[i, : len(text)], alone.scores[0], equal_nan=True)


def test_deep_shap_draws_second_texts_from_second_texts() -> None:
    model, batch = classifier("mlp", **FORMS["two-sided"]), some_batch("two-sided")
    train = encode([[4, 4]], pairs=[[SOS, 9, EOS]])
    found = explain_batch(model, batch, asked("deep_shap:references=2:target=1"), known=Known(train=train))
    for scores, texts, word in ((found, batch, 4), (found.pair, batch.pair, 9)):
        assert scores is not None
        assert texts is not None
        assert torch.equal(scores.scores == 0, texts.maskable & (texts.ids == word))


def test_deep_shap_needs_the_training_split() -> None:
    batch = batch_of([[4]])
    with pytest.raises(UnsupportedError) as raised:
        deep_shap(classifier(), batch, question(batch))
    assert str(raised.value) == "deep_shap needs the training split, found none; choose deeplift"


def test_deep_shap_without_sign_is_its_magnitude() -> None:
    model, batch, train = classifier("bilstm"), batch_of(some_texts(4)), encode(some_texts(9, seed=3))
    signed, plain = (
        deep_shap(model, batch, question(batch, train=train), absolute=absolute) for absolute in (False, True)
    )
    assert (signed.signed, plain.signed) == (True, False)
    torch.testing.assert_close(plain.scores, signed.scores.abs(), equal_nan=True)
