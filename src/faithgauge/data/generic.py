"""Anyone's labelled texts: a file, a folder with a file for each split, a saved data set, a hub name.

Each is read into sheets by split; a sheet without a split of its own is divided by its split column, or else
by us. What was taken for what is said in the notes of the data set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from faithgauge.config import DataConfig
from faithgauge.data.columns import NAMES, SPLIT_NAMES, Columns, choose_marked, choose_texts
from faithgauge.data.dataset import Dataset
from faithgauge.data.labelled import Part, class_names, dataset, example
from faithgauge.data.sheet import from_arrow, kind, normal, read_sheet
from faithgauge.errors import DataError, UnsupportedError
from faithgauge.types import Example, Split

_SPLIT_FILE = re.compile(
    r"(^|[._-])(train|training|dev|val|valid|validation|test)([._-]\d+([._-]of[._-]\d+)?)?$", re.IGNORECASE
)


def read(config: DataConfig) -> Dataset:
    """The labelled texts of the file or folder that `config.name` is the path of."""
    path = Path(config.name).expanduser()
    if not path.exists():
        raise DataError(f"{path}: no such file or folder; expected labelled texts")
    name = path.resolve().name
    if not path.is_dir():  # a pipe is no regular file, and is read as one
        return dataset(name, [(None, read_sheet(path, _header_names(config)))], config)
    if (path / "dataset_dict.json").exists() or (path / "state.json").exists():
        parts, left_out = _saved(path)
        return dataset(name, parts, config, more_notes=left_out)
    return dataset(name, _folder(path, config), config)


def read_hub(config: DataConfig) -> Dataset:
    """A data set of the Hugging Face hub, ``owner/name`` or ``owner/name:configuration``."""
    load_dataset = _datasets_library().load_dataset
    name, _, configuration = config.name.partition(":")
    try:
        loaded = load_dataset(name, configuration or None)
    except Exception as error:  # whatever the hub, the network or a loading script has to say
        raise DataError(f"{config.name}: could not be loaded from the hub: {_first_line(error)}") from error
    parts, left_out = _loaded(loaded, config.name)
    return dataset(config.name, parts, config, more_notes=left_out)


def read_texts(config: DataConfig) -> list[Example]:
    """The texts of one file whose labels, if it has any, are not asked for; each label is -1."""
    sheet = read_sheet(Path(config.name).expanduser(), _header_names(config))
    text, pair = choose_texts(sheet, config)
    return [example(sheet, Columns(text, pair, ""), i, label=-1) for i in range(len(sheet))]


def read_marked(config: DataConfig, classes: Sequence[str]) -> list[Example]:
    """The texts of one file with what is known of them: evidence, and labels where they are of `classes`.

    A column of labels that is named must hold these classes. One that only looks like labels, and holds
    others, is left aside, and each label is -1.
    """
    sheet = read_sheet(Path(config.name).expanduser(), _header_names(config))
    columns = choose_marked(sheet, config)
    labels: list[int] = [-1] * len(sheet)
    if columns.label:
        number = {name: i for i, name in enumerate(classes)}
        found = class_names(sheet, columns.label)
        wrong = next((i for i, name in enumerate(found) if name is not None and name not in number), None)
        if wrong is None:
            labels = [-1 if name is None else number[name] for name in found]
        elif config.label is not None:
            raise DataError(
                f"{sheet.place(wrong)}: expected a class of the model ({', '.join(classes)}) in column "
                f"{columns.label!r}, found {found[wrong]!r}; name another column, or none, or say which "
                "class is which: --labels"
            )
    return [example(sheet, columns, i, label=label) for i, label in enumerate(labels)]


def _folder(folder: Path, config: DataConfig) -> list[Part]:
    """The files of a folder that are named after a split; several of one split only if they are numbered."""
    parts: list[Part] = []
    numbered: dict[Split, bool] = {}
    for path in sorted(folder.iterdir()):
        ending = kind(path) if path.is_file() else None
        found = _SPLIT_FILE.search(path.name[: path.name.lower().rindex(ending)]) if ending else None
        if found is None:
            continue
        split = SPLIT_NAMES[found[2].lower()]
        if not numbered.get(split, True) or (split in numbered and not found[3]):
            raise DataError(f"{folder}: found {path.name} beside another {split} file; remove one of them")
        numbered[split] = bool(found[3])
        parts.append((split, read_sheet(path, _header_names(config))))
    if not parts:
        raise DataError(
            f"{folder}: expected files train, validation and test (.csv, .tsv, .jsonl, .json, .parquet), "
            "found none; give the path of one file instead"
        )
    return parts


def _saved(folder: Path) -> tuple[list[Part], tuple[str, ...]]:
    load_from_disk = _datasets_library().load_from_disk
    try:
        loaded = load_from_disk(str(folder))
    except Exception as error:  # a missing or damaged file is reported in many ways
        raise DataError(
            f"{folder}: cannot be read by `datasets`: {_first_line(error)}; save it again"
        ) from error
    return _loaded(loaded, str(folder))


def _loaded(loaded: Any, origin: str) -> tuple[list[Part], tuple[str, ...]]:
    """The sheets of a data set of the `datasets` library, and the splits of it that are none of ours."""
    if not isinstance(loaded, dict):
        return [(None, from_arrow(loaded.with_format("arrow")[:], origin))], ()
    splits = {name: SPLIT_NAMES.get(name.lower().removesuffix("_matched")) for name in loaded}
    if not any(splits.values()):
        raise DataError(f"{origin}: expected splits train, validation and test, found {', '.join(loaded)}")
    parts: list[Part] = [
        (split, from_arrow(loaded[name].with_format("arrow")[:], f"{origin}/{name}"))
        for name, split in splits.items()
        if split is not None
    ]
    return parts, tuple(f"split {name!r} is left out" for name, split in splits.items() if split is None)


def _datasets_library() -> Any:
    try:
        import datasets
    except ImportError as error:
        raise UnsupportedError(
            "a data set of the hub or saved by `datasets` needs it: pip install 'faithgauge[datasets]'"
        ) from error
    return datasets


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _header_names(config: DataConfig) -> frozenset[str]:
    """The names by which a first line is known as a header: the usual ones and those the user gave."""
    given = (config.text, config.text_pair, config.label, config.split)
    return NAMES | {normal(name) for name in given if name is not None and not name.isdigit()}
