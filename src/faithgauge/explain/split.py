"""A whole split explained, in batches of nearly equal length; of a pair each text that is attended to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from faithgauge.encode.batching import collate, reading_batches, unpad
from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.explain.asked import Asked
from faithgauge.explain.restated import refuse_what_is_not_restated
from faithgauge.models.classifier import probabilities
from faithgauge.models.question import Known, Question, swap
from faithgauge.seeds import generator
from faithgauge.types import Batch, Encoded, Importance, Ragged

PLACES = 4_096
"""Of a batch, padding included: a graph of more of them is slower and takes more memory."""


@dataclass(frozen=True)
class Scores:
    """The scores of a split, flat as its ids are; nan where a token has none, or its text was left out.

    `pair` holds those of the second texts, where the model attends to them; `error` (example) what the scores
    of a text lack of what they must sum to, for methods that say what that is.
    """

    scores: NDArray[np.float32]
    pair: NDArray[np.float32] | None = None
    error: NDArray[np.float32] | None = None


def explain_split(
    model: nn.Module,
    encoded: Encoded,
    asked: Asked,
    *,
    known: Known,
    rows: NDArray[np.int64] | None = None,
    on_progress: Callable[[float, float], None] = lambda _done, _total: None,
) -> Scores:
    """The scores of every token of these rows of a split, of all by default."""
    refuse_what_lacks(model, asked, known=known, encoded=encoded)
    chosen = np.arange(len(encoded)) if rows is None else rows
    scores = np.full(len(encoded.ids.values), np.nan, np.float32)
    pair = None if encoded.pair_ids is None else np.full(len(encoded.pair_ids.values), np.nan, np.float32)
    error = np.full(len(encoded), np.nan, np.float32)
    done, training = 0, model.training
    model.eval()
    with frozen(model):
        for some in reading_batches(encoded.ids.lengths()[chosen], PLACES):
            own = chosen[some]
            batch = _collated(model, encoded, own)
            found = explain_batch(model, batch, asked, known=known, evidence=_evidence(encoded, own, batch))
            unpad(Ragged(scores, encoded.ids.offsets), own, found.scores.cpu().numpy())
            if found.pair is not None and pair is not None and encoded.pair_ids is not None:
                unpad(Ragged(pair, encoded.pair_ids.offsets), own, found.pair.scores.cpu().numpy())
            if found.error is not None:
                error[own] = found.error.cpu().numpy()
            done += len(own)
            on_progress(done, len(chosen))
    model.train(training)
    both = pair is not None and not np.isnan(pair).all()
    return Scores(scores, pair if both else None, None if np.isnan(error).all() else error)


def explain_batch(
    model: nn.Module, batch: Batch, asked: Asked, *, known: Known, evidence: Tensor | None = None
) -> Importance:
    """The scores of one batch; with those of the second texts as `pair`, where the model is two-sided.

    Each text of a pair is explained with the other one as it is. Special tokens have scores, and are changed
    like all others, only where that is asked for.
    """
    if asked.special:
        batch = replace(batch, maskable=batch.valid)
    question = Question(target_of(model, batch, asked), asked.of, known, evidence)
    function = asked.explainer.function
    found = function(model, batch, question, **asked.options)
    if batch.pair is None or "two_sided" not in capabilities(model):
        return found
    other: Any = model
    second = replace(question, evidence=None, side="second")
    return replace(found, pair=function(other.swapped(), swap(batch), second, **asked.options))


def sample(n: int, instances: int | None) -> NDArray[np.int64]:
    """The rows that are explained of a split of n: all, or so many drawn at random, in order."""
    if instances is None or instances >= n:
        return np.arange(n)
    return np.sort(generator(0, "instances").choice(n, instances, replace=False))


def refuse_what_lacks(
    model: nn.Module, asked: Asked, *, known: Known, encoded: Encoded | None = None
) -> None:
    """An explainer that needs what model or data do not have is an error before anything is computed."""
    there = {
        *(["mask"] if known.mask is not None else []),
        *(["train"] if known.train is not None else []),
        *(["evidence"] if encoded is not None and encoded.evidence is not None else []),
    }
    _refuse(asked, [need for need in asked.explainer.needs if need in _OF_DATA and need not in there])
    refuse_what_model_lacks(model, asked)


def refuse_what_model_lacks(model: nn.Module, asked: Asked) -> None:
    """What can be known without any text."""
    has = capabilities(model) | _OF_DATA
    _refuse(asked, [need for need in asked.explainer.needs if need not in has])
    if asked.options.get("rule") == "rescale":
        refuse_what_is_not_restated(model)
    if asked.special and "attention" in has:
        raise UnsupportedError(
            f"{asked.label}: expected a transformer, which attends to special tokens like all others, found "
            "a model that never attends to them; leave special out"
        )
    classes: int = model.n_classes  # type: ignore[assignment]
    if isinstance(asked.target, int) and not 0 <= asked.target < classes:
        raise ConfigError(f"{asked.label}: expected a class from 0 to {classes - 1}, found {asked.target}")


def _refuse(asked: Asked, lacking: list[str]) -> None:
    for need in lacking:
        needed = _NEEDS.get(need, f"a model with capability {need!r}")
        raise UnsupportedError(f"{asked.label} needs {needed}, found none; choose another explainer")


_OF_DATA = {"mask", "train", "evidence"}
_NEEDS = {
    "embedding": "a model whose word vectors can be given (capability 'embedding')",
    "attention": "a model with attention (capability 'attention')",
    "heads": "a transformer whose heads are seen (capability 'heads')",
    "mask": "a tokenizer with a mask token",
    "train": "the training split",
    "evidence": "texts whose evidence is known",
}


def capabilities(model: nn.Module) -> frozenset[str]:
    return frozenset(getattr(model, "capabilities", ()))


@contextmanager
def frozen(model: nn.Module) -> Iterator[None]:
    """Inside, no gradient of the weights is computed: explanations ask for those of the words."""
    wanted = [weight for weight in model.parameters() if weight.requires_grad]
    for weight in wanted:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in wanted:
            weight.requires_grad_(True)


def target_of(model: nn.Module, batch: Batch, asked: Asked) -> Tensor:
    """The class that is asked about, for each text."""
    if asked.target == "predicted":
        with torch.no_grad():  # not in inference mode: gradients are computed with the target
            return probabilities(model(batch).logits).argmax(-1)
    if asked.target == "gold":
        if batch.labels is None or bool((batch.labels < 0).any()):
            raise ConfigError(
                f"{asked.label}: expected labelled texts for target=gold, found texts without labels"
            )
        return batch.labels
    return torch.full((len(batch),), asked.target, device=batch.ids.device)


def _collated(model: nn.Module, encoded: Encoded, rows: NDArray[np.int64]) -> Batch:
    classes: int = model.n_classes  # type: ignore[assignment]
    device = next((weight.device for weight in model.parameters()), torch.device("cpu"))
    return collate(encoded, rows, classes=classes, device=device)


def _evidence(encoded: Encoded, rows: NDArray[np.int64], batch: Batch) -> Tensor | None:
    if encoded.evidence is None:
        return None
    flags = torch.zeros_like(batch.valid)
    for text, row in enumerate(rows):
        own = torch.from_numpy(np.array(encoded.evidence.row(int(row)), bool))
        flags[text, : len(own)] = own.to(flags.device)
    return flags
