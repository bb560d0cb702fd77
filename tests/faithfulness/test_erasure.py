"""Erasing the tokens that explanations name: numbers by hand, a slow reference, and what must not matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import fakes
import numpy as np
import pytest
import torch
from fakes import EOS, SOS
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from faithgauge.encode.batching import collate
from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.faithfulness.against import AgainstRandom, joined
from faithgauge.faithfulness.erasing import Erased, Erasing, erase, random_orders
from faithgauge.faithfulness.erasure import MEASURES, erasure
from faithgauge.models.question import Known, Question, swap
from faithgauge.types import Batch, Encoded, Output

MASK = 1
KNOWN = Known(mask=MASK)
NAN = float("nan")


class Bag(nn.Module):
    """logits = Σ_t weight[id_t]: a model that offers nothing but `forward`, and counts the texts it reads."""

    def __init__(self, weight: Sequence[Sequence[float]]) -> None:
        super().__init__()
        self.weight = torch.tensor(weight, dtype=torch.float32)
        self.n_classes = max(self.weight.shape[1], 2)
        self.capabilities: frozenset[str] = frozenset()
        self.read = 0

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Output:
        self.read += len(batch)
        return Output((self.weight[batch.ids] * batch.valid[..., None]).sum(1))


def bag(*words: float) -> Bag:
    """One logit for class 1, to which word 4 + i adds ``words[i]``; specials and the mask add nothing."""
    return Bag([[0.0]] * 4 + [[word] for word in words])


def ask(batch: Batch, target: int = 1, **of: Any) -> Question:
    return Question(torch.full((len(batch),), target), known=KNOWN, **({"of": "logit"} | of))


def scores_of(batch: Batch, *rows: Sequence[float]) -> Tensor:
    """Scores of the maskable tokens, nan elsewhere."""
    scores = torch.full(batch.ids.shape, NAN)
    for text, row in enumerate(rows):
        scores[text, batch.maskable[text]] = torch.tensor(row, dtype=scores.dtype)
    return scores


def numbers(found: AgainstRandom, explainer: str = "a", text: int = 0) -> dict[str, float]:
    return {name: found.of(name, explainer)[0][text].item() for name in found.measures}


def reasons(found: AgainstRandom, explainer: str = "a", text: int = 0) -> dict[str, str | None]:
    return {name: found.of(name, explainer)[2][text] for name in found.measures}


WORDS = (4.0, -1.0, 2.0, 0.5)
TEXT = [SOS, 4, 5, 6, 7, EOS]
HAND = Erasing(fractions=(0.25, 0.5), steps=4, orders=2)
# Without 4, 2, 0.5, -1 in turn: 5.5, 1.5, -0.5, -1, 0. With them alone: 0, 4, 6, 6.5, 5.5.
BY_HAND = {
    "comprehensiveness": (4 + 6) / 2,
    "sufficiency": (1.5 - 0.5) / 2,
    "normalised_comprehensiveness": 5 / 5.5,
    "normalised_sufficiency": 1 - 0.5 / 5.5,
    "deletion": (5.5 / 2 + 1.5 - 0.5 - 1 + 0 / 2) / 4,
    "insertion": (0 / 2 + 4 + 6 + 6.5 + 5.5 / 2) / 4,
    "flip": 0.0,
    "flip_fraction": 0.5,
}


@pytest.mark.parametrize("by", ["mask", "delete"])
def test_every_measure_of_a_bag_of_words_is_its_number_by_hand(by: Any) -> None:
    batch = fakes.batch_of([TEXT])
    found = erasure(
        bag(*WORDS), batch, ask(batch), scores={"a": scores_of(batch, WORDS)}, how=replace(HAND, by=by)
    )
    assert numbers(found) == pytest.approx(BY_HAND)
    assert list(found.measures) == list(BY_HAND) == list(MEASURES)


def test_a_token_that_speaks_against_the_class_is_erased_last_and_without_sign_first() -> None:
    batch = fakes.batch_of([[SOS, 4, 5, EOS]])
    scores = {"signed": scores_of(batch, [2.0, -3.0]), "unsigned": scores_of(batch, [2.0, 3.0])}
    found = erasure(bag(2.0, -3.0), batch, ask(batch), scores=scores, how=replace(HAND, fractions=(0.5,)))
    assert numbers(found, "signed")["comprehensiveness"] == pytest.approx(2.0)
    assert numbers(found, "unsigned")["comprehensiveness"] == pytest.approx(-3.0)


def test_the_top_token_alone_flips_a_decision_that_hangs_on_it() -> None:
    batch = fakes.batch_of([TEXT])
    found = erasure(bag(3.0, -1.0, 0.5, -1), batch, ask(batch), scores={"a": scores_of(batch, [3, 0, 1, 0])})
    assert numbers(found)["flip"] == 1
    assert numbers(found)["flip_fraction"] == 0.25


@pytest.mark.parametrize("of", ["probability", "logit"])
@pytest.mark.parametrize("target", [0, 1])
def test_a_decision_of_two_classes_hangs_on_the_sign_of_the_logit(of: Any, target: int) -> None:
    batch = fakes.batch_of([[SOS, 4, 5, EOS]] * 2)
    sign = 1 if target else -1
    scores = {"a": scores_of(batch, [1, 0], [0, 1])}
    found = erasure(bag(sign * 0.3, sign * -0.1), batch, ask(batch, target, of=of), scores=scores)
    assert found.of("flip", "a")[0].tolist() == [1, 0]


def test_a_decision_that_nothing_changes_has_flip_fraction_1() -> None:
    batch = fakes.batch_of([[SOS, 4, 5, EOS]])
    found = erasure(bag(3.0, 1.0), batch, ask(batch), scores={"a": scores_of(batch, [3, 1])})
    assert numbers(found)["flip_fraction"] == 1


def test_equal_scores_go_by_position() -> None:
    words = np.random.default_rng(0).normal(size=100)
    batch = fakes.batch_of([[SOS, *range(4, 104), EOS]])
    scores = {"a": scores_of(batch, [1] * 100), "b": scores_of(batch, range(100, 0, -1))}
    found = erasure(bag(*words), batch, ask(batch), scores=scores)
    assert numbers(found, "a") == numbers(found, "b")


@pytest.mark.parametrize(
    ("n", "fraction", "k"),
    [(10, 0.1, 1), (10, 0.3, 3), (10, 0.7, 7), (3, 0.34, 2), (300, 0.01, 3), (100, 0.07, 7), (1, 0.01, 1)],
)
def test_k_is_the_fraction_rounded_up_and_exact_where_it_is_whole(n: int, fraction: float, k: int) -> None:
    batch = fakes.batch_of([[SOS, *[4] * n, EOS]])
    how = Erasing(fractions=(fraction,))
    found = erase(bag(1.0), batch, ask(batch), orders=random_orders(batch, ask(batch), 1), how=how)
    assert found.sizes[0, found.bins].tolist() == [k]
    assert found.whole - found.without[0, :, found.bins] == pytest.approx(k)


def test_the_curve_of_a_text_with_fewer_tokens_than_steps_is_exact() -> None:
    batch = fakes.batch_of([TEXT])
    scores = {"a": scores_of(batch, WORDS)}
    few, many = (
        numbers(erasure(bag(*WORDS), batch, ask(batch), scores=scores, how=replace(HAND, steps=steps)))
        for steps in (4, 100)
    )
    assert few["deletion"] == pytest.approx(many["deletion"])
    assert few["insertion"] == pytest.approx(many["insertion"])


def slow(
    model: nn.Module, encoded: Encoded, row: int, order: Sequence[int], how: Erasing
) -> dict[str, float]:
    """One text, one order of places, one reading of the model at a time."""
    ids = encoded.ids.row(row).tolist()
    pair = None if encoded.pair_ids is None else [encoded.pair_ids.row(row).tolist()]

    def p(erased: Sequence[int]) -> Tensor:
        left = [x for i, x in enumerate(ids) if i not in erased]
        text = left if how.by == "delete" else [MASK if i in erased else x for i, x in enumerate(ids)]
        candidates = None if encoded.candidates is None else [encoded.candidates.row(row).tolist()]
        batch = fakes.batch_of([text], pairs=pair, candidates=candidates, classes=3)
        logits = model(batch).logits[0].detach()
        return torch.stack([-logits[0], logits[0]]).sigmoid() if len(logits) == 1 else logits.softmax(-1)

    whole, n = p([]), len(order)
    c = int(whole.argmax())
    f = whole[c].item()
    without = {k: p(order[:k]) for k in range(n + 1)}
    only = {k: p(order[k:]) for k in range(n + 1)}
    bins = [int(np.ceil(round(fraction * n, 6))) for fraction in how.fractions]
    curve = [int(np.ceil(round(step * n / how.steps, 6))) for step in range(how.steps + 1)]
    comprehensiveness = float(np.mean([f - without[k][c].item() for k in bins]))
    sufficiency = float(np.mean([f - only[k][c].item() for k in bins]))
    lost = f - without[n][c].item()
    flips = [k / n for k in sorted({1, *bins, *curve}) if int(without[k].argmax()) != c]
    return {
        "comprehensiveness": comprehensiveness,
        "sufficiency": sufficiency,
        "normalised_comprehensiveness": comprehensiveness / lost if lost >= 0.01 else NAN,
        "normalised_sufficiency": 1 - sufficiency / lost if lost >= 0.01 else NAN,
        "deletion": np.trapezoid([without[k][c].item() for k in curve], np.array(curve) / n).item(),
        "insertion": np.trapezoid([only[k][c].item() for k in curve], np.array(curve) / n).item(),
        "flip": float(int(without[1].argmax()) != c),
        "flip_fraction": min(flips, default=1.0),
    }


def predicted(model: nn.Module, batch: Batch) -> Question:
    logits = model(batch).logits.detach()
    target = (logits[:, 0] > 0).long() if logits.shape[1] == 1 else logits.argmax(-1)
    return Question(target, known=KNOWN)


def judged(
    model: nn.Module, encoded: Encoded, rows: Sequence[int], how: Erasing
) -> tuple[Batch, AgainstRandom]:
    """Two explanations of these rows: the numbers of the tokens' ids, and their reverse."""
    batch = collate(encoded, np.array(rows, np.int64), classes=3)
    score = torch.where(batch.maskable, (batch.ids * 7 % 11).double(), NAN)
    return batch, erasure(model, batch, predicted(model, batch), scores={"a": score, "b": -score}, how=how)


