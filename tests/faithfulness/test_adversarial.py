"""The search for adversarial attention: its gradient, what it may not exceed, and what it reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from fakes import noise
from forms import FORMS, alone, model_of, some_batch
from readouts import readout_of
from reference import jain_wallace_sst

from faithgauge.config import SearchConfig
from faithgauge.errors import ConfigError
from faithgauge.faithfulness import adversarial as module
from faithgauge.faithfulness.adversarial import (
    JAIN_WALLACE,
    Adversaries,
    adversarial_search,
    epsilon_max_jsd,
)
from faithgauge.faithfulness.divergence import JSD_MAX, jsd, tvd
from faithgauge.faithfulness.exact import exact_adversary
from faithgauge.models.readout import Readout, readout
from faithgauge.types import Ragged

SHORT = SearchConfig(steps=20)


def some_readout(classes: int = 1, texts: int = 3, tokens: int = 5) -> Readout:
    own = noise(texts, tokens, seed=1).softmax(-1).tolist()
    return readout_of(own, (2 * noise(texts, tokens, classes, seed=2)).tolist())


def loss(attention: torch.Tensor, one: Readout, how: SearchConfig) -> torch.Tensor:
    """As the docstring has it."""
    own = one.attention[:, None]
    moved = tvd(one.likely(attention), one.likely(own))
    total = (how.weight * (moved - how.limit).clamp(min=0) - jsd(attention, own)).sum()
    for i in range(attention.shape[1]):
        for j in range(i):
            total = total - how.diversity * jsd(attention[:, i], attention[:, j]).sum()
    return total


@pytest.mark.parametrize("k", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_the_gradient_is_that_of_the_loss(k: int, classes: int) -> None:
    one, how = some_readout(classes), SearchConfig(distributions=k, weight=3.0, diversity=0.3, limit=0.05)
    scores = noise(3, k, 5, seed=4).requires_grad_()
    (expected,) = torch.autograd.grad(loss(scores.softmax(-1), one, how), scores)
    own, first = one.attention[:, None], scores.detach().permute(2, 1, 0)
    for readout_ in (one, replace(one, values=None)):
        penalise = module._penalty(readout_, one.likely(own), how)
        found = module._gradient(first, own.permute(2, 1, 0), penalise, diversity=how.diversity)
        torch.testing.assert_close(found.permute(2, 1, 0), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_a_text_alone_is_attacked_as_beside_others(form: str) -> None:
    model, batch = model_of(form), some_batch(form)
    together = epsilon_max_jsd(adversarial_search(readout(model, batch), SHORT), 0.05)
    for text in range(len(batch)):
        far, weights = epsilon_max_jsd(adversarial_search(readout(model, alone(batch, text)), SHORT), 0.05)
        torch.testing.assert_close(far[0], together[0][text], rtol=1e-4, atol=1e-4)
        width = int(batch.lengths[text])
        torch.testing.assert_close(weights[0], together[1][text, :width], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_reported_is_a_distribution_on_the_tokens_that_leaves_the_output_within_epsilon(
    form: str,
) -> None:
    model, batch = model_of(form), some_batch(form)
    one = readout(model, batch)
    found = adversarial_search(one, SHORT)
    torch.testing.assert_close(found.attention.sum(-1), torch.ones(3, 5))
    assert not found.attention[~batch.maskable[:, None].expand_as(found.attention)].any()
    far, weights = epsilon_max_jsd(found, 0.02)
    with torch.no_grad():
        moved = tvd(one.likely(weights[:, None]), one.likely(one.attention[:, None]))
    assert float(moved.max()) <= 0.02 + 1e-6
    torch.testing.assert_close(jsd(weights, one.attention), far, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("weight", [100.0, 0.0])
def test_it_is_never_beyond_the_exact_adversary(weight: float) -> None:
    one = some_readout(texts=20)
    found = adversarial_search(one, SearchConfig(steps=150, weight=weight))
    assert one.values is not None
    offsets = np.arange(21) * 5
    own = Ragged(one.attention.double().numpy().ravel(), offsets)
    for epsilon in (0.01, 0.2):
        best = exact_adversary(
            own, Ragged(one.values.double().numpy().reshape(100, 1), offsets), epsilon=epsilon
        )
        assert (epsilon_max_jsd(found, epsilon)[0].numpy() <= best.jsd + 1e-5).all()


def test_where_tokens_say_the_same_it_goes_where_the_weight_is_least() -> None:
    """The exact adversary is (0, 0, 1); 500 steps get within a fiftieth of its JSD."""
    one = readout_of([[0.5, 0.4, 0.1]], [[1.0, 1.0, 1.0]])
    best = exact_adversary(
        Ragged(np.array([0.5, 0.4, 0.1]), np.array([0, 3])),
        Ragged(np.ones(3), np.array([0, 3])),
        epsilon=0.01,
    )
    far, weights = epsilon_max_jsd(adversarial_search(one), 0.01)
    assert best.jsd[0] - 0.02 < float(far) <= best.jsd[0] + 1e-6
    assert int(weights.argmax()) == 2


def by_hand(over: str, moved: float) -> Adversaries:
    """Half of the weight has gone over to the other of two tokens; the output has moved by `moved` for it."""
    one = readout_of([[1.0, 0.0]], [[0.0, 1.0]])
    return Adversaries(
        replace(one, values=None, decode=lambda given: torch.special.logit(0.5 + 2 * moved * given[..., 1:])),
        SearchConfig(over=over),  # type: ignore[arg-type]
        torch.tensor([[[0.5, 0.5]]]),
        jsd(torch.tensor([[[0.5, 0.5]]]), torch.tensor([[[1.0, 0.0]]])),
        torch.tensor([[moved]]),
    )


def test_one_beyond_epsilon_is_left_out_or_pulled_back() -> None:
    """The output moves by 0.2 for half of the weight, so by 0.05 for an eighth of it."""
    far, weights = epsilon_max_jsd(by_hand("discard", 0.2), 0.05)
    assert (far.item(), weights.tolist()) == (0.0, [[1.0, 0.0]])
    far, weights = epsilon_max_jsd(by_hand("pull", 0.2), 0.05)
    torch.testing.assert_close(weights, torch.tensor([[0.875, 0.125]]))
    torch.testing.assert_close(far, jsd(weights, torch.tensor([[1.0, 0.0]])))
    for over in ("discard", "pull"):
        assert epsilon_max_jsd(by_hand(over, 0.04), 0.05)[1].tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("own", [[1.0, 0.0, 0.0], [1 / 3] * 3])
def test_attention_that_is_one_hot_or_uniform_already_is_attacked_like_any_other(own: list[float]) -> None:
    far, weights = epsilon_max_jsd(adversarial_search(readout_of([own], [[1.0, 1.0, 1.0]])), 0.01)
    assert bool(weights.isfinite().all())
    limit = JSD_MAX if own[0] == 1 else 0.3184
    assert limit - 0.02 < float(far) < limit + 1e-4


def test_a_text_without_tokens_or_with_one_stays_as_it_is() -> None:
    far, weights = epsilon_max_jsd(adversarial_search(readout_of([[1.0], []], [[0.5], []])), 0.01)
    assert far.tolist() == pytest.approx([0, 0], abs=1e-6)
    assert weights.tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize("wrong", [{"weight": -1.0}, {"limit": 0.0}])
def test_a_weight_below_zero_and_a_limit_of_zero_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="expected a weight of 0 or more and a limit above 0, found"):
        adversarial_search(some_readout(), SearchConfig(**wrong))
    with pytest.raises(ConfigError, match="expected an epsilon of 0 or more, found -1"):
        epsilon_max_jsd(by_hand("pull", 0.1), -1)


def test_the_preset_finds_what_the_papers_code_found() -> None:
    """Random starts: over 100 texts the means agree within a few of their standard errors."""
    model, batch, theirs = jain_wallace_sst()
    found = adversarial_search(readout(model, batch), JAIN_WALLACE)
    far = epsilon_max_jsd(found, 0.05)[0].numpy()
    assert abs(far.mean() - theirs["adv_epsmax_jsd_005"].mean()) < 3 * 0.12 / 10
    assert abs(found.jsd.numpy().mean() - theirs["adv_jsd"].mean()) < 3 * 0.12 / 10
    assert abs(float(found.tvd.median()) - np.median(theirs["adv_dy"])) < 0.001
    their_jsd = jsd(torch.from_numpy(theirs["adv_attention"]), torch.from_numpy(theirs["attention"])[:, None])
    np.testing.assert_allclose(their_jsd, theirs["adv_jsd"], atol=2e-6)  # with 1e-10 in each logarithm
    assert ((found.tvd.numpy() <= 0.05).mean(), (theirs["adv_dy"] <= 0.05).mean()) == pytest.approx(
        (1, 1), abs=0.01
    )
