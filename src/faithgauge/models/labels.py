"""Names of a model's classes, and labels of data put into its order: by name, never by a guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from faithgauge.data.dataset import Dataset
from faithgauge.errors import ConfigError, DataError


def renamed(classes: Sequence[str], labels: str) -> tuple[str, ...]:
    """The classes with the names that ``negative=0,positive=1`` gives to their numbers, or to old names."""
    numbers = {str(i): i for i in range(len(classes))} | {name: i for i, name in enumerate(classes)}
    names: dict[int, str] = {}
    for part in labels.split(","):
        name, equals, of = (piece.strip() for piece in part.rpartition("="))
        if not equals or not name or of not in numbers:
            raise ConfigError(
                f"--labels: expected NAME=CLASS with a class among 0 to {len(classes) - 1} or "
                f"{', '.join(classes)}, found {part.strip()!r}"
            )
        if numbers[of] in names:
            raise ConfigError(f"--labels: expected one name for each class, found two for {of!r}")
        names[numbers[of]] = name
    if len(names) < len(classes) or len(set(names.values())) < len(classes):
        lacking = ", ".join(name for i, name in enumerate(classes) if i not in names)
        found = f"none for {lacking}" if lacking else "one of them twice"
        raise ConfigError(f"--labels: expected a name of its own for every class, found {found}")
    return tuple(names[i] for i in range(len(classes)))


def in_order(dataset: Dataset, classes: Sequence[str]) -> Dataset:
    """The data set with its labels in the order of a model's classes, which must have the same names."""
    if tuple(dataset.classes) == tuple(classes):
        return dataset
    if set(dataset.classes) != set(classes):
        form = ",".join(f"{name}=…" for name in dataset.classes)
        raise DataError(
            f"{dataset.full_name}: expected the classes of the model, {', '.join(classes)}, found "
            f"{', '.join(dataset.classes)}; say which is which: --labels {form}, each with the number or the "
            "name of a class of the model"
        )
    number = {name: i for i, name in enumerate(classes)}
    places = [number[name] for name in dataset.classes]

    def own(label: int) -> int:
        return places[label] if label >= 0 else label

    splits = {
        split: [
            replace(
                one,
                label=own(one.label),
                candidates=None if one.candidates is None else tuple(map(own, one.candidates)),
            )
            for one in examples
        ]
        for split, examples in dataset.splits.items()
    }
    return replace(dataset, classes=tuple(classes), splits=splits)
