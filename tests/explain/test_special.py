"""Special tokens with scores of their own, as neely-2022 has them for DistilBERT."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import pytest
import tiny
import torch
from fakes import SOS, batch_of, classifier
from forms import explained
from headed import THREE_TOKENS, Headed

from faithgauge.errors import UnsupportedError
from faithgauge.explain.asked import asked
from faithgauge.explain.split import refuse_what_lacks
from faithgauge.models.question import Known
from faithgauge.models.transformer import Transformer
from faithgauge.types import Batch


def two_texts() -> Batch:
    batch = batch_of([[2, 5, 6, 7, 3], [2, 8, 3]])
    return replace(batch, maskable=batch.valid & (batch.ids > tiny.MASK))


def test_what_rollout_gives_special_tokens_is_shown_where_it_is_asked_for() -> None:
    model, batch = Headed(THREE_TOKENS), batch_of([[SOS, 4, 5]])
    assert explained("rollout", model, batch).scores[0].tolist() == pytest.approx(
        [nan, 0.4375, 0.1875], nan_ok=True
    )
    assert explained("rollout:special=true", model, batch).scores[0].tolist() == pytest.approx(
        [0.375, 0.4375, 0.1875]
    )


@pytest.mark.parametrize("text", ["lime:samples=20", "integrated_gradient", "input_x_gradient", "occlusion"])
def test_all_real_tokens_have_scores_and_padding_has_none(text: str) -> None:
    model, batch = Transformer(tiny.network("distilbert")), two_texts()
    found = explained(f"{text}:special=true", model, batch).scores
    assert torch.equal(found.isnan(), ~batch.valid)


def test_the_baseline_then_has_no_special_tokens_either() -> None:
    """So that the scores of all tokens sum to the difference from a text of padding alone."""
    model, batch = Transformer(tiny.network("distilbert", initializer_range=0.1)), two_texts()
    found = explained("integrated_gradient:special=true:target=1:steps=100", model, batch)
    empty = replace(batch, ids=torch.zeros_like(batch.ids))
    with torch.no_grad():
        difference = model(batch).logits.softmax(-1)[:, 1] - model(empty).logits.softmax(-1)[:, 1]
    torch.testing.assert_close(found.scores.nansum(-1), difference, rtol=0, atol=1e-4)


def test_it_is_written_in_the_name_and_is_off_by_default() -> None:
    assert asked("rollout").special is False
    assert asked("rollout:special=true").text == "rollout:special=True"
    assert asked("rollout:special=True") == asked("rollout:special=true")


def test_a_model_that_never_attends_to_special_tokens_is_refused() -> None:
    with pytest.raises(UnsupportedError) as raised:
        refuse_what_lacks(classifier(), asked("gradient:special=true"), known=Known())
    assert str(raised.value) == (
        "gradient:special=True: expected a transformer, which attends to special tokens like all others, "
        "found a model that never attends to them; leave special out"
    )
