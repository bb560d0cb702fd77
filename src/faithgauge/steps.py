"""The main path as functions: labelled texts in, a trained classifier, its predictions and explanations out.

    text → Example → Encoded → Batch → Output → Importance

Each step is a function of its own module; here they are put in order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Dataset
from faithgauge.encode.batching import collate, reading_batches
from faithgauge.encode.corpus import Corpus, encode
from faithgauge.encode.vectors import Vectors, embedding_matrix
from faithgauge.encode.word2vec import train_word2vec
from faithgauge.encode.words import WORDS
from faithgauge.errors import ConfigError, DataError, UnsupportedError
from faithgauge.explain.table import EXPLAINERS
from faithgauge.models import store
from faithgauge.models.attention import ATTENTIONS, DISTRIBUTIONS
from faithgauge.models.classifier import Shape, build, probabilities
from faithgauge.models.encoders import ENCODERS
from faithgauge.models.store import Trained
from faithgauge.registry import locate, unknown
from faithgauge.seeds import derive
from faithgauge.settings import Settings
from faithgauge.train import checkpoint
from faithgauge.train.fit import Event, Fitted, fingerprint, fit
from faithgauge.train.metrics import METRICS, metrics
from faithgauge.train.predict import device_of, predict
from faithgauge.types import SPLITS, Encoded, Example, Split, Task


@dataclass(frozen=True)
class Explanation:
    """One text with a score per token from each explainer; nan where a token has none.

    Token i is ``text[spans[i][0]:spans[i][1]]``; special tokens are left out.
    """

    text: str
    text_pair: str | None
    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    label: str
    probabilities: Mapping[str, float]
    scores: Mapping[str, tuple[float, ...]]


def train(
    chosen: Settings,
    dataset: Dataset,
    *,
    factory: str = "",
    out: Path | None = None,
    on_event: Callable[[Event], None] = lambda _: None,
) -> Trained:
    """Encode the texts, train a classifier on them, measure it on every split, and keep it in `out`.

    A folder with the same training, half done, is gone on with; one with the same training done is read.
    `factory` is the place of a function from `Shape` to a model of the user's own.
    """
    refuse_unknown_names(chosen, factory)
    _refuse_what_cannot_be(chosen, dataset, out)
    corpus = encode(dataset, replace(dataset.encoding, **chosen.encode))
    if out is not None and store.is_model(out):
        return _done_before(out, chosen, corpus, factory)
    trained = train_corpus(chosen, corpus, factory=factory, folder=out, on_event=on_event)
    if out is not None:
        store.save(trained, out)
        checkpoint.remove(out)
    return replace(trained, folder=out)


def train_corpus(
    chosen: Settings,
    corpus: Corpus,
    *,
    factory: str = "",
    folder: Path | None = None,
    on_event: Callable[[Event], None] = lambda _: None,
) -> Trained:
    """Train a classifier on encoded texts and measure it; its checkpoint lives in `folder`."""
    model, vectors = _new_model(chosen, corpus, factory)
    fitted = fit(model, corpus.splits, chosen.train, folder=folder, on_event=on_event)
    record = _record(chosen, corpus, model, fitted, factory) | {"vectors": vectors}
    return Trained(model, corpus.tokenizer, corpus.classes, corpus.task, record, factory)


def read_texts(trained: Trained, texts: Sequence[str], pairs: Sequence[str] | None = None) -> Corpus:
    """New texts in the ids of a trained model; too long ones are cut, as nobody can be asked to mend them."""
    if (pairs is not None) != (trained.task != "single"):
        found = "two texts" if pairs is not None else "one text"
        raise ConfigError(
            f"a model for {trained.task} tasks was given {found}; expected {_texts_of(trained.task)}"
        )
    seconds: Sequence[str | None] = pairs if pairs is not None else [None] * len(texts)
    if len(seconds) != len(texts):
        raise ConfigError(f"expected a second text for each of {len(texts)} texts, found {len(seconds)}")
    candidates = tuple(range(len(trained.classes))) if trained.task == "cloze" else None
    examples = [
        Example(text, 0, f"text {i}", second, candidates=candidates)
        for i, (text, second) in enumerate(zip(texts, seconds, strict=True), start=1)
    ]
    for example in examples:
        if not example.text.strip():
            raise DataError(f"{example.id}: expected words, found an empty text; leave it out")
    dataset = Dataset("texts", "", trained.task, trained.classes, {"test": examples})
    return encode(dataset, EncodeConfig(too_long="cut"), tokenizer=trained.tokenizer)


def predict_texts(
    trained: Trained, texts: Sequence[str], pairs: Sequence[str] | None = None
) -> NDArray[np.floating[Any]]:
    """The probability of every class (example, class)."""
    if not texts:
        return np.empty((0, len(trained.classes)), np.float32)
    return predict(trained.classifier, read_texts(trained, texts, pairs).splits["test"])


def explain_text(
    trained: Trained, text: str, text_pair: str | None = None, *, explainers: Sequence[str] = ("attention",)
) -> Explanation:
    """One text, what the model says of it, and the score of each of its tokens by each explainer."""
    methods = {name: EXPLAINERS[name] for name in explainers}
    encoded = read_texts(trained, [text], None if text_pair is None else [text_pair]).splits["test"]
    classes = len(trained.classes)
    batch = collate(encoded, np.zeros(1, np.int64), classes=classes, device=device_of(trained.classifier))
    with torch.inference_mode():
        likely = probabilities(trained.classifier(batch).logits)[0].tolist()
    own = batch.maskable[0]
    spans = [(int(start), int(end)) for start, end in encoded.spans.row(0) if start >= 0]
    scores = {
        name: tuple(method(trained.classifier, batch).scores[0][own].tolist())
        for name, method in methods.items()
    }
    return Explanation(
        text=text,
        text_pair=text_pair,
        tokens=tuple(text[start:end] for start, end in spans),
        spans=tuple(spans),
        label=trained.classes[int(np.argmax(likely))],
        probabilities=dict(zip(trained.classes, likely, strict=True)),
        scores=scores,
    )


def explain_split(trained: Trained, encoded: Encoded, explainer: str) -> NDArray[np.float32]:
    """The scores of all tokens of a split, flat as its ids are; nan where a token has none."""
    method = EXPLAINERS[explainer]
    model, classes = trained.classifier, len(trained.classes)
    scores = np.full(len(encoded.ids.values), np.nan, np.float32)
    for rows in reading_batches(encoded.ids.lengths()):
        batch = collate(encoded, rows, classes=classes, device=device_of(model))
        starts = encoded.ids.offsets[rows][:, None] + np.arange(batch.ids.shape[1])
        valid = batch.valid.cpu().numpy()
        scores[starts[valid]] = method(model, batch).scores.cpu().numpy()[valid]
    return scores


def refuse_unknown_names(chosen: Settings, factory: str = "") -> None:
    """Ask every table and look for every file before anything takes time."""
    ENCODERS[chosen.model.encoder]
    ATTENTIONS[chosen.model.attention]
    DISTRIBUTIONS[chosen.model.distribution]
    WORDS[chosen.encode.get("words", "plain")]
    if chosen.train.select_by not in METRICS:
        raise ConfigError(unknown("metric", chosen.train.select_by, METRICS))
    if factory:
        locate(factory)
    if chosen.vectors.word2vec and chosen.vectors.embeddings is not None:
        raise ConfigError("expected --embeddings or --word2vec, found both; leave one out")
    for file, expected in (
        (chosen.vectors.embeddings, "word vectors (.txt, .vec or .bin, or these as .gz)"),
        (chosen.encode.get("tokenizer"), "a tokenizer.json of the tokenizers library"),
    ):
        if file is not None and not file.expanduser().exists():
            raise DataError(f"{file}: no such file; expected {expected}")


def _refuse_what_cannot_be(chosen: Settings, dataset: Dataset, out: Path | None) -> None:
    """What would fail only after the texts are encoded, or after the first epoch."""
    if len(dataset.classes) < 2:
        found = ", ".join(map(repr, dataset.classes)) or "none"
        raise DataError(f"{dataset.full_name}: expected two classes or more, found {found}")
    there = [split for split in SPLITS if dataset.splits.get(split)]
    alone = "with train alone there is no split to select the epoch on"
    ways: dict[Split, str] = {
        "train": "there is nothing to train on",
        chosen.train.select_on: "choose another --select-on" if len(there) > 1 else alone,
    }
    for split, way in ways.items():
        if split not in there:
            found, why = ", ".join(there) or "none", "; ".join((way, *(dataset.missing or dataset.notes)))
            raise DataError(f"{dataset.full_name}: expected a {split} split, found {found}; {why}")
    if out is not None and not store.is_model(out):
        place = next(place for place in (out, *out.parents) if place.exists())
        if not place.is_dir() or not os.access(place, os.W_OK):
            raise ConfigError(f"{out}: expected a folder to write to, found {place}; choose another --out")


def _new_model(chosen: Settings, corpus: Corpus, factory: str) -> tuple[nn.Module, dict[str, Any]]:
    """The model before its training, and where its word vectors come from."""
    shape = Shape(len(corpus.tokenizer.vocabulary), corpus.classes, corpus.task)
    if factory:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(chosen.train.seed, "weights"))
            own = store.make(factory, shape)
        if getattr(own, "n_classes", None) != len(shape.classes):
            found = getattr(own, "n_classes", "none")
            raise UnsupportedError(
                f"{factory}: expected a model with n_classes {len(shape.classes)}, found {found}; "
                "faithgauge check-model says what else it lacks"
            )
        return own, {}
    counts = np.bincount(corpus.splits["train"].ids.values, minlength=shape.vocabulary)
    size = chosen.model.embed_size
    vectors: Path | Vectors | None = chosen.vectors.embeddings
    if chosen.vectors.word2vec:
        vectors = train_word2vec([corpus], size or 300, seed=chosen.train.seed)
    matrix, report = embedding_matrix(
        corpus.tokenizer,
        size if vectors or size else 300,
        vectors=vectors,
        scale=chosen.vectors.embedding_scale,
        seed=chosen.train.seed,
        counts=counts,
    )
    config = replace(chosen.model, embed_size=int(matrix.shape[1]))
    return build(config, shape, chosen.train.seed, vectors=torch.from_numpy(matrix)), report


def _done_before(out: Path, chosen: Settings, corpus: Corpus, factory: str) -> Trained:
    trained = store.load(out)
    model, _ = _new_model(chosen, corpus, factory)
    own = fingerprint(model, corpus.splits, chosen.train)
    # Other words or classes in the same places give the same weights, and yet another model.
    same = trained.classes == corpus.classes and trained.tokenizer.state() == corpus.tokenizer.state()
    if trained.record.get("fingerprint") != own or not same:
        raise ConfigError(
            f"{out}: holds a model of another training; choose another --out, or delete this folder"
        )
    checkpoint.remove(out)  # left there by a kill between the last two steps of `train`
    return trained


def _record(
    chosen: Settings, corpus: Corpus, model: nn.Module, fitted: Fitted, factory: str
) -> dict[str, Any]:
    """All that a number of this model must say of itself."""
    measured: dict[Split, dict[str, float]] = {}
    for split in SPLITS:
        if split in corpus.splits:
            encoded = corpus.splits[split]
            measured[split] = metrics(predict(model, encoded), encoded.labels)
    return {
        "dataset": corpus.full_name,
        "complete": corpus.complete,
        "missing": corpus.missing,
        "notes": corpus.notes,
        "encoding": corpus.report,
        "encoder": factory or chosen.model.encoder,
        "attention": chosen.model.attention,
        "distribution": chosen.model.distribution,
        "settings": chosen.train.__dict__,
        "seed": chosen.train.seed,
        "epoch": fitted.epoch,
        "selected_on": chosen.train.select_on,
        "selected_by": chosen.train.select_by,
        "metrics": measured,
        "history": fitted.history,
        "seconds": fitted.seconds,
        "fingerprint": fitted.fingerprint,
        "torch": torch.__version__,
    }


def _texts_of(task: Task) -> str:
    return {"single": "one text", "pair": "two texts", "cloze": "a passage and a question"}[task]
