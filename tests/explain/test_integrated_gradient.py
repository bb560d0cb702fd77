from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from bags import BagOfVectors
from fakes import EOS, SOS, batch_of, some_texts
from forms import FORMS, alone, assert_a_batch_changes_nothing, explained, model_of, some_batch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import jain_wallace_sst
from torch import Tensor, nn

from faithgauge.errors import UnsupportedError
from faithgauge.explain.asked import asked
from faithgauge.explain.integrated_gradient import points
from faithgauge.models import slopes
from faithgauge.models.encoders import ENCODERS
from faithgauge.models.question import Known
from faithgauge.types import Batch, Output


class Cubes(nn.Module):
    """One logit Σ_t x_t³; word i has the vector (i)."""

    n_classes = 2
    capabilities = frozenset({"embedding"})

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Output:
        return self.forward_embedded(self.embed(batch), batch)

    def embed(self, batch: Batch) -> Tensor:
        return batch.ids.float()[..., None]

    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Output:
        return Output((embedded[..., 0] ** 3 * batch.valid).sum(-1, keepdim=True))


def test_the_right_rule_by_hand() -> None:
    """f = x³ from 0 to 4 in two steps: 4 · ½ (3 · 2² + 3 · 4²) = 120, where 64 is due."""
    found = explained("integrated_gradient:rule=right:steps=2:of=logit:target=1", Cubes(), batch_of([[4]]))
    assert found.scores.item() == pytest.approx(120)
    assert found.error is not None
    assert found.error.item() == pytest.approx(64 - 120)


def test_the_gradient_by_the_unscaled_vector_has_a_factor_more_at_each_step() -> None:
    """4 · ½ (½ · 3 · 2² + 1 · 3 · 4²) = 108, where the right rule has 120."""
    text = "integrated_gradient:rule=right:steps=2:of=logit:target=1:unscaled=true"
    found = explained(text, Cubes(), batch_of([[4]]))
    assert found.scores.item() == pytest.approx(108)


def test_the_preset_of_the_papers_code_differs_from_that_of_its_text_in_the_factor_alone() -> None:
    code, paper = (
        asked(f"integrated_gradient:{name}") for name in ("madsen-2022-code", "recursive-roar-2022")
    )
    assert code == replace(paper, options={**paper.options, "unscaled": True})


def test_two_points_of_gauss_and_legendre_are_exact_for_a_cube() -> None:
    text = "integrated_gradient:steps=2:of=logit:target=1"
    found = explained(text, Cubes(), batch_of([[SOS, 4, 5, EOS]]))
    assert found.scores[0, 1:3].tolist() == pytest.approx([64, 125], rel=1e-5)
    assert found.error is not None
    assert found.error.item() == pytest.approx(0, abs=1e-3)
    assert found.signed is True


def test_special_tokens_stay_where_they_are_on_the_way() -> None:
    """The baseline of mask 1 moves words from 1 to 4; nothing of the difference falls on special tokens."""
    found = explained(
        "integrated_gradient:baseline=mask:of=logit:target=1", Cubes(), batch_of([[SOS, 4, EOS]])
    )
    assert found.scores.tolist()[0] == pytest.approx([torch.nan, 64 - 1, torch.nan], nan_ok=True, rel=1e-5)


def test_an_absolute_score_keeps_the_error_of_the_signed_one() -> None:
    text = "integrated_gradient:rule=right:steps=2:of=logit:target=0"
    signed = explained(text, Cubes(), batch_of([[4]]))
    absolute = explained(text + ":absolute=true", Cubes(), batch_of([[4]]))
    assert (signed.scores.item(), absolute.scores.item()) == pytest.approx((-120, 120))
    assert (signed.signed, absolute.signed) == (True, False)
    assert signed.error is not None
    assert absolute.error is not None
    assert absolute.error.item() == signed.error.item()


def test_a_mask_that_the_tokenizer_lacks_is_an_error() -> None:
    with pytest.raises(UnsupportedError, match="no mask token; choose baseline=pad"):
        explained("integrated_gradient:baseline=mask", Cubes(), batch_of([[4]]), Known(mask=None))


@pytest.mark.parametrize("rule", ["gauss-legendre", "right"])
def test_on_a_linear_model_it_is_what_a_token_adds(rule: str) -> None:
    """Word 0 is padding: what stands in the place of a token takes its own addition away."""
    model, batch = BagOfVectors(), batch_of(some_texts(4))
    text = f"integrated_gradient:of=logit:target=2:steps=3:rule={rule}"
    zero = explained(text + ":baseline=zero", model, batch).scores
    torch.testing.assert_close(zero, model.contributions(batch, 2), equal_nan=True)
    pad = explained(text, model, batch).scores
    padding = (model.embedding.weight[0] @ model.decoder.weight[2]).item()
    torch.testing.assert_close(pad, model.contributions(batch, 2) - padding, equal_nan=True)


@pytest.mark.parametrize("steps", [1, 2, 7, 50])
def test_the_weights_of_a_rule_sum_to_one_and_its_points_lie_on_the_line(steps: int) -> None:
    for rule in ("gauss-legendre", "right"):
        shares, weights = points(rule, steps)
        assert weights.sum().item() == pytest.approx(1)
        assert 0 < shares.min() <= shares.max() <= 1


