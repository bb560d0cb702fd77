from __future__ import annotations

import pytest
import torch
from fakes import noise
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from faithgauge.models.shared import STEPS, shared_states

WORDS, SIZE = 6, 3


def network() -> nn.LSTM:
    rnn = nn.LSTM(WORDS, SIZE, batch_first=True, bidirectional=True, dtype=torch.float64)
    with torch.no_grad():
        for number, weight in enumerate(rnn.parameters()):
            weight.copy_(noise(*weight.shape, seed=number, dtype=torch.float64))
    return rnn


def states(rnn: nn.LSTM, places: Tensor, lengths: Tensor) -> Tensor:
    ahead = rnn.weight_ih_l0.t() + rnn.bias_ih_l0 + rnn.bias_hh_l0
    behind = rnn.weight_ih_l0_reverse.t() + rnn.bias_ih_l0_reverse + rnn.bias_hh_l0_reverse
    weight = torch.stack([rnn.weight_hh_l0, rnn.weight_hh_l0_reverse])
    with torch.inference_mode():
        return shared_states(weight, torch.stack([ahead, behind], 1), places, lengths=lengths)


def one_by_one(rnn: nn.LSTM, text: Tensor) -> Tensor:
    """(token, 2, hidden): torch's states of one text alone; its words enter as themselves."""
    with torch.inference_mode():
        return rnn(torch.eye(WORDS, dtype=torch.float64)[text][None])[0][0].view(len(text), 2, SIZE)


def assert_equal_to_torch(texts: list[list[int]]) -> None:
    rnn = network()
    lengths = torch.tensor([len(text) for text in texts])
    places = torch.zeros(len(texts), int(lengths.max()), dtype=torch.long)
    for row, text in enumerate(texts):
        places[row, : len(text)] = torch.tensor(text)
    found = states(rnn, places, lengths)
    for row, text in enumerate(texts):
        expected = one_by_one(rnn, torch.tensor(text))
        torch.testing.assert_close(found[row, : len(text)], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("length", [1, STEPS - 1, STEPS, STEPS + 1, 3 * STEPS + 2])
def test_one_text_has_the_states_of_torch(length: int) -> None:
    assert_equal_to_torch([[i * i % WORDS for i in range(length)]])


def test_texts_that_begin_or_end_alike_are_told_apart_where_they_differ() -> None:
    text = [i % WORDS for i in range(20)]
    changed = [[*text[:at], 5 - text[at], *text[at + 1 :]] for at in range(20)]
    assert_equal_to_torch([text, *changed, text])


def test_a_text_and_its_beginning_are_told_apart_by_where_they_end() -> None:
    text = [i % WORDS for i in range(20)]
    assert_equal_to_torch([text, text[:19], text[:3], text[17:]])


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=20), min_size=1, max_size=8))
def test_any_texts_have_the_states_of_torch(texts: list[list[int]]) -> None:
    assert_equal_to_torch(texts)


def test_what_stands_in_the_padding_changes_nothing() -> None:
    places, lengths = torch.tensor([[1, 2, 3, 4], [1, 2, 0, 0]]), torch.tensor([4, 2])
    other = torch.tensor([[1, 2, 3, 4], [1, 2, 5, 3]])
    before, after = (states(network(), some, lengths) for some in (places, other))
    assert torch.equal(before[1, :2], after[1, :2])
