"""Which column of a file is the text, which the label, which the split.

What the user names is taken; else usual names are looked for; else the contents decide where they leave no
doubt. Where they do, the columns must be named: a silent wrong guess would be a wrong result.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from faithgauge.config import DataConfig
from faithgauge.data.sheet import Sheet, normal
from faithgauge.errors import ConfigError, DataError
from faithgauge.types import Split

PAIRS = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("sentence_1", "sentence_2"),
    ("question1", "question2"),
    ("question_1", "question_2"),
    ("text1", "text2"),
    ("text_1", "text_2"),
    ("text_a", "text_b"),
    ("sentence_a", "sentence_b"),
    ("text", "text_pair"),
    ("question", "sentence"),
)
TEXTS = (
    "text",
    "sentence",
    "review",
    "review_text",
    "reviewtext",
    "review_body",
    "content",
    "document",
    "comment",
    "comment_text",
    "tweet",
    "message",
    "utterance",
    "body",
    "description",
    "question",
    "query",
    "headline",
    "title",
    "abstract",
)
LABELS = (
    "label",
    "gold_label",
    "labels",
    "class",
    "category",
    "sentiment",
    "target",
    "polarity",
    "stars",
    "star_rating",
    "rating",
    "score",
    "overall",
    "intent",
    "emotion",
    "topic",
    "is_duplicate",
    "y",
)
SPLIT_COLUMNS = ("split", "exp_split", "fold", "set", "subset", "partition")
SPLIT_NAMES: dict[str, Split] = {
    "train": "train",
    "training": "train",
    "dev": "validation",
    "val": "validation",
    "valid": "validation",
    "validation": "validation",
    "test": "test",
    "testing": "test",
}
NAMES = frozenset(
    (*(name for pair in PAIRS for name in pair), *TEXTS, *LABELS, *SPLIT_COLUMNS, "evidence", "id")
)

MOST_CLASSES = 1000


@dataclass(frozen=True)
class Columns:
    """The names of the columns that are read."""

    text: str
    text_pair: str | None
    label: str
    split: str | None = None
    evidence: str | None = None

    def named(self) -> dict[str, str]:
        """What each column is read as, by what it is."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {use: column for use, column in values.items() if column is not None}


def choose(sheet: Sheet, config: DataConfig) -> Columns:
    """The columns of labelled texts."""
    text, pair = _given(sheet, "text", config.text), _given(sheet, "text_pair", config.text_pair)
    split = _given(sheet, "split", config.split) or _split(sheet)
    label = _given(sheet, "label", config.label) or _usual(sheet, LABELS, [text, pair, split])
    text, pair = choose_texts(sheet, config, exclude=[label, split])
    label = label or _label_by_content(sheet, [text, pair, split])
    columns = Columns(text, pair, label, split, _evidence(sheet))
    _refuse_double_use(columns, sheet.origin)
    return columns


def choose_marked(sheet: Sheet, config: DataConfig) -> Columns:
    """The columns of texts that need not be labelled: `label` is empty where no column looks like labels."""
    named = [_given(sheet, "text", config.text), _given(sheet, "text_pair", config.text_pair)]
    label = _given(sheet, "label", config.label) or _usual(sheet, LABELS, named)
    text, pair = choose_texts(sheet, config, exclude=[label])
    columns = Columns(text, pair, label or "", evidence=_evidence(sheet))
    _refuse_double_use(columns, sheet.origin)
    return columns


def choose_texts(
    sheet: Sheet, config: DataConfig, exclude: Sequence[str | None] = ()
) -> tuple[str, str | None]:
    """The column of the text, and that of the second text where the file holds pairs."""
    text, pair = _given(sheet, "text", config.text), _given(sheet, "text_pair", config.text_pair)
    if text is not None:
        return text, pair
    free = {normal(name): name for name in sheet.columns if name not in (*exclude, pair)}
    for one, other in PAIRS:
        if one in free and (other in free if pair is None else normal(pair) == other):
            return free[one], pair or free[other]
    text = _usual(sheet, TEXTS, [*exclude, pair]) or _text_by_content(sheet, [*exclude, pair])
    return text, pair


