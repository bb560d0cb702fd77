"""The training loop.

    for each epoch:  for each batch:  loss → gradient → step;  then judge, and keep the best epoch

It prints nothing and writes nothing but its checkpoint: progress leaves it as events. Batches are drawn from
the seed and the epoch, so a training goes on after a kill with the same final weights, bit for bit.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from faithgauge.config import TrainConfig
from faithgauge.encode.batching import collate, parts, training_batches
from faithgauge.errors import ConfigError, DataError, JobError
from faithgauge.seeds import derive
from faithgauge.train import checkpoint, optimiser
from faithgauge.train.checkpoint import State
from faithgauge.train.goals import Goal, Guide, Labels
from faithgauge.train.metrics import LOWER_IS_BETTER, METRICS
from faithgauge.train.objectives import class_weights
from faithgauge.train.predict import device_of
from faithgauge.train.reused import Reuse, anew, frozen_parts, held, kept
from faithgauge.types import Encoded, Split
from faithgauge.version import __version__

CHECKPOINT_EVERY = 60.0
"""Seconds between two checkpoints inside an epoch; when they fall changes no number."""


@dataclass(frozen=True)
class Event:
    """Progress after a step, and after an epoch, when `metrics` are those of the selecting split."""

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class Fitted:
    """What a training ended with; the model holds the weights of `epoch`, counted from 1."""

    epoch: int
    history: list[dict[str, Any]]
    seconds: float
    fingerprint: str


class _Outside(NamedTuple):
    """Where the checkpoint lives, and who hears of progress."""

    folder: Path | None
    on_event: Callable[[Event], None]


@dataclass
class _Run:
    """What the parts of the loop share."""

    model: nn.Module
    splits: Mapping[Split, Encoded]
    config: TrainConfig
    goal: Goal
    optimiser: torch.optim.Optimizer
    outside: _Outside
    fingerprint: str
    state: State
    lengths: NDArray[np.int64]
    best: dict[str, Tensor] | None = None
    frozen: list[nn.Module] = field(default_factory=list)
    reuse: Reuse = anew


def fit(
    model: nn.Module,
    splits: Mapping[Split, Encoded],
    config: TrainConfig,
    *,
    goal: Goal | None = None,
    folder: Path | None = None,
    on_event: Callable[[Event], None] = lambda _: None,
) -> Fitted:
    """Train `model` in place on the training split, to say its labels unless there is another `goal`.

    The kept epoch is the first with the best `select_by` on `select_on`; the last one where that metric is
    never defined. The checkpoint lives in `folder`, if anywhere.
    """
    frozen = frozen_parts(model, config.frozen_layers)
    with torch.random.fork_rng(devices=[]), held(frozen):
        run = _start(model, splits, config, goal, _Outside(folder, on_event))
        if frozen:
            _freeze(run, frozen)
        while run.state.epoch < config.epochs and not _exhausted(run.state, config):
            _train_epoch(run)
            _judge_epoch(run)
            _save(run)
    if run.best is not None:
        model.load_state_dict(run.best)
    model.eval()
    optimiser.clear_grad(model)
    model.zero_grad(set_to_none=True)  # or a gradient as large as the vocabulary would stay
    return Fitted(
        run.state.best_epoch or run.state.epoch, run.state.history, run.state.seconds, run.fingerprint
    )


def labels(
    model: nn.Module, splits: Mapping[Split, Encoded], config: TrainConfig, *, guide: Guide | None = None
) -> Labels:
    """The goal of a training that fits the labels, its classes weighed as the configuration says."""
    classes: int = model.n_classes  # type: ignore[assignment]
    weights = class_weights(splits["train"].labels, classes, config).to(device_of(model))
    return Labels(splits, weights, config.loss, guide)


def _start(
    model: nn.Module,
    splits: Mapping[Split, Encoded],
    config: TrainConfig,
    goal: Goal | None,
    outside: _Outside,
) -> _Run:
    classes: int = model.n_classes  # type: ignore[assignment]
    _check(classes, splits, config)
    goal = goal or labels(model, splits, config)
    stepper, folder = optimiser.make(model, config), outside.folder
    own = fingerprint(model, splits, config, goal=goal)
    restored = checkpoint.restore(folder, model, stepper, fingerprint=own) if folder else None
    state, best = restored or (State(), None)
    return _Run(model, splits, config, goal, stepper, outside, own, state, _lengths(splits["train"]), best)


def _freeze(run: _Run, frozen: list[nn.Module]) -> None:
    """Without dropout there; what they say is kept where every epoch reads the same texts."""
    run.frozen = frozen
    if isinstance(run.goal, Labels) and run.goal.guide is None:
        run.reuse = kept(run.model, run.splits["train"], run.config.frozen_layers)


def _lengths(encoded: Encoded) -> NDArray[np.int64]:
    """What each example takes of a batch, in places: one text or both."""
    own = encoded.ids.lengths()
    return own if encoded.pair_ids is None else own + encoded.pair_ids.lengths()


def _check(classes: int, splits: Mapping[Split, Encoded], config: TrainConfig) -> None:
    if not splits.get("train"):
        raise DataError(
            f"expected a train split, found {', '.join(splits) or 'no data'}; nothing to train on"
        )
    if not splits.get(config.select_on):
        raise ConfigError(
            f"expected a {config.select_on} split to select the epoch on, found {', '.join(splits)}; "
            "choose another one with --select-on"
        )
    if config.select_by not in METRICS:
        raise ConfigError(f"unknown metric {config.select_by!r}: known are {', '.join(METRICS)}")
    if config.select_by == "f1_positive" and classes != 2:
        raise ConfigError(f"f1_positive needs two classes, found {classes}; select by f1_macro")


def _train_epoch(run: _Run) -> None:
    """All batches that are left of the epoch under way."""
    model, state, train = run.model, run.state, run.splits["train"]
    batches = training_batches(
        train.ids.lengths(), run.config.batch_size, seed=run.config.seed, epoch=state.epoch
    )
    model.train()
    for part in run.frozen:
        part.eval()
    saved = before = time.monotonic()
    for rows in batches[state.step :]:
        optimiser.clear_grad(model)
        value = _loss_and_gradient(run, rows)
        if run.config.clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), run.config.clip)
        at = state.epoch * len(batches) + state.step
        optimiser.set_rate(run.optimiser, optimiser.rate(run.config, at, run.config.epochs * len(batches)))
        run.optimiser.step()
        now = time.monotonic()
        state.step, state.examples = state.step + 1, state.examples + len(rows)
        state.loss += value * (len(rows) if run.config.loss == "mean" else 1)
        state.seconds, before = state.seconds + now - before, now
        run.outside.on_event(_event(run, len(batches), {}))
        if now - saved > CHECKPOINT_EVERY:
            _save(run)
            saved = time.monotonic()


def _loss_and_gradient(run: _Run, rows: NDArray[np.int64]) -> float:
    """The loss of a batch, its gradient left in the parameters; one of very many places goes in parts."""
    total = 0.0
    for part in parts(rows, run.lengths):
        share = len(part) / len(rows) if run.config.loss == "mean" else 1.0
        loss = _loss(run, part) * share
        if not math.isfinite(value := loss.item()):
            raise JobError(
                f"the loss became {value} in epoch {run.state.epoch + 1}, step {run.state.step + 1} "
                f"(training rows {part[:4].tolist()} …); try a lower --learning-rate, or --clip 1"
            )
        loss.backward()  # type: ignore[no-untyped-call]
        total += value
    return total


def _loss(run: _Run, rows: NDArray[np.int64]) -> Tensor:
    classes: int = run.model.n_classes  # type: ignore[assignment]
    batch = collate(run.splits["train"], rows, classes=classes, device=device_of(run.model))
    # A model with dropout draws from torch's own generator, which gets a seed of its own at every step.
    torch.default_generator.manual_seed(derive(run.config.seed, "noise", run.state.epoch, run.state.step))
    with run.reuse(batch):
        return run.goal.loss(run.model, batch)


def _judge_epoch(run: _Run) -> None:
    """Measure the selecting split, keep the weights if they are the best so far, and close the epoch."""
    state, config, started = run.state, run.config, time.monotonic()
    judged = _measured(run)
    loss = state.loss / state.examples
    state.history.append({"epoch": state.epoch + 1, "train_loss": loss, "split": config.select_on, **judged})
    value = judged[config.select_by]
    sign = -1 if config.select_by in LOWER_IS_BETTER else 1
    if not math.isnan(value) and (state.best_value is None or sign * value > sign * state.best_value):
        state.best_value, state.best_epoch = value, state.epoch + 1
        run.best = {name: tensor.detach().clone() for name, tensor in run.model.state_dict().items()}
    run.outside.on_event(_event(run, state.step, judged))
    state.seconds += time.monotonic() - started
    state.epoch, state.step, state.examples, state.loss = state.epoch + 1, 0, 0, 0.0


def _measured(run: _Run) -> dict[str, float]:
    judged = run.goal.judge(run.model, run.config.select_on)
    if math.isnan(judged["loss"]):
        raise JobError(
            f"the model gives probabilities that are not numbers after epoch {run.state.epoch + 1}; "
            "try a lower --learning-rate, or --clip 1"
        )
    return judged


def _event(run: _Run, steps: int, judged: Mapping[str, float]) -> Event:
    state = run.state
    return Event(
        state.epoch + 1, run.config.epochs, state.step, steps, state.loss / max(state.examples, 1), judged
    )


def _exhausted(state: State, config: TrainConfig) -> bool:
    return config.patience is not None and state.epoch - (state.best_epoch or 0) >= config.patience


def _save(run: _Run) -> None:
    if run.outside.folder is not None:
        checkpoint.save(
            run.outside.folder,
            run.state,
            run.model,
            optimiser=run.optimiser,
            best=run.best,
            fingerprint=run.fingerprint,
        )


def facts(config: TrainConfig) -> dict[str, Any]:
    """The settings of a training, without those that did not exist from the start and are as they were."""
    added = {one.name: one.metadata["neutral"] for one in fields(config) if "neutral" in one.metadata}
    return {
        name: value for name, value in asdict(config).items() if name not in added or value != added[name]
    }


def fingerprint(
    model: nn.Module, splits: Mapping[Split, Encoded], config: TrainConfig, *, goal: Goal | None = None
) -> str:
    """What two trainings must share for one to go on from the other, or to stand for it."""
    digest = hashlib.sha256(f"{__version__} {torch.__version__}".encode())
    digest.update(json.dumps(facts(config), sort_keys=True).encode())
    # Where an object lies in memory is no part of what it is.
    digest.update(re.sub(r" at 0x[0-9a-f]+", "", repr(model)).encode())
    for split in ("train", config.select_on):
        encoded = splits[split]
        digest.update(encoded.labels.tobytes())
        read = (encoded.ids, encoded.spans, encoded.pair_ids, encoded.pair_spans, encoded.candidates)
        for ragged in filter(None, (*read, encoded.segments)):
            digest.update(ragged.values.tobytes())
            digest.update(ragged.offsets.tobytes())
    for part in () if goal is None else goal.identity():
        digest.update(part)
    for name, value in model.state_dict().items():
        digest.update(name.encode())
        digest.update(value.cpu().numpy().tobytes())
    return digest.hexdigest()