@pytest.mark.parametrize("by", ["mask", "delete"])
@pytest.mark.parametrize(
    ("encoder", "task", "classes", "pair"),
    [
        ("bilstm", "single", 2, "queried"),
        ("average", "single", 3, "queried"),
        ("mlp", "pair", 3, "queried"),
        ("mlp", "pair", 3, "two_sided"),
        ("mlp", "cloze", 3, "queried"),
    ],
)
def test_a_slow_obvious_reference_gives_the_same(
    by: Any, encoder: str, task: Any, classes: int, pair: str
) -> None:
    encoded = fakes.some_split(5, task=task, classes=classes)
    model = fakes.classifier(encoder, task=task, classes=classes, pair=pair).eval()
    how = Erasing(by, fractions=(0.1, 0.4), steps=3, orders=1)
    batch, found = judged(model, encoded, range(5), how)
    for text in range(5):
        places = batch.maskable[text].nonzero()[:, 0].tolist()
        score = (batch.ids[text] * 7 % 11).tolist()
        order = sorted(places, key=lambda place: (-score[place], place))
        expected = slow(model, encoded, text, order, how)
        assert numbers(found, "a", text) == pytest.approx(expected, abs=1e-5, nan_ok=True)


def test_without_and_only_are_complements_and_the_sets_are_nested() -> None:
    """Powers of 2 as weights: the output names the set of tokens that are left."""
    batch = fakes.batch_of([[SOS, *range(4, 14), EOS], [SOS, *range(4, 9), EOS]])
    model = bag(*(2.0**i for i in range(10)))
    orders = random_orders(batch, ask(batch), 5)
    found = erase(model, batch, ask(batch), orders=orders, how=Erasing(steps=7))
    assert (found.without + found.only).tolist() == np.broadcast_to(
        found.whole[:, None], found.only.shape
    ).tolist()
    sets = found.only.astype(int)
    for order in sets.reshape(-1, sets.shape[-1]):
        by_size = sorted(order, key=lambda left: int(left).bit_count())
        assert all(few & many == few for few, many in pairwise(by_size))
    assert [int(x).bit_count() for x in sets[0, 0]] == found.sizes[0].tolist()


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), by=st.sampled_from(["mask", "delete"]))
def test_padding_and_the_composition_of_the_batch_change_nothing(seed: int, by: Any) -> None:
    encoded = fakes.some_split(4, seed=seed)
    model = fakes.classifier("mlp", seed=seed).eval()
    how = Erasing(by, fractions=(0.2, 0.5), steps=3, orders=2)
    _, together = judged(model, encoded, range(4), how)
    alone = joined([judged(model, encoded, [row], how)[1] for row in range(4)])
    np.testing.assert_allclose(together.value, alone.value, atol=1e-5)
    np.testing.assert_allclose(together.random, alone.random, atol=1e-5)
    assert together.reason.tolist() == alone.reason.tolist()


