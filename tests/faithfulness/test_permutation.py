"""Permuted attention: numbers by hand, a slow reference, and what must not matter."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import torch
from fakes import batch_of
from forms import FORMS, alone, model_of, some_batch
from readouts import readout_of
from reference import jain_wallace_sst

from faithgauge.faithfulness import permutation as module
from faithgauge.faithfulness.permutation import permutation_tvd, permuted
from faithgauge.models.classifier import probabilities
from faithgauge.models.readout import readout, readouts


def test_one_hot_attention_moves_to_a_token_that_says_nothing_two_times_in_three() -> None:
    """p is σ(ln 3) = ¾ with the weight on the third token and σ(0) = ½ elsewhere: the median |Δp| is ¼."""
    one = readout_of([[0, 0, 1]], [[0, 0, math.log(3)]])
    assert permutation_tvd(one, permutations=1001)[0] == pytest.approx(0.25, abs=1e-6)


def test_of_an_even_number_of_permutations_the_median_is_between_the_middle_two() -> None:
    """All weight on a token of p = ½, ¾ or 0.95, of which the second is its own: |Δp| is ¼, 0 or ⅕."""
    one = readout_of([[0, 1, 0]], [[0.0, math.log(3), math.log(19)]])
    weights = permuted(one, permutations=4, seed=11)[0].argmax(-1)
    changes = sorted(np.array([0.25, 0, 0.2])[weights].tolist())
    assert permutation_tvd(one, permutations=4, seed=11)[0] == pytest.approx((changes[1] + changes[2]) / 2)


def test_of_several_classes_it_is_half_the_sum_of_the_changes() -> None:
    """All on a class of its own against all on another: softmax of (ln 2, 0, 0) is (½, ¼, ¼), TVD ¼."""
    values = [[[math.log(2), 0, 0], [0, math.log(2), 0], [0, 0, math.log(2)]]]
    assert permutation_tvd(readout_of([[1, 0, 0]], values), permutations=999)[0] == pytest.approx(0.25)


def test_every_order_of_the_maskable_tokens_is_as_likely_as_any_other() -> None:
    one = readout_of([[0.5, 0.3, 0.2], [1.0]], [[0, 0, 0], [0]])
    seen = Counter(tuple(row.tolist()) for row in (permuted(one, permutations=6000)[0] * 10).round())
    assert len(seen) == 6
    chi_squared = sum((count - 1000) ** 2 / 1000 for count in seen.values())
    assert chi_squared < 15.1  # one in a hundred with five degrees of freedom


@pytest.mark.parametrize("form", FORMS)
def test_a_slow_obvious_reference_gives_the_same(form: str) -> None:
    model, batch = model_of(form), some_batch(form)
    one = readout(model, batch)
    weights = permuted(one, permutations=9, seed=2)
    assert torch.equal(weights.sort(-1).values, one.attention.sort(-1).values[:, None].expand_as(weights))
    assert not weights[~batch.maskable[:, None].expand_as(weights)].any()
    own = probabilities(model(batch).logits)
    changes = []
    for step in range(9):
        found = probabilities(model(batch, attention=weights[:, step]).logits)
        changes.append((found - own).abs().sum(-1).div(2).tolist())
    np.testing.assert_allclose(
        permutation_tvd(one, permutations=9, seed=2), np.median(changes, axis=0), atol=1e-6
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_text_alone_is_permuted_as_beside_others_and_in_whatever_parts(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, batch = model_of(form), some_batch(form)
    together = [permutation_tvd(one) for one in readouts(model, batch)]
    monkeypatch.setattr(module, "AT_ONCE", 1)
    for text in range(len(batch)):
        apart = [permutation_tvd(one) for one in readouts(model, alone(batch, text))]
        for whole, single in zip(together, apart, strict=True):
            assert single[0] == pytest.approx(whole[text], abs=1e-6)


def test_texts_have_orders_of_their_own_and_so_have_seeds() -> None:
    same = readout_of([[0.1, 0.2, 0.3, 0.4]] * 2, [[0, 1, 2, 3]] * 2)
    first, second = permuted(same)
    assert not torch.equal(first, second)
    assert not torch.equal(first, permuted(same, seed=1)[0])


def test_equal_weights_and_one_token_change_nothing_and_no_token_has_no_number() -> None:
    one = readout_of([[0.25] * 4, [1.0], []], [[0, 1, 2, 3], [5], []])
    found = permutation_tvd(one)
    assert found[:2] == pytest.approx([0, 0], abs=1e-7)
    assert np.isnan(found[2])


def test_the_medians_are_those_of_the_papers_code() -> None:
    """100 permutations each: their medians and ours differ by chance alone, and not on average."""
    model, batch, theirs = jain_wallace_sst()
    ours = np.mean([permutation_tvd(readout(model, batch), seed=seed) for seed in range(5)], axis=0)
    own = theirs["pred_prob"]
    again = np.median(np.abs(theirs["perm_prob"] - (own if own.ndim == 2 else own[:, None])), axis=1)
    np.testing.assert_allclose(again, theirs["perm_median_dy"], atol=1e-6)
    # Of 100 draws the median of a text varies by about 1.25 s/√100, over 100 texts by a tenth of that.
    spread = np.std(np.abs(theirs["perm_prob"] - own[:, None]), axis=1)
    assert abs((ours - again).mean()) < 3 * 1.25 * np.sqrt((spread**2).mean()) / 10 / 10
    assert np.corrcoef(ours, again)[0, 1] > 0.97


def test_a_batch_of_special_tokens_alone_is_no_error() -> None:
    model = model_of("single")
    assert np.isnan(permutation_tvd(readout(model, batch_of([[2, 3]])))).all()
