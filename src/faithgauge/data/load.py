"""From a name, a file or a folder to labelled texts with their splits.

A name of a public or synthetic data set wins; then a path that exists; then a name on the hub. Whatever its
source, a data set is `checked` before it is handed on, so that what follows need not ask again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from faithgauge.config import DataConfig, EncodeConfig
from faithgauge.data.dataset import Dataset, Source, Splits
from faithgauge.data.files import Files
from faithgauge.data.splits import sample
from faithgauge.data.table import DATASETS
from faithgauge.errors import ConfigError, DataError
from faithgauge.registry import unknown
from faithgauge.types import SPLITS, Example, Split

_FILES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet", ".gz", ".xz", ".bz2", ".zip", ".tar")


def load(config: DataConfig) -> Dataset:
    """The data set that `config` names, with a note of everything a result on it must say."""
    found = _whole(config)
    return found if config.at_most is None else _sampled(found, config.at_most, config.seed)


def _whole(config: DataConfig) -> Dataset:
    if (public := public_name(config.name)) is not None:
        source, variant = public
        return checked(read_public(source, variant, config.data_dir))
    from faithgauge.data.synthetic import SYNTHETIC

    if config.name in SYNTHETIC:
        return checked(SYNTHETIC[config.name](config))
    from faithgauge.data import generic

    path = Path(config.name).expanduser()
    if path.exists():
        return checked(generic.read(config))
    if path.is_absolute() or config.name.startswith(".") or path.suffix in _FILES:
        raise DataError(
            f"{config.name}: no such file or folder; expected labelled texts or a data set's name"
        )
    if "/" in config.name:
        return checked(generic.read_hub(config))
    raise ConfigError(unknown("data set", config.name, [*_all_public_names(), *SYNTHETIC]))


def _sampled(dataset: Dataset, at_most: int, seed: int) -> Dataset:
    """The data set with a sample of each split that is larger; what is missing is said."""
    splits = {split: sample(examples, at_most, seed) for split, examples in dataset.splits.items()}
    missing = [
        f"{split}: {len(splits[split]):,} of {len(examples):,} examples are used, as was asked"
        for split, examples in dataset.splits.items()
        if len(splits[split]) < len(examples)
    ]
    found = replace(dataset, splits=splits, missing=(*dataset.missing, *missing))
    _refuse_labels_nobody_can_learn(found)
    return found


def public_name(name: str) -> tuple[Source, str] | None:
    """The source and the variant ("" is the official one) of ``NAME`` or ``NAME@VARIANT``."""
    base, _, variant = name.partition("@")
    if base not in DATASETS:
        return None
    source = DATASETS[base]
    if variant and variant not in source.variants:
        raise ConfigError(unknown(f"variant of {base}", variant, source.variants or ["none"]))
    return source, variant


def read_public(source: Source, variant: str, data_dir: Path | None) -> Dataset:
    """A public data set as far as its files are there; only a folder that is not there is an error."""
    folders = find_folders(source, data_dir)
    if not folders:
        raise DataError(not_found(source, data_dir))
    found = source.read(Files(*folders), variant)
    dataset = Dataset(
        name=source.name,
        variant=variant,
        task=source.task,
        classes=found.classes or source.classes,
        splits=found.splits,
        missing=(*found.missing, *_shortfalls(found.splits, source.sizes.get(variant, {}))),
        notes=found.notes,
        substituted=found.substituted,
        encoding=source.encoding.get(variant, source.encoding.get("", EncodeConfig())),
    )
    return _without_empty(dataset)


def find_folders(source: Source, data_dir: Path | None) -> list[Path]:
    """The folders of the data set, by any of its names, in the first place that has one."""
    for place in data_folders(data_dir):
        folders = [place / name for name in (source.name, *source.folders) if (place / name).is_dir()]
        if folders:
            return folders
    return []


def data_folders(data_dir: Path | None) -> list[Path]:
    """Where data sets are looked for: what was asked for, FAITHGAUGE_DATA, the user's cache folder."""
    import platformdirs

    if data_dir is not None and not data_dir.is_dir():
        raise DataError(f"{data_dir}: expected the folder that holds the data sets, found none; create it")
    named = os.environ.get("FAITHGAUGE_DATA")
    folders = [data_dir, Path(named) if named else None, platformdirs.user_cache_path("faithgauge") / "data"]
    return [folder.expanduser() for folder in folders if folder is not None]


