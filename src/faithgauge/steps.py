"""The main path as functions: labelled texts in, a trained classifier, its predictions and explanations out.

    text → Example → Encoded → Batch → Output → Importance

Each step is a function of its own module; here they are put in order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from faithgauge.config import DataConfig, EncodeConfig
from faithgauge.data.dataset import Dataset
from faithgauge.data.load import load
from faithgauge.data.sheet import Sheet
from faithgauge.data.splits import DEV
from faithgauge.data.table import DATASETS
from faithgauge.encode.corpus import Corpus, encode
from faithgauge.encode.limit import cut_rows
from faithgauge.encode.vectors import Vectors, embedding_matrix
from faithgauge.encode.word2vec import train_word2vec
from faithgauge.encode.words import WORDS
from faithgauge.errors import ConfigError, DataError, UnsupportedError
from faithgauge.explain.asked import Asked, Target
from faithgauge.explain.given import align
from faithgauge.explain.shown import Found, explanations
from faithgauge.explain.split import explain_split, refuse_what_lacks
from faithgauge.models import pretrained, store
from faithgauge.models.attention import ATTENTIONS, DISTRIBUTIONS
from faithgauge.models.classifier import Shape, build
from faithgauge.models.encoders import ENCODERS
from faithgauge.models.labels import in_order
from faithgauge.models.question import Known
from faithgauge.models.store import Trained
from faithgauge.models.transformer import Transformer
from faithgauge.registry import locate, unknown
from faithgauge.report.explanation import Explanation
from faithgauge.seeds import derive
from faithgauge.settings import Settings
from faithgauge.train import checkpoint
from faithgauge.train.fit import Event, Fitted, facts, fingerprint, fit, labels
from faithgauge.train.goals import Covered, Goal, Guide, Opposition, Reduction
from faithgauge.train.heads import HeadOpposition
from faithgauge.train.metrics import METRICS, metrics
from faithgauge.train.predict import predict
from faithgauge.train.starts import Aim, Covering, Opposed, put_at_start
from faithgauge.types import SPLITS, Encoded, Example, Split, Task

NO_LABEL = -1
"""The label of a text that has none."""


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
    chosen = pretrained.completed(chosen)
    refuse_what_cannot_be(chosen, dataset, out)
    corpus = encode(dataset, replace(dataset.encoding, **chosen.encode))
    if out is not None and store.is_model(out):
        return done_before(out, chosen, corpus, factory=factory)
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
    aim: Aim = None,
    folder: Path | None = None,
    on_event: Callable[[Event], None] = lambda _: None,
) -> Trained:
    """Train a classifier on encoded texts and measure it; its checkpoint lives in `folder`.

    `aim` is attention that it is given, the model that it is to oppose, one as which it is to begin, or that
    texts are to be masked while it learns.
    """
    splits, config = corpus.splits, chosen.train
    guide = aim if isinstance(aim, Mapping) else None
    drawn = chosen
    if isinstance(aim, Opposed) and aim.how.draw:
        drawn = replace(chosen, train=replace(config, seed=derive(config.seed, "draw", aim.how.draw)))
    model, vectors = _new_model(drawn, corpus, factory)
    goal: Goal = labels(model, splits, config, guide=guide)
    if isinstance(aim, Opposed):
        goal = _opposition(aim, splits, config.loss)
        put_at_start(model, aim, splits, config=config)
    if isinstance(aim, nn.Module):
        model.load_state_dict(aim.state_dict())
    if isinstance(aim, Covering):
        goal = Covered(labels(model, splits, config), aim.mask, config.seed, aim.first_text)
    fitted = fit(model, splits, config, goal=goal, folder=folder, on_event=on_event)
    record = _record(chosen, corpus, fitted, factory) | {"metrics": _measured(model, splits, guide)}
    record |= {"vectors": vectors}
    return Trained(model, corpus.tokenizer, corpus.classes, corpus.task, record, factory)


def _opposition(aim: Opposed, splits: Mapping[Split, Encoded], reduction: Reduction) -> Goal:
    """To oppose a model by its attention, of a transformer by that of every head."""
    if isinstance(aim.base, Transformer):
        return HeadOpposition(splits, aim.said, aim.base, aim.how, reduction)
    return Opposition(splits, aim.said, aim.how, reduction)


def read_texts(trained: Trained, texts: Sequence[str], pairs: Sequence[str] | None = None) -> Corpus:
    """New texts in the ids of a trained model; too long ones are cut, as nobody can be asked to mend them."""
    return read_examples(trained, new_examples(texts, pairs))


def new_examples(texts: Sequence[str], pairs: Sequence[str] | None = None) -> list[Example]:
    """New texts, which have no label."""
    if isinstance(texts, str) or isinstance(pairs, str):
        raise ConfigError("expected a list of texts, found one text; put it into a list: [text]")
    seconds: Sequence[str | None] = pairs if pairs is not None else [None] * len(texts)
    if len(seconds) != len(texts):
        raise ConfigError(f"expected a second text for each of {len(texts)} texts, found {len(seconds)}")
    return [
        Example(text, NO_LABEL, f"text {i}", second)
        for i, (text, second) in enumerate(zip(texts, seconds, strict=True), start=1)
    ]


def read_examples(trained: Trained, examples: Sequence[Example]) -> Corpus:
    """As `read_texts`, of texts that may have labels and evidence."""
    pairs = any(example.text_pair is not None for example in examples)
    if examples and pairs not in [task != "single" for task in trained.tasks]:
        found = "two texts" if pairs else "one text"
        raise ConfigError(
            f"a model for {trained.task} tasks was given {found}; expected {_texts_of(trained.task)}"
        )
    for example in examples:
        if not example.text.strip():
            raise DataError(f"{example.id}: expected words, found an empty text; leave it out")
    if trained.task == "cloze":
        every = tuple(range(len(trained.classes)))
        examples = [replace(one, candidates=one.candidates or every) for one in examples]
    dataset = Dataset("texts", "", trained.task, trained.classes, {"test": list(examples)})
    return encode(dataset, EncodeConfig(too_long="cut"), tokenizer=trained.tokenizer)


def predict_texts(
    trained: Trained, texts: Sequence[str], pairs: Sequence[str] | None = None
) -> NDArray[np.floating[Any]]:
    """The probability of every class (example, class)."""
    if not texts:
        return np.empty((0, len(trained.classes)), np.float32)
    return predict(trained.classifier, read_texts(trained, texts, pairs).splits["test"])


def explain_text(
    trained: Trained,
    text: str,
    text_pair: str | None = None,
    *,
    asked: Mapping[str, Asked],
    known: Known | None = None,
) -> Explanation:
    """One text, what the model says of it, and the score of each of its tokens by each explainer."""
    examples = new_examples([text], None if text_pair is None else [text_pair])
    (explanation,) = explain_examples(trained, examples, asked, known=known)
    return replace(explanation, id="")


def explain_examples(
    trained: Trained,
    examples: Sequence[Example],
    asked: Mapping[str, Asked],
    *,
    known: Known | None = None,
    scores: Sheet | None = None,
    on_progress: Callable[[str, float, float], None] = lambda _explainer, _done, _total: None,
) -> Iterator[Explanation]:
    """Texts with the scores of their tokens: by the explainers `asked`, and `scores` from elsewhere.

    All is computed at once, and what is wrong said before; the texts are put together one by one.
    """
    model, corpus = trained.classifier, read_examples(trained, examples)
    encoded = corpus.splits["test"]
    known = known_of(trained) if known is None else known
    for one in asked.values():
        refuse_what_lacks(model, one, known=known, encoded=encoded)
    given = {} if scores is None else align(scores, examples, encoded, tokenizer=trained.tokenizer)
    if twice := asked.keys() & given.keys():
        raise ConfigError(
            f"expected other names for scores from elsewhere than for ours, found {min(twice)!r} twice; "
            "rename it there, or ask for another explainer"
        )
    found = {
        name: explain_split(model, encoded, one, known=known, on_progress=partial(on_progress, name))
        for name, one in asked.items()
    }
    likely = predict(model, encoded)
    every = explanations(
        examples, encoded, Found(asked, found, given), classes=trained.classes, likely=likely
    )
    cut = cut_rows(encoded, trained.tokenizer) if corpus.report["splits"]["test"].get("cut") else {}
    return (replace(one, cut=cut.get(i, 0)) for i, one in enumerate(every))


def aimed(trained: Trained, asked: Mapping[str, Asked], target: str) -> dict[str, Asked]:
    """The same explainers, all of one class: ``predicted``, ``gold``, or a class by its name or number."""
    numbers: dict[str, Target] = {"predicted": "predicted", "gold": "gold"}
    numbers |= {str(i): i for i in range(len(trained.classes))}
    numbers |= {name: i for i, name in enumerate(trained.classes)}
    if target not in numbers:
        raise ConfigError(unknown("class", target, ("predicted", "gold", *trained.classes)))
    return {name: replace(one, target=numbers[target]) for name, one in asked.items()}


def training_texts(trained: Trained, data: str) -> Encoded:
    """The training split of some data in the ids of a model that was trained on it."""
    dataset = in_order(load(DataConfig(data)), trained.classes)
    if not dataset.splits.get("train"):
        raise DataError(f"{data}: expected a training split, found none")
    return read_examples(trained, dataset.splits["train"]).splits["test"]


def known_of(trained: Trained, train: Encoded | None = None, seed: int = 0) -> Known:
    """What explainers may draw on beside the text: special tokens, and the training split if it is there."""
    tokenizer = trained.tokenizer
    return Known(seed, tokenizer.pad, tokenizer.mask, train)


def refuse_unknown_names(chosen: Settings, factory: str = "") -> None:
    """Ask every table and look for every file before anything takes time."""
    if pretrained.is_pretrained(chosen.model.encoder):
        pretrained.find(chosen.model.encoder)
    else:
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
        if file is not None and not file.expanduser().is_file():
            found = "a folder, no file" if file.expanduser().is_dir() else "no such file"
            raise DataError(f"{file}: {found}; expected {expected}")


def refuse_what_cannot_be(chosen: Settings, dataset: Dataset | Corpus, out: Path | None) -> None:
    """What would fail only after the first epoch, or at the end."""
    if len(dataset.classes) < 2:
        found = ", ".join(map(repr, dataset.classes)) or "none"
        raise DataError(f"{dataset.full_name}: expected two classes or more, found {found}")
    there = [split for split in SPLITS if dataset.splits.get(split)]
    alone = "with train alone there is no split to select the epoch on"
    ways: dict[Split, str] = {
        "train": _instead(dataset.name) or "there is nothing to train on",
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


def _instead(name: str) -> str:
    """What else could be trained on, of a data set that has a variant for that."""
    known = name in DATASETS and DEV in DATASETS[name].variants
    return f"{name}@{DEV} trains on its validation part, as a substitute" if known else ""


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
    if pretrained.is_pretrained(encoder := chosen.model.encoder):
        made = pretrained.new(encoder, shape.classes, vocabulary=shape.vocabulary, seed=chosen.train.seed)
        made = Transformer(made.network, chosen.model.distribution)
        return made, {"vectors": f"those of {pretrained.name_of(encoder)}"}
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


def done_before(out: Path, chosen: Settings, corpus: Corpus, *, factory: str = "") -> Trained:
    """The model in a folder, if it is the one that this training would end with."""
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


def _measured(
    model: nn.Module, splits: Mapping[Split, Encoded], guide: Guide | None
) -> dict[Split, dict[str, float]]:
    """The metrics of every split that is there, in order."""
    found: dict[Split, dict[str, float]] = {}
    for split in (split for split in SPLITS if split in splits):
        likely = predict(model, splits[split], guide=None if guide is None else guide[split])
        found[split] = metrics(likely, splits[split].labels)
    return found


def _record(chosen: Settings, corpus: Corpus, fitted: Fitted, factory: str) -> dict[str, Any]:
    """All that a number of this model must say of itself, but how well it does and its word vectors."""
    whole = pretrained.is_pretrained(chosen.model.encoder)
    return {
        "dataset": corpus.full_name,
        "complete": corpus.complete,
        "substituted": corpus.substituted,
        "missing": corpus.missing,
        "notes": corpus.notes,
        "encoding": corpus.report,
        "encoder": factory or (pretrained.name_of(chosen.model.encoder) if whole else chosen.model.encoder),
        "attention": None if whole else chosen.model.attention,
        "distribution": chosen.model.distribution,
        "settings": facts(chosen.train),
        "seed": chosen.train.seed,
        "epoch": fitted.epoch,
        "selected_on": chosen.train.select_on,
        "selected_by": chosen.train.select_by,
        "history": fitted.history,
        "seconds": fitted.seconds,
        "fingerprint": fitted.fingerprint,
        "torch": torch.__version__,
    }


def _texts_of(task: Task) -> str:
    return {"single": "one text", "pair": "two texts", "cloze": "a passage and a question"}[task]
