from __future__ import annotations

from typing import Any

import pytest
import torch
from bags import Bag
from fakes import EOS, SOS, batch_of, classifier
from perturbed import ENCODERS, FORMS, MASK, asked, case, perturbed, together, value
from torch import Tensor

from faithgauge.models.answers import Variants, answers
from faithgauge.models.budget import TOKENS
from faithgauge.types import Batch, Output


def variants_of(batch: Batch, source: list[int], stay: list[list[bool]], fill: int | None) -> Variants:
    """Each with a flag for every maskable token."""
    keep = torch.zeros(len(source), batch.ids.shape[1], dtype=torch.bool)
    for number, (text, flags) in enumerate(zip(source, stay, strict=True)):
        keep[number, batch.maskable[text]] = torch.tensor(flags)
    return Variants(torch.tensor(source), lambda numbers: keep[numbers], fill)


def test_a_token_that_is_taken_out_is_replaced() -> None:
    batch = batch_of([[SOS, 4, 5, 6, EOS], [7, 8]])
    variants = variants_of(batch, [0, 1], [[True, False, True], [False, True]], fill=MASK)
    made = variants.batch(batch, torch.tensor([0, 1]))
    assert made.ids.tolist() == [[SOS, 4, MASK, 6, EOS], [MASK, 8, 0, 0, 0]]
    assert torch.equal(made.valid, batch.valid)
    assert torch.equal(made.maskable, batch.maskable)
    assert made.lengths.tolist() == [5, 2]


def test_a_token_that_is_deleted_lets_the_others_move_up() -> None:
    batch = batch_of([[SOS, 4, 5, 6, EOS], [7, 8]])
    variants = variants_of(batch, [0, 1, 0], [[True, False, True], [False, True], [False] * 3], fill=None)
    made = variants.batch(batch, torch.tensor([0, 1, 2]))
    assert made.ids.tolist() == [[SOS, 4, 6, EOS], [8, 0, 0, 0], [SOS, EOS, 0, 0]]
    assert made.lengths.tolist() == [4, 1, 2]
    assert made.valid.sum(-1).tolist() == [4, 1, 2]
    assert made.maskable.tolist() == [[False, True, True, False], [True] + [False] * 3, [False] * 4]


def test_a_text_of_which_nothing_is_left_is_one_padding_token() -> None:
    batch = batch_of([[7, 8]])
    made = variants_of(batch, [0], [[False, False]], fill=None).batch(batch, torch.tensor([0]))
    assert made.ids.tolist() == [[0]]
    assert made.lengths.tolist() == [1]
    assert made.valid.tolist() == [[True]]
    assert made.maskable.tolist() == [[False]]


@ENCODERS
@FORMS
@pytest.mark.parametrize("fill", [None, MASK])
def test_the_answers_are_those_of_one_text_at_a_time(
    encoder: str, form: dict[str, Any], fill: int | None
) -> None:
    model, encoded, question = case(encoder, form)
    source = [2, 0, 3, 0, 1, 2, 0]
    random = torch.Generator().manual_seed(0)
    counts = [4, 1, 3, 1]
    stay = [(torch.rand(counts[text], generator=random) < 0.5).tolist() for text in source]
    batch = together(encoded)
    found = answers(model, batch, question, variants=variants_of(batch, source, stay, fill))
    expected = [
        value(model, question, perturbed(encoded, text, flags, fill=fill), text)
        for text, flags in zip(source, stay, strict=True)
    ]
    assert found.tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("tokens", [1, 7, 20, TOKENS])
def test_the_budget_changes_nothing(tokens: int) -> None:
    model, encoded, question = case("bilstm", {})
    batch = together(encoded)
    stay = [[True, False, True, False], [False], [True, True, False], [False]] * 3
    variants = variants_of(batch, [0, 1, 2, 3] * 3, stay, None)
    expected = answers(model, batch, question, variants=variants)
    found = answers(model, batch, question, variants=variants, tokens=tokens)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


