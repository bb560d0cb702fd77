from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fakes import EOS, SOS, batch_of, classifier, noise, set_weights, some_texts
from jaxtyping import TypeCheckError
from torch import Tensor

from faithgauge.config import ModelConfig
from faithgauge.models.attention import DISTRIBUTIONS
from faithgauge.models.classifier import AttentionClassifier, Shape, build, probabilities
from faithgauge.models.encoders import ENCODERS
from faithgauge.types import Batch, Classifier

FORMS: dict[str, dict[str, Any]] = {
    "single": {"task": "single"},
    "single, three classes": {"task": "single", "classes": 3},
    "queried": {"task": "pair", "pair": "queried"},
    "queried, three classes": {"task": "pair", "pair": "queried", "classes": 3},
    "two-sided": {"task": "pair", "pair": "two_sided"},
    "two-sided, three classes": {"task": "pair", "pair": "two_sided", "classes": 3},
    "cloze": {"task": "cloze", "classes": 4},
}
EACH_FORM = pytest.mark.parametrize("form", FORMS)


def some_batch(form: str, *, seed: int = 0) -> Batch:
    task, classes = FORMS[form]["task"], FORMS[form].get("classes", 2)
    return batch_of(
        some_texts(5, seed=seed),
        pairs=None if task == "single" else some_texts(5, seed=seed + 1),
        candidates=[[0, 2], [1], [3, 1, 0], [2, 3], [0, 1]] if task == "cloze" else None,
        classes=classes,
    )


def one_unit(form: str = "single") -> AttentionClassifier:
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


def by_hand(words: list[int]) -> tuple[list[float], float]:
    """Attention on these words, and the probability of class 1, of `one_unit`."""
    states = [math.tanh(2 * word / 10 + 0.1) for word in words]
    weights = [math.exp(3 * math.tanh(state + 0.2)) for state in states]
    attention = [weight / sum(weights) for weight in weights]
    context = sum(a * h for a, h in zip(attention, states, strict=True))
    return attention, 1 / (1 + math.exp(-(1.5 * context - 0.4)))


def test_a_binary_probability_by_hand() -> None:
    output = one_unit()(batch_of([[SOS, 4, 12, 7, EOS], [9]]))
    for i, words in enumerate([[4, 12, 7], [9]]):
        attention, positive = by_hand(words)
        start = 1 if i == 0 else 0
        assert output.attention[i, start : start + len(words)].tolist() == pytest.approx(attention, abs=2e-8)
        assert probabilities(output.logits)[i].tolist() == pytest.approx([1 - positive, positive], abs=2e-8)


def test_special_tokens_and_padding_get_no_attention() -> None:
    attention = one_unit()(batch_of([[SOS, 4, 12, 7, EOS], [9]])).attention
    assert (attention == 0).tolist() == [[True, False, False, False, True], [False, True, True, True, True]]


def test_a_text_of_special_tokens_alone_is_decided_by_the_bias() -> None:
    output = one_unit()(batch_of([[SOS, EOS], [4, 5]]))
    assert output.attention[0].tolist() == [0, 0]
    assert output.logits[0].item() == pytest.approx(-0.4)


def test_a_given_attention_is_used_as_it_is() -> None:
    model, batch = one_unit(), batch_of([[4, 12, 7]])
    given = torch.tensor([[0.25, 0, 1]], dtype=torch.float64)
    output = model(batch, given)
    context = 0.25 * math.tanh(0.9) + math.tanh(1.5)
    assert output.attention is given
    assert output.logits.item() == pytest.approx(1.5 * context - 0.4)


@EACH_FORM
def test_a_given_attention_replaces_nothing_else(form: str) -> None:
    model, batch = classifier("bilstm", **FORMS[form]), some_batch(form)
    output = model(batch)
    again = model(batch, output.attention)
    assert torch.equal(again.logits, output.logits)
    assert torch.equal(again.hidden, output.hidden)


@EACH_FORM
@pytest.mark.parametrize("encoder", ENCODERS)
def test_decode_gives_the_logits_of_the_forward_pass(form: str, encoder: str) -> None:
    model, batch = classifier(encoder, **FORMS[form]), some_batch(form)
    output = model(batch)
    torch.testing.assert_close(
        model.decode(output.hidden, output.attention, batch), output.logits, rtol=0, atol=1e-6
    )


