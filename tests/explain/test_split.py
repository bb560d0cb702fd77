from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from bags import BagOfVectors
from fakes import EOS, SOS, batch_of, classifier, encode, ragged, some_split
from forms import explained, model_of
from headed import THREE_TOKENS, Headed

from faithgauge.encode.batching import collate
from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.explain.asked import asked
from faithgauge.explain.split import explain_batch, explain_split, frozen, refuse_what_lacks, sample
from faithgauge.explain.table import EXPLAINERS
from faithgauge.models.question import Known, swap
from faithgauge.types import Batch

TEXTS = [[SOS, 4, 5, EOS], [SOS, 6, EOS], [SOS, 7, 8, 9, EOS]]


def test_scores_stand_where_the_ids_stand() -> None:
    split, model = encode(TEXTS), BagOfVectors()
    found = explain_split(model, split, asked("input_x_gradient:of=logit:target=0"), known=Known())
    by_word = model.embedding.weight @ model.decoder.weight[0]
    expected = [torch.nan if word in (SOS, EOS) else by_word[word].item() for text in TEXTS for word in text]
    assert found.scores.tolist() == pytest.approx(expected, nan_ok=True)
    assert found.scores.dtype == np.float32
    assert found.pair is None
    assert found.error is None


def test_rows_that_were_left_out_have_no_scores() -> None:
    found = explain_split(classifier(), encode(TEXTS), asked("attention"), known=Known(), rows=np.array([1]))
    assert np.flatnonzero(~np.isnan(found.scores)).tolist() == [5]
    assert found.scores[5] == pytest.approx(1)


def test_errors_belong_to_texts() -> None:
    found = explain_split(
        classifier(),
        encode(TEXTS),
        asked("integrated_gradient:steps=2"),
        known=Known(),
        rows=np.array([0, 2]),
    )
    assert found.error is not None
    assert np.isnan(found.error).tolist() == [False, True, False]


def test_both_texts_of_a_two_sided_pair_are_explained_each_beside_the_other() -> None:
    split, model = some_split(6, task="pair"), model_of("two-sided", "bilstm")
    found = explain_split(model, split, asked("input_x_gradient:target=1"), known=Known())
    assert found.pair is not None
    assert split.pair_ids is not None
    assert len(found.pair) == len(split.pair_ids.values)
    batch = collate(split, np.arange(6))
    assert batch.pair is not None
    both = batch_gradients(model, batch)
    mine = [found.scores[split.ids.offsets[i] : split.ids.offsets[i + 1]] for i in range(6)]
    other = [found.pair[split.pair_ids.offsets[i] : split.pair_ids.offsets[i + 1]] for i in range(6)]
    for i in range(6):
        for scores, expected in ((mine[i], both[0][i]), (other[i], both[1][i])):
            own = ~np.isnan(scores)
            np.testing.assert_allclose(scores[own], expected[: len(scores)][own], rtol=1e-4, atol=1e-6)