def test_the_budget_of_tokens_changes_nothing() -> None:
    batch = fakes.batch_of([[SOS, *range(4, 20), EOS], [SOS, 4, EOS]])
    model = fakes.classifier("bilstm").eval()
    scores = {"a": scores_of(batch, range(16), [0])}
    little, much = (
        erasure(model, batch, predicted(model, batch), scores=scores, budget=budget) for budget in (5, 10**6)
    )
    np.testing.assert_allclose(little.value, much.value, atol=1e-5)


def test_each_size_is_asked_once_and_the_whole_and_the_empty_text_once_for_all_orders() -> None:
    batch, model = fakes.batch_of([TEXT]), bag(*WORDS)
    how = Erasing(fractions=(0.01, 0.2, 0.5), steps=2, orders=3)  # sizes 1, 1, 2 and 0, 2, 4
    scores = {"a": scores_of(batch, WORDS), "b": scores_of(batch, WORDS)}
    erasure(model, batch, ask(batch, of="probability"), scores=scores, how=how)
    assert model.read == 2 + 2 * 5 * 2


def test_random_is_the_mean_over_orders_that_all_explanations_share() -> None:
    batch = fakes.batch_of(fakes.some_texts(6))
    model = fakes.classifier("mlp").eval()
    question = predicted(model, batch)
    orders = random_orders(batch, question, 4)
    scores = {str(i): order for i, order in enumerate(orders)}
    found = erasure(model, batch, question, scores=scores, how=Erasing(orders=4))
    np.testing.assert_allclose(found.value.mean(1), found.random, atol=1e-12)
    np.testing.assert_allclose(found.difference.mean(1)[~np.isnan(found.random)], 0, atol=1e-12)