@EACH_FORM
def test_decode_of_another_attention_is_the_forward_pass_given_that_attention(form: str) -> None:
    model, batch = classifier("bilstm", **FORMS[form]), some_batch(form)
    hidden = model(batch).hidden
    other = noise(*batch.ids.shape)
    torch.testing.assert_close(
        model.decode(hidden, other, batch), model(batch, other).logits, rtol=0, atol=1e-6
    )


@EACH_FORM
@pytest.mark.parametrize("encoder", ENCODERS)
def test_embedded_texts_give_the_same_output_as_their_ids(form: str, encoder: str) -> None:
    model, batch = classifier(encoder, **FORMS[form]), some_batch(form)
    ours, theirs = model(batch), model.forward_embedded(model.embed(batch), batch)
    for name in ("logits", "attention", "hidden"):
        torch.testing.assert_close(getattr(ours, name), getattr(theirs, name), rtol=0, atol=1e-5)


@EACH_FORM
def test_embedded_texts_take_a_given_attention(form: str) -> None:
    model, batch = classifier(**FORMS[form]), some_batch(form)
    given = noise(*batch.ids.shape)
    output = model.forward_embedded(model.embed(batch), batch, given)
    assert output.attention is given
    torch.testing.assert_close(output.logits, model(batch, given).logits, rtol=0, atol=1e-6)


@EACH_FORM
def test_padding_and_company_change_nothing(form: str) -> None:
    model, batch = classifier("bilstm", **FORMS[form]).double(), some_batch(form)
    together = model(batch)
    texts, pairs = some_texts(5), some_texts(5, seed=1)
    for i in range(5):
        alone = model(
            batch_of(
                [texts[i]],
                pairs=None if batch.pair is None else [pairs[i]],
                candidates=None
                if batch.candidates is None
                else [batch.candidates[i].nonzero()[:, 0].tolist()],
                classes=model.n_classes,
            )
        )
        torch.testing.assert_close(together.logits[i : i + 1], alone.logits, rtol=0, atol=1e-12)
        width = len(texts[i])
        torch.testing.assert_close(together.attention[i, :width], alone.attention[0], rtol=0, atol=1e-12)


def test_the_queried_head_by_hand() -> None:
    model = classifier(task="pair", hidden_size=2, embed_size=1, attention_size=1, attention="dot").double()
    # h = tanh((x, −x)); the query is the mean of tanh((2x, 0)); score = h · q / √2.
    set_weights(
        model,
        embedding__weight=torch.arange(24)[:, None] / 10,
        encoder__layer__weight=[[1.0], [-1]],
        encoder__layer__bias=[0.0, 0],
        pair_encoder__layer__weight=[[2.0], [0]],
        pair_encoder__layer__bias=[0.0, 0],
        context__weight=[[1.0, 2]],
        context__bias=[0.1],
        query__weight=[[3.0, 1]],
        query__bias=[0.2],
        decoder__weight=[[-2.0]],
        decoder__bias=[0.3],
    )
    output = model(batch_of([[4, 12], [5]], pairs=[[6, 8, 10], [SOS, 7]]))
    q = (math.tanh(1.2) + math.tanh(1.6) + math.tanh(2.0)) / 3
    first, second = math.tanh(0.4), math.tanh(1.2)
    share = 1 / (1 + math.exp((second - first) * q / math.sqrt(2)))
    c = share * first + (1 - share) * second
    expected = -2 * math.tanh(c - 2 * c + 0.1 + 3 * q + 0.2) + 0.3
    assert output.attention[0].tolist() == pytest.approx([share, 1 - share], abs=1e-7)
    assert output.logits[0].item() == pytest.approx(expected, abs=1e-7)


def test_the_final_state_of_the_query_counts_its_special_tokens() -> None:
    model = classifier(task="pair")
    plain = model(batch_of([[4, 12]], pairs=[[6]]))
    framed = model(batch_of([[4, 12]], pairs=[[SOS, 6, EOS]]))
    assert not torch.allclose(plain.logits, framed.logits)


