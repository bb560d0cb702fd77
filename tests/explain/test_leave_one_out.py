from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from bags import Bag
from fakes import EOS, SOS, batch_of, classifier
from hypothesis import given, settings
from hypothesis import strategies as st
from perturbed import ENCODERS, FORMS, MASK, asked, case, perturbed, together, value
from reference import jain_wallace_sst

from faithgauge.errors import UnsupportedError
from faithgauge.explain.asked import asked as named
from faithgauge.explain.leave_one_out import leave_one_out, occlusion
from faithgauge.models.question import Question

WEIGHTS = [0.0, 0.0, 9.0, 9.0, 1.5, -2.0, 0.25, 3.0]


@pytest.mark.parametrize("explainer", [leave_one_out, occlusion])
def test_a_word_of_a_bag_scores_its_weight(explainer: Any) -> None:
    """The mask weighs 0; so does padding, which stands for a text of which nothing is left."""
    batch = batch_of([[SOS, 4, 5, 4, EOS], [7, 6], [5]])
    scores = explainer(Bag(WEIGHTS, bias=0.5), batch, asked([1, 1, 0], of="logit")).scores
    nan = torch.nan
    expected = [[nan, 1.5, -2.0, 1.5, nan], [3.0, 0.25, nan, nan, nan], [2.0, nan, nan, nan, nan]]
    assert torch.equal(scores.nan_to_num(99), torch.tensor(expected).nan_to_num(99))


def test_of_a_probability_it_is_the_difference_of_two_sigmoids() -> None:
    """Word 4 adds ln 3 to a logit of 0: 3/4 − 1/2."""
    model = Bag([0.0] * 4 + [float(np.log(3))])
    assert leave_one_out(model, batch_of([[4]]), asked([1])).scores.item() == pytest.approx(0.25)
    assert leave_one_out(model, batch_of([[4]]), asked([0])).scores.item() == pytest.approx(-0.25)


@pytest.mark.parametrize("explainer", [leave_one_out, occlusion])
def test_absolute_scores_have_no_sign(explainer: Any) -> None:
    batch, question = batch_of([[4, 5]]), asked([1], of="logit")
    signed = explainer(Bag(WEIGHTS), batch, question)
    absolute = explainer(Bag(WEIGHTS), batch, question, absolute=True)
    assert (signed.signed, absolute.signed) == (True, False)
    assert absolute.scores.tolist() == [[1.5, 2.0]]


def test_without_its_only_word_a_text_has_no_attention_and_the_answer_is_that_of_the_bias() -> None:
    model = classifier("bilstm")
    batch = batch_of([[4]])
    with torch.inference_mode():
        whole, bias = model(batch).logits.sigmoid().item(), model.decoder.bias.sigmoid().item()
    assert leave_one_out(model, batch, asked([1])).scores.item() == pytest.approx(whole - bias, abs=1e-6)


@ENCODERS
@FORMS
@pytest.mark.parametrize("fill", [None, MASK])
def test_it_is_one_forward_pass_per_token(encoder: str, form: dict[str, Any], fill: int | None) -> None:
    model, encoded, question = case(encoder, form)
    explainer = leave_one_out if fill is None else occlusion
    batch = together(encoded)
    scores = explainer(model, batch, question).scores
    assert torch.equal(scores.isnan(), ~batch.maskable)
    for row, own in enumerate(batch.maskable):
        n = int(own.sum())
        whole = value(model, question, together(encoded, [row]), row)
        expected = [
            whole
            - value(model, question, perturbed(encoded, row, [i != t for i in range(n)], fill=fill), row)
            for t in range(n)
        ]
        assert scores[row, own].tolist() == pytest.approx(expected, abs=1e-6)


@settings(max_examples=15)
@given(st.sampled_from(["bilstm", "cnn", "transformer-small"]), st.permutations(range(4)), st.integers(1, 4))
def test_padding_and_the_composition_of_the_batch_change_nothing(
    encoder: str, order: list[int], size: int
) -> None:
    model, encoded, question = case(encoder, {"task": "pair"})
    everything = leave_one_out(model, together(encoded), question).scores
    rows = order[:size]
    batch = together(encoded, rows)
    some = leave_one_out(model, batch, Question(question.target[rows])).scores
    expected = everything[rows, : batch.ids.shape[1]]
    torch.testing.assert_close(some, expected, rtol=0, atol=1e-6, equal_nan=True)


def test_all_texts_of_a_batch_share_their_passes() -> None:
    """1 + 2 + 3 texts without a word, and the 3 texts."""
    model = Bag(WEIGHTS)
    leave_one_out(model, batch_of([[4], [5, 6], [4, 5, 6]]), asked([1, 1, 1]))
    assert model.asked == [9]


def test_a_text_without_maskable_tokens_has_no_score() -> None:
    assert leave_one_out(Bag(WEIGHTS), batch_of([[SOS, EOS]]), asked([1])).scores.isnan().all()


def test_occlusion_without_a_mask_token_is_refused() -> None:
    with pytest.raises(UnsupportedError) as raised:
        occlusion(Bag(WEIGHTS), batch_of([[4]]), Question(torch.tensor([1])))
    assert str(raised.value) == "the tokenizer has no mask token; choose leave_one_out"


def test_it_equals_what_the_code_of_jain_and_wallace_computes() -> None:
    model, batch, arrays = jain_wallace_sst()
    preset = named("leave_one_out:jain-wallace-2019")
    question = Question(torch.ones(len(batch), dtype=torch.long), of=preset.of)
    scores = preset.explainer.function(model, batch, question, **preset.options).scores
    expected = torch.from_numpy(arrays["loo_delta"])
    torch.testing.assert_close(
        scores[batch.maskable], expected[batch.maskable], rtol=0, atol=5e-6, check_dtype=False
    )
