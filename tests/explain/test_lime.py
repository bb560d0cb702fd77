from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from bags import Bag
from fakes import EOS, SOS, batch_of, classifier, encode
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from perturbed import ENCODERS, FORMS, MASK, PAD, asked, case, perturbed, together, value
from sklearn.linear_model import Ridge
from torch import Tensor

from faithgauge.errors import UnsupportedError
from faithgauge.explain.asked import asked as named
from faithgauge.explain.lime import lime
from faithgauge.models.question import Question
from faithgauge.types import Batch

WEIGHTS = [0.0, 0.0, 9.0, 9.0, 1.5, -2.0, 0.25, 3.0]
FILL = {"mask": MASK, "pad": PAD, "delete": None}


def drawn(question: Question, batch: Batch, text: int, samples: int) -> NDArray[np.bool_]:
    size = (samples, int(batch.maskable[text].sum()))
    return question.random(batch, text, "lime").integers(0, 2, size, dtype=np.int8).astype(bool)


def plainly(z: NDArray[np.bool_], values: list[float], width: float, ridge: float = 1.0) -> list[float]:
    """The regression by scikit-learn, under the kernel over tokens."""
    distances = 1 - np.sqrt(z.mean(-1))
    weights = np.exp(-(distances**2) / (2 * width**2))
    fitted = Ridge(alpha=ridge).fit(z.astype(float), values, sample_weight=weights)
    return list(fitted.coef_)


@pytest.mark.parametrize("method", ["mask", "pad", "delete"])
def test_with_little_ridge_a_word_of_a_bag_scores_its_weight(method: Any) -> None:
    batch = batch_of([[SOS, 4, 5, 4, EOS], [7, 6], [5]])
    question = asked([1, 1, 0], of="logit")
    scores = lime(Bag(WEIGHTS, bias=0.5), batch, question, samples=100, ridge=1e-9, replace=method).scores
    expected = torch.tensor([[1.5, -2.0, 1.5], [3.0, 0.25, torch.nan], [2.0, torch.nan, torch.nan]])
    torch.testing.assert_close(scores[0, 1:4], expected[0], rtol=0, atol=1e-6)
    torch.testing.assert_close(scores[1:, :3], expected[1:], rtol=0, atol=1e-6, equal_nan=True)
    assert torch.equal(scores.isnan(), ~batch.maskable)


def test_one_word_by_hand() -> None:
    """The word weighs 3. It is there in n of m draws, with k(1) = 1; without it d = 1 and k(0) = exp(−8).

    One weighted slope through two points: (x − x̄)(y − ȳ) / ((x − x̄)² + 1) = 3 s / (s + 1), where s is
    a b / (a + b), a = n and b = (m − n) exp(−8).
    """
    batch, question = batch_of([[7]]), asked([1], of="logit")
    there = int(drawn(question, batch, 0, 100).sum())
    a, b = there, (100 - there) * math.exp(-8)
    s = a * b / (a + b)
    found = lime(Bag(WEIGHTS), batch, question, samples=100).scores.item()
    assert found == pytest.approx(3 * s / (s + 1), rel=1e-6)


@ENCODERS
@FORMS
@pytest.mark.parametrize("method", ["mask", "pad", "delete"])
def test_it_is_a_ridge_regression_of_answers_asked_one_by_one(
    encoder: str, form: dict[str, Any], method: Any
) -> None:
    model, encoded, question = case(encoder, form)
    batch = together(encoded)
    scores = lime(model, batch, question, samples=12, replace=method, kernel_width=0.5).scores
    for row, own in enumerate(batch.maskable):
        z = drawn(question, batch, row, 12)
        values = [
            value(model, question, perturbed(encoded, row, stay, fill=FILL[method]), row)
            for stay in z.tolist()
        ]
        assert scores[row, own].tolist() == pytest.approx(plainly(z, values, 0.5), abs=1e-6)


@pytest.mark.parametrize("ridge", [0.1, 1.0, 30.0])
def test_fewer_samples_than_tokens_have_the_same_solution(ridge: float) -> None:
    batch, question = batch_of([[4 + i % 4 for i in range(40)]]), asked([1])
    model = Bag(WEIGHTS)
    scores = lime(model, batch, question, samples=15, ridge=ridge, kernel_width=1.0).scores[0]
    z = drawn(question, batch, 0, 15)
    logits = z @ np.array([WEIGHTS[word] for word in batch.ids[0]])
    expected = plainly(z, 1 / (1 + np.exp(-logits)), 1.0, ridge)
    assert scores.tolist() == pytest.approx(expected, abs=1e-6)


def captum_lime(model: Any, batch: Batch, z: NDArray[np.bool_], *, near: Any, fill: int) -> Tensor:
    """Captum on the embedded text with the perturbations `z`; feature 0 are the special tokens."""
    from captum._utils.models.linear_model import SkLearnRidge
    from captum.attr import Lime

    def draw(*_: Any, **__: Any) -> Iterator[Tensor]:
        for row in z:
            yield torch.tensor([[1, *row.tolist()]])

    def answer(embedded: Tensor) -> Tensor:
        many = batch_of([batch.ids[0].tolist()] * len(embedded))
        return torch.sigmoid(model.forward_embedded(embedded, many).logits[:, 0])

    text = model.embed(batch)
    features = (batch.maskable.cumsum(-1) * batch.maskable)[..., None].expand_as(text)
    empty = model.embed(replace(batch, ids=batch.ids.masked_fill(batch.maskable, fill)))
    explainer = Lime(answer, SkLearnRidge(alpha=1.0), similarity_func=near, perturb_func=draw)
    found = explainer.attribute(
        text.detach(),
        baselines=empty.detach(),
        feature_mask=features,
        n_samples=len(z),
        perturbations_per_eval=50,
    )
    return found[0, :, 0]


