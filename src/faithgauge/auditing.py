"""The jobs that only an audit has: a model, texts and scores from elsewhere, and what a model gets right."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faithgauge import results
from faithgauge.config import DataConfig, TrainConfig
from faithgauge.data.dataset import Dataset
from faithgauge.engine.job import File, Here, Job, apart
from faithgauge.errors import DataError
from faithgauge.jobs import CORPUS, MODEL, corpus_of, trained_of
from faithgauge.types import Example, Split


@dataclass(frozen=True, eq=False)
class Adopt(Job):
    """A model that was trained before: its folder, file by file, each known by its content."""

    files: Mapping[str, File]
    train: TrainConfig = apart(TrainConfig())

    def run(self, here: Here) -> None:
        target = here.folder / MODEL
        target.mkdir()
        for name, file in self.files.items():
            shutil.copyfile(file.path, target / name)


@dataclass(frozen=True, eq=False)
class Texts(Job):
    """Labelled texts in the ids of a model that is there: as its test split, whatever they are called.

    `whole` takes all rows of a file, else the split is that of the data. Classes are known by their names.
    """

    model: Job
    name: str
    files: tuple[File, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    split: Split | None = None
    place: Path | None = apart(None)
    data_dir: Path | None = apart(None)
    lexicon: Path | None = apart(None)

    def run(self, here: Here) -> None:
        from dataclasses import replace

        from faithgauge.encode.corpus import save_corpus
        from faithgauge.steps import read_examples

        trained = trained_of(here, self.model)
        found = read_labelled(self._config(), trained.classes, self.split)
        corpus = read_examples(trained, found.splits["test"])
        named = replace(
            corpus,
            name=found.name,
            variant=found.variant,
            missing=found.missing,
            notes=found.notes,
            substituted=found.substituted,
        )
        save_corpus(named, here.folder / CORPUS)

    def _config(self) -> DataConfig:
        options = dict(self.options)
        name = str(self.place or self.name)
        return DataConfig(name, data_dir=self.data_dir, lexicon=self.lexicon, **options)


@dataclass(frozen=True, eq=False)
class Take(Job):
    """Scores from elsewhere on the tokens of these texts, stored as an `Explain` stores its own."""

    data: Job
    file: File
    explainer: str
    ids: tuple[str, ...]
    split: Split = "test"
    instances: int | None = None

    def run(self, here: Here) -> None:
        import numpy as np

        from faithgauge.explain.given import align, read_file
        from faithgauge.explain.split import sample
        from faithgauge.measured import GIVEN

        corpus = corpus_of(here, self.data)
        encoded = corpus.splits[self.split]
        examples = [
            Example(encoded.text(i), int(encoded.labels[i]), one, encoded.text_pair(i))
            for i, one in enumerate(self.ids)
        ]
        found = align(read_file(self.file.path), examples, encoded, tokenizer=corpus.tokenizer)
        own = found[self.explainer].scores
        rows = sample(len(encoded), self.instances)
        np.save(here.folder / f"rows-{self.split}.npy", rows)
        np.save(here.folder / f"scores-{self.split}.npy", own.scores)
        if own.pair is not None:
            np.save(here.folder / f"pair-{self.split}.npy", own.pair)
        signed = bool((np.nan_to_num(own.scores) < 0).any())
        (here.folder / GIVEN).write_text(json.dumps({"signed": signed}), encoding="utf-8")


@dataclass(frozen=True, eq=False)
class Hit(Job):
    """Of every text whether the model names its class: a row each, 1 or 0, by the class that is right."""

    answer: Job
    data: Job
    split: Split = "test"

    def run(self, here: Here) -> None:
        from faithgauge.comparing import kept

        corpus = corpus_of(here, self.data)
        answers, labels = kept(here.path(self.answer), corpus), corpus.splits[self.split].labels
        named = answers.said[self.split].probability.argmax(-1)
        part = answers.where(self.split, {}) | {
            "measure": "right",
            "example": [str(i) for i in range(len(labels))],
            "class": [answers.classes[label] for label in labels],
            "class_of": "gold",
            "value": (named == labels).astype(float),
        }
        results.write_parts([part], here.folder / results.ROWS)


def read_labelled(config: DataConfig, classes: tuple[str, ...], split: Split | None) -> Dataset:
    """The labelled texts of some data, as a test split with the numbers of these classes."""
    from dataclasses import replace

    from faithgauge.data.generic import read_marked
    from faithgauge.data.load import load
    from faithgauge.data.splits import sample

    if split is None:
        examples = read_marked(config, classes)
        name, notes = Path(config.name).name, ("all rows of the file are measured",)
        found = Dataset(name, "", "single", classes, {"test": examples}, notes=notes)
    else:
        loaded = load(config)
        lacking = [name for name in loaded.classes if name not in classes]
        if lacking:
            raise DataError(
                f"{loaded.full_name}: expected classes of the model ({', '.join(classes)}), found "
                f"{lacking[0]!r}; rename them, or choose another model"
            )
        number = [classes.index(name) for name in loaded.classes]
        own = [replace(one, label=number[one.label]) for one in loaded.splits.get(split, [])]
        found = replace(loaded, classes=classes, splits={"test": own})
    labelled = [one for one in found.splits["test"] if one.label >= 0]
    if not labelled:
        raise DataError(
            f"{config.name}: expected texts labelled with classes of the model ({', '.join(classes)}), found "
            "none; name their column with --label, or the classes of the model with --labels"
        )
    if left := len(found.splits["test"]) - len(labelled):
        found = replace(found, notes=(*found.notes, f"{left} texts without a label are left out"))
    if config.at_most is not None:
        labelled = sample(labelled, config.at_most, config.seed)
    return replace(found, splits={"test": labelled})
