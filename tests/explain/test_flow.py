from __future__ import annotations

from math import nan

import networkx
import numpy as np
import pytest
from fakes import SOS, batch_of
from forms import explained
from headed import THREE_TOKENS, Headed
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from faithgauge.explain import flow as module
from faithgauge.explain.flow import SCALE, greatest_flows


def some_steps(layers: int, tokens: int, *, seed: int = 0, sharpness: float = 2.0) -> NDArray[np.float64]:
    """Rows like those of attention beside a residual connection; the sharper, the more is on few tokens."""
    drawn = np.exp(sharpness * np.random.default_rng(seed).standard_normal((layers, tokens, tokens)))
    return (drawn / drawn.sum(-1, keepdims=True) + np.eye(tokens)) / 2


def by_networkx(steps: NDArray[np.float64]) -> list[float]:
    """The plain way: one graph of all edges, and a greatest flow to each token."""
    layers, tokens, _ = steps.shape
    graph = networkx.DiGraph()
    for layer, step in enumerate(steps[::-1]):
        for start in range(tokens):
            for end in range(tokens):
                ends = layer * tokens + start, (layer + 1) * tokens + end
                graph.add_edge(*ends, capacity=float(step[start, end]))
    return [networkx.maximum_flow_value(graph, 0, layers * tokens + t) for t in range(tokens)]


def test_flow_by_hand() -> None:
    """.25 comes to the second token from each token of the layer above; the third gets what reaches it."""
    found = explained("flow", Headed(THREE_TOKENS), batch_of([[SOS, 4, 5]]))
    assert found.scores[0].tolist() == pytest.approx([nan, 0.75, 0.25], abs=1e-6, nan_ok=True)
    assert found.signed is False


def test_of_one_layer_the_flow_is_its_first_row() -> None:
    steps = some_steps(1, 4)
    assert greatest_flows(steps) == pytest.approx(steps[0, 0], abs=1 / SCALE)


@pytest.mark.parametrize("few", [0, 100], ids=["few edges and a cut", "all edges"])
@pytest.mark.parametrize("sharpness", [0.5, 3.0])
def test_it_is_that_of_networkx(few: int, sharpness: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEW", few)
    for layers, tokens in ((1, 3), (2, 6), (4, 9)):
        steps = some_steps(layers, tokens, sharpness=sharpness)
        # Each edge of a cut is rounded by at most half a part.
        tolerance = layers * tokens**2 / 2 / SCALE
        assert greatest_flows(steps) == pytest.approx(by_networkx(steps), abs=tolerance)


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(2, 12), st.floats(0, 6))
def test_few_edges_with_a_cut_give_the_flow_of_all_edges(
    seed: int, layers: int, tokens: int, sharpness: float
) -> None:
    steps = some_steps(layers, tokens, seed=seed, sharpness=sharpness)
    every = greatest_flows(steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW", 0)
        assert greatest_flows(steps).tolist() == every.tolist()


def test_long_texts_have_the_flow_of_all_edges() -> None:
    """Long enough that few edges are tried first, and sharp enough that some must be added."""
    steps = some_steps(5, 70, sharpness=3.0)
    found = greatest_flows(steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW", 100)
        assert found.tolist() == greatest_flows(steps).tolist()


def test_flow_is_never_less_than_rollout_nor_more_than_one() -> None:
    steps = some_steps(4, 8)
    row = steps[3, 0] @ steps[2] @ steps[1] @ steps[0]
    flows = greatest_flows(steps)
    assert (flows >= row - 1e-5).all()
    assert (flows <= 1 + 1e-5).all()
