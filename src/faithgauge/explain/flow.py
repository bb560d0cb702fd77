"""Attention flow: how much can be carried from the last layer's first token down to each token of the text.

Layers are pipes whose capacities are the attention; the greatest flow through all of them at once is a
token's score. Capacities are whole numbers, so that a flow and a cut that are equal prove each other: the
flow is computed on few edges, the cut that stops it is measured on all, and edges are added until both are
the same.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, maximum_flow
from torch import nn

from faithgauge.explain.heads import seen
from faithgauge.models.question import Question
from faithgauge.models.rolled import READ, mean_of_heads, with_residual
from faithgauge.types import Batch, Importance

SCALE = 2**24
"""Into how many parts a capacity of 1 is divided."""
FEW = 64
"""Of how many tokens on it is worth while to compute the flow on few edges, and prove it on all."""

Capacities = NDArray[np.float64]
"""(layer, token, token), the layer that the flow enters first in front; whole numbers, with exact sums."""


def flow(model: nn.Module, batch: Batch, question: Question) -> Importance:  # noqa: ARG001
    """The greatest flow from the last layer's first token to each token of the text, each on its own.

    score_t = maxflow(first token of layer L → token t of layer 0), capacity (l, i → l−1, j) = Â_lij

    Â_l is the attention of layer l as in `rollout`. Capacities are rounded to 1/2²⁴, and the greatest flow
    through these is exact: it is equal to the capacity of a cut.

    Paper: abnar2020, section 3 (attention flow); neely-2022, appendix B.
    Differs: neely-2022 divide by the sum over tokens, which changes no rank.
    Range: [0, 1].
    Cost: one forward pass, and a greatest flow per token: about as long as a forward pass for 25 tokens.
    """
    steps = with_residual(mean_of_heads(seen(model, batch))).double().cpu().numpy()
    scores = torch.full(batch.ids.shape, torch.nan)
    for text, own in enumerate(batch.valid.cpu().numpy()):
        found = np.full(own.shape, np.nan)
        found[own] = greatest_flows(steps[text][:, own][:, :, own])
        scores[text] = torch.from_numpy(found)
    scores = scores.to(batch.ids.device).masked_fill(~batch.maskable, torch.nan)
    return Importance(scores, signed=False)


def greatest_flows(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The greatest flow to each token, through capacities (layer, token, token), the first layer in front."""
    capacities = np.rint(steps[::-1] * SCALE)
    targets = range(steps.shape[1])
    if len(targets) < FEW:
        every = capacities > 0
        every[0, READ + 1 :] = False
        pipes, bottom = _pipes(capacities, every), len(capacities) * len(targets)
        return np.array([maximum_flow(pipes, READ, bottom + t).flow_value for t in targets]) / SCALE
    there = _first_edges(capacities)
    return np.array([_flow_to(target, capacities, there) for target in targets]) / SCALE


def _first_edges(capacities: Capacities) -> NDArray[np.bool_]:
    """Those that lead on in place, and all of the token that the flow comes from."""
    there = np.zeros(capacities.shape, bool)
    there[1:-1] = np.eye(capacities.shape[1], dtype=bool)
    there[:-1, READ] = True
    return there


def _flow_to(target: int, capacities: Capacities, there: NDArray[np.bool_]) -> int:
    """The greatest flow to one token; edges that it was found to need are kept in `there` for the next."""
    while True:
        value, before = _through(target, capacities, there)
        if value == _capacity_of_cut(before, target, capacities):
            return value
        _add_edges(before, target, capacities, there=there)


def _through(target: int, capacities: Capacities, there: NDArray[np.bool_]) -> tuple[int, NDArray[np.bool_]]:
    """The greatest flow through the edges that are there, and before which tokens (layer, token) it stops.

    More could flow to them, and not to the others: the edges between are a cut, and as great as the flow.
    """
    layers, tokens, _ = capacities.shape
    own = there.copy()
    own[-1] = False
    own[min(layers - 1, 1) :, :, target] = True
    pipes = _pipes(capacities, own)
    found = maximum_flow(pipes, READ, layers * tokens + target)
    left = pipes - found.flow
    left.eliminate_zeros()
    before = np.zeros((layers + 1) * tokens, bool)
    before[breadth_first_order(left, READ, return_predecessors=False)] = True
    return int(found.flow_value), before.reshape(layers + 1, tokens)


def _pipes(capacities: Capacities, there: NDArray[np.bool_]) -> csr_matrix:
    """The edges that are there, from each token of a layer to those of the next one."""
    layers, tokens, _ = capacities.shape
    layer, start, end = np.unravel_index(np.flatnonzero(there), there.shape)
    pointers = np.searchsorted(layer * tokens + start, np.arange((layers + 1) * tokens + 1))
    widths = capacities[layer, start, end].astype(np.int32)
    return csr_matrix((widths, (layer + 1) * tokens + end, pointers), ((layers + 1) * tokens,) * 2)


def _capacity_of_cut(before: NDArray[np.bool_], target: int, capacities: Capacities) -> int:
    """What all edges together can carry from the tokens on the one side of the cut to those on the other."""
    ends = _ends(before, target)
    sums = (before[layer] @ edges @ ends[layer] for layer, edges in enumerate(capacities))
    return int(sum(int(one) for one in sums))


def _ends(before: NDArray[np.bool_], target: int) -> NDArray[np.bool_]:
    """The tokens behind the cut at the lower end of each layer; at the bottom only the target counts."""
    ends = ~before[1:]
    ends[-1] = np.arange(ends.shape[1]) == target
    return ends


def _add_edges(
    before: NDArray[np.bool_], target: int, capacities: Capacities, *, there: NDArray[np.bool_]
) -> None:
    """Let take part, of each token on either side of the cut, the widest edge across it that did not yet."""
    ends = _ends(before, target)
    for layer in range(1, len(capacities) - 1):
        rows, columns = np.flatnonzero(before[layer]), np.flatnonzero(ends[layer])
        if len(rows) and len(columns):
            place = np.ix_(rows, columns)
            width = np.where(there[layer][place], 0, capacities[layer][place])
            down, across = width.argmax(1), width.argmax(0)
            wide = width[np.arange(len(rows)), down] > 0
            there[layer, rows[wide], columns[down[wide]]] = True
            wide = width[across, np.arange(len(columns))] > 0
            there[layer, rows[across[wide]], columns[wide]] = True
