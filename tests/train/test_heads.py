from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch
from fakes import batch_of, encode

from faithgauge.config import AdversaryConfig, TrainConfig
from faithgauge.errors import UnsupportedError
from faithgauge.faithfulness.heads import matched_distance
from faithgauge.models.transformer import Transformer
from faithgauge.train.fit import fit
from faithgauge.train.heads import HeadOpposition, heads_apart, heads_of
from faithgauge.train.predict import say
from faithgauge.types import Encoded, Split

TEXTS = [[2, 5, 6, 7, 3], [2, 8, 3], [2, 9, 10, 3], [2, 6, 5, 3]]


def split() -> Encoded:
    return encode(TEXTS, [0, 1, 1, 0])


def model(seed: int = 0) -> Transformer:
    return Transformer(tiny.network("distilbert", seed=seed))


def opposition(base: Transformer, **how: object) -> HeadOpposition:
    splits: dict[Split, Encoded] = {"train": split(), "validation": split()}
    said = {name: say(base, one) for name, one in splits.items()}
    return HeadOpposition(splits, said, base, AdversaryConfig(**how))  # type: ignore[arg-type]


def with_heads_exchanged(base: Transformer) -> Transformer:
    """The same function, with the two heads of the first layer in the other order."""
    other = model()
    other.load_state_dict(base.state_dict())
    layer = other.network.distilbert.transformer.layer[0].attention
    order = torch.cat([torch.arange(8, 16), torch.arange(8)])
    with torch.no_grad():
        for part in (layer.q_lin, layer.k_lin, layer.v_lin):
            part.weight.copy_(part.weight[order])
            part.bias.copy_(part.bias[order])
        layer.out_lin.weight.copy_(layer.out_lin.weight[:, order])
    return other


def test_a_model_with_its_heads_in_another_order_is_not_apart() -> None:
    base = model()
    apart = heads_apart(with_heads_exchanged(base), base, split())
    for numbers in (apart.tvd, apart.heads, apart.rollout):
        assert numbers == pytest.approx(np.zeros(4), abs=1e-6)


def test_two_models_are_apart_and_rows_keep_their_places() -> None:
    base, other = model(), model(seed=1)
    apart = heads_apart(other, base, split())
    assert (apart.heads > 0.01).all()
    assert (apart.rollout[[0, 2, 3]] > 1e-6).all()
    assert apart.rollout[1] == 0  # there is one token, which has all of what is compared
    assert apart.probability == pytest.approx(say(other, split()).probability, abs=1e-6)
    difference = np.abs(say(other, split()).probability - say(base, split()).probability)[:, 1]
    assert apart.tvd == pytest.approx(difference / 2, abs=1e-6)


def test_the_loss_is_the_distance_of_outputs_less_that_of_heads() -> None:
    base, other, batch = model(), model(seed=1), batch_of(TEXTS)
    (said, own), (expected, theirs) = heads_of(other, batch), heads_of(base, batch)
    moved = (said - expected)[:, 1].abs() / 2
    far = matched_distance(own, theirs, batch.maskable)
    loss = opposition(base).loss(other, replace(batch, labels=torch.zeros(4, dtype=torch.long)))
    assert loss.item() == pytest.approx(((moved / 0.5) - far / math.log(2)).mean().item(), abs=1e-6)


def test_dropout_is_no_part_of_the_attention_that_is_compared() -> None:
    base = Transformer(tiny.network("distilbert", attention_dropout=0.9, dropout=0.0))
    same = Transformer(tiny.network("distilbert", attention_dropout=0.9, dropout=0.0)).train()
    _, first = heads_of(same, batch_of(TEXTS))
    assert same.training
    torch.testing.assert_close(first, heads_of(base, batch_of(TEXTS))[1])


def test_an_adversary_learns_to_attend_elsewhere() -> None:
    base, other = model(), model()
    goal = opposition(base)
    before = goal.judge(other, "validation")
    assert before["jsd"] == pytest.approx(0, abs=1e-6)
    config = TrainConfig(
        epochs=10, batch_size=4, learning_rate=0.01, weight_decay=0, select_by="loss", amsgrad=False
    )
    fitted = fit(other, goal.splits, config, goal=goal)
    after = goal.judge(other, "validation")
    assert after["loss"] < before["loss"] - 0.1
    assert after["jsd"] > 0.1
    assert fitted.epoch > 0


@pytest.mark.parametrize("how", [{"divergence": "kl"}, {"start": "negated"}, {"start": "warm"}])
def test_other_losses_and_starts_are_refused(how: dict[str, str]) -> None:
    with pytest.raises(UnsupportedError, match="has the loss of attefa and starts fresh or from its base"):
        opposition(model(), **how)
