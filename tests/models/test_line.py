from __future__ import annotations

from typing import Any

import pytest
import torch
from fakes import noise

from faithgauge.models.embedding import Rows
from faithgauge.models.encoders import BiLSTM
from faithgauge.models.line import Line

LENGTHS = torch.tensor([5, 2, 4])


def some_line(encoder: BiLSTM, dtype: torch.dtype = torch.float32) -> Line:
    """Lines for three texts, the width of whose gates is 32, with four points each."""
    start, change = (noise(3, 5, 32, seed=seed).to(dtype) for seed in (1, 2))
    shares = torch.tensor([[0.0, 0.1, 0.2], [0.5, 0.6, 0.7], [0.3, 0.3, 0.3], [1.0, 1.0, 1.0]], dtype=dtype)
    return Line(start, change, shares)


def test_the_points_of_a_share_stand_together() -> None:
    start, change = torch.tensor([[[1.0]], [[2.0]]]), torch.tensor([[[10.0]], [[20.0]]])
    points = Line(start, change, torch.tensor([[0.0, 0.5], [1.0, 1.0]])).points()
    assert points.flatten().tolist() == [1, 12, 11, 22]


def states(encoder: BiLSTM, line: Line, fused: bool) -> torch.Tensor:
    """The states at real tokens, the rest as zeros."""
    lengths = LENGTHS.repeat(len(line.shares))
    found: Any = encoder.along(line, lengths) if fused else encoder.forward_entered(line.rows(), lengths)[0]
    return found * (torch.arange(5) < lengths[:, None])[..., None]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_memory_along_a_line_is_that_of_its_points(dtype: torch.dtype) -> None:
    """4 units in both directions: what torch's packed sequences give, and its gradient summed over points."""
    torch.manual_seed(0)
    encoder = BiLSTM(3, 4).to(dtype)
    weigh = noise(12, 5, 8, seed=4).to(dtype)
    found = []
    for fused in (True, False):
        line = some_line(encoder, dtype)
        line = line._replace(start=line.start.requires_grad_())
        out = states(encoder, line, fused)
        found.append((out.detach(), torch.autograd.grad((out * weigh).sum(), line.start)[0]))
    tolerance = 1e-6 if dtype == torch.float32 else 1e-12
    torch.testing.assert_close(found[0][0], found[1][0], rtol=0, atol=tolerance)
    torch.testing.assert_close(found[0][1], found[1][1], rtol=0, atol=10 * tolerance)


def test_room_that_is_used_again_changes_nothing() -> None:
    encoder = BiLSTM(3, 4)
    room: dict[str, torch.Tensor] = {}
    expected = states(encoder, some_line(encoder), fused=True).detach()
    for _ in range(2):
        line = some_line(encoder)._replace(room=room)
        longer = Line(noise(3, 5, 32), noise(3, 5, 32), torch.zeros(6, 3), room)
        states(encoder, longer, fused=True)
        assert torch.equal(states(encoder, line, fused=True).detach(), expected)
    assert room["gates"].numel() == 5 * 18 * 32


def test_no_weight_gets_a_gradient() -> None:
    encoder = BiLSTM(3, 4)
    line = some_line(encoder)
    states(encoder, line._replace(start=line.start.requires_grad_()), fused=True).sum().backward()
    assert encoder.rnn.weight_hh_l0.grad is None


def test_lines_of_rows_are_their_points_one_by_one() -> None:
    line = some_line(BiLSTM(3, 4))
    rows = line.rows()
    assert isinstance(rows, Rows)
    assert torch.equal(rows.spread(), line.points())
