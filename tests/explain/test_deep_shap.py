"""Deep SHAP by derivatives, and of one baseline, as neely-2022 asks for it."""

from __future__ import annotations

import torch
from fakes import some_split
from forms import explained, model_of, some_batch

from faithgauge.models.question import Known


def test_deep_shap_of_one_baseline_is_deeplift() -> None:
    """As the code of neely-2022 calls it, whose table prints other numbers for the two."""
    model, batch = model_of("single", "bilstm"), some_batch("single")
    same = explained("deep_shap:baseline=pad:rule=gradient", model, batch)
    torch.testing.assert_close(
        same.scores, explained("deeplift:rule=gradient", model, batch).scores, equal_nan=True
    )
    sure = explained("deep_shap:baseline=pad", model, batch).scores
    torch.testing.assert_close(sure, explained("deeplift", model, batch).scores, equal_nan=True)


def test_deep_shap_by_derivatives_is_their_mean_over_drawn_texts() -> None:
    """Which is another number than the mean of what the rescale rule says."""
    model, batch = model_of("single", "bilstm"), some_batch("single")
    train = some_split(20)
    known = Known(seed=3, train=train)
    found = explained("deep_shap:rule=gradient:references=2:target=1", model, batch, known)
    assert torch.equal(found.scores.isnan(), ~batch.maskable)
    other = explained("deep_shap:references=2:target=1", model, batch, known)
    assert not torch.allclose(found.scores.nan_to_num(), other.scores.nan_to_num(), atol=1e-4)