def not_found(source: Source, data_dir: Path | None) -> str:
    """The sentence for a data set without a folder: what is wanted, where it was looked for, what to do."""
    names = " or ".join((source.name, *source.folders))
    places = ", ".join(map(str, data_folders(data_dir)))
    files = ", ".join(download.file for download in source.downloads)
    fetch = f"run `faithgauge data fetch {source.name}`" if source.downloads else ""
    way = "; ".join(filter(None, (fetch, source.access)))
    wanted = f" with {files}" if files else ""
    return f"no data of {source.name}: expected a folder {names}{wanted} in one of {places}; {way}"


def checked(dataset: Dataset) -> Dataset:
    """The data set if a classifier can learn from it; texts that stand in two splits become a note."""
    if not any(dataset.splits.values()):
        lacking = "; ".join(dataset.missing) or "every split is empty"
        raise DataError(f"{dataset.full_name}: expected labelled texts, found none; {lacking}")
    for split in SPLITS:
        for example in dataset.splits.get(split, ()):
            if _empty(example):
                raise DataError(
                    f"{dataset.full_name}, {split}, {example.id}: expected a text, found an empty one; "
                    "fill it in or leave it out"
                )
    _refuse_labels_nobody_can_learn(dataset)
    return replace(dataset, notes=(*dataset.notes, *_shared_texts(dataset)))


def _shortfalls(splits: Splits, sizes: Mapping[Split, int]) -> Iterator[str]:
    """A sentence for each split that is there, but not all of it."""
    for split, whole in sizes.items():
        if split in splits and len(splits[split]) < whole:
            yield f"{split}: {len(splits[split]):,} of {whole:,} examples are there"


def _all_public_names() -> list[str]:
    variants = [f"{name}@{variant}" for name in DATASETS for variant in DATASETS[name].variants]
    return [*DATASETS, *variants]


def _empty(example: Example) -> bool:
    return any(not text or text.isspace() for text in (example.text, example.text_pair) if text is not None)


def _without_empty(dataset: Dataset) -> Dataset:
    """A public data set cannot be mended by its user, so its empty texts are left out and counted."""
    splits: dict[Split, list[Example]] = {
        split: [example for example in dataset.splits[split] if not _empty(example)]
        for split in SPLITS
        if split in dataset.splits
    }
    notes = tuple(
        f"{split}: {left_out} with an empty text left out"
        for split, examples in dataset.splits.items()
        if (left_out := len(examples) - len(splits[split]))
    )
    return replace(dataset, splits=splits, notes=(*dataset.notes, *notes))


def _refuse_labels_nobody_can_learn(dataset: Dataset) -> None:
    """One class teaches nothing, and a label that train lacks cannot be predicted.

    The classes of a cloze question are its own candidates, so there a new one may well come up in test.
    """
    train = dataset.splits.get("train", [])
    learnt = {example.label for example in train}
    if not train or dataset.task == "cloze":
        return
    if len(learnt) < 2:
        only = dataset.classes[next(iter(learnt))]
        raise DataError(f"{dataset.full_name}, train: expected two classes or more, found only {only!r}")
    for split in ("validation", "test"):
        for example in dataset.splits.get(split, ()):
            if example.label not in learnt:
                raise DataError(
                    f"{dataset.full_name}, {split}, {example.id}: label {dataset.classes[example.label]!r} "
                    "does not occur in train; correct it, or give train examples of it"
                )


def _shared_texts(dataset: Dataset) -> Iterator[str]:
    noun = "text" if dataset.task == "single" else "pair"
    texts = {
        split: {(example.text, example.text_pair) for example in dataset.splits[split]}
        for split in SPLITS
        if split in dataset.splits
    }
    for one, other in combinations(texts, 2):
        if shared := len(texts[one] & texts[other]):
            stand = f"{noun} stands" if shared == 1 else f"{noun}s stand"
            yield f"{shared} {stand} in both {one} and {other}"