def test_random_orders_differ_and_hang_on_the_seed_and_the_text_alone() -> None:
    encoded = fakes.encode([[SOS, *range(4, 14), EOS]] * 3)
    batch = collate(encoded, np.arange(3))
    orders = random_orders(batch, ask(batch), 2)
    assert len({tuple(order.tolist()) for order in orders.reshape(6, -1)}) == 6
    last = collate(encoded, np.array([2]))
    assert random_orders(last, ask(last), 3)[:2].tolist() == orders[:, 2:].tolist()
    other = replace(ask(batch), known=Known(seed=1))
    assert (random_orders(batch, other, 2) != orders)[:, batch.maskable].all()


def test_a_text_of_one_token_is_as_any_order_has_it() -> None:
    batch = fakes.batch_of([[SOS, 4, EOS]])
    found = erasure(bag(3.0), batch, ask(batch), scores={"a": scores_of(batch, [1])})
    assert numbers(found) == pytest.approx(
        dict.fromkeys(MEASURES, 0.0)
        | {"comprehensiveness": 3, "sufficiency": 0, "normalised_comprehensiveness": 1}
        | {"normalised_sufficiency": 1, "deletion": 1.5, "insertion": 1.5, "flip_fraction": 1}
    )
    assert (found.difference == 0).all()