def test_no_more_places_than_the_budget_are_read_at_once_and_kept_flags_are_asked_as_needed() -> None:
    """Ten variants of five tokens, and five of two: parts of two (10 places), then all of the short ones."""
    model, sizes = Bag([0.0] * 10), []
    batch = batch_of([[4, 5, 6, 7, 8], [4, 5]])

    def keep(numbers: Tensor) -> Tensor:
        sizes.append(len(numbers))
        return torch.ones(len(numbers), 5, dtype=torch.bool)

    source = torch.tensor([0, 0, 1] * 5)
    answers(model, batch, asked([1, 1]), variants=Variants(source, keep, MASK), tokens=10)
    assert model.asked == sizes == [2, 2, 2, 2, 2, 5]


def test_a_text_longer_than_the_budget_is_read_alone() -> None:
    model = Bag([0.0] * 10)
    variants = variants_of(batch_of([[4] * 9]), [0, 0], [[True] * 9] * 2, MASK)
    answers(model, batch_of([[4] * 9]), asked([1]), variants=variants, tokens=5)
    assert model.asked == [1, 1]


class Small(Bag):
    """Has memory for so many texts."""

    room = 3

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Output:
        if len(batch) > self.room:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried …")
        return super().forward(batch)


def test_where_memory_runs_out_the_rest_is_read_in_halves() -> None:
    """11 → 6 + 5 → 3 + 3 + 3 + 2."""
    model = Small([0.0] * 4 + [float(i) for i in range(8)])
    batch = batch_of([[4, 5, 6, 7]])
    stay = [[i % 2 > 0, i % 3 > 0, i % 5 > 0, i > 4] for i in range(11)]
    variants = variants_of(batch, [0] * 11, stay, MASK)
    found = answers(model, batch, asked([1], of="logit"), variants=variants)
    assert found.tolist() == [float(flags[1] + 2 * flags[2] + 3 * flags[3]) for flags in stay]
    assert model.asked == [3, 3, 3, 2]


def test_memory_that_does_not_suffice_for_one_text_is_an_error() -> None:
    model = Small([0.0] * 10)
    model.room = 0
    variants = variants_of(batch_of([[4]]), [0, 0], [[True], [False]], MASK)
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        answers(model, batch_of([[4]]), asked([1]), variants=variants)


def test_halving_gives_the_same_answers_of_our_own_models(monkeypatch: pytest.MonkeyPatch) -> None:
    model, encoded, question = case("bilstm", {"task": "cloze"})
    batch = together(encoded)
    stay = [[True, False, True, False], [False], [True, True, False], [False]] * 3
    variants = variants_of(batch, [0, 1, 2, 3] * 3, stay, None)
    expected = answers(model, batch, question, variants=variants)
    whole = model.forward_entered

    def small(rows: Any, part: Batch, attention: Any = None, **rest: Any) -> Output:
        if len(part.lengths) > 2:
            raise RuntimeError("CUDA out of memory. Tried to allocate …")
        return whole(rows, part, attention, **rest)

    monkeypatch.setattr(model, "forward_entered", small)
    found = answers(model, batch, question, variants=variants)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


def test_an_error_that_is_not_about_memory_is_not_hidden() -> None:
    class Broken(Bag):
        def forward(self, batch: Batch, attention: Tensor | None = None) -> Output:
            raise RuntimeError("shapes do not match")

    variants = variants_of(batch_of([[4]]), [0, 0], [[True], [False]], MASK)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        answers(Broken([0.0] * 5), batch_of([[4]]), asked([1]), variants=variants)


def test_words_that_do_not_occur_in_the_batch_may_be_filled_in() -> None:
    model, batch = classifier("mlp", vocabulary=24), batch_of([[4, 5]])
    variants = variants_of(batch, [0], [[False, True]], 23)
    found = answers(model, batch, asked([1]), variants=variants).item()
    with torch.inference_mode():
        assert found == pytest.approx(model(batch_of([[23, 5]])).logits.sigmoid().item(), abs=1e-6)
