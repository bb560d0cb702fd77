from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from fakes import noise
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from faithgauge.explain.rescale import (
    absolute,
    distribute,
    gelu,
    layer_norm,
    matrix_product,
    product,
    reciprocal_root,
    relu,
    sigmoid,
    tanh,
)
from faithgauge.models.attention import entmax15, softmax, sparsemax

PLAIN: dict[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]] = {
    sigmoid: torch.sigmoid,
    tanh: torch.tanh,
    gelu: nn.functional.gelu,
    relu: torch.relu,
    absolute: torch.abs,
    reciprocal_root: torch.rsqrt,
}
NAMES = {function.__name__: function for function in PLAIN}
EACH = pytest.mark.parametrize("name", NAMES)
DISTRIBUTIONS = {one.__name__: one for one in (softmax, entmax15, sparsemax)}
EACH_DISTRIBUTION = pytest.mark.parametrize("kind", DISTRIBUTIONS)
numbers = st.floats(-8, 8)


def double(values: Any) -> Tensor:
    return torch.as_tensor(values, dtype=torch.float64)


def carried(
    operation: Callable[..., Tensor], *pairs: tuple[Tensor, Tensor], weights: Tensor | None = None
) -> tuple[Tensor, ...]:
    """The multipliers of Σ weights · operation(text …), where each pair is (text, baseline)."""
    stacks = [torch.cat(pair).requires_grad_() for pair in pairs]
    result = operation(*stacks)
    text = result[: len(result) // 2]
    total = (text if weights is None else text * weights).sum()
    found = torch.autograd.grad(total, stacks)
    assert all(not grad[len(grad) // 2 :].any() for grad in found), "nothing is asked of the baselines"
    return tuple(grad[: len(grad) // 2] for grad in found)


@EACH
def test_forward_an_operation_is_what_it_always_is(name: str) -> None:
    x = noise(6, 5, dtype=torch.float64).abs() if name == "reciprocal_root" else noise(6, 5)
    torch.testing.assert_close(NAMES[name](x), PLAIN[NAMES[name]](x))


@EACH
@given(x=numbers, base=numbers)
def test_the_multiplier_is_the_quotient_of_the_differences(name: str, x: float, base: float) -> None:
    if name == "reciprocal_root":
        x, base = abs(x) + 0.01, abs(base) + 0.01
    plain, text, start = PLAIN[NAMES[name]], double([x]), double([base])
    if abs(x - base) < 1e-3:
        return
    expected = (plain(text) - plain(start)) / (text - start)
    torch.testing.assert_close(carried(NAMES[name], (text, start))[0], expected, rtol=1e-7, atol=1e-9)


@EACH
@pytest.mark.parametrize("x", [-3.0, -0.4, 0.7, 2.0])
def test_where_nothing_differs_it_is_the_derivative(name: str, x: float) -> None:
    text = double([abs(x) if name == "reciprocal_root" else x]).requires_grad_()
    (derivative,) = torch.autograd.grad(PLAIN[NAMES[name]](text), text)
    found = carried(NAMES[name], (text.detach(), text.detach()))[0]
    torch.testing.assert_close(found, derivative, rtol=1e-12, atol=0)


@EACH
def test_small_differences_lose_little_to_rounding(name: str) -> None:
    """Single precision against the quotient in double precision, whatever the step."""
    base = torch.linspace(0.1, 3, 30).repeat_interleave(14)
    text = base + 2.0 ** -torch.arange(1, 15).repeat(30)
    exact, plain = (text.double() - base.double()), PLAIN[NAMES[name]]
    expected = (plain(text.double()) - plain(base.double())) / exact
    found = carried(NAMES[name], (text, base))[0].double()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=5e-5)


def test_a_relu_that_is_crossed_by_a_hair_has_its_quotient() -> None:
    assert carried(relu, (double([3e-9]), double([-1e-9])))[0].item() == pytest.approx(0.75)


def test_a_product_is_split_evenly() -> None:
    """3·5 − 1·2 = 13 = ½(5 + 2)·(3 − 1) + ½(3 + 1)·(5 − 2)."""
    a, b = carried(product, (double([3]), double([1])), (double([5]), double([2])))
    assert (a.item(), b.item()) == (3.5, 2.0)


def test_a_square_is_a_product() -> None:
    """3² − 1² = 8 = 4·(3 − 1)."""
    assert carried(lambda x: product(x, x), (double([3]), double([1])))[0].item() == 4.0


def test_a_matrix_product_is_the_sum_of_its_products() -> None:
    a, a0 = noise(2, 3, 4, seed=1), noise(2, 3, 4, seed=2)
    b, b0 = noise(2, 4, 5, seed=3), noise(2, 4, 5, seed=4)
    weights = noise(2, 3, 5, seed=5)

    def one_by_one(left: Tensor, right: Tensor) -> Tensor:
        shape = (len(left), 3, 4, 5)
        return product(left[..., None].expand(shape), right[:, None].expand(shape)).sum(2)

    found = carried(matrix_product, (a, a0), (b, b0), weights=weights)
    expected = carried(one_by_one, (a, a0), (b, b0), weights=weights)
    torch.testing.assert_close(found, expected)


def test_a_layer_norm_is_that_of_torch_and_its_multipliers_sum_to_the_difference() -> None:
    layer = nn.LayerNorm(6).double().requires_grad_(False)
    layer.weight.copy_(noise(6, seed=3))
    layer.bias.copy_(noise(6, seed=4))
    text, base = (noise(2, 3, 6, seed=seed, dtype=torch.float64) * 3 for seed in (1, 2))
    torch.testing.assert_close(layer_norm(torch.cat([text, base]), layer), layer(torch.cat([text, base])))
    weights = noise(2, 3, 6, seed=5, dtype=torch.float64)
    (found,) = carried(lambda x: layer_norm(x, layer), (text, base), weights=weights)
    torch.testing.assert_close(
        (found * (text - base)).sum((1, 2)), (weights * (layer(text) - layer(base))).sum((1, 2))
    )


def test_sparsemax_by_hand() -> None:
    """Of (2, 0) the threshold is 1, of (.2, 0) it is −.4; above it stand (1, −1) and (.6, .4).

    So k = (.4/.4, −.4/−1.4) = (1, 2/7), and the first weight has multiplier 1 − 1/(9/7) = 2/9 on the first
    score and −2/9 on the second: 2/9 · 1.8 = .4, as it grows from .6 to 1.
    """
    found = weigh("sparsemax", [2, 0], [0.2, 0], weights=[1, 0])
    assert found.tolist() == pytest.approx([2 / 9, -2 / 9])


def test_softmax_by_hand() -> None:
    """Of (ln 3, 0) the weights are ¾ and ¼, of (0, 0) both are ½; above the threshold stand their logs."""
    first, second = 0.25 / torch.tensor(1.5).log(), 0.25 / torch.tensor(2.0).log()
    expected = (first * second / (first + second)).item()
    found = weigh("softmax", [torch.tensor(3.0).log(), 0], [0, 0], weights=[1, 0])
    assert found.tolist() == pytest.approx([expected, -expected])
    assert expected * torch.tensor(3.0).log().item() == pytest.approx(0.25)


def test_entmax15_by_hand() -> None:
    """Of (2, 0) the weights are 1 and 0 (the threshold of the first is 2 below it), of (0, 0) they are ½.

    Above the thresholds stand (2, 0) and (√2, √2): k = (½ / (2 − √2), −½ / −√2).
    """
    first, second = 0.5 / (2 - 2**0.5), 0.5 / 2**0.5
    expected = first * second / (first + second)
    found = weigh("entmax15", [2, 0], [0, 0], weights=[1, 0])
    assert found.tolist() == pytest.approx([expected, -expected], abs=1e-6)
    assert expected * 2 == pytest.approx(0.5)


def weigh(kind: str, text: Any, base: Any, *, weights: Any, maskable: Any = None) -> Tensor:
    """The multipliers of Σ_t weights_t α_t for one text."""
    scores, start = double(text)[None], double(base)[None]
    allowed = torch.ones(2, scores.shape[1], dtype=torch.bool)
    if maskable is not None:
        allowed[:] = torch.tensor(maskable)
    return carried(
        lambda x: distribute(x, allowed, DISTRIBUTIONS[kind]), (scores, start), weights=double(weights)
    )[0][0]


@EACH_DISTRIBUTION
@given(
    scores=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6),
    of=st.integers(0, 5),
    shift=numbers,
)
def test_the_multipliers_of_a_distribution_sum_to_the_difference_and_do_not_see_a_common_shift(
    kind: str, scores: list[tuple[float, float]], of: int, shift: float
) -> None:
    text, base = double(scores).T
    place = of % len(scores)
    weights = torch.zeros(len(scores)).index_fill(0, torch.tensor(place), 1)
    found = weigh(kind, text, base, weights=weights)
    every = torch.ones(1, len(scores), dtype=torch.bool)
    change = DISTRIBUTIONS[kind](text[None], every, 1.0) - DISTRIBUTIONS[kind](base[None], every, 1.0)
    assert (found * (text - base)).sum().item() == pytest.approx(change[0, place].item(), abs=1e-6)
    assert found.sum().item() == pytest.approx(0, abs=1e-9)
    shifted = weigh(kind, text + shift, base, weights=weights)
    torch.testing.assert_close(shifted, found, rtol=1e-4, atol=1e-5)


@EACH_DISTRIBUTION
def test_where_scores_do_not_differ_a_distribution_has_its_gradient(kind: str) -> None:
    scores = (noise(1, 5, seed=2, dtype=torch.float64)).requires_grad_()
    every = torch.ones(1, 5, dtype=torch.bool)
    weights = noise(5, seed=3, dtype=torch.float64)
    (expected,) = torch.autograd.grad((DISTRIBUTIONS[kind](scores, every, 1.0) * weights).sum(), scores)
    found = weigh(kind, scores.detach()[0], scores.detach()[0], weights=weights)
    torch.testing.assert_close(found, expected[0], rtol=1e-6, atol=1e-7)


@EACH_DISTRIBUTION
def test_forward_a_distribution_is_that_of_the_model(kind: str) -> None:
    scores = noise(4, 6) * 3
    maskable = torch.tensor([[True] * 5 + [False], [False, True] * 3, [True] + [False] * 5, [False] * 6])
    torch.testing.assert_close(
        distribute(scores, maskable, DISTRIBUTIONS[kind]), DISTRIBUTIONS[kind](scores, maskable, 1.0)
    )


@EACH_DISTRIBUTION
def test_what_is_not_maskable_has_no_part_in_a_distribution(kind: str) -> None:
    weights = [0.3, -1, 2]
    expected = weigh(kind, [1, 0.5, 0], [0, 0.2, 0.1], weights=weights).tolist()
    found = weigh(
        kind,
        [1, 9, 0.5, 0, 9],
        [0, -9, 0.2, 0.1, 9],
        weights=[0.3, 5, -1, 2, 5],
        maskable=[True, False, True, True, False],
    )
    assert found.tolist() == pytest.approx([expected[0], 0, expected[1], expected[2], 0], abs=1e-12)
    assert weigh(kind, [1, 2], [0, 0], weights=[1, 1], maskable=[False, False]).tolist() == [0, 0]


@EACH_DISTRIBUTION
def test_the_multipliers_of_sharp_attention_stay_small(kind: str) -> None:
    """Scores that differ by 80 in single precision: exp, sum and 1/x one by one would reach e⁸⁰."""
    text, base = torch.tensor([[80.0, 0, 1]]), torch.tensor([[0.0, 0.5, 1]])
    every = torch.ones(2, 3, dtype=torch.bool)
    for place in range(3):
        weights = torch.zeros(3).index_fill(0, torch.tensor(place), 1)
        found = carried(lambda x: distribute(x, every, DISTRIBUTIONS[kind]), (text, base), weights=weights)[0]
        assert found.abs().max().item() <= 1
        change = DISTRIBUTIONS[kind](text, every[:1], 1.0) - DISTRIBUTIONS[kind](base, every[:1], 1.0)
        assert (found * (text - base)).sum().item() == pytest.approx(change[0, place].item(), abs=1e-5)