def test_the_two_sided_head_by_hand() -> None:
    model = classifier(
        task="pair", pair="two_sided", hidden_size=1, embed_size=1, distribution="uniform"
    ).double()
    set_weights(
        model,
        embedding__weight=torch.arange(24)[:, None] / 10,
        encoder__layer__weight=[[1.0]],
        encoder__layer__bias=[0.0],
        decoder__weight=[[1.0, 10, 100, 1000]],
        decoder__bias=[0.5],
    )
    output = model(batch_of([[4, 12]], pairs=[[SOS, 6, EOS]]))
    c, other = (math.tanh(0.4) + math.tanh(1.2)) / 2, math.tanh(0.6)
    expected = c + 10 * other + 100 * abs(c - other) + 1000 * c * other + 0.5
    assert output.logits.item() == pytest.approx(expected, abs=1e-4)
    assert output.pair is not None
    assert output.pair.attention.tolist() == [[0, 1, 0]]
    assert output.pair.hidden[0, 1].item() == pytest.approx(other, abs=1e-7)


def test_difference_and_product_of_a_two_sided_model_do_not_mind_which_text_is_first() -> None:
    model = classifier("bilstm", task="pair", pair="two_sided").double()
    with torch.no_grad():
        model.decoder.weight[:, : 2 * model.encoder.size] = 0
    one, two = some_texts(4), some_texts(4, seed=1)
    there, back = model(batch_of(one, pairs=two)), model(batch_of(two, pairs=one))
    torch.testing.assert_close(there.logits, back.logits, rtol=0, atol=1e-12)
    assert there.pair is not None
    torch.testing.assert_close(there.pair.attention, back.attention, rtol=0, atol=1e-12)


def test_only_two_sided_models_show_the_second_text() -> None:
    assert classifier()(some_batch("single")).pair is None
    assert classifier(task="pair")(some_batch("queried")).pair is None


def test_a_model_for_pairs_refuses_a_single_text() -> None:
    with pytest.raises(ValueError, match="reads two texts, the batch holds one"):
        classifier(task="pair")(some_batch("single"))


def test_what_is_not_a_candidate_cannot_be_the_answer() -> None:
    model, batch = classifier(task="cloze", classes=4), some_batch("cloze")
    logits = model(batch).logits
    assert batch.candidates is not None
    assert torch.equal(logits == -torch.inf, ~batch.candidates)
    found = probabilities(logits)
    assert (found[~batch.candidates] == 0).all()
    torch.testing.assert_close(found.sum(1), torch.ones(5))
    assert found[1].tolist() == [0, 1, 0, 0]


def test_a_cloze_question_between_two_classes_has_two_logits() -> None:
    model = classifier(task="cloze", classes=2)
    assert model(batch_of([[4]], pairs=[[5]], candidates=[[1]], classes=2)).logits[0, 0] == -torch.inf


def test_two_classes_have_one_logit_and_more_have_one_each() -> None:
    assert classifier(classes=2)(some_batch("single")).logits.shape == (5, 1)
    assert classifier(classes=3)(some_batch("single")).logits.shape == (5, 3)
    assert classifier(classes=2).n_classes == 2


def test_the_probabilities_of_one_logit_by_hand() -> None:
    found = probabilities(torch.tensor([[math.log(3)], [0], [-200]], dtype=torch.float64))
    torch.testing.assert_close(found, torch.tensor([[0.25, 0.75], [0.5, 0.5], [1, 0]], dtype=torch.float64))


def test_the_probabilities_of_several_logits_by_hand() -> None:
    found = probabilities(torch.tensor([[math.log(2), math.log(5), math.log(3)]], dtype=torch.float64))
    assert found[0].tolist() == pytest.approx([0.2, 0.5, 0.3])


def mixed(model: AttentionClassifier, batch: Batch) -> tuple[Tensor, Tensor]:
    """The logits of a mixture of two attentions that are far apart, and the mixture of their logits."""
    hidden = model(batch).hidden
    one = torch.zeros_like(hidden[..., 0])
    two = one + 10
    mixture = model.decode(hidden, 0.3 * one + 0.7 * two, batch)
    return mixture, 0.3 * model.decode(hidden, one, batch) + 0.7 * model.decode(hidden, two, batch)


