"""The main path: labelled texts in, a trained classifier and its predictions and explanations out.

    text → Example → Encoded → Batch → Output → Importance

Each step is a function of its own module; here they are put in order.
"""

from __future__ import annotations

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
from faithgauge.encode.batching import collate
from faithgauge.encode.corpus import Corpus, encode
from faithgauge.encode.vectors import embedding_matrix
from faithgauge.errors import ConfigError, DataError
from faithgauge.explain.table import EXPLAINERS
from faithgauge.models import store
from faithgauge.models.attention import ATTENTIONS, DISTRIBUTIONS
from faithgauge.models.classifier import Shape, build, probabilities
from faithgauge.models.encoders import ENCODERS
from faithgauge.models.store import Trained
from faithgauge.settings import Settings
from faithgauge.train import checkpoint
from faithgauge.train.fit import Event, Fitted, fingerprint, fit
from faithgauge.train.metrics import metrics
from faithgauge.train.predict import device_of, predict
from faithgauge.types import SPLITS, Example, Split, Task


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
    _refuse_unknown_names(chosen)
    corpus = encode(dataset, replace(dataset.encoding, **chosen.encode))
    shape = Shape(len(corpus.tokenizer.vocabulary), corpus.classes, corpus.task)
    model, vectors = _new_model(chosen, corpus, shape, factory)
    if out is not None and store.is_model(out):
        return _done_before(out, fingerprint(model, corpus.splits, chosen.train))
    fitted = fit(model, corpus.splits, chosen.train, folder=out, on_event=on_event)
    record = _record(chosen, corpus, model, fitted, factory) | {"vectors": vectors}
    trained = Trained(model, corpus.tokenizer, corpus.classes, corpus.task, record, factory, out)
    if out is not None:
        store.save(trained, out)
        checkpoint.remove(out)
    return trained


def read_texts(trained: Trained, texts: Sequence[str], pairs: Sequence[str] | None = None) -> Corpus:
    """New texts in the ids of a trained model; too long ones are cut, as nobody can be asked to mend them."""
    if (pairs is not None) != (trained.task != "single"):
        found = "two texts" if pairs is not None else "one text"
        raise ConfigError(
            f"a model for {trained.task} tasks was given {found}; expected {_texts_of(trained.task)}"
        )
    seconds: Sequence[str | None] = pairs if pairs is not None else [None] * len(texts)
    candidates = tuple(range(len(trained.classes))) if trained.task == "cloze" else None
    examples = [
        Example(text, 0, str(i), second, candidates=candidates)
        for i, (text, second) in enumerate(zip(texts, seconds, strict=True))
    ]
    for example in examples:
        if not example.text.strip():
            raise DataError(f"text {int(example.id) + 1}: expected words, found an empty text; leave it out")
    dataset = Dataset("texts", "", trained.task, trained.classes, {"test": examples})
    return encode(dataset, EncodeConfig(too_long="cut"), tokenizer=trained.tokenizer)


def predict_texts(
    trained: Trained, texts: Sequence[str], pairs: Sequence[str] | None = None
) -> NDArray[np.floating[Any]]:
    """The probability of every class (example, class)."""
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


def _refuse_unknown_names(chosen: Settings) -> None:
    """Ask every table before anything takes time."""
    ENCODERS[chosen.model.encoder]
    ATTENTIONS[chosen.model.attention]
    DISTRIBUTIONS[chosen.model.distribution]
    file = chosen.vectors.embeddings
    if file is not None and not file.expanduser().is_file():
        raise DataError(f"{file}: no such file; expected word vectors (.txt, .vec or .bin, or these as .gz)")


def _new_model(
    chosen: Settings, corpus: Corpus, shape: Shape, factory: str
) -> tuple[nn.Module, dict[str, Any]]:
    """The model before its training, and where its word vectors come from."""
    if factory:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(chosen.train.seed)
            return store.make(factory, shape), {}
    counts = np.bincount(corpus.splits["train"].ids.values, minlength=shape.vocabulary)
    size = chosen.model.embed_size
    file = chosen.vectors.embeddings
    matrix, report = embedding_matrix(
        corpus.tokenizer,
        size if file or size else 300,
        vectors=file,
        scale=chosen.vectors.embedding_scale,
        seed=chosen.train.seed,
        counts=counts,
    )
    config = replace(chosen.model, embed_size=int(matrix.shape[1]))
    return build(config, shape, chosen.train.seed, vectors=torch.from_numpy(matrix)), report


def _done_before(out: Path, own: str) -> Trained:
    trained = store.load(out)
    if trained.record.get("fingerprint") != own:
        raise ConfigError(
            f"{out}: holds a model of another training; choose another --out, or delete this folder"
        )
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
