from __future__ import annotations

from math import isnan, log, nan

import numpy as np
import pytest
import torch
from fakes import EOS, SOS, encode, ragged
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.faithfulness.attefa import (
    Distances,
    attefa,
    attefa_adjusted,
    attefa_cap,
    best_constant,
    constant,
    furthest,
    one_shot_loss,
)
from faithgauge.faithfulness.divergence import jsd
from faithgauge.train.objectives import one_shot
from faithgauge.types import Said

LN2 = log(2)


def test_it_is_the_share_of_the_output_over_the_share_of_the_attention() -> None:
    """attefa, eq. 7: (.1 / .5) / (ln 2 · ½ / ln 2)."""
    assert attefa(0.1, LN2 / 2, classes=2) == pytest.approx(0.4)
    assert attefa(0.1, LN2 / 2, classes=3) == pytest.approx(0.2)


def test_the_papers_own_numbers() -> None:
    """Table 4, mock-1 with the MLP and seed 10: TVD .222, JSD .393, AtteFa .784."""
    assert attefa(0.222, 0.393, classes=2) == pytest.approx(0.784, abs=0.002)


def test_it_is_at_most_one() -> None:
    assert attefa(0.5, 0.1, classes=2) == 1.0
    assert attefa(0.1, 0.0, classes=2) == 1.0


def test_an_adversary_that_moved_nothing_has_no_number() -> None:
    assert isnan(attefa(0.0, 0.0, classes=2))
    assert isnan(attefa(nan, nan, classes=2))


def test_the_loss_is_one_share_less_the_other() -> None:
    """attefa, eqs. 4 to 6: .1/.5 − .2/ln 2; its ends are −1 and 1."""
    assert one_shot_loss(0.1, 0.2, classes=2) == pytest.approx(0.2 - 0.2 / LN2)
    assert (one_shot_loss(0, LN2, classes=2), one_shot_loss(0.5, 0, classes=2)) == (-1, 1)


def test_the_loss_of_a_batch_is_that_of_each_text() -> None:
    found = one_shot(torch.tensor([0.1, 0.5]), torch.tensor([0.2, 0.0]), classes=2)
    assert found.tolist() == pytest.approx([0.2 - 0.2 / LN2, 1.0])