def test_a_text_without_a_token_has_no_number() -> None:
    batch = fakes.batch_of([[SOS, EOS], TEXT])
    found = erasure(bag(*WORDS), batch, ask(batch), scores={"a": scores_of(batch, [], WORDS)}, how=HAND)
    assert set(reasons(found).values()) == {"no token"}
    assert np.isnan(found.value[..., 0]).all()
    assert np.isnan(found.random[:, 0]).all()
    assert numbers(found, text=1) == pytest.approx(BY_HAND)


def test_a_text_with_a_token_that_has_no_score_has_no_number() -> None:
    batch = fakes.batch_of([TEXT, TEXT])
    scores = {"a": scores_of(batch, [NAN] * 4, WORDS), "b": scores_of(batch, [1, 2, NAN, 4], WORDS)}
    found = erasure(bag(*WORDS), batch, ask(batch), scores=scores, how=HAND)
    for explainer in scores:
        assert set(reasons(found, explainer).values()) == {"a token without a score"}
        assert numbers(found, explainer, text=1) == pytest.approx(BY_HAND)
    assert not np.isnan(found.random).any()


def test_an_output_that_does_not_hang_on_the_tokens_cannot_be_normalised() -> None:
    batch = fakes.batch_of([TEXT])
    found = erasure(bag(2, -1, 0, -0.995), batch, ask(batch), scores={"a": scores_of(batch, WORDS)})
    why = {name: reason for name, reason in reasons(found).items() if reason}
    assert why == dict.fromkeys(
        ("normalised_comprehensiveness", "normalised_sufficiency"), "erasing every token changes too little"
    )


def test_flips_of_a_class_that_is_not_the_decision_have_no_number() -> None:
    batch = fakes.batch_of([TEXT])
    found = erasure(bag(*WORDS), batch, ask(batch, target=0), scores={"a": scores_of(batch, WORDS)})
    assert [reasons(found)[name] for name in ("flip", "flip_fraction")] == [
        "the class is not the model's decision"
    ] * 2
    assert reasons(found)["comprehensiveness"] is None


def test_flips_of_three_classes_are_those_of_the_highest_logit_whatever_f_is() -> None:
    model = Bag([[0, 0, 0]] * 4 + [[2, 0, 0], [0, 1, 0], [0, 1.5, 0], [1, 0, 1]])
    batch = fakes.batch_of([TEXT])  # 3, 2.5, 1; without word 4: 1, 2.5, 1
    scores = {"a": scores_of(batch, [4, 3, 2, 1]), "b": scores_of(batch, [1, 2, 3, 4])}
    for of in ("probability", "logit"):
        found = erasure(model, batch, ask(batch, target=0, of=of), scores=scores, how=HAND)
        assert numbers(found, "a")["flip"] == 1
        assert numbers(found, "b")["flip"] == 1  # without word 7: 2, 2.5, 0
        assert numbers(found, "b")["flip_fraction"] == 0.25


