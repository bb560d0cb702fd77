from __future__ import annotations

import math

import pytest
import torch
from fakes import EOS, SOS, batch_of, classifier

from faithgauge.errors import UnsupportedError
from faithgauge.explain.asked import asked
from faithgauge.explain.split import explain_batch
from faithgauge.models.question import Known

BATCH = batch_of([[SOS, 4, 5, 6, EOS], [SOS, 7, EOS]])
EVIDENCE = torch.tensor([[False, True, False, True, False], [False] * 5])


@pytest.mark.parametrize(
    ("name", "first", "second"), [("oracle", [1.0, 0.0, 1.0], 0.0), ("reversed", [0.0, 1.0, 0.0], 1.0)]
)
def test_the_known_answer_and_its_opposite_by_hand(name: str, first: list[float], second: float) -> None:
    found = explain_batch(classifier(), BATCH, asked(name), known=Known(), evidence=EVIDENCE)
    expected = [[math.nan, *first, math.nan], [math.nan, second, *[math.nan] * 3]]
    torch.testing.assert_close(found.scores, torch.tensor(expected), equal_nan=True)
    assert found.signed is False


@pytest.mark.parametrize("name", ["oracle", "reversed"])
def test_where_no_evidence_is_known_there_is_no_oracle(name: str) -> None:
    with pytest.raises(UnsupportedError, match="the evidence of these texts is not known"):
        explain_batch(classifier(), BATCH, asked(name), known=Known())
