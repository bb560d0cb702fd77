"""Frozen lower layers in fine-tuning: their weights stay, and their states are computed once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from fakes import classifier, encode, some_texts
from torch import Tensor

from faithgauge.config import TrainConfig
from faithgauge.encode.batching import collate
from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.models.stack import FAMILIES
from faithgauge.models.transformer import Transformer
from faithgauge.train import reused
from faithgauge.train.fit import facts, fit
from faithgauge.types import Encoded

KNOWN = [family for family in tiny.FAMILIES if family in FAMILIES]


def some(n: int, seed: int) -> Encoded:
    texts = some_texts(n, seed=seed, words=len(tiny.WORDS))
    return encode(texts, [text[1] % 2 for text in texts])


SPLITS: Any = {"train": some(23, 0), "validation": some(9, 1)}


def model_of(family: str = "bert", **more: Any) -> Transformer:
    return Transformer(tiny.network(family, initializer_range=0.2, **more))


def fine_tuning(**more: Any) -> TrainConfig:
    own = {"epochs": 3, "batch_size": 8, "optimiser": "adamw", "learning_rate": 0.01, "select_by": "loss"}
    return TrainConfig(**{**own, **more})


def weights(model: Transformer) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


@pytest.mark.parametrize("family", KNOWN)
@pytest.mark.parametrize("layers", [1, 2])
def test_what_is_kept_is_what_would_be_computed(
    family: str, layers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With dropout above the frozen layers: both ways draw the same numbers there, and none below."""
    found = []
    for limit in (reused.BYTES, 0):
        monkeypatch.setattr(reused, "BYTES", limit)
        model = model_of(family)
        fit(model, SPLITS, fine_tuning(frozen_layers=layers))
        found.append(weights(model))
    for name, value in found[0].items():
        if not name.endswith(("key.bias", "k_lin.bias")):  # of no effect: Adam scales up what is rounding
            torch.testing.assert_close(value, found[1][name], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("family", KNOWN)
def test_the_states_of_a_text_are_those_of_the_whole_model(family: str) -> None:
    model = model_of(family)
    batch = collate(SPLITS["train"], np.array([4, 0, 11]), classes=2)
    with torch.inference_mode():
        expected = model(batch).logits
        for layers in (1, 2):
            with reused.kept(model, SPLITS["train"], layers)(batch):
                found = model(batch).logits
            torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
        assert torch.equal(model(batch).logits, expected)


def test_frozen_layers_are_not_computed_again() -> None:
    model, called = model_of(), []
    lowest, upper = model.body.encoder.layer  # type: ignore[union-attr]
    for name, layer in (("lowest", lowest), ("upper", upper)):
        layer.register_forward_hook(lambda *_, name=name: called.append(name))
    reuse = reused.kept(model, SPLITS["train"], 1)
    called.clear()
    batch = collate(SPLITS["train"], np.array([0, 1]), classes=2)
    with reuse(batch):
        model(batch)
    assert called == ["upper"]


@pytest.mark.parametrize("family", KNOWN)
def test_embeddings_and_the_lowest_layers_keep_their_weights_and_others_move(family: str) -> None:
    model = model_of(family)
    before = weights(model)
    fit(model, SPLITS, fine_tuning(frozen_layers=1))
    moved = {name for name, value in weights(model).items() if not torch.equal(value, before[name])}
    below = {name for name in before if ".embeddings" in name or ".layer.0." in name}
    assert below
    assert not moved & below
    assert any(".layer.1." in name for name in moved)
    assert all(weight.requires_grad for weight in model.parameters())


def test_a_training_that_was_killed_goes_on_to_the_same_weights_to_the_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[fit.__module__], "CHECKPOINT_EVERY", 0.0)
    config = fine_tuning(frozen_layers=1)
    whole, steps = model_of(), []
    fit(whole, SPLITS, config)

    def kill(event: Any) -> None:
        steps.append(event.step)
        if len(steps) == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(model_of(), SPLITS, config, folder=tmp_path, on_event=kill)
    resumed = model_of()
    fit(resumed, SPLITS, config, folder=tmp_path)
    for name, value in weights(resumed).items():
        assert torch.equal(value, whole.state_dict()[name])


def test_no_frozen_layers_is_no_fact_of_a_training() -> None:
    assert "frozen_layers" not in facts(fine_tuning())
    assert facts(fine_tuning(frozen_layers=2))["frozen_layers"] == 2


def test_more_layers_than_there_are_cannot_be_frozen() -> None:
    with pytest.raises(ConfigError, match="at most 2 frozen layers, which are those of the model, found 3"):
        fit(model_of(), SPLITS, fine_tuning(frozen_layers=3))


@pytest.mark.parametrize("family", ["albert", "deberta-v2"])
def test_a_family_that_shares_layers_or_is_built_otherwise_is_refused(family: str) -> None:
    with pytest.raises(UnsupportedError, match=f"found a {family} model; leave it out"):
        fit(model_of(family), SPLITS, fine_tuning(frozen_layers=1))


def test_a_model_that_is_no_transformer_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="found AttentionClassifier; leave it out"):
        fit(classifier("mlp"), SPLITS, fine_tuning(frozen_layers=1))
