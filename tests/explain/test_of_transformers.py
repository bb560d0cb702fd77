"""Every explainer on transformers: texts alone and pairs in one row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiny
import torch

from faithgauge.encode.batching import collate
from faithgauge.encode.tokenizer import read_subwords
from faithgauge.errors import UnsupportedError
from faithgauge.explain.asked import asked
from faithgauge.explain.given import align, of_rows
from faithgauge.explain.split import explain_batch, explain_split, refuse_what_model_lacks
from faithgauge.explain.table import EXPLAINERS
from faithgauge.models import store
from faithgauge.models.store import Trained
from faithgauge.models.transformer import Transformer
from faithgauge.steps import explain_examples, known_of, new_examples, predict_texts, read_texts
from faithgauge.types import Batch, Encoded

TEXTS = ["the film was good", "unlikely plot .", "bad"]
PAIRS = ["not played", "a film was bad .", "the plot"]
WORK = ["gradient", "input_x_gradient", "integrated_gradient:steps=4", "integrated_gradient:embeddings=all"]
WORK += ["smooth_gradient:samples=2", "gradient_shap:samples=3", "deeplift:rule=gradient", "leave_one_out"]
WORK += [
    "occlusion",
    "lime:samples=40",
    "lime:samples=40:kernel=embedding",
    "kernel_shap:samples=40",
    "random",
]
LACK = ["attention", "attention_norm", "attention_x_gradient", "deeplift", "deep_shap"]
OF_DATA = {"mutual_information", "oracle", "reversed", "random_2"}


def trained_of(folder: Path, family: str = "bert", **more: float) -> Trained:
    return store.open_model(str(tiny.folder_of(folder / family, family, **more)))


@pytest.fixture
def trained(tmp_path: Path) -> Trained:
    return trained_of(tmp_path)


def batch_of(encoded: Encoded) -> Batch:
    return collate(encoded, np.arange(len(encoded)))


def test_every_explainer_works_or_is_known_not_to() -> None:
    names = {text.partition(":")[0] for text in (*WORK, *LACK)} | OF_DATA
    assert names >= set(EXPLAINERS) - {name for name, one in EXPLAINERS.items() if "heads" in one.needs}


@pytest.mark.parametrize("pairs", [None, PAIRS], ids=["texts", "pairs"])
@pytest.mark.parametrize("text", WORK)
def test_it_scores_every_maskable_token_whatever_stands_beside(
    trained: Trained, text: str, pairs: list[str] | None
) -> None:
    encoded = read_texts(trained, TEXTS, pairs).splits["test"]
    known = known_of(trained)
    found = explain_split(trained.classifier, encoded, asked(text), known=known)
    real = encoded.spans.values[:, 0] >= 0
    assert (~np.isnan(found.scores) == real).all()
    alone = explain_split(trained.classifier, encoded, asked(text), known=known, rows=np.array([1]))
    own = slice(encoded.ids.offsets[1], encoded.ids.offsets[2])
    np.testing.assert_allclose(alone.scores[own], found.scores[own], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("text", LACK)
def test_what_cannot_be_asked_is_refused_before_anything_is_computed(trained: Trained, text: str) -> None:
    with pytest.raises(UnsupportedError):
        refuse_what_model_lacks(trained.classifier, asked(text))


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("embeddings", ["word", "all"])
def test_integrated_gradients_sum_to_the_difference_from_the_baseline(
    tmp_path: Path, family: str, embeddings: str
) -> None:
    trained = trained_of(tmp_path, family, initializer_range=0.15)
    encoded = read_texts(trained, TEXTS).splits["test"]
    text = f"integrated_gradient:steps=60:baseline=mask:embeddings={embeddings}"
    found = explain_split(trained.classifier, encoded, asked(text), known=known_of(trained))
    assert found.error is not None
    assert np.abs(found.error).max() < 5e-3


def test_word_vectors_and_all_embeddings_give_other_scores(trained: Trained) -> None:
    batch = batch_of(read_texts(trained, TEXTS).splits["test"])
    word, every = (
        explain_batch(trained.classifier, batch, asked(f"integrated_gradient{more}"), known=known_of(trained))
        for more in ("", ":embeddings=all")
    )
    assert float((word.scores - every.scores).nan_to_num().abs().max()) > 1e-3


def test_a_token_left_out_is_a_text_without_it(trained: Trained) -> None:
    encoded = read_texts(trained, ["the film was good"]).splits["test"]
    found = explain_split(
        trained.classifier, encoded, asked("leave_one_out:target=1"), known=known_of(trained)
    )
    without = ["film was good", "the was good", "the film good", "the film was"]
    likely = predict_texts(trained, ["the film was good", *without])[:, 1]
    np.testing.assert_allclose(found.scores[1:-1], likely[0] - likely[1:], atol=1e-6)


def test_a_token_of_the_second_text_left_out_is_a_pair_without_it(trained: Trained) -> None:
    encoded = read_texts(trained, ["good film"], ["bad plot"]).splits["test"]
    found = explain_split(
        trained.classifier, encoded, asked("leave_one_out:target=1"), known=known_of(trained)
    )
    pairs = (["good film"] * 2 + ["good film"], ["bad plot", "plot", "bad"])
    likely = predict_texts(trained, *pairs)[:, 1]
    np.testing.assert_allclose(found.scores[4:6], likely[0] - likely[1:], atol=1e-6)


def test_a_pair_in_one_row_is_shown_as_two_texts(trained: Trained) -> None:
    examples = new_examples(TEXTS, PAIRS)
    wanted = {"gradient": asked("gradient")}
    shown = list(explain_examples(trained, examples, wanted))
    assert shown[1].tokens == ("un", "like", "ly", "plot", ".")
    assert shown[1].pair_tokens == ("a", "film", "was", "bad", ".")
    flat = explain_split(
        trained.classifier,
        read_texts(trained, TEXTS, PAIRS).splits["test"],
        wanted["gradient"],
        known=known_of(trained),
    ).scores
    both = [score for one in shown for score in (*one.scores["gradient"], *one.pair_scores["gradient"])]
    np.testing.assert_allclose(both, flat[~np.isnan(flat)])


def test_scores_from_elsewhere_go_to_both_texts_of_a_row(trained: Trained) -> None:
    examples = new_examples(["good film"], ["played"])
    encoded = read_texts(trained, ["good film"], ["played"]).splits["test"]
    rows = [{"id": "text 1", "scores": [1.0, 2.0], "pair_scores": [3.0, 4.0]}]
    found = align(of_rows(rows), examples, encoded, tokenizer=trained.tokenizer)["scores"]
    np.testing.assert_array_equal(found.scores.scores, [np.nan, 1, 2, np.nan, 3, 4, np.nan])
    assert found.scores.pair is None


def test_the_vocabulary_norm_of_a_gradient_is_that_of_its_one_hot_coding(trained: Trained) -> None:
    model, encoded = trained.classifier, read_texts(trained, ["bad"]).splits["test"]
    assert isinstance(model, Transformer)
    found = explain_split(model, encoded, asked("gradient:norm=vocabulary:target=1"), known=known_of(trained))
    vectors = model.embed(batch_of(encoded)).detach().requires_grad_()
    likely = model.forward_embedded(vectors, batch_of(encoded)).logits.softmax(-1)[0, 1]
    (slope,) = torch.autograd.grad(likely, vectors)
    expected = (model.get_input_embeddings().weight @ slope[0, 1]).norm()
    assert found.scores[1] == pytest.approx(expected.item(), rel=1e-4)


def test_tokenizers_of_a_folder_say_how_a_pair_is_joined(tmp_path: Path) -> None:
    tokenizer = read_subwords(tiny.tokenizer_file(tmp_path), joined=True)
    (row,) = tokenizer.encode_pairs([("good", "bad")])
    assert row.segments.tolist() == [0, 0, 0, 1, 1]