def batch_gradients(model: torch.nn.Module, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """x · ∂p/∂x of both texts of pairs, each by a backward pass through a model that reads it first."""
    found = []
    for one, reader in ((batch, model), (swap(batch), model.swapped())):  # type: ignore[operator]
        vectors = reader.embed(one).detach().requires_grad_()
        value = reader.forward_embedded(vectors, one).logits.softmax(-1)[:, 1].sum()
        found.append((torch.autograd.grad(value, vectors)[0] * vectors).sum(-1).detach().numpy())
    return found[0], found[1]


def test_only_the_first_text_of_a_queried_pair_is_explained() -> None:
    split = some_split(4, task="pair")
    assert explain_split(model_of("queried"), split, asked("attention"), known=Known()).pair is None


def test_the_class_that_is_explained_is_the_predicted_the_gold_or_a_given_one() -> None:
    split, model = encode(TEXTS, [2, 0, 1]), BagOfVectors()
    batch = collate(split, np.arange(3))
    predicted = model(batch).logits.argmax(-1)
    for target, classes in (("predicted", predicted), ("gold", torch.tensor([2, 0, 1]))):
        found = explained(f"input_x_gradient:of=logit:target={target}", model, batch).scores
        expected = torch.stack([model.contributions(batch, int(c))[i] for i, c in enumerate(classes)])
        torch.testing.assert_close(found, expected, equal_nan=True)


@pytest.mark.parametrize("name", [name for name, one in EXPLAINERS.items() if not one.of_class])
def test_what_is_said_to_ask_for_no_class_has_the_same_numbers_for_each(name: str) -> None:
    if name in ("head_norm", "value_zeroing"):
        pytest.skip("needs the states of a whole transformer; its function does not read the question")
    known = Known(seed=3, pad=0, mask=1, train=encode(TEXTS, [2, 0, 1]))
    heads = "heads" in EXPLAINERS[name].needs
    model: torch.nn.Module = Headed(THREE_TOKENS) if heads else classifier()
    batch = batch_of([[SOS, 4, 5]])
    evidence = torch.tensor([[False, True, False]])
    one, other = (
        explain_batch(model, batch, asked(f"{name}:target={target}"), known=known, evidence=evidence).scores
        for target in (0, 1)
    )
    assert torch.equal(one.nan_to_num(), other.nan_to_num())


def test_gold_needs_labels() -> None:
    batch = replace(batch_of(TEXTS), labels=None)
    with pytest.raises(ConfigError) as raised:
        explained("gradient:target=gold", BagOfVectors(), batch)
    assert str(raised.value) == (
        "gradient:target=gold: expected labelled texts for target=gold, found texts without labels"
    )


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("attention", "a model with attention (capability 'attention')"),
        ("occlusion", "a tokenizer with a mask token"),
        ("mutual_information", "the training split"),
        ("oracle", "texts whose evidence is known"),
    ],
)
def test_what_an_explainer_needs_and_is_not_there_is_said_before_anything_runs(
    text: str, needed: str
) -> None:
    with pytest.raises(UnsupportedError) as raised:
        explain_split(BagOfVectors(), encode(TEXTS), asked(text), known=Known())
    assert str(raised.value) == f"{text} needs {needed}, found none; choose another explainer"


def test_a_class_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ConfigError) as raised:
        refuse_what_lacks(BagOfVectors(), asked("gradient:target=3"), known=Known())
    assert str(raised.value) == "gradient:target=3: expected a class from 0 to 2, found 3"


def test_evidence_reaches_the_oracle_token_by_token() -> None:
    split = replace(encode(TEXTS), evidence=ragged([[0, 1, 0, 0], [0, 0, 0], [0, 0, 1, 1, 0]], np.bool_))
    found = explain_split(classifier(), split, asked("oracle"), known=Known()).scores
    assert found[~np.isnan(found)].tolist() == [1, 0, 0, 0, 1, 1]


def test_the_order_and_the_size_of_batches_do_not_change_random_numbers() -> None:
    split, known = encode(TEXTS), Known(seed=4)
    whole = explain_split(classifier(), split, asked("random"), known=known).scores
    last = explain_split(classifier(), split, asked("random"), known=known, rows=np.array([2])).scores
    assert np.array_equal(whole[7:], last[7:], equal_nan=True)


def test_progress_ends_with_all_texts_done() -> None:
    heard: list[tuple[float, float]] = []
    explain_split(
        classifier(),
        encode(TEXTS),
        asked("attention"),
        known=Known(),
        on_progress=lambda done, total: heard.append((done, total)),
    )
    assert heard[-1] == (3, 3)


def test_a_model_is_explained_as_it_predicts_and_left_as_it_was() -> None:
    model = classifier().train()
    explain_split(model, encode(TEXTS), asked("gradient"), known=Known())
    assert model.training
    assert all(weight.requires_grad for weight in model.parameters())


def test_frozen_weights_thaw_even_after_an_error() -> None:
    model = classifier()
    model.decoder.bias.requires_grad_(False)

    def fail() -> None:
        with frozen(model):
            assert not any(weight.requires_grad for weight in model.parameters())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    asked_for = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert asked_for == {name for name, _ in model.named_parameters()} - {"decoder.bias"}


def test_a_sample_is_drawn_once_and_for_all_in_order() -> None:
    some = sample(100, 10)
    assert len(set(some.tolist())) == 10
    assert some.tolist() == sorted(some.tolist()) == sample(100, 10).tolist()


@pytest.mark.parametrize("instances", [None, 5, 9])
def test_a_sample_of_no_fewer_than_there_are_is_all(instances: int | None) -> None:
    assert sample(5, instances).tolist() == [0, 1, 2, 3, 4]


def test_a_batch_is_explained_with_its_second_texts() -> None:
    batch = batch_of([[4, 5]], pairs=[[6, 7, 8]])
    found = explain_batch(model_of("two-sided"), batch, asked("attention"), known=Known())
    assert found.pair is not None
    assert found.pair.scores.shape == (1, 3)
