from __future__ import annotations

from math import log

import numpy as np
import pytest
import torch
from fakes import EOS, SOS, encode, ragged

from faithgauge.errors import UnsupportedError
from faithgauge.faithfulness.compared import (
    attention_apart,
    attention_distance,
    largest_distance,
    max_attention,
    movable,
    output_distance,
    outputs_apart,
)
from faithgauge.types import Said


def said(probability: list[list[float]], attention: list[list[float]] | None = None) -> Said:
    weights = None if attention is None else ragged(attention, np.float32)
    return Said(np.array(probability, np.float32), weights)


def test_of_two_classes_the_distance_is_half_the_change_of_one_output() -> None:
    """attefa, eq. 1, over the one output of a sigmoid: ½ |.9 − .3|."""
    found = outputs_apart(said([[0.1, 0.9]]), said([[0.7, 0.3]]))
    assert found == pytest.approx([0.3])
    assert largest_distance(2) == 0.5


def test_of_more_classes_it_is_the_total_variation_distance() -> None:
    """½ (.5 + .1 + .4)."""
    found = output_distance(torch.tensor([0.6, 0.1, 0.3]), torch.tensor([0.1, 0.2, 0.7]))
    assert float(found) == pytest.approx(0.5)
    assert largest_distance(3) == 1.0


def test_jsd_of_half_overlapping_attention() -> None:
    """Of (1, 0) and (½, ½), m = (¾, ¼): ½ (ln 4/3 + ½ ln 2/3 + ½ ln 2)."""
    expected = (log(4 / 3) + log(2 / 3) / 2 + log(2) / 2) / 2
    found = attention_apart(said([[1, 0]], [[1, 0]]), said([[1, 0]], [[0.5, 0.5]]))
    assert found == pytest.approx([expected])


def test_kl_is_of_the_adversary_from_the_base() -> None:
    """KL((½, ½) ‖ (¼, ¾)) = ½ ln 2 + ½ ln 2/3, and not that of the exchanged ones."""
    found = attention_distance(torch.tensor([0.5, 0.5]), torch.tensor([0.25, 0.75]), "kl")
    assert float(found) == pytest.approx((log(2) + log(2 / 3)) / 2)


def test_kl_is_finite_where_the_base_has_no_weight() -> None:
    found = attention_distance(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]), "kl")
    assert float(found) == pytest.approx(-log(1e-10), rel=1e-6)


def test_the_attention_of_a_pair_counts_half_each() -> None:
    own, other = ragged([[1.0, 0.0]], np.float32), ragged([[0.0, 1.0]], np.float32)
    p = np.array([[0.5, 0.5]], np.float32)
    found = attention_apart(Said(p, own, own), Said(p, own, other))
    assert found == pytest.approx([log(2) / 2])


def test_texts_of_different_lengths_keep_their_places() -> None:
    one = said([[1, 0]] * 3, [[1, 0, 0], [1], [0.5, 0.5]])
    other = said([[1, 0]] * 3, [[0, 1, 0], [1], [0.5, 0.5]])
    assert attention_apart(one, other) == pytest.approx([log(2), 0, 0])


def test_a_model_without_attention_cannot_be_compared() -> None:
    with pytest.raises(UnsupportedError, match="expected two models with attention, found one without"):
        attention_apart(said([[1, 0]]), said([[1, 0]], [[1.0]]))


def test_the_largest_weight_of_each_text_is_nan_where_there_is_no_token() -> None:
    one = said([[1, 0]] * 3, [[0, 0.2, 0.8, 0], [0, 0], [1.0]])
    np.testing.assert_allclose(max_attention(one), [0.8, np.nan, 1.0], rtol=1e-6)


def test_attention_can_move_where_there_are_two_tokens() -> None:
    assert movable(encode([[SOS, 4, EOS], [SOS, 4, 5, EOS], [SOS, EOS], [4, 4]])).tolist() == [0, 1, 0, 1]


def test_attention_can_move_in_the_second_text_of_a_pair() -> None:
    encoded = encode([[SOS, 4, EOS]] * 2, pairs=[[SOS, 4, EOS], [SOS, 4, 5, EOS]])
    assert movable(encoded).tolist() == [False, True]
