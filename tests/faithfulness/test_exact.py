"""The exact adversary: by hand, against every point of a fine grid, and at the edges of its conditions."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from fakes import ragged
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference import jain_wallace_sst
from scipy.special import expit, softmax

from faithgauge.errors import ConfigError
from faithgauge.faithfulness import exact as module
from faithgauge.faithfulness.divergence import jsd
from faithgauge.faithfulness.exact import Furthest, exact_adversary
from faithgauge.models.readout import readout
from faithgauge.types import Ragged

Floats = NDArray[np.float64]
LN2 = math.log(2)
UNIFORM_OF_TWO = LN2 + (0.5 * math.log(0.5) - 1.5 * math.log(1.5)) / 2
"""JSD of (1, 0) and (½, ½)."""


def furthest(attention: list[float], values: list[float], epsilon: float, **more: str) -> Furthest:
    one = ragged([attention], np.float64), ragged([values], np.float64)
    return exact_adversary(*one, epsilon=epsilon, **more)  # type: ignore[arg-type]


def apart(first: Floats, second: Floats) -> Floats:
    return jsd(torch.from_numpy(first), torch.from_numpy(second)).numpy()


def grid(tokens: int, steps: int) -> Floats:
    """Every distribution on so many tokens whose weights are multiples of 1/steps."""
    axes = np.meshgrid(*[np.arange(steps + 1)] * (tokens - 1), indexing="ij")
    counts = np.stack([axis.ravel() for axis in axes], -1)
    counts = counts[counts.sum(1) <= steps]
    return np.concatenate([counts, steps - counts.sum(1, keepdims=True)], 1) / steps


def test_where_tokens_say_the_same_all_weight_goes_to_the_one_that_has_least() -> None:
    """JSD((0, 1, 0), (½, ⅛, ⅜)) = ln 2 + ½ (⅛ ln ⅛ − 9⁄8 ln 9⁄8)."""
    found = furthest([0.5, 0.125, 0.375], [3, 3, 3], 0.01)
    assert found.jsd[0] == pytest.approx(LN2 + (0.125 * math.log(0.125) - 1.125 * math.log(1.125)) / 2)
    own = ragged([[0.5, 0.125, 0.375]], np.float64)
    assert found.attention(own).values.tolist() == [0, 1, 0]
    assert not found.alone[0]


def test_two_tokens_are_mixed_where_the_slab_ends() -> None:
    """z = 2w from ½ to logit(2σ(1) − σ(½)) is allowed with ε = σ(1) − σ(½); that end is further from ½."""
    epsilon = float(expit(1) - expit(0.5))
    top = float(expit(1) + epsilon)
    weight = math.log(top / (1 - top)) / 2
    found = furthest([0.5, 0.5], [0, 2], epsilon)
    assert found.weight[0] == pytest.approx(weight)
    assert found.jsd[0] == pytest.approx(float(apart(np.array([1 - weight, weight]), np.array([0.5, 0.5]))))
    mixed = found.attention(ragged([[0.5, 0.5]], np.float64)).values
    assert mixed.tolist() == pytest.approx([1 - weight, weight])


def test_beyond_zero_and_one_there_is_no_boundary() -> None:
    """p̂ = σ(60) and ε = 0.01: whatever lies above logit 0.99 = 4.6 is allowed, however far."""
    found = furthest([1, 0, 0], [60, 40, -60], 0.01)
    assert found.jsd[0] == pytest.approx(LN2)
    assert furthest([0.5, 0.5], [60, -60], 1).jsd[0] == pytest.approx(UNIFORM_OF_TWO)


def test_an_epsilon_of_zero_leaves_the_output_as_it_is() -> None:
    """Of values 0 and 1 no other mixture gives it; of 0, 1, 2 (½, 0, ½) is as good as (0, 1, 0)."""
    alone = furthest([0.3, 0.7], [0, 1], 0)
    assert alone.jsd[0] == pytest.approx(0, abs=1e-9)
    assert alone.alone[0]
    own = ragged([[0.3, 0.7]], np.float64)
    assert alone.attention(own).values.tolist() == [0.3, 0.7]
    found = furthest([0, 1, 0], [0, 1, 2], 0)
    assert found.jsd[0] == pytest.approx(LN2)
    np.testing.assert_allclose(
        found.attention(ragged([[0, 1, 0]], np.float64)).values, [0.5, 0, 0.5], atol=1e-6
    )
    assert furthest([0.5, 0.5], [80, 80], 0).jsd[0] == pytest.approx(UNIFORM_OF_TWO)


def test_one_token_has_no_other_attention_and_no_token_has_no_number() -> None:
    found = exact_adversary(
        ragged([[1.0], [], [0.5, 0.5]], np.float64), ragged([[2.0], [], [1.0, 1.0]], np.float64), epsilon=0.1
    )
    assert found.alone.tolist() == [True, False, False]
    np.testing.assert_allclose(found.jsd, [0, np.nan, UNIFORM_OF_TWO], atol=1e-12)
    assert found.attention(ragged([[1.0], [], [0.5, 0.5]], np.float64)).values.tolist() == [1, 1, 0]


def test_half_the_distance_is_allowed_twice_the_change() -> None:
    whole, half = (
        furthest([0.2, 0.5, 0.3], [0, 1, -2], e, distance=d) for e, d in ((0.06, "tvd"), (0.03, "half_tvd"))
    )
    assert whole.jsd[0] == half.jsd[0]


@pytest.mark.parametrize("epsilon", [-0.01, float("nan")])
def test_an_epsilon_below_zero_is_refused(epsilon: float) -> None:
    with pytest.raises(ConfigError, match="expected an epsilon of 0 or more, found"):
        furthest([1.0], [0.0], epsilon)


weights = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(
    lambda cut: [min(cut), abs(cut[0] - cut[1]), 1 - max(cut)]
)
logits = st.lists(st.floats(-6, 6), min_size=3, max_size=3)
GRID = grid(3, 60)


@given(weights, logits, st.sampled_from([0.0, 0.001, 0.05, 0.3]))
def test_no_point_of_a_grid_is_further_and_the_point_that_is_named_is_allowed(
    drawn: list[float], values: list[float], epsilon: float
) -> None:
    """The two together are the claim: it is reached, and nothing is beyond it."""
    own = np.array(drawn)
    found = furthest(own.tolist(), values, epsilon)
    output = expit(own @ values)
    allowed = GRID[np.abs(expit(GRID @ values) - output) <= epsilon]
    assert apart(allowed, own[None]).max(initial=0) <= found.jsd[0] + 1e-9
    reached = found.attention(ragged([own.tolist()], np.float64)).values[None].astype(np.float64)
    assert abs(expit(reached @ values) - output) <= epsilon + 1e-6
    assert float(apart(reached, own[None])[0]) == pytest.approx(found.jsd[0], abs=1e-7)
    assert reached.min() >= 0
    assert reached.sum() == pytest.approx(1)


@given(weights, logits)
def test_more_change_allows_no_less(drawn: list[float], values: list[float]) -> None:
    reached = [furthest(drawn, values, epsilon).jsd[0] for epsilon in (0, 0.01, 0.1, 1)]
    assert all(a <= b + 1e-9 for a, b in pairwise(reached))


def test_four_tokens_too() -> None:
    points, random = grid(4, 24), np.random.default_rng(0)
    for _ in range(20):
        own, values = random.dirichlet([0.7] * 4), random.normal(size=4) * 2
        best = furthest(own.tolist(), values.tolist(), 0.05).jsd[0]
        allowed = points[np.abs(expit(points @ values) - expit(own @ values)) <= 0.05]
        assert apart(allowed, own[None]).max(initial=0) <= best + 1e-9


def test_a_softmax_of_two_says_what_a_sigmoid_says() -> None:
    own, values = [0.2, 0.5, 0.3], np.array([0.5, 1, -2])
    two = Ragged(np.stack([-values / 3, values * 2 / 3], -1), np.array([0, 3]))
    found = exact_adversary(ragged([own], np.float64), two, epsilon=0.05)
    assert found.certain
    assert found.jsd[0] == pytest.approx(furthest(own, values.tolist(), 0.05).jsd[0])


def test_of_three_classes_nothing_that_is_allowed_is_beyond_the_bound() -> None:
    random = np.random.default_rng(1)
    tight = 0
    for _ in range(30):
        own, values = random.dirichlet([1] * 3), random.normal(size=(3, 3)) * 2
        found = exact_adversary(
            ragged([own.tolist()], np.float64), Ragged(values, np.array([0, 3])), epsilon=0.1
        )
        assert not found.certain
        change = np.abs(softmax(GRID @ values, 1) - softmax(own @ values)).sum(1) / 2
        reached = apart(GRID[change <= 0.1], own[None]).max(initial=0)
        assert reached <= found.jsd[0] + 1e-9
        tight += found.jsd[0] < LN2 / 2
    assert tight > 0  # it bounds something


def test_a_class_that_never_occurs_leaves_the_bound_of_the_other_two() -> None:
    own, values = [0.2, 0.5, 0.3], np.array([0.5, 1, -2])
    three = np.stack([np.zeros(3), values, np.full(3, -40.0)], -1)
    found = exact_adversary(ragged([own], np.float64), Ragged(three, np.array([0, 3])), epsilon=0.05)
    assert found.jsd[0] == pytest.approx(furthest(own, values.tolist(), 0.05).jsd[0], abs=1e-6)


def test_texts_are_independent_and_so_is_how_many_pairs_are_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = np.random.default_rng(2)
    lengths = [1, 7, 3, 12, 2, 5]
    own, values = (
        [random.dirichlet([1] * n).tolist() for n in lengths],
        [random.normal(size=n).tolist() for n in lengths],
    )
    together = exact_adversary(ragged(own, np.float64), ragged(values, np.float64), epsilon=0.02)
    monkeypatch.setattr(module, "AT_ONCE", 1)
    for text, (a, v) in enumerate(zip(own, values, strict=True)):
        single = furthest(a, v, 0.02)
        assert single.jsd[0] == pytest.approx(together.jsd[text], abs=1e-12)
        assert (single.first[0], single.second[0]) == (together.first[text], together.second[text])


def test_it_is_never_below_the_search_of_the_papers_code() -> None:
    """Of 100 texts, ε = 0.01: .636 on average against .520."""
    model, batch, theirs = jain_wallace_sst()
    one = readout(model, batch)
    assert one.values is not None
    maskable = batch.maskable.numpy()
    offsets = np.concatenate([[0], maskable.sum(1).cumsum()])
    own = Ragged(one.attention.numpy()[maskable], offsets)
    found = exact_adversary(own, Ragged(one.values.numpy()[maskable], offsets), epsilon=0.01)
    assert (found.jsd >= theirs["adv_epsmax_jsd_001"]).all()
    assert found.jsd.mean() == pytest.approx(0.636, abs=0.0005)
    assert theirs["adv_epsmax_jsd_001"].mean() == pytest.approx(0.520, abs=0.0005)
    weights = torch.zeros_like(one.attention)
    weights[batch.maskable] = torch.from_numpy(found.attention(own).values).float()
    change = one.likely(weights[:, None])[:, 0, 1] - torch.from_numpy(theirs["pred_prob"])
    assert float(change.abs().max()) <= 0.01 + 1e-5