@pytest.mark.parametrize("words", [[SOS, 4, 12, 7, 7, 20, 9, EOS], [SOS, 5, 6, 8, 10]])
@pytest.mark.parametrize("encoder", ["bilstm", "cnn"])
def test_it_equals_captum_on_the_same_perturbations(encoder: str, words: list[int]) -> None:
    def near(_text: Tensor, _perturbed: Tensor, kept: Tensor, **_: Any) -> Tensor:
        distance = 1 - kept[0, 1:].float().mean().sqrt()
        return torch.exp(-(distance**2) / (2 * 0.25**2))

    model, batch, question = classifier(encoder).eval(), batch_of([words]), asked([1])
    scores = lime(model, batch, question, samples=300).scores[0]
    expected = captum_lime(model, batch, drawn(question, batch, 0, 300), near=near, fill=MASK)
    own = batch.maskable[0]
    assert scores[own].tolist() == pytest.approx(expected[own].tolist(), abs=1e-5)


@pytest.mark.parametrize("words", [[SOS, 4, 12, 7, 7, 20, 9, EOS], [SOS, 5, 6, 8, 10]])
def test_the_preset_of_neely_equals_captum_under_its_own_kernel(words: list[int]) -> None:
    from captum.attr._core.lime import get_exp_kernel_similarity_function

    model, batch = classifier("bilstm").eval(), batch_of([words])
    preset = named("lime:neely-2022:samples=300")
    question = asked([1], of=preset.of)
    found = preset.explainer.function(model, batch, question, **preset.options)
    near = get_exp_kernel_similarity_function("cosine", 1.0)
    expected = captum_lime(model, batch, drawn(question, batch, 0, 300), near=near, fill=PAD).abs()
    own = batch.maskable[0]
    assert found.scores[0, own].tolist() == pytest.approx(expected[own].tolist(), abs=1e-5)
    assert found.signed is False


def test_under_the_kernel_over_vectors_a_deleted_token_is_a_vector_of_zeros() -> None:
    """The words weigh 3 and 4, and their vectors are these numbers: the whole text is (3, 4) of length 5.

    Cosines: with the first alone 3/5, with the second alone 4/5, with none 0 by convention.
    """
    batch, question = batch_of([[4, 5]]), asked([1])
    z = drawn(question, batch, 0, 50)
    cosine = {(True, True): 1.0, (True, False): 0.6, (False, True): 0.8, (False, False): 0.0}
    weights = [math.exp(-((1 - cosine[tuple(row)]) ** 2) / 2) for row in z.tolist()]
    values = 1 / (1 + np.exp(-(z @ np.array([3.0, 4.0]))))
    expected = Ridge(alpha=1.0).fit(z.astype(float), values, sample_weight=weights).coef_
    model = Bag([0.0, 0.0, 0.0, 0.0, 3.0, 4.0])
    found = lime(model, batch, question, samples=50, replace="delete", kernel="embedding", kernel_width=1.0)
    assert found.scores[0].tolist() == pytest.approx(expected.tolist(), abs=1e-6)


@settings(max_examples=15)
@given(st.permutations(range(4)), st.integers(1, 4), st.sampled_from(["tokens", "embedding"]))
def test_padding_and_the_composition_of_the_batch_change_nothing(
    order: list[int], size: int, kernel: Any
) -> None:
    model, encoded, question = case("bilstm", {"task": "pair"})
    everything = lime(model, together(encoded), question, samples=40, kernel=kernel).scores
    rows = order[:size]
    batch = together(encoded, rows)
    some = replace(question, target=question.target[rows])
    found = lime(model, batch, some, samples=40, kernel=kernel).scores
    expected = everything[rows, : batch.ids.shape[1]]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6, equal_nan=True)


def test_absolute_scores_have_no_sign() -> None:
    batch, question = batch_of([[4, 5]]), asked([1], of="logit")
    signed = lime(Bag(WEIGHTS), batch, question, samples=20)
    absolute = lime(Bag(WEIGHTS), batch, question, samples=20, absolute=True)
    assert (signed.signed, absolute.signed) == (True, False)
    assert torch.equal(absolute.scores, signed.scores.abs())
    assert (signed.scores < 0).tolist() == [[False, True]]


def test_a_text_without_maskable_tokens_has_no_score() -> None:
    assert lime(Bag(WEIGHTS), batch_of([[SOS, EOS], [SOS, 4, EOS]]), asked([1, 1])).scores[0].isnan().all()


def test_without_a_mask_token_it_says_what_else_to_choose() -> None:
    with pytest.raises(UnsupportedError) as raised:
        lime(Bag(WEIGHTS), batch_of([[4]]), Question(torch.tensor([1])))
    expected = "the tokenizer has no mask token; choose replace=pad or replace=delete"
    assert str(raised.value) == expected


def test_a_model_whose_vectors_are_not_known_has_no_kernel_over_them() -> None:
    model = Bag(WEIGHTS)
    model.capabilities = frozenset()  # type: ignore[misc]
    with pytest.raises(UnsupportedError, match="choose kernel=tokens"):
        lime(model, batch_of([[4]]), asked([1]), kernel="embedding")


def test_weights_too_small_for_a_number_leave_scores_of_0() -> None:
    encoded = encode([[4, 5, 6, 7, 4, 5, 6, 7]])
    batch = together(encoded)
    assert lime(Bag(WEIGHTS), batch, asked([1]), samples=5, kernel_width=1e-4).scores.tolist() == [[0.0] * 8]