@EACH_FORM
def test_the_capability_linear_says_whether_decode_is_affine(form: str) -> None:
    model = classifier(**FORMS[form]).double()
    mixture, mixed_logits = mixed(model, some_batch(form))
    chosen = mixture.isfinite()
    is_affine = torch.allclose(mixture[chosen], mixed_logits[chosen], rtol=0, atol=1e-12)
    assert ("linear" in model.capabilities) == is_affine


@EACH_FORM
def test_a_model_offers_what_its_capabilities_say(form: str) -> None:
    model = classifier(**FORMS[form])
    assert isinstance(model, Classifier)
    assert model.capabilities >= {"embedding", "attention", "decode"}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_every_distribution_reaches_the_output(name: str) -> None:
    model, batch = classifier(distribution=name, temperature=0.5), some_batch("single")
    output = model(batch)
    expected = DISTRIBUTIONS[name](model.attention(output.hidden, None), batch.maskable, 0.5)
    assert torch.equal(output.attention, expected)


@EACH_FORM
def test_the_loss_reaches_every_weight(form: str) -> None:
    model, batch = classifier("bilstm", **FORMS[form]), some_batch(form)
    logits = model(batch).logits
    logits[logits.isfinite()].square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.count_nonzero() > 0, name


def test_a_gradient_through_embed_is_cleared_like_any_other() -> None:
    model, batch = classifier("bilstm"), some_batch("single")
    model.forward_embedded(model.embed(batch), batch).logits.sum().backward()
    gradient = model.embedding.weight.grad
    assert gradient is not None
    assert gradient.count_nonzero() > 0
    model.embedding.clear_grad()
    assert gradient.count_nonzero() == 0


def same_weights(one: torch.nn.Module, two: torch.nn.Module) -> list[str]:
    """The names of the weights that differ."""
    return [
        name
        for (name, ours), theirs in zip(one.state_dict().items(), two.state_dict().values(), strict=True)
        if not torch.equal(ours, theirs)
    ]


SHAPE = Shape(9, ("no", "yes"), "single")
SMALL = ModelConfig(embed_size=3, hidden_size=2)


def test_the_same_seed_gives_the_same_weights() -> None:
    assert same_weights(build(SMALL, SHAPE, 7), build(SMALL, SHAPE, 7)) == []


def test_another_seed_gives_other_weights() -> None:
    differing = same_weights(build(SMALL, SHAPE, 7), build(SMALL, SHAPE, 8))
    assert differing == list(build(SMALL, SHAPE, 7).state_dict())


def test_given_word_vectors_leave_all_other_weights_as_they_are() -> None:
    vectors = torch.arange(27.0).view(9, 3)
    model = build(SMALL, SHAPE, 7, vectors=vectors)
    assert torch.equal(model.embedding.weight, vectors)
    assert same_weights(build(SMALL, SHAPE, 7), model) == ["embedding.weight"]


def test_given_word_vectors_are_copied() -> None:
    vectors = torch.zeros(9, 3)
    model = build(SMALL, SHAPE, 7, vectors=vectors)
    set_weights(model, embedding__weight=torch.ones(9, 3))
    assert vectors.count_nonzero() == 0


def test_word_vectors_of_our_own_are_small_and_zero_for_padding() -> None:
    weight = build(
        ModelConfig(embed_size=200, hidden_size=2), Shape(2000, ("a", "b"), "single"), 0
    ).embedding.weight
    assert weight[0].count_nonzero() == 0
    assert weight[1:].std().item() == pytest.approx(0.1, rel=0.01)
    assert weight[1:].mean().item() == pytest.approx(0, abs=1e-3)


def test_building_leaves_the_random_state_of_torch_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    build(SMALL, SHAPE, 7)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("pair", ["queried", "two_sided"])
def test_a_single_unit_is_enough_for_a_pair_model(pair: str) -> None:
    model = classifier(task="pair", pair=pair, hidden_size=1)
    assert model(some_batch("queried")).logits.shape == (5, 1)


def test_two_models_that_differ_in_a_setting_are_written_differently() -> None:
    assert repr(classifier(temperature=2.0)) != repr(classifier())
    assert repr(classifier(distribution="sparsemax")) != repr(classifier())


def test_a_wrong_shape_is_an_error_in_tests() -> None:
    model, batch = classifier(), some_batch("single")
    hidden = model(batch).hidden
    with pytest.raises(TypeCheckError, match="attention"):
        model.decode(hidden, noise(5, hidden.shape[1] + 1), batch)


