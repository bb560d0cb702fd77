"""Words or sub-words to ids: two tokenizers of one shape.

Either gives for a text its ids, special tokens included, and for each id the characters it was read from,
(-1, -1) where there are none, which is what makes a token special. Both are saved as ``tokenizer.json``
beside a model; reading it runs no code. The ids of words are those of jain-wallace-2019 (padding 0, unknown
1, begin 2, end 3, then the words in alphabetical order), with the mask at the end.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithgauge.encode.words import WORDS, Words
from faithgauge.errors import DataError

FORMAT = 1
FILE = "tokenizer.json"
PAD, UNK, SOS, EOS, MASK = "<pad>", "<unk>", "<sos>", "<eos>", "<mask>"
_BEFORE = (PAD, UNK, SOS, EOS)
N_BEFORE = len(_BEFORE)
_ROLES = {
    "pad": ("<pad>", "[PAD]", "<|pad|>", "<PAD>"),
    "unk": ("<unk>", "[UNK]", "<UNK>"),
    "mask": ("<mask>", "[MASK]", "<|mask|>", "<MASK>"),
}


class Tokens(NamedTuple):
    """One text as ids (token) and spans (token, 2), both int32."""

    ids: NDArray[np.int32]
    spans: NDArray[np.int32]


class Joined(NamedTuple):
    """Two texts in one row: `segments` (token) says which of them, 0 or 1, each token belongs to.

    A special token belongs to the text before it.
    """

    ids: NDArray[np.int32]
    spans: NDArray[np.int32]
    segments: NDArray[np.int32]


@dataclass(frozen=True)
class WordTokenizer:
    """Words of a preset; `vocabulary` is id → string, special tokens included."""

    preset: str
    vocabulary: tuple[str, ...] = field(repr=False)

    pad = 0
    unk = 1

    @classmethod
    def of(cls, preset: str, words: Iterable[str]) -> WordTokenizer:
        """The tokenizer of these words, in any order; a word that looks like a special token stays out."""
        known = sorted(set(words).difference((*_BEFORE, MASK)))
        return cls(preset, (*_BEFORE, *known, MASK))

    @property
    def mask(self) -> int:
        return len(self.vocabulary) - 1

    @functools.cached_property
    def index(self) -> dict[str, int]:
        """Word → id, special tokens left out, so that no text can spell one."""
        first, last = N_BEFORE, len(self.vocabulary) - 1
        return {word: i for i, word in enumerate(self.vocabulary[first:last], start=first)}

    @functools.cached_property
    def words(self) -> Callable[[str], Words]:
        return WORDS[self.preset]

    def encode(self, text: str) -> Tokens:
        words, spans = self.words(text)
        return frame(np.fromiter(map(self.index.get, words, repeat(self.unk)), np.int32, len(words)), spans)

    def encode_batch(self, texts: Sequence[str]) -> Iterator[Tokens]:
        return map(self.encode, texts)

    def state(self) -> dict[str, Any]:
        return {"kind": "words", "preset": self.preset, "vocabulary": self.vocabulary}


@dataclass(frozen=True)
class SubwordTokenizer:
    """A tokenizer of the `tokenizers` library, given by the text of its JSON file.

    One that is `joined` makes a pair of texts one row, as its own post-processor joins them; `longest` is how
    many tokens its model can read at most.
    """

    definition: str = field(repr=False)
    joined: bool = False
    longest: int | None = None

    @functools.cached_property
    def model(self) -> Any:
        from tokenizers import Tokenizer

        model = Tokenizer.from_str(self.definition)
        model.no_truncation()
        model.no_padding()
        return model

    @functools.cached_property
    def vocabulary(self) -> tuple[str, ...]:
        by_id = {i: token for token, i in self.model.get_vocab().items()}
        return tuple(by_id.get(i, "") for i in range(max(by_id) + 1))

    @property
    def pad(self) -> int:
        """Where a vocabulary has no padding this is 0: padding is never looked at."""
        return self._role("pad") or 0

    @property
    def unk(self) -> int | None:
        return self._role("unk")

    @property
    def mask(self) -> int | None:
        return self._role("mask")

    def _role(self, role: str) -> int | None:
        ids = map(self.model.token_to_id, _ROLES[role])
        return next((i for i in ids if i is not None), None)

    def encode(self, text: str) -> Tokens:
        return _tokens(self.model.encode(text))

    def encode_batch(self, texts: Sequence[str]) -> Iterator[Tokens]:
        for i in range(0, len(texts), 256):
            yield from map(_tokens, self.model.encode_batch(texts[i : i + 256]))

    def encode_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Joined]:
        """Each pair as one row with separators."""
        for i in range(0, len(pairs), 256):
            yield from map(_both, self.model.encode_batch(list(pairs[i : i + 256])))

    def words(self, text: str) -> NDArray[np.int64]:
        """For each token of a text, special ones left out, the number of the word that it is a piece of."""
        encoding = self.model.encode(text, add_special_tokens=False)
        return np.array(encoding.word_ids, np.int64)

    def state(self) -> dict[str, Any]:
        kind = {"kind": "subwords", "definition": json.loads(self.definition)}
        return {**kind, "joined": True, "longest": self.longest} if self.joined else kind


Tokenizer = WordTokenizer | SubwordTokenizer


def frame(ids: NDArray[np.int32], spans: NDArray[np.int32]) -> Tokens:
    """A text of words between its begin and end token."""
    framed = np.empty(len(ids) + 2, np.int32)
    framed[0], framed[1:-1], framed[-1] = _BEFORE.index(SOS), ids, _BEFORE.index(EOS)
    framed_spans = np.full((len(ids) + 2, 2), -1, np.int32)
    framed_spans[1:-1] = spans
    return Tokens(framed, framed_spans)


def read_subwords(path: Path, *, joined: bool = False, longest: int | None = None) -> SubwordTokenizer:
    """The tokenizer of a ``tokenizer.json`` of the `tokenizers` library, or of the folder it lies in."""
    file = path / FILE if path.is_dir() else path
    return replace(_subwords(file, _read(file)), joined=joined, longest=longest)


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    state = {"format": FORMAT, **tokenizer.state()}
    (folder / FILE).write_text(json.dumps(state, ensure_ascii=False), encoding="utf-8")


def load_tokenizer(folder: Path) -> Tokenizer:
    """What `save_tokenizer` wrote; a file of the `tokenizers` library is read as well."""
    file = folder / FILE
    text = _read(file)
    state = json.loads(text)
    if "format" not in state:
        return _subwords(file, text)
    if not isinstance(state["format"], int) or state["format"] > FORMAT:
        raise DataError(
            f"{file}: expected a tokenizer of format {FORMAT} or older, found {state['format']}; "
            "update faithgauge: pip install --upgrade faithgauge"
        )
    try:
        if state["kind"] == "words":
            WORDS[state["preset"]]
            return WordTokenizer(state["preset"], tuple(state["vocabulary"]))
        found = _subwords(file, json.dumps(state["definition"]))
        return replace(found, joined=bool(state.get("joined")), longest=state.get("longest"))
    except KeyError as error:
        raise DataError(
            f"{file}: expected the key {error}, found {sorted(state)}; save the model again"
        ) from error


def _tokens(encoding: Any) -> Tokens:
    spans = np.array(encoding.offsets, np.int32).reshape(-1, 2)
    spans[np.array(encoding.special_tokens_mask, bool)] = -1
    return Tokens(np.array(encoding.ids, np.int32), spans)


def _both(encoding: Any) -> Joined:
    which = np.array([-1 if i is None else i for i in encoding.sequence_ids], np.int32)
    return Joined(*_tokens(encoding), np.maximum(np.maximum.accumulate(which), 0))


def _subwords(file: Path, definition: str) -> SubwordTokenizer:
    tokenizer = SubwordTokenizer(definition)
    try:
        _ = tokenizer.model
    except Exception as error:  # the library raises nothing narrower
        raise DataError(
            f"{file}: expected a file of the tokenizers library, found one it cannot read ({error})"
        ) from error
    return tokenizer


def _read(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8")
        found = json.loads(text)
    except FileNotFoundError as error:
        raise DataError(f"{file}: not found; expected the {FILE} of a saved model") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"{file}: expected JSON, found a damaged file ({error})") from error
    if not isinstance(found, dict):
        raise DataError(f"{file}: expected a JSON object, found {type(found).__name__}")
    return text