def test_what_leaves_nothing_to_read_when_all_is_deleted_is_not_asked() -> None:
    encoded = fakes.encode([[4, 5, 6, 7], [4], TEXT])
    batch = collate(encoded, np.arange(3))
    scores = {"a": scores_of(batch, WORDS, WORDS[:1], WORDS)}
    found = erasure(bag(*WORDS), batch, ask(batch), scores=scores, how=replace(HAND, by="delete"))
    nothing = "nothing is left when every token is erased"
    assert {name for name, reason in reasons(found).items() if reason == nothing} == {
        "normalised_comprehensiveness",
        "normalised_sufficiency",
        "deletion",
        "insertion",
    }
    kept = ("comprehensiveness", "sufficiency", "flip", "flip_fraction")
    assert {name: numbers(found)[name] for name in kept} == pytest.approx(
        {name: BY_HAND[name] for name in kept}
    )
    assert reasons(found, text=1)["comprehensiveness"] == reasons(found, text=1)["flip"] == nothing
    assert numbers(found, text=2) == pytest.approx(BY_HAND)


def test_the_second_text_of_a_pair_is_erased_with_the_texts_exchanged() -> None:
    texts, others = fakes.some_texts(4, seed=1), fakes.some_texts(4, seed=2)
    model = fakes.classifier("mlp", task="pair", classes=3, pair="two_sided").eval()
    batch = fakes.batch_of(texts, pairs=others)
    swapped = swap(batch)
    score = torch.where(swapped.maskable, swapped.ids.double(), NAN)
    question = replace(predicted(model, batch), side="second")
    found = erasure(model.swapped(), swapped, question, scores={"a": score})
    back = fakes.batch_of(others, pairs=texts)
    expected = erasure(model.swapped(), back, question, scores={"a": score})
    np.testing.assert_allclose(found.value, expected.value, atol=1e-6)


def test_masking_without_a_mask_token_is_an_error_that_names_the_way_out() -> None:
    batch = fakes.batch_of([TEXT])
    question = replace(ask(batch), known=Known())
    with pytest.raises(UnsupportedError, match=r"expected a tokenizer with a mask token.*erase by delete"):
        erasure(bag(*WORDS), batch, question, scores={"a": scores_of(batch, WORDS)})


@pytest.mark.parametrize("wrong", [{"fractions": ()}, {"fractions": (0.0,)}, {"fractions": (1.2,)}])
def test_fractions_lie_above_0_and_at_most_at_1(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="expected fractions above 0 and at most 1"):
        Erasing(**wrong)


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"orders": 0}])
def test_there_is_at_least_one_step_and_one_order(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="expected at least one step and one random order"):
        Erasing(**wrong)


def test_neither_the_texts_nor_the_scores_are_changed() -> None:
    batch = fakes.batch_of([TEXT])
    scores = scores_of(batch, WORDS)
    before = batch.ids.clone(), scores.clone()
    erasure(bag(*WORDS), batch, ask(batch), scores={"a": scores})
    assert torch.equal(batch.ids, before[0])
    assert torch.equal(scores.nan_to_num(9), before[1].nan_to_num(9))


def test_an_erased_text_says_what_it_is() -> None:
    batch = fakes.batch_of([TEXT])
    found: Erased = erase(
        bag(*WORDS), batch, ask(batch), orders=scores_of(batch, WORDS)[None].double(), how=HAND
    )
    assert found.sizes.tolist() == [[1, 1, 2, 0, 1, 2, 3, 4]]
    assert found.without[0, 0, found.curve].tolist() == [5.5, 1.5, -0.5, -1, 0]
    assert found.only[0, 0, found.curve].tolist() == [0, 4, 6, 6.5, 5.5]
    assert (found.whole.tolist(), found.empty.tolist(), found.tokens.tolist()) == ([5.5], [0], [4])