def _refuse_double_use(columns: Columns, origin: str) -> None:
    uses: dict[str, str] = {}
    for use, column in columns.named().items():
        if column in uses:
            raise ConfigError(
                f"{origin}: column {column!r} cannot be both {uses[column]} and {use}; name another"
            )
        uses[column] = use


def _given(sheet: Sheet, use: str, name: str | None) -> str | None:
    """The column that the user means: its name, its name in another case, or its number, from 0."""
    if name is None or name in sheet.columns:
        return name
    columns = list(sheet.columns)
    same = [column for column in columns if normal(column) == normal(name)]
    if len(same) == 1:
        return same[0]
    if name.isascii() and name.isdigit() and int(name) < len(columns):
        return columns[int(name)]
    near = difflib.get_close_matches(name, columns, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"the columns are {_listed(columns)}"
    raise ConfigError(f"{sheet.origin}: no column {name!r} for the {use}: {hint}")


def _usual(sheet: Sheet, names: Sequence[str], exclude: Sequence[str | None]) -> str | None:
    by_name = {normal(column): column for column in sheet.columns if column not in exclude}
    return next((by_name[name] for name in names if name in by_name), None)


def _split(sheet: Sheet) -> str | None:
    """A column with a usual name, if any of its values names a split; a fold's number does not."""
    for name, column in sheet.columns.items():
        if normal(name) in SPLIT_COLUMNS and any(normal(str(value)) in SPLIT_NAMES for value in set(column)):
            return name
    return None


def _text_by_content(sheet: Sheet, exclude: Sequence[str | None]) -> str:
    """The column with the longest texts."""
    lengths, wordy = {}, []
    for name, column in sheet.columns.items():
        texts = [value for value in column[:1000] if isinstance(value, str)]
        if name in exclude or not texts:
            continue
        lengths[name] = sum(map(len, texts)) / len(texts)
        if sum(len(value.split()) for value in texts) >= 3 * len(texts):
            wordy.append(name)
    if not sheet.header and len(wordy) > 1:
        raise DataError(
            f"{sheet.origin}: columns {_listed(wordy)} all look like texts and there is no header; "
            "give --text, and --text-pair if two belong together, by number"
        )
    if not lengths:
        raise DataError(f"{sheet.origin}: no column of texts among {_listed(sheet.columns)}; give --text")
    return max(lengths, key=lambda name: lengths[name])


def _label_by_content(sheet: Sheet, exclude: Sequence[str | None]) -> str:
    """The only column with few different values."""
    few: dict[tuple[object, ...], str] = {}
    for name, column in sheet.columns.items():
        plain = name not in exclude and all(isinstance(value, str | int | float) for value in column)
        if plain and 2 <= len(set(column)) <= min(max(2, len(column) // 2), MOST_CLASSES):
            few.setdefault(tuple(column), name)
    if len(few) != 1:
        found = f"columns {_listed(few.values())} could each be it" if few else "no column has few values"
        columns = _listed(sheet.columns)
        raise DataError(
            f"{sheet.origin}: expected a column of labels, {found}; give --label, one of {columns}"
        )
    return next(iter(few.values()))


def _evidence(sheet: Sheet) -> str | None:
    """A column of that name whose first value that says something is a list of [start, end]."""
    for name, column in sheet.columns.items():
        if normal(name) == "evidence":
            first = next((value for value in column if value), None)
            if isinstance(first, list) and all(is_range(item) for item in first):
                return name
    return None


def is_range(item: object) -> bool:
    return (
        isinstance(item, list | tuple)
        and len(item) == 2
        and all(isinstance(end, int) and not isinstance(end, bool) for end in item)
    )


def _listed(names: Iterable[str]) -> str:
    quoted = [repr(name) for name in names]
    return ", ".join(quoted if len(quoted) <= 12 else [*quoted[:12], "…"])
