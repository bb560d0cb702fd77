"""What an audit stands on, before it is planned: data that are encoded, a model to try, scores that fit."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from faithgauge import auditing, jobs
from faithgauge.audit.costs import Load, Pace, pace_of
from faithgauge.audit.plan import EXPLAINERS, KNOWN_ANSWERS, MORE_SEEDS, Choice, Here
from faithgauge.audit.table import AUDITED
from faithgauge.config import DataConfig, ModelConfig, TrainConfig
from faithgauge.engine.alone import compute
from faithgauge.engine.job import File, Job
from faithgauge.engine.store import Store
from faithgauge.errors import ConfigError, DataError, FaithgaugeError, UnsupportedError
from faithgauge.plans import inputs
from faithgauge.plans.audit import Given, Subject, adopted, jobs_by_test, points
from faithgauge.plans.grid import Cell
from faithgauge.settings import PRETRAINED, Settings
from faithgauge.types import SPLITS, Example, Split

if TYPE_CHECKING:
    from faithgauge.encode.corpus import Corpus
    from faithgauge.models.store import Trained


UNKNOWN = ""
"""The encoder of models that cannot be trained, because nobody says with what they begin."""


@dataclass(frozen=True)
class Wish:
    """What is asked for: data and training, or a model that is there; `factory` makes one's own.

    `labels` give the classes of a model that is there other names.
    """

    settings: Settings
    factory: str = ""
    model: str = ""
    retrain: bool = False
    scores: Path | None = None
    explainers: tuple[str, ...] | None = None
    seeds: int | None = None
    labels: str | None = None


@dataclass(frozen=True)
class Ready:
    """All that planning needs to know; `notes` are to be told."""

    wish: Wish
    subject: Subject
    corpus: Corpus
    here: Here
    load: Load
    pace: Pace
    ids: tuple[str, ...]
    trained: tuple[Cell, ...] = ()
    adopted: tuple[Cell, ...] = ()
    notes: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset()
    embed_size: int = 300
    untrainable: str = "and the data have no training split"

    def targets(self, choice: Choice) -> Mapping[str, list[Job]]:
        """The jobs of a choice, by test: of the model that is given, or of those of the first seeds."""
        retrained = self._narrowed(self.trained[: choice.seeds], choice)
        own = self._narrowed(self.adopted, choice) or retrained
        return jobs_by_test({name: retrained if AUDITED[name].trains else own for name in choice.tests})

    def cells(self, choice: Choice) -> list[Cell]:
        """The audited models."""
        return self._narrowed(self.adopted or self.trained[: choice.seeds], choice)

    def _narrowed(self, cells: tuple[Cell, ...], choice: Choice) -> list[Cell]:
        seeds = tuple(cell.model.train.seed for cell in cells)
        return [
            replace(
                cell,
                study=replace(
                    cell.study, explainers=choice.explainers, instances=choice.instances, seeds=seeds
                ),
                given={
                    name: replace(cast("auditing.Take", one), instances=choice.instances)
                    for name, one in cell.given.items()
                },
            )
            for cell in cells
        ]


def ready(wish: Wish, store: Store) -> Ready:
    """Read and encode the data, open the model, fit the scores, and try how fast all of it is here."""
    return _of_given(wish, store) if wish.model else _of_trained(wish, store)


def _of_trained(wish: Wish, store: Store) -> Ready:
    from faithgauge import steps
    from faithgauge.encode.corpus import open_corpus

    steps.refuse_unknown_names(wish.settings, wish.factory)
    data = inputs.prepare(wish.settings.data, wish.settings.encode)
    corpus = open_corpus(compute(data, store) / jobs.CORPUS)
    steps.refuse_what_cannot_be(wish.settings, corpus, None)
    split: Split = "test" if "test" in corpus.splits else "validation"
    notes = (
        () if split == "test" else ("there is no test split: measured on validation, which chose the epoch",)
    )
    examples = _examples(wish.settings.data, split)
    model = _untrained(wish, corpus)
    scores = _scores(wish, examples, corpus, split=split)
    seeds = tuple(range(wish.settings.train.seed, wish.settings.train.seed + (wish.seeds or MORE_SEEDS)))
    subject = Subject(wish.settings, seeds, split=split, factory=wish.factory, given=scores or Given())
    return _ready(wish, subject, corpus, model, notes=notes, ids=[one.id for one in examples])


def _of_given(wish: Wish, store: Store) -> Ready:
    from faithgauge.encode.corpus import open_corpus
    from faithgauge.models.store import open_model

    trained = open_model(wish.model, wish.labels)
    folder = folder_of(trained if wish.labels is None else replace(trained, folder=None))
    record = trained.record
    seed = int(record.get("seed") or 0)
    adopt = auditing.Adopt(_files(folder), TrainConfig(seed=seed, select_on="test"))
    config = wish.settings.data
    split, notes = _which(config, trained)
    data = inputs.prepare(config, {})
    texts = auditing.Texts(
        adopt, data.name, data.files, data.options, split, data.place, data.data_dir, data.lexicon
    )
    corpus = open_corpus(compute(texts, store) / jobs.CORPUS)
    examples = auditing.read_labelled(config, trained.classes, split).splits["test"]
    scores = _scores(wish, examples, corpus, split="test") or Given()
    given = replace(scores, model=adopt, texts=texts)
    chosen = _settings_of(trained, wish.settings) if wish.retrain else wish.settings
    seeds = tuple(range(wish.seeds or MORE_SEEDS))
    subject = Subject(chosen, seeds, split="test", factory=trained.factory, given=given)
    notes += (*_seen_in_training(trained, examples), *_begun_with(wish, trained))
    if _lacks_encoder(wish, trained):
        if wish.retrain:
            raise ConfigError(
                f"--retrain: expected the pretrained encoder that {wish.model} began with, which its folder "
                "does not say; name it: --encoder hf:PLACE"
            )
        subject = replace(subject, settings=replace(chosen, model=ModelConfig(UNKNOWN)))
    return _ready(wish, subject, corpus, trained.classifier, notes=notes, ids=[one.id for one in examples])


def _ready(
    wish: Wish, subject: Subject, corpus: Corpus, model: Any, *, notes: tuple[str, ...], ids: list[str]
) -> Ready:
    from faithgauge.explain.split import capabilities

    load = Load.of(corpus, subject.split)
    own = capabilities(model)
    explainers = _explainers(wish, corpus, model, split=subject.split)
    here = Here(
        explainers,
        texts=load.texts[subject.split],
        evidence=_has_evidence(corpus, subject.split),
        attention="attention" in own,
        trains=not wish.model or wish.retrain,
        heads="heads" in own,
        given=len(subject.given.explainers),
    )
    known = subject.settings.model.encoder != UNKNOWN
    can_train = not wish.model or (known and _trainable(wish))
    if wish.retrain and not can_train:
        raise DataError(
            f"{corpus.full_name}: expected splits train and validation to --retrain on, found not both; "
            "leave --retrain out"
        )
    size = next((one.shape[1] for one in model.parameters() if one.ndim == 2), 300)
    return Ready(
        wish,
        subject,
        corpus,
        here,
        load,
        pace_of(model, corpus, subject.split),
        tuple(ids),
        trained=tuple(points(replace(subject, given=Given() if wish.model else subject.given)))
        if can_train
        else (),
        adopted=tuple(adopted(subject)),
        notes=notes,
        capabilities=own,
        embed_size=int(size),
        untrainable=Ready.untrainable
        if known
        else "and the pretrained encoder is not known; --encoder hf:PLACE names it",
    )


def _explainers(wish: Wish, corpus: Corpus, model: Any, *, split: Split) -> tuple[str, ...]:
    """Those that are asked for, which must be possible; else the usual ones that are."""
    from faithgauge.explain.asked import asked
    from faithgauge.explain.split import refuse_what_lacks
    from faithgauge.models.question import Known

    tokenizer, encoded = corpus.tokenizer, corpus.splits[split]
    known = Known(0, tokenizer.pad, tokenizer.mask, corpus.splits.get("train"))
    if wish.explainers:
        for name in wish.explainers:
            refuse_what_lacks(model, asked(name), known=known, encoded=encoded)
        return tuple(asked(name).label for name in wish.explainers)
    found = []
    for name in (*EXPLAINERS, *(KNOWN_ANSWERS if _has_evidence(corpus, split) else ())):
        try:
            refuse_what_lacks(model, asked(name), known=known, encoded=encoded)
        except UnsupportedError:
            continue
        found.append(name)
    return tuple(found)


def _has_evidence(corpus: Corpus, split: Split) -> bool:
    own = corpus.splits[split].evidence
    return own is not None and bool(own.values.any())


def _untrained(wish: Wish, corpus: Corpus) -> Any:
    """A model as it will be trained, to be tried."""
    import torch

    from faithgauge.models.classifier import Shape, build
    from faithgauge.models.store import make

    shape = Shape(len(corpus.tokenizer.vocabulary), corpus.classes, corpus.task)
    if wish.factory:
        return make(wish.factory, shape)
    size = wish.settings.model.embed_size or 300
    config = replace(wish.settings.model, embed_size=size)
    return build(config, shape, 0, vectors=torch.zeros(shape.vocabulary, size))


def _examples(config: DataConfig, split: Split) -> list[Example]:
    from faithgauge.data.load import load

    return list(load(config).splits[split])


def _scores(wish: Wish, examples: list[Example], corpus: Corpus, *, split: Split) -> Given | None:
    from faithgauge.explain.asked import asked
    from faithgauge.explain.given import align, read_file

    if wish.scores is None:
        return None
    found = align(read_file(wish.scores), examples, corpus.splits[split], tokenizer=corpus.tokenizer)
    ours = {asked(name).label for name in wish.explainers or (*EXPLAINERS, *KNOWN_ANSWERS)}
    if twice := ours & found.keys():
        raise ConfigError(
            f"expected other names for scores from elsewhere than for ours, found {min(twice)!r} twice; "
            "rename it there, or choose other --explainers"
        )
    return Given(scores=File.of(wish.scores), explainers=tuple(found), ids=tuple(one.id for one in examples))


def folder_of(trained: Trained) -> Path:
    """A folder with the model: its own, or one that is written for as long as the program runs."""
    from faithgauge.models.store import is_model, save

    if trained.folder is not None and is_model(trained.folder):
        return trained.folder
    if not trained.factory and not hasattr(trained.classifier, "config"):
        raise UnsupportedError(
            "a model from a function is audited by what makes it anew: expected faithgauge.Trained with a "
            "factory, found none; give it one, or train it with faithgauge train --model"
        )
    folder = Path(tempfile.mkdtemp(prefix="faithgauge-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    save(trained, folder)
    return folder


def _files(folder: Path) -> dict[str, File]:
    return {path.name: File.of(path) for path in sorted(folder.iterdir()) if path.is_file()}


def _which(config: DataConfig, trained: Trained) -> tuple[Split | None, tuple[str, ...]]:
    """The split that is measured; None for all rows of a file that has no splits of its own."""
    from faithgauge.data.load import load

    name = Path(config.name).name
    same = trained.record.get("dataset") in (config.name, name)
    is_file = Path(config.name).expanduser().is_file()
    try:
        found = load(config)
    except DataError:
        if is_file and not same:
            return None, ()
        raise
    ours = any(note.startswith("no split was given") for note in found.notes)
    if is_file and ours and not same:
        return None, ()
    split: Split = (
        "test" if found.splits.get("test") else next(one for one in SPLITS[::-1] if found.splits.get(one))
    )
    if not same:
        return split, ()
    told = f"the model was trained on data of this name ({name}): only the {split} split is measured"
    more = ", which holds what was kept from training if the split has the same seed" if ours else ""
    return split, (told + more,)


def _seen_in_training(trained: Trained, examples: list[Example]) -> tuple[str, ...]:
    """A warning where measured texts stand in the training split of the data that the record names."""
    from faithgauge.data.load import load

    name = str(trained.record.get("dataset") or "")
    try:
        texts = {(one.text, one.text_pair) for one in load(DataConfig(name)).splits.get("train", ())}
    except (FaithgaugeError, OSError):
        return (
            () if name else ("the model does not say what it was trained on: it may have been these texts",)
        )
    seen = sum((one.text, one.text_pair) in texts for one in examples)
    if not seen:
        return ()
    return (
        f"warning: the model was trained on {seen} of these {len(examples)} texts: it may know them by heart",
    )


def _settings_of(trained: Trained, chosen: Settings) -> Settings:
    """As the model was trained, as far as its record says."""
    from faithgauge.settings import checked

    if hasattr(trained.classifier, "heads"):  # a transformer: its record does not have where it began
        return replace(chosen, train=replace(chosen.train, seed=0))
    own = getattr(trained.classifier, "config", None)
    train = checked(TrainConfig, dict(trained.record.get("settings") or {}))
    return replace(chosen, model=own or chosen.model, train=replace(train, seed=0))


def _lacks_encoder(wish: Wish, trained: Trained) -> bool:
    """A transformer that we wrote does not say which pretrained encoder it began with."""
    chosen = wish.settings.model.encoder
    return hasattr(trained.classifier, "heads") and not chosen.startswith(PRETRAINED)


def _begun_with(wish: Wish, trained: Trained) -> tuple[str, ...]:
    """What must be known of models that begin with the weights of the one that is audited."""
    from faithgauge.audit.called import is_theirs

    encoder = wish.settings.model.encoder.removeprefix(PRETRAINED)
    own = Path(wish.model.removeprefix(PRETRAINED)).expanduser().absolute()
    if not (wish.retrain and is_theirs(wish.model) and encoder == str(own)):
        return ()
    return (
        f"the models that are trained begin with the weights of {trained.record['encoder']} under a new "
        "head, and these have learnt its task: --encoder hf:PLACE begins with others",
    )


def _trainable(wish: Wish) -> bool:
    from faithgauge.data.load import load

    try:
        splits = load(wish.settings.data).splits
    except FaithgaugeError:
        return False
    return bool(splits.get("train")) and bool(splits.get("validation"))
