from __future__ import annotations

from math import nan

import pytest
import torch
from fakes import SOS, batch_of, noise
from forms import explained
from headed import THREE_TOKENS, Headed

from faithgauge.models.rolled import first_row, mean_of_heads, with_residual


def test_rollout_by_hand() -> None:
    """Â₂ has first row (.5, .25, .25) and Â₁ the rows (.75, .25, 0), (0, 1, 0), (0, .25, .75)."""
    found = explained("rollout", Headed(THREE_TOKENS), batch_of([[SOS, 4, 5]]))
    assert found.scores[0].tolist() == pytest.approx([nan, 0.4375, 0.1875], nan_ok=True)
    assert found.signed is False


def test_rollout_is_the_first_row_of_the_product_of_all_layers() -> None:
    steps = noise(2, 4, 5, 5).softmax(-1)
    both = (steps + torch.eye(5)) / 2
    product = both[:, 3] @ both[:, 2] @ both[:, 1] @ both[:, 0]
    torch.testing.assert_close(first_row(with_residual(steps)), product[:, 0])


def test_the_mean_of_the_heads_is_rolled_out() -> None:
    heads = torch.stack([torch.eye(2), torch.ones(2, 2) / 2])[None, None]
    assert mean_of_heads(heads)[0, 0].tolist() == [[0.75, 0.25], [0.25, 0.75]]


def test_rollout_sums_to_one_and_gives_padding_nothing() -> None:
    attentions = noise(1, 3, 2, 4, 4)
    attentions[..., 3] = -torch.inf  # the last token is padding
    rolled = first_row(with_residual(mean_of_heads(attentions.softmax(-1))))
    assert rolled[0, 3] == 0
    assert rolled.sum().item() == pytest.approx(1)


def test_gradient_rollout_by_hand() -> None:
    """For the class speaks (0, 1) of layer 1 and (0, 2) of layer 2, each .5; (0, 1) of layer 2 against it."""
    slopes = torch.zeros(1, 2, 1, 3, 3)
    slopes[0, 0, 0, 0, 1] = slopes[0, 1, 0, 0, 2] = 1
    slopes[0, 1, 0, 0, 1] = -1
    model = Headed(THREE_TOKENS, slopes)
    found = explained("gradient_rollout:of=logit:target=1", model, batch_of([[SOS, 4, 5]]))
    assert found.scores[0].tolist() == pytest.approx([nan, 0.5, 0.5], nan_ok=True)


def test_gradient_rollout_is_the_recursion_from_below() -> None:
    """R ← R + Ā R, beginning with the identity."""
    steps = noise(1, 3, 4, 4).clamp(min=0)
    recursion = torch.eye(4)
    for step in steps[0]:
        recursion = recursion + step @ recursion
    torch.testing.assert_close(first_row(steps + torch.eye(4))[0], recursion[0])