def sure(attention: list[list[float]]) -> Said:
    """A base that is sure of itself and says both classes equally often."""
    p = np.array([[1.0, 0.0], [0.0, 1.0]] * (len(attention) // 2), np.float32)
    return Said(p, ragged(attention, np.float32))


def test_the_cap_of_a_sure_and_balanced_base_is_one_half() -> None:
    """The constant ½ moves each output by ¼, half of the most; all attention goes where there was none."""
    base = sure([[0, 1, 0, 0], [0, 0, 1, 0]])
    best = constant(base, encode([[SOS, 4, 5, EOS]] * 2))
    assert (best.tvd, best.jsd) == pytest.approx((0.25, LN2))
    assert attefa_cap(best, classes=2) == pytest.approx(0.5)


def test_the_cap_grows_where_attention_cannot_go_far() -> None:
    """The least weight is .1: the furthest is ln 2 + ½ (.1 ln .1 − 1.1 ln 1.1); of two of ½ the cap is 1."""
    far = LN2 + (0.1 * log(0.1) - 1.1 * log(1.1)) / 2
    best = constant(sure([[0, 0.1, 0.9, 0]] * 2), encode([[SOS, 4, 5, EOS]] * 2))
    assert best.jsd == pytest.approx(far)
    assert attefa_cap(best, classes=2) == pytest.approx(0.5 / (far / LN2))
    even = constant(sure([[0, 0.5, 0.5, 0]] * 2), encode([[SOS, 4, 5, EOS]] * 2))
    assert even.jsd == pytest.approx(LN2 + (0.5 * log(0.5) - 1.5 * log(1.5)) / 2)
    assert attefa_cap(even, classes=2) == 1.0


def test_texts_of_one_token_take_no_part_in_the_cap() -> None:
    base = sure([[0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0], [0, 1, 0]])
    words = [[SOS, 4, 5, EOS]] * 2 + [[SOS, 4, EOS]] * 2
    best = constant(base, encode(words))
    assert (best.tvd, best.jsd) == pytest.approx((0.25, LN2))


def test_without_a_text_of_two_tokens_there_is_no_cap() -> None:
    best = constant(sure([[0, 1, 0]] * 2), encode([[SOS, 4, EOS]] * 2))
    assert isnan(attefa_cap(best, classes=2))


@pytest.mark.parametrize(
    ("best", "expected"),
    [(Distances(0.25, LN2), 0.5), (Distances(0.3, 0.6 * LN2), nan), (Distances(0.0, LN2), nan)],
)
def test_adjusted_is_a_share_of_the_cap_where_there_is_one(best: Distances, expected: float) -> None:
    """AtteFa .25 of cap ½; nothing where the constant moves as far as its attention, or not at all."""
    found = attefa_adjusted(0.25, best, classes=2)
    assert found == pytest.approx(expected, nan_ok=True)


@given(st.floats(0, 1), st.floats(0.01, 1), st.floats(0, 1), st.floats(0, 1))
def test_an_adversary_with_a_loss_no_worse_is_not_above_the_cap(
    a_c: float, j_max: float, a: float, share: float
) -> None:
    """a − j ≤ a_c − j_max and j ≤ j_max give a / j ≤ a_c / j_max, wherever a_c ≤ j_max."""
    if a_c > j_max:
        return
    j = share * j_max
    best = Distances(a_c / 2, j_max * LN2)
    value = attefa(a / 2, j * LN2, classes=2)
    if a - j <= a_c - j_max and not isnan(value):
        assert value <= attefa_cap(best, classes=2) + 1e-9


def mean_tvd(p: np.ndarray, x: np.ndarray) -> float:
    return float(np.abs(p - x).sum(1).mean())


@given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
def test_the_best_constant_of_two_classes_is_as_good_as_any(values: list[float]) -> None:
    p = np.array([[1 - value, value] for value in values])
    best = best_constant(p)
    assert best.sum() == pytest.approx(1)
    others = [mean_tvd(p, np.array([1 - x, x])) for x in np.linspace(0, 1, 101)]
    assert mean_tvd(p, best) <= min(others) + 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_the_best_constant_of_three_classes_is_as_good_as_any(seed: int) -> None:
    p = np.random.default_rng(seed).dirichlet([0.3] * 3, seed + 1)
    steps = np.linspace(0, 1, 41)
    grid = [np.array([x, y, 1 - x - y]) for x in steps for y in steps if x + y <= 1]
    best = best_constant(p)
    assert best.sum() == pytest.approx(1)
    assert (best >= -1e-12).all()
    assert mean_tvd(p, best) <= min(mean_tvd(p, x) for x in grid) + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_further_than_the_furthest(seed: int) -> None:
    """Of three tokens, every distribution in steps of a twentieth, corners included."""
    own = np.random.default_rng(seed).dirichlet([0.5] * 3)
    steps = np.linspace(0, 1, 21)
    grid = torch.tensor([[x, y, 1 - x - y] for x in steps for y in steps if x + y <= 1 + 1e-9])
    every = jsd(grid.clamp(min=0), torch.tensor(own).expand(len(grid), 3))
    (found,) = furthest(ragged([[0, *own, 0]], np.float64), encode([[SOS, 4, 5, 6, EOS]]).spans)
    assert found == pytest.approx(float(every.max()), abs=1e-9)


def test_a_text_of_one_token_or_none_has_nothing_further() -> None:
    spans = encode([[SOS, 4, EOS], [SOS, EOS], [SOS, 4, 5, EOS]]).spans
    found = furthest(ragged([[0, 1, 0], [0, 0], [0, 1, 0, 0]], np.float32), spans)
    assert found == pytest.approx([0, 0, LN2])