@pytest.mark.parametrize("rule", ["gauss-legendre", "right"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_scores_tend_to_the_difference_of_the_outputs(encoder: str, rule: str) -> None:
    model, batch = model_of("single, three classes", encoder), some_batch("single")
    errors = [
        explained(f"integrated_gradient:rule={rule}:steps={steps}", model, batch).error
        for steps in (2, 20, 200)
    ]
    largest = [error.abs().max().item() for error in errors if error is not None]
    # Float32 leaves a difference of probabilities right to about 1e-6; ReLU is no smooth function.
    assert largest[2] < {"right": 0.02, "gauss-legendre": 2e-4}[rule]
    assert largest[2] <= largest[1] + 1e-6 <= largest[0] + 2e-6


def test_the_error_is_what_the_scores_lack() -> None:
    model, batch = model_of("single", "bilstm"), some_batch("single")
    found = explained("integrated_gradient:steps=3:rule=right:target=1", model, batch)
    padded = Batch(batch.ids.masked_fill(batch.maskable, 0), batch.lengths, batch.valid, batch.maskable)
    difference = (model(batch).logits.sigmoid() - model(padded).logits.sigmoid())[:, 0].detach()
    assert found.error is not None
    torch.testing.assert_close(found.error, difference - found.scores.nansum(-1), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("rule", "theirs"), [("gauss-legendre", "gausslegendre"), ("right", "riemann_right")]
)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_captum_has_the_same_integrated_gradients(encoder: str, rule: str, theirs: str) -> None:
    captum = pytest.importorskip("captum.attr")
    model, batch = model_of("single, three classes", encoder).double(), some_batch("single")
    vectors = model.embed(batch).detach()
    baseline = torch.where(batch.maskable[..., None], model.embedding.weight[0].detach(), vectors)

    def probability(points: Tensor) -> Tensor:
        copies = len(points) // len(batch)
        own = Batch(
            *(
                part.repeat(copies, *[1] * (part.dim() - 1))
                for part in (batch.ids, batch.lengths, batch.valid, batch.maskable)
            )
        )
        return model.forward_embedded(points, own).logits.softmax(-1)

    expected = captum.IntegratedGradients(probability).attribute(
        vectors, baseline, target=1, n_steps=20, method=theirs
    )
    ours = explained(f"integrated_gradient:steps=20:target=1:rule={rule}", model, batch).scores
    own = batch.maskable
    torch.testing.assert_close(ours[own], expected.sum(-1)[own], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_neither_padding_nor_other_texts_change_a_score(encoder: str, form: str) -> None:
    assert_a_batch_changes_nothing("integrated_gradient:steps=4", model_of(form, encoder), some_batch(form))


@settings(max_examples=15)
@given(st.lists(st.lists(st.integers(4, 23), min_size=1, max_size=9), min_size=1, max_size=4))
def test_whatever_the_texts_their_batch_changes_nothing(texts: list[list[int]]) -> None:
    model = model_of("single", "bilstm")
    assert_a_batch_changes_nothing("integrated_gradient:steps=5:baseline=zero", model, batch_of(texts))


@pytest.mark.parametrize("places", [1, 9, 40])
@pytest.mark.parametrize("encoder", ["bilstm", "cnn"])
def test_the_size_of_the_parts_changes_nothing(
    encoder: str, places: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, batch = model_of("single", encoder), some_batch("single")
    at_once = explained("integrated_gradient:steps=6", model, batch).scores
    monkeypatch.setattr(slopes, "PLACES", places)
    in_parts = explained("integrated_gradient:steps=6", model, batch).scores
    torch.testing.assert_close(in_parts, at_once, rtol=1e-5, atol=1e-6, equal_nan=True)


def test_where_memory_is_short_the_parts_are_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here no more than 20 places at once are to be had, of 3 texts with 6 points each."""
    model, batch = model_of("single", "mlp"), some_batch("single")
    expected = explained("integrated_gradient:steps=6", model, batch).scores
    whole, refused = model.forward_along, []

    def short(line: slopes.Line, *rest: object, **named: object) -> Output:
        if line.shares.numel() * line.start.shape[1] > 20:
            refused.append(line.shares.numel())
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.")
        return whole(line, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(model, "forward_along", short)
    found = explained("integrated_gradient:steps=6", model, batch).scores
    assert refused
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6, equal_nan=True)


def test_a_text_of_special_tokens_alone_has_no_scores_and_no_error() -> None:
    model = model_of("single", "bilstm")
    found = explained("integrated_gradient:steps=3", model, batch_of([[SOS, EOS], [SOS, 4, EOS]]))
    assert found.scores.isnan().tolist() == [[True, True, True], [True, False, True]]
    assert found.error is not None
    assert found.error[0].item() == 0


def test_on_a_trained_model_the_error_says_where_fifty_steps_are_too_few() -> None:
    """The model of Jain & Wallace's code: along some lines its output jumps, and 50 points miss that."""
    model, batch, theirs = jain_wallace_sst()
    few = explained("integrated_gradient:target=1", model, batch)
    empty = Batch(batch.ids.masked_fill(batch.maskable, 0), batch.lengths, batch.valid, batch.maskable)
    with torch.no_grad():
        nothing = model(empty).logits[:, 0].sigmoid().numpy()
    assert few.error is not None
    sums = few.scores.nansum(-1).numpy() + few.error.numpy()
    np.testing.assert_allclose(sums, theirs["pred_prob"] - nothing, rtol=0, atol=1e-5)
    worst = int(few.error.abs().argmax())
    assert few.error[worst].abs().item() == pytest.approx(0.598, abs=5e-3)
    many = explained("integrated_gradient:target=1:steps=500", model, alone(batch, worst))
    assert many.error is not None
    assert many.error.abs().item() < 1e-4
