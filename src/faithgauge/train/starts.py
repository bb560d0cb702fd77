"""Where an adversary starts: the same loss can end far from its minimum, and from another start near it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from torch import nn

from faithgauge.config import AdversaryConfig, TrainConfig
from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.train.fit import fit
from faithgauge.train.goals import Guide, Opposition, Splits
from faithgauge.types import Encoded, Ragged, Said, Split


@dataclass(frozen=True)
class Opposed:
    """What an adversary is trained against: what a model says, and the model if a start needs it."""

    said: Mapping[Split, Said]
    how: AdversaryConfig
    base: nn.Module | None = None


@dataclass(frozen=True)
class Covering:
    """That a random share of each second text is masked while a model learns, with the token `mask`.

    With `first_text` nothing of the second one of a pair in one row is.
    """

    mask: int
    first_text: bool = False


Aim = Guide | Opposed | Covering | nn.Module | None
"""What a training is for beside the labels: see `steps.train_corpus`."""


def put_at_start(model: nn.Module, against: Opposed, splits: Splits, *, config: TrainConfig) -> None:
    """Give a newly drawn model the weights that its training as an adversary starts from."""
    if "heads" not in getattr(against.base, "capabilities", ()):  # `train.heads` opposes every head
        refuse_without_attention(model, against.said)
    start = against.how.start
    if start == "warm":
        warm = replace(config, epochs=against.how.warm_epochs, patience=None)
        said = {split: _even(one, splits[split]) for split, one in against.said.items()}
        how = replace(against.how, divergence="jsd")
        fit(model, splits, warm, goal=Opposition(splits, said, how, config.loss, sign=-1))
    if start in ("fresh", "warm"):
        return
    if against.base is None:
        raise ConfigError(f"expected the base model for the start {start!r}, found none")
    state = against.base.state_dict()
    if start == "redrawn":
        state |= {name: value for name, value in model.state_dict().items() if name.startswith("attention.")}
    model.load_state_dict(state)
    if start == "negated":
        negate = getattr(getattr(model, "attention", None), "negate", None)
        if negate is None:
            raise UnsupportedError(
                "expected an attention whose scores can be negated, found none; leave the start 'negated' out"
            )
        negate()


def refuse_without_attention(model: nn.Module, said: Mapping[Split, Said]) -> None:
    """An adversary attends to other tokens than its base: both must attend, and it must learn to."""
    has: frozenset[str] = getattr(model, "capabilities", frozenset())
    if "attention" not in has or any(one.attention is None for one in said.values()):
        raise UnsupportedError(
            "an adversary needs models with one attention over the tokens (capability 'attention'), found "
            "one without; for a transformer ask the test attefa_heads"
        )
    if getattr(getattr(model, "config", None), "distribution", "") == "uniform":
        raise UnsupportedError(
            "an adversary needs attention that is trained, found distribution 'uniform', which no training "
            "changes; choose softmax, entmax15 or sparsemax"
        )


def _even(said: Said, encoded: Encoded) -> Said:
    """The same outputs, with the same attention for all tokens of each text."""
    pair = None
    if said.pair is not None and encoded.pair_ids is not None and encoded.pair_spans is not None:
        pair = _equal(encoded.pair_ids, encoded.pair_spans)
    return replace(said, attention=_equal(encoded.ids, encoded.spans), pair=pair)


def _equal(ids: Ragged, spans: Ragged) -> Ragged:
    """One over the number of tokens of the text, and 0 for those that are special."""
    lengths = ids.lengths()
    real = np.asarray(spans.values[:, 0], np.int64) >= 0
    text = np.repeat(np.arange(len(lengths)), lengths)
    n = np.bincount(text[real], minlength=len(lengths))[text]
    return Ragged(np.where(real, 1 / np.maximum(n, 1), 0).astype(np.float32), ids.offsets)
