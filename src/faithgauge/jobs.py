"""The main path as jobs: each kind has what it needs as fields, and a short `run`.

    Prepare → Train → Evaluate
            ↘ Explain → Mask → Train → …

A job that another needs is a field of it, so recursive ROAR is a loop that wraps one Train in the next:

    data = Prepare("planted")
    for step in range(1, 10):
        model = Train(data, …)
        data = Mask(data, Explain(model, data, "attention"), step / 10)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from faithgauge import results
from faithgauge.config import AdversaryConfig, DataConfig, ModelConfig, TrainConfig, VectorConfig
from faithgauge.engine.job import File, Here, Job, apart, later
from faithgauge.errors import UnsupportedError
from faithgauge.settings import PRETRAINED, Settings
from faithgauge.types import Split

if TYPE_CHECKING:
    from faithgauge.encode.corpus import Corpus
    from faithgauge.models.store import Trained
    from faithgauge.train.fit import Event
    from faithgauge.train.starts import Aim

CORPUS, MODEL, MASKED = "corpus", "model", "masked.json"
LISTENER: ContextVar[Callable[[Event], None]] = ContextVar("listener", default=lambda _: None)
"""Who hears of every step of a training that runs in this process."""


@dataclass(frozen=True, eq=False)
class Prepare(Job):
    """Text to ids. The files are known by their content; `place` only says where they are."""

    name: str
    files: tuple[File, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    encode: Mapping[str, Any] = field(default_factory=dict)
    place: Path | None = apart(None)
    data_dir: Path | None = apart(None)
    lexicon: Path | None = apart(None)

    def run(self, here: Here) -> None:
        from faithgauge.data.load import load
        from faithgauge.encode.corpus import encode

        encoding: dict[str, Any] = {
            key: one.path if isinstance(one, File) else one for key, one in self.encode.items()
        }
        name = str(self.place or self.name)
        dataset = load(DataConfig(name, data_dir=self.data_dir, lexicon=self.lexicon, **self.options))
        encode(dataset, replace(dataset.encoding, **encoding), here.folder / CORPUS)


@dataclass(frozen=True, eq=False)
class Train(Job):
    """Encoded data to a trained classifier; what it stands on while it trains is in ``here.partial``.

    With a `guide` (an `Answer` or an `Explain`) it is given the attention of that; with an `adversary` it is
    trained against the model whose `Answer` is its `target`, and begins at `base` where its start says so.
    Without one it begins at `base`, if there is one. With `masked_inputs` a random share of each second text
    is masked anew at each step, with "first_text" of a pair in one row that of the first alone. A
    `pretrained` encoder is known by its files, and lies at `place`.
    """

    data: Job
    model: ModelConfig
    train: TrainConfig
    embeddings: File | None = None
    embedding_scale: float = 0.1
    factory: str = ""
    word2vec: bool = False
    guide: Job | None = later(None)
    target: Job | None = later(None)
    base: Job | None = later(None)
    adversary: AdversaryConfig | None = later(None)
    masked_inputs: bool | Literal["first_text"] = later(False)
    pretrained: tuple[File, ...] = later(())
    place: Path | None = apart(None)

    def run(self, here: Here) -> None:
        from faithgauge.models import store
        from faithgauge.steps import train_corpus

        _threads(here)
        corpus = corpus_of(here, self.data)
        file = self.embeddings.path if self.embeddings else None
        vectors = VectorConfig(file, self.embedding_scale, self.word2vec)
        trained = train_corpus(
            Settings(DataConfig(""), {}, self._model(), vectors, self.train),
            corpus,
            factory=self.factory,
            aim=self._aim(here, corpus),
            folder=here.partial,
            on_event=lambda event: _tell(here, event),
        )
        record = {name: value for name, value in trained.record.items() if name != "seconds"}
        store.save(replace(trained, record=record), here.folder / MODEL)

    def _model(self) -> ModelConfig:
        return self.model if self.place is None else replace(self.model, encoder=f"{PRETRAINED}{self.place}")

    def _aim(self, here: Here, corpus: Corpus) -> Aim:
        from faithgauge import comparing
        from faithgauge.train.starts import Covering, Opposed

        base = trained_of(here, self.base).classifier if self.base else None
        if self.guide is not None:
            return comparing.guide_of(here.path(self.guide), corpus)
        if self.masked_inputs:
            return Covering(mask_of(corpus), self.masked_inputs == "first_text")
        if self.target is None or self.adversary is None:
            return base
        return Opposed(comparing.kept(here.path(self.target), corpus).said, self.adversary, base)


@dataclass(frozen=True, eq=False)
class Evaluate(Job):
    """The metrics of a model on splits of some data, one row each; `guide` is that of its training."""

    model: Job
    data: Job
    splits: tuple[Split, ...] = ("validation", "test")
    guide: Job | None = later(None)
    setting: Mapping[str, Any] | None = later(None)

    def run(self, here: Here) -> None:
        from faithgauge.comparing import guide_of
        from faithgauge.measured import about
        from faithgauge.train.metrics import metrics
        from faithgauge.train.predict import predict

        trained, corpus = trained_of(here, self.model), corpus_of(here, self.data)
        guide = guide_of(here.path(self.guide), corpus) if self.guide is not None else {}
        rows = []
        for split in self.splits:
            if split in corpus.splits:
                encoded, where = corpus.splits[split], about(trained, split, self.setting)
                likely = predict(trained.classifier, encoded, guide=guide.get(split))
                for name, value in metrics(likely, encoded.labels).items():
                    reason = "" if value == value else "not defined for these labels"
                    rows.append(where | {"measure": name, "value": value, "reason": reason})
        results.write(rows, here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class Count(Job):
    """How many texts each split of some data has, one row each."""

    data: Job

    def run(self, here: Here) -> None:
        corpus = corpus_of(here, self.data)
        mark = {} if corpus.complete else {"data": "substituted" if corpus.substituted else "partial"}
        about = {"dataset": corpus.full_name, "measure": "texts", "setting": json.dumps(mark)}
        rows = [about | {"split": name, "value": float(len(own))} for name, own in corpus.splits.items()]
        results.write(rows, here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class Explain(Job):
    """One number per token: ``scores-SPLIT.npy``, flat as the ids are, and what else `Scores` holds.

    `explainer` is written as `explain.asked` reads it; all `splits` where none is named. Of each at most
    `instances` texts are explained, the same ones whatever the seed, and the scores of the rest are nan.
    """

    model: Job
    data: Job
    explainer: str
    splits: tuple[Split, ...] = ()
    instances: int | None = None
    seed: int = 0

    def run(self, here: Here) -> None:
        import numpy as np

        from faithgauge.explain.asked import asked
        from faithgauge.explain.split import explain_split, sample
        from faithgauge.steps import known_of

        trained, corpus = trained_of(here, self.model), corpus_of(here, self.data)
        known = known_of(trained, corpus.splits.get("train"), self.seed)
        for split in self.splits or tuple(corpus.splits):
            encoded = corpus.splits[split]
            rows = sample(len(encoded), self.instances)
            found = explain_split(
                trained.classifier,
                encoded,
                asked(self.explainer),
                known=known,
                rows=rows,
                on_progress=here.progress,
            )
            np.save(here.folder / f"rows-{split}.npy", rows)
            for name, scores in (("scores", found.scores), ("pair", found.pair), ("error", found.error)):
                if scores is not None:
                    np.save(here.folder / f"{name}-{split}.npy", scores)


@dataclass(frozen=True, eq=False)
class Agree(Job):
    """How far explanations of the same texts agree: one row for each text, pair of them and measure.

    With `again`, the same explanations of another model, each is compared with itself instead. `setting` is
    what the rows are to say of themselves beside all that they say anyway.
    """

    model: Job
    data: Job
    explanations: Mapping[str, Job]
    measures: tuple[str, ...]
    split: Split = "test"
    again: Mapping[str, Job] = field(default_factory=dict)
    setting: Mapping[str, Any] = field(default_factory=dict)

    def run(self, here: Here) -> None:
        from faithgauge import measured

        of = measured.Measured.of(*_opened(here, self), self.split, setting=self.setting)
        found = [of.explained(here.path(job), label) for label, job in self.explanations.items()]
        if self.again:
            other = [of.explained(here.path(job), label) for label, job in self.again.items()]
            parts = measured.agreement_again(of, found, self.measures, again=other)
        else:
            parts = measured.agreement(of, found, self.measures)
        results.write_parts(parts, here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class Erase(Job):
    """What becomes of the prediction when tokens go in the order of each explanation, or in random order."""

    model: Job
    data: Job
    explanations: Mapping[str, Job]
    split: Split = "test"
    by: Literal["mask", "delete"] = "mask"

    def run(self, here: Here) -> None:
        from faithgauge import measured

        of = measured.Measured.of(*_opened(here, self), self.split, setting={"erased_by": self.by})
        found = [of.explained(here.path(job), label) for label, job in self.explanations.items()]
        results.write_parts(measured.erasure(of, found, self.by), here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class Find(Job):
    """How well each explanation, or a random order, finds the tokens that are known to decide the label."""

    model: Job
    data: Job
    explanations: Mapping[str, Job]
    split: Split = "test"

    def run(self, here: Here) -> None:
        from faithgauge import measured

        of = measured.Measured.of(*_opened(here, self), self.split)
        found = [of.explained(here.path(job), label) for label, job in self.explanations.items()]
        results.write_parts(measured.plausibility(of, found), here.folder / results.ROWS)


@dataclass(frozen=True, eq=False)
class Answer(Job):
    """What a model says of every text of some splits, of all by default: probabilities and attention."""

    model: Job
    data: Job
    splits: tuple[Split, ...] = ()

    def run(self, here: Here) -> None:
        from faithgauge.comparing import keep

        trained, corpus = _opened(here, self)
        keep(trained, corpus, self.splits or tuple(corpus.splits), folder=here.folder)


@dataclass(frozen=True, eq=False)
class Mask(Job):
    """The data with the share `fraction` of each text's tokens masked, or `count` of them.

    The most important go first, and what is masked already stays masked and is counted in. With `splits`
    only these are masked. Of a pair in one row both texts count as one, or with `first_text` the first is
    masked alone. ``masked.json`` has by split the texts, and those that lacked scores.
    """

    data: Job
    explanation: Job
    fraction: float | None = None
    count: int | None = later(None)
    rounding: Literal["exact", "float32"] = later("exact")
    splits: tuple[Split, ...] = later(())
    first_text: bool = later(False)

    def run(self, here: Here) -> None:
        import numpy as np

        from faithgauge.encode.corpus import save_masked
        from faithgauge.faithfulness.masking import Amount, masked

        corpus, folder = corpus_of(here, self.data), here.path(self.explanation)
        mask, amount = mask_of(corpus), Amount(self.fraction, self.count, self.rounding)
        found = {
            split: masked(
                corpus.splits[split] if self.first_text else replace(corpus.splits[split], segments=None),
                np.load(folder / f"scores-{split}.npy", mmap_mode="r", allow_pickle=False),
                amount,
                mask=mask,
            )
            for split in self.splits or tuple(corpus.splits)
        }
        ids = {split: found[split].ids if split in found else own.ids for split, own in corpus.splits.items()}
        save_masked(corpus, ids, here.path(self.data) / CORPUS, folder=here.folder / CORPUS)
        facts = {split: {"texts": len(one.ids), "unscored": one.unscored} for split, one in found.items()}
        (here.folder / MASKED).write_text(json.dumps(facts, sort_keys=True), encoding="utf-8")


def corpus_of(here: Here, data: Job) -> Corpus:
    """The encoded data that a job has as input."""
    from faithgauge.encode.corpus import open_corpus

    return open_corpus(here.path(data) / CORPUS)


def mask_of(corpus: Corpus) -> int:
    """The id of the token that stands for any other one."""
    if corpus.tokenizer.mask is None:
        raise UnsupportedError("the tokenizer has no mask token; choose words instead of this tokenizer")
    return corpus.tokenizer.mask


def trained_of(here: Here, model: Job) -> Trained:
    """The model that a job has as input."""
    from faithgauge.models import store

    _threads(here)
    return store.load(here.path(model) / MODEL)


def _opened(here: Here, job: Agree | Erase | Find | Answer) -> tuple[Trained, Corpus]:
    return trained_of(here, job.model), corpus_of(here, job.data)


def _threads(here: Here) -> None:
    import torch

    torch.set_num_threads(here.threads)


def _tell(here: Here, event: Event) -> None:
    LISTENER.get()(event)
    done = (event.epoch - 1) * event.steps + event.step
    here.progress(done, event.epochs * event.steps, f"epoch {event.epoch}/{event.epochs}")
