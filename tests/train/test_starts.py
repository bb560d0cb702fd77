"""Where an adversary starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from bags import BagOfVectors
from fakes import classifier, some_split
from torch import nn

from faithgauge.config import AdversaryConfig, Start, TrainConfig
from faithgauge.encode.batching import collate
from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.plans.starts import STARTS, read_start, starts
from faithgauge.train import fit as module
from faithgauge.train.fit import Event, fit
from faithgauge.train.goals import Opposition
from faithgauge.train.predict import say
from faithgauge.train.starts import Opposed, put_at_start
from faithgauge.types import Encoded, Said, Split

CONFIG = TrainConfig(epochs=3, batch_size=8, learning_rate=0.02, select_by="loss")
SPLITS: dict[Split, Encoded] = {"train": some_split(30), "validation": some_split(20, seed=9)}


def said_by(model: nn.Module) -> dict[Split, Said]:
    return {split: say(model, encoded) for split, encoded in SPLITS.items()}


def started(start: Start, encoder: str = "mlp", **config: Any) -> tuple[nn.Module, nn.Module, nn.Module]:
    """The model at its start, as it was drawn, and the base."""
    base, drawn, model = (classifier(encoder, seed=seed, **config) for seed in (1, 2, 2))
    put_at_start(model, Opposed(said_by(base), AdversaryConfig(start=start), base), SPLITS, config=CONFIG)
    return model, drawn, base


def same(one: nn.Module, two: nn.Module, prefix: str = "") -> bool:
    pairs = zip(one.state_dict().items(), two.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for (name, a), b in pairs if name.startswith(prefix))


def test_fresh_is_as_it_was_drawn() -> None:
    model, drawn, _ = started("fresh")
    assert same(model, drawn)


def test_base_has_the_weights_of_the_base() -> None:
    model, _, base = started("base")
    assert same(model, base)


def test_the_base_is_left_as_it_was() -> None:
    *_, base = started("negated")
    assert same(base, classifier(seed=1))


@pytest.mark.parametrize("attention", ["additive", "dot"])
def test_negated_prefers_what_the_base_neglects(attention: str) -> None:
    """α ∝ exp(−s) where the base has exp(s): the product is the same for all tokens of a text."""
    model, _, base = started("negated", attention=attention)
    batch = collate(SPLITS["train"], np.arange(8), classes=2)
    with torch.no_grad():
        product = model.eval()(batch).attention * base.eval()(batch).attention
    for row, tokens in zip(product, batch.maskable, strict=True):
        assert row[tokens].numpy() == pytest.approx(
            np.full(int(tokens.sum()), float(row[tokens][0])), rel=1e-4
        )


def test_redrawn_has_the_attention_it_was_drawn_with_and_all_else_of_the_base() -> None:
    model, drawn, base = started("redrawn")
    assert same(model, drawn, "attention.")
    assert not same(model, base, "attention.")
    assert all(same(model, base, part) for part in ("embedding.", "encoder.", "decoder."))


def test_warm_says_what_the_base_says_and_attends_more_evenly_than_it_was_drawn() -> None:
    model, drawn, base = started("warm")
    said, flat = said_by(base), said_by(classifier(seed=1, distribution="uniform"))

    def distances(of: nn.Module) -> tuple[float, float]:
        judged = Opposition(SPLITS, said, AdversaryConfig()).judge(of, "validation")
        even = Opposition(SPLITS, flat, AdversaryConfig()).judge(of, "validation")
        return judged["tvd"], even["jsd"]

    assert distances(model)[0] < distances(drawn)[0]
    assert distances(model)[1] < distances(drawn)[1]


def test_a_start_from_the_base_needs_the_base() -> None:
    against = Opposed(said_by(classifier()), AdversaryConfig(start="base"))
    with pytest.raises(ConfigError, match="expected the base model for the start 'base', found none"):
        put_at_start(classifier(), against, SPLITS, config=CONFIG)


def test_scores_that_cannot_be_negated_are_named() -> None:
    """Dot attention with a query of its own size has no weights."""
    options: dict[str, Any] = {"task": "pair", "attention": "dot", "classes": 2}
    data: dict[Split, Encoded] = {
        "train": some_split(4, task="pair"),
        "validation": some_split(4, task="pair"),
    }
    base = classifier(**options)
    said = {split: say(base, encoded) for split, encoded in data.items()}
    with pytest.raises(UnsupportedError, match="no weights to negate"):
        put_at_start(
            classifier(**options), Opposed(said, AdversaryConfig(start="negated"), base), data, config=CONFIG
        )


def test_a_model_without_attention_is_refused() -> None:
    with pytest.raises(
        UnsupportedError, match=r"an adversary needs models with one attention over the tokens"
    ):
        put_at_start(
            BagOfVectors(2), Opposed(said_by(classifier()), AdversaryConfig()), SPLITS, config=CONFIG
        )


def test_a_base_without_attention_is_refused() -> None:
    said = said_by(BagOfVectors(2))
    with pytest.raises(
        UnsupportedError, match="found one without; for a transformer ask the test attefa_heads"
    ):
        put_at_start(classifier(), Opposed(said, AdversaryConfig()), SPLITS, config=CONFIG)


def test_attention_that_no_training_changes_is_refused() -> None:
    model = classifier(distribution="uniform")
    with pytest.raises(
        UnsupportedError, match="needs attention that is trained, found distribution 'uniform'"
    ):
        put_at_start(model, Opposed(said_by(model), AdversaryConfig()), SPLITS, config=CONFIG)


def test_the_first_start_is_the_papers_and_the_next_one_is_warm() -> None:
    assert starts(1) == ("fresh",)
    assert starts(2) == ("fresh", "warm")
    assert set(starts(5)) == set(STARTS)
    assert starts(7)[5:] == ("fresh:1", "warm:1")


@pytest.mark.parametrize(("text", "expected"), [("fresh", ("fresh", 0)), ("warm:12", ("warm", 12))])
def test_a_start_is_written_with_its_draw(text: str, expected: tuple[str, int]) -> None:
    assert read_start(text) == expected


@pytest.mark.parametrize("text", ["frsh", "fresh:", "fresh:-1", "fresh:x", "", "constant"])
def test_what_is_no_start_is_named(text: str) -> None:
    with pytest.raises(ConfigError, match=f"expected a start such as fresh, .*, found {text!r}"):
        read_start(text)


class Interrupted(Exception):  # noqa: N818 nothing went wrong
    pass


@pytest.mark.parametrize("start", ["fresh", "warm", "negated"])
def test_an_adversary_interrupted_after_any_step_ends_as_one_that_was_not(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHECKPOINT_EVERY", -1.0)
    base = classifier("bilstm", seed=1)
    said = said_by(base)
    how = AdversaryConfig(start=start)

    def train(folder: Path | None, stop: int = 0) -> nn.Module:
        steps = iter(range(1, 1000))

        def count(_: Event) -> None:
            if next(steps) == stop:
                raise Interrupted

        model = classifier("bilstm", seed=2)
        put_at_start(model, Opposed(said, how, base), SPLITS, config=CONFIG)
        fit(model, SPLITS, CONFIG, goal=Opposition(SPLITS, said, how), folder=folder, on_event=count)
        return model

    whole = train(None)
    for place in (1, 3, 5, 8):
        with pytest.raises(Interrupted):
            train(tmp_path / str(place), stop=place)
        assert same(train(tmp_path / str(place)), whole)
