"""What a data set is: before it is found (`Source`), and after it is read (`Dataset`).

A public data set is one file in this folder that ends in one `Source`, and one line in `table.py`. Its `read`
gets the `Files` that were found for it and the wanted variant, and returns what it could read as `Found`.
Partial data are normal: what is not there goes into `missing`, and the rest works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from faithgauge.config import EncodeConfig
from faithgauge.data.files import Files
from faithgauge.types import SPLITS, Example, Split, Task

Splits = Mapping[Split, list[Example]]


@dataclass(frozen=True)
class Found:
    """What a reader could read: the examples, what is missing, and what the user should know of the rest.

    `substituted` is true where other data stand in for the published ones: results on them are marked.
    `classes` is given where the variant has other classes than its source.
    """

    splits: Splits
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    substituted: bool = False
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Published:
    """The size of one split as one paper prints it; `labels` counts by class name where the paper does."""

    paper: str
    split: Split
    examples: int
    labels: Mapping[str, int] = field(default_factory=dict)
    why: str = ""
    """Why ours differs from it, where that is known."""


@dataclass(frozen=True)
class Download:
    """One official file: its address, its name in the data folder, and its checksum if one is known."""

    url: str
    file: str
    checksum: str = ""
    """``"sha256:…"`` or ``"md5:…"``."""


@dataclass(frozen=True)
class Source:
    """A public data set: what it is, where it lies, how it is read, and which sizes are expected.

    `sizes` are those of the complete data by variant ("" is the official distribution and split);
    `variants` says of each other variant what it changes.
    """

    name: str
    task: Task
    classes: tuple[str, ...]
    summary: str
    home: str
    licence: str
    read: Callable[[Files, str], Found]
    sizes: Mapping[str, Mapping[Split, int]]
    variants: Mapping[str, str] = field(default_factory=dict)
    published: tuple[Published, ...] = ()
    downloads: tuple[Download, ...] = ()
    encoding: Mapping[str, EncodeConfig] = field(default_factory=dict)
    """By variant, how its texts become tokens; the general default where nothing is said."""
    folders: tuple[str, ...] = ()
    """Other names of its folder; its own name is always looked for first."""
    access: str = ""
    """How to ask for the data where they cannot be downloaded freely."""


@dataclass(frozen=True)
class Dataset:
    """Labelled texts with their splits, and all that a result on them must say of them."""

    name: str
    variant: str
    task: Task
    classes: tuple[str, ...]
    splits: Splits
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    substituted: bool = False
    encoding: EncodeConfig = field(default_factory=EncodeConfig)

    @property
    def full_name(self) -> str:
        return f"{self.name}@{self.variant}" if self.variant else self.name

    @property
    def complete(self) -> bool:
        return not self.missing and not self.substituted

    def counts(self) -> dict[str, dict[str, object]]:
        """By split, in order: how many examples, and how many of each label."""
        result: dict[str, dict[str, object]] = {}
        for split in SPLITS:
            if split in self.splits:
                labels = Counter(example.label for example in self.splits[split])
                by_name = {name: labels[i] for i, name in enumerate(self.classes)}
                result[split] = {"examples": len(self.splits[split]), "labels": by_name}
        return result