def reference() -> Path:
    folder = Path(os.environ.get("FAITHGAUGE_DATA", "nowhere")).parent / "reference" / "jain-wallace-sst"
    if not os.environ.get("FAITHGAUGE_DATA") or not folder.is_dir():
        pytest.skip("needs the reference values of Jain & Wallace's code beside FAITHGAUGE_DATA")
    return folder


def test_the_trained_model_of_jain_and_wallace_gives_their_attention_and_probabilities() -> None:
    from safetensors.torch import load_file

    folder = reference()
    names = {
        "encoder.embedding.weight": "embedding.weight",
        "decoder.attention.attn1.weight": "attention.attn1.weight",
        "decoder.attention.attn1.bias": "attention.attn1.bias",
        "decoder.attention.attn2.weight": "attention.attn2.weight",
        "decoder.linear_1.weight": "decoder.weight",
        "decoder.linear_1.bias": "decoder.bias",
    }
    words = len(json.loads((folder / "vocab_word2idx.json").read_text(encoding="utf-8")))
    config = ModelConfig(encoder="bilstm", embed_size=300, hidden_size=128)
    model = AttentionClassifier(config, Shape(words, ("negative", "positive"), "single"))
    theirs = load_file(folder / "model.safetensors")
    model.load_state_dict({names.get(name, name): value for name, value in theirs.items()})

    values = np.load(folder / "reference100.npz")
    texts = [
        row[:length].tolist()
        for row, length in zip(values["token_ids"], values["lengths_incl_sos_eos"], strict=True)
    ]
    with torch.inference_mode():
        output = model(batch_of(texts))
    width = output.attention.shape[1]
    expected = torch.from_numpy(values["attention"])
    torch.testing.assert_close(output.attention, expected[:, :width], rtol=0, atol=1e-6)
    assert expected[:, width:].count_nonzero() == 0
    found = probabilities(output.logits)[:, 1]
    torch.testing.assert_close(found, torch.from_numpy(values["pred_prob"]), rtol=0, atol=1e-6)


@pytest.mark.parametrize("encoder", ["mlp", "average"])
@pytest.mark.parametrize("attention", ["additive", "dot"])
@pytest.mark.parametrize("distribution", ["softmax", "sparsemax", "uniform"])
def test_word_by_word_is_the_same_model(encoder: str, attention: str, distribution: str) -> None:
    """Logits, attention and every gradient, whether each token is scored or each distinct word once."""
    batch = batch_of([[SOS, 4, 5, 4, 4, EOS], [SOS, 6, EOS], [SOS, EOS]])
    found = []
    for way in ("forward_stateless", "forward"):
        model = classifier(encoder, attention=attention, distribution=distribution)
        output = getattr(model, way)(batch)
        (output.logits.sum() + (output.attention**2).sum()).backward()
        gradients = {name: value.grad for name, value in model.named_parameters() if value.grad is not None}
        found.append((output, gradients))
    (by_word, ours), (by_token, theirs) = found
    torch.testing.assert_close(by_word.logits, by_token.logits)
    torch.testing.assert_close(by_word.attention, by_token.attention)
    assert by_word.hidden is None
    assert by_token.hidden is not None
    assert ours.keys() == theirs.keys()
    for name, gradient in ours.items():
        torch.testing.assert_close(gradient, theirs[name])


@pytest.mark.parametrize("encoder", ["mlp", "average"])
def test_word_by_word_takes_attention_that_is_given(encoder: str) -> None:
    batch = batch_of([[SOS, 4, 5, 4, EOS]])
    given = torch.tensor([[0.0, 0.5, 0.2, 0.3, 0.0]])
    model = classifier(encoder)
    torch.testing.assert_close(model.forward_stateless(batch, given).logits, model(batch, given).logits)
    assert model.forward_stateless(batch, given).attention is given


@EACH_FORM
@pytest.mark.parametrize("encoder", ENCODERS)
def test_what_is_trained_is_what_is_asked_later(form: str, encoder: str) -> None:
    model, batch = classifier(encoder, **FORMS[form]), some_batch(form)
    torch.testing.assert_close(model.forward_stateless(batch).logits, model(batch).logits)
