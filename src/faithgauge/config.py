"""Every setting of a run, as frozen dataclasses with the general defaults.

The papers' own settings are named presets beside the thing they set. A field that changes a number is here;
what does not change one (threads, folders, progress) is an argument where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class DataConfig:
    """Which labelled texts: a name (``sst``, ``sst@jain-wallace-2019``, ``mock-5``), a file or a folder.

    `text`, `text_pair`, `label` and `split` name columns of a generic file and are guessed where they are
    not given. `seed` is that of a split we make and of synthetic texts. The last three are for ``planted``.
    """

    name: str
    data_dir: Path | None = None
    text: str | None = None
    text_pair: str | None = None
    label: str | None = None
    split: str | None = None
    seed: int = 0
    lexicon: Path | None = None
    evidence: int = 3
    position: Literal["start", "middle", "end", "scattered"] = "scattered"
    strength: float = 1.0


@dataclass(frozen=True)
class EncodeConfig:
    """How text becomes ids: a preset for words, or a tokenizer file of the `tokenizers` library.

    A word enters the vocabulary when at least `min_df` training texts hold it. A text of more than
    `max_tokens` is an error, or is cut where `too_long` says so.
    """

    words: str = "plain"
    tokenizer: Path | None = None
    min_df: int = 1
    max_tokens: int = 20_000
    too_long: Literal["error", "cut"] = "error"
