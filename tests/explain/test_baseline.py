from __future__ import annotations

from typing import Any

import pytest
import torch
from bags import BagOfVectors
from fakes import EOS, SOS, batch_of, classifier

from faithgauge.errors import UnsupportedError
from faithgauge.explain.baseline import baseline, filler
from faithgauge.models.question import Known, Question

BATCH = batch_of([[SOS, 4, 5, EOS], [6]])
QUESTION = Question(torch.tensor([0, 0]), known=Known(pad=0, mask=1))


@pytest.mark.parametrize("model", [classifier(), BagOfVectors()], ids=["ours", "another"])
@pytest.mark.parametrize(("kind", "word"), [("pad", 0), ("mask", 1), ("zero", None)])
def test_maskable_tokens_are_replaced_and_special_ones_stay(model: Any, kind: Any, word: int | None) -> None:
    found = baseline(model, BATCH, QUESTION, kind=kind)
    vectors = model.embed(BATCH).detach()
    other = torch.zeros(5) if word is None else model.embedding.weight[word].detach()
    assert torch.equal(found[~BATCH.maskable], vectors[~BATCH.maskable])
    assert torch.equal(found[BATCH.maskable], other.expand(3, 5))
    assert found.requires_grad is False


def test_the_id_of_a_missing_token_is_that_of_padding_or_of_the_mask() -> None:
    assert (filler(QUESTION, "pad"), filler(QUESTION, "mask")) == (0, 1)


def test_a_tokenizer_without_a_mask_has_no_such_baseline() -> None:
    with pytest.raises(UnsupportedError) as raised:
        filler(Question(torch.tensor([0])), "mask")
    assert str(raised.value) == "the tokenizer has no mask token; choose baseline=pad"
