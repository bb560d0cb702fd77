"""A number in print and a number of ours, each with its place: data set, encoder, metric and further keys.

Two numbers belong together when their places are equal: `place` writes keys in one way (2e-4 is 0.0002, the
two measures of a pair stand in alphabetical order), so that they can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PARTIAL = "partial data"
SUBSTITUTED = "substituted data"
"""How the note of a number of ours begins that was not computed on the data of the paper."""
WEIGHTS = "substituted weights"
"""What stands in the note of a number of ours whose pretrained encoder is not the one of the paper."""

PAIR = ("measure_a", "measure_b")
PRINT_ONLY = frozenset({"source"})
"""Keys that say where a paper has a number from; ours have no such key."""

Place = tuple[str, str, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Cell:
    """One number of a paper's table, in our names and units, fractions in [0, 1].

    `keys` are the table's other columns (class, seed, measure …), empty ones left out. `value` is text where
    the print is text and None where it is a dash. `low` and `high` are bounds, not offsets.
    """

    paper: str
    table: str
    dataset: str
    encoder: str
    metric: str
    keys: Mapping[str, str]
    value: float | str | None
    spread: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Ours:
    """One number of ours, for the same kind of place; `low` and `high` are its 95 % interval.

    `dataset` may name a variant (``sst@jain-wallace-2019``). `n` counts instances. `note` begins with
    "partial data" or "substituted data" where the data are not those of the paper. A `value` that could not
    be computed is nan, and `note` says why.
    """

    dataset: str
    encoder: str
    metric: str
    value: float
    keys: Mapping[str, str] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    n: int | None = None
    n_seeds: int | None = None
    note: str = ""

    @property
    def base(self) -> str:
        """The data set without its variant."""
        return self.dataset.partition("@")[0]

    @property
    def marked(self) -> bool:
        return bool(self.mark)

    @property
    def mark(self) -> str:
        """What of the paper's experiment it was not computed with, if that is so."""
        parts = self.note.split("; ")
        return next(
            (one for one in (PARTIAL, SUBSTITUTED, WEIGHTS) if any(p.startswith(one) for p in parts)), ""
        )


def place(row: Cell | Ours) -> Place:
    """Where a number belongs, whoever computed it."""
    return row.dataset.partition("@")[0], row.encoder, row.metric, tuple(sorted(plain_keys(row.keys).items()))


def plain_keys(keys: Mapping[str, str]) -> dict[str, str]:
    """Keys with one spelling of each number, a pair of measures in order, and none that is of the print."""
    plain = {name: canonical(value) for name, value in keys.items() if name not in PRINT_ONLY}
    if set(PAIR) <= set(plain):
        plain.update(zip(PAIR, sorted(plain[name] for name in PAIR), strict=True))
    return plain


def canonical(value: object) -> str:
    """A number in its shortest form, ``2e-4`` as ``0.0002``, ``1.0`` as ``1``; anything else as it is."""
    text = str(value)
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else repr(number)
