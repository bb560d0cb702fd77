"""Text to words: named presets, each a function of one text.

A preset returns the words as a model will see them (lower-cased, cleaned, rewritten) and for each the range
of characters of the *original* text that it was read from, so that what is said of a word can be shown there.
The cleaning of the papers is reproduced to the word; what each of them changes stands in its docstring.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithgauge.encode.scripts import unicode_pattern
from faithgauge.errors import UnsupportedError
from faithgauge.registry import Table


class Words(NamedTuple):
    """The words of one text, and their characters in it: spans is (token, 2), start and end."""

    words: list[str]
    spans: NDArray[np.int32]


class _Aligned(NamedTuple):
    """A rewritten text, and for each of its characters the range of the original that it stands for."""

    text: str
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]


_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_PLAIN = re.compile(
    r"""( n't(?![a-z0-9])                            # do n't, as GloVe has it
        | '(?:s|re|ve|ll|d|m)(?![a-z0-9])            # it 's
        | [0-9]+(?:[.,][0-9]+)+                      # 1,000.5
        | [a-z0-9]+(?!(?<=n)'t(?![a-z0-9]))          # a word, but not the n of n't
          (?:'(?!(?:s|t|re|ve|ll|d|m)(?![a-z0-9]))[a-z0-9]+)*
        | \S )""",
    re.VERBOSE,
)
_SPACED = re.compile(r"(\S+)")
_KERAS = re.compile(r"""([^ \t\n!"#$%&()*+,\-./:;<=>?@\[\\\]^_`{|}~]+)""")
_BABI = re.compile(r"(\w+|[.?])")
_DEIDENTIFIED = re.compile(r"\[\s*\*\s*\*.*?\*\s*\*\s*\]")
_REPEATED = re.compile(r"([^a-zA-Z0-9])(?:\s*\1\s*)+")
_RUNS = re.compile(r"\w+|\W+")


def plain(text: str) -> Words:
    """Lower-cased words, numbers, and every other mark by itself, in any script; the general default.

    English contractions are split as in GloVe's vocabulary (do n't, it 's), HTML line breaks count as white
    space, Han and Kana are read character by character, emoji are kept whole, and words are in Unicode's
    composed form (NFC).
    """
    if "<" in text:
        text = _BREAK.sub(lambda found: " " * len(found[0]), text)
    if text.isascii():
        return _split(_PLAIN, text.lower())
    words, spans = _split(unicode_pattern(), text)
    return Words([unicodedata.normalize("NFC", word.lower()).replace("’", "'") for word in words], spans)


def whitespace(text: str) -> Words:
    """What stands between white space, lower-cased: for texts that are tokenised already."""
    return _lower(_split(_SPACED, text))


def keras(text: str) -> Words:
    """As the Tokenizer of keras does it: no punctuation but the apostrophe, lower case.

    Differs: the IMDB file of keras, which jain-wallace-2019 read, was lower-cased byte by byte (À stays), and
    its test reviews lack every word that no training review has; here such a word is unknown.
    """
    return _lower(_split(_KERAS, text))


def babi(text: str) -> Words:
    """Lower-cased words, full stops and question marks."""
    return _lower(_split(_BABI, text))


def jain_wallace(text: str) -> Words:
    """The general cleaning of jain-wallace-2019: spaCy's tokens, lower case, ``qqq`` for one with a digit."""
    words, spans = _spacy(text)
    return Words([_hide_digits(word) for word in words], spans)


def jain_wallace_sst(text: str) -> Words:
    """Their cleaning of SST: brackets and punctuation become blanks, then spaCy's tokens, lower-cased.

    Differs: a ``-LRB-`` inside a word becomes a blank, where theirs joins what is left. SST has no such word.
    """
    for bracket in ("-LRB-", "-RRB-"):
        text = text.replace(bracket, " " * len(bracket))
    return _spacy(re.sub(r"\W", " ", text))


def jain_wallace_20news(text: str) -> Words:
    """Their cleaning of 20News: the general one, then of marks and blanks in a row only the last remains.

    A mark before a blank is thereby lost: what is left are words, marks inside tokens, and one at the end.
    """
    aligned = _join(jain_wallace(text))
    places = []
    for run in _RUNS.finditer(aligned.text):
        start, end = run.span()
        if not (aligned.text[start].isalnum() or aligned.text[start] == "_"):
            start = end - 1
        if not aligned.text[start].isspace():
            places.append((start, end))
    return _cut(aligned, places)


def mimic(text: str) -> Words:
    """The cleaning of discharge summaries of jain-wallace-2019.

    spaCy's tokens, lower-cased; ``<DE>`` for a de-identified span ``[** … **]``; a symbol that is repeated,
    with or without blanks between, stands once; ``qqq`` for a word with a digit.
    """
    aligned = _join(_spacy(text))
    aligned = _substitute(aligned, _DEIDENTIFIED, lambda _: " <DE> ")
    aligned = _substitute(aligned, _REPEATED, lambda found: found[1] + " ")
    words, spans = _cut(aligned, [found.span() for found in re.finditer(r"\S+", aligned.text)])
    return Words([_hide_digits(word) for word in words], spans)


WORDS: Table[Callable[[str], Words]] = Table(
    "word preset",
    {
        "plain": plain,
        "whitespace": whitespace,
        "keras": keras,
        "babi": babi,
        "jain-wallace": jain_wallace,
        "jain-wallace-sst": jain_wallace_sst,
        "jain-wallace-20news": jain_wallace_20news,
        "mimic": mimic,
    },
    group="faithgauge.words",
)


def _split(pattern: re.Pattern[str], text: str) -> Words:
    """All matches of a pattern that is one group; the parts between give the places without a Python loop."""
    parts = pattern.split(text)
    ends = np.cumsum(np.fromiter(map(len, parts), np.int32, len(parts)), dtype=np.int32)
    return Words(parts[1::2], ends[:-1].reshape(-1, 2))


def _lower(words: Words) -> Words:
    return Words(list(map(str.lower, words.words)), words.spans)


def _spacy(text: str) -> Words:
    """The lower-cased tokens of spaCy's blank English tokenizer, which sees white space collapsed."""
    chunks, places = _split(_SPACED, text)
    if not chunks:
        return Words([], np.empty((0, 2), np.int32))
    joined = " ".join(chunks)
    found = _spacy_tokenizer()(joined).to_array(["IDX", "LENGTH"]).astype(np.int64)
    starts, ends = found[:, 0], found[:, 0] + found[:, 1]
    lengths = places[:, 1] - places[:, 0]
    begins = np.concatenate(([0], np.cumsum(lengths + 1)[:-1]))
    shift = (places[:, 0] - begins)[np.searchsorted(begins, starts, side="right") - 1]
    words = [joined[start:end].lower() for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return Words(words, np.stack((starts + shift, ends + shift), axis=1).astype(np.int32))


@functools.cache
def _spacy_tokenizer() -> Callable[[str], Any]:
    try:
        import spacy
    except ImportError as error:
        raise UnsupportedError(
            "these words need spaCy's tokenizer, which is not installed: pip install 'faithgauge[spacy]'"
        ) from error
    tokenizer: Callable[[str], Any] = spacy.blank("en").tokenizer
    return tokenizer


@functools.lru_cache(maxsize=1 << 17)
def _hide_digits(word: str) -> str:
    return "qqq" if any(map(str.isdigit, word)) else word


def _join(words: Words) -> _Aligned:
    """The words with a blank between; one that was rewritten to another length stands for its whole span."""
    starts: list[int] = []
    ends: list[int] = []
    for word, (start, end) in zip(words.words, words.spans.tolist(), strict=True):
        if len(word) == end - start:
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
        else:
            starts.extend([start] * len(word))
            ends.extend([end] * len(word))
        starts.append(end)
        ends.append(end)
    return _Aligned(" ".join(words.words), np.array(starts[:-1], np.int32), np.array(ends[:-1], np.int32))


def _substitute(
    aligned: _Aligned, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str]
) -> _Aligned:
    """`re.sub` that keeps the places: each new character stands for all that was replaced."""
    text, starts, ends = [], [], []
    position = 0
    for found in pattern.finditer(aligned.text):
        start, end = found.span()
        new = replacement(found)
        text += [aligned.text[position:start], new]
        starts += [aligned.starts[position:start], np.full(len(new), aligned.starts[start], np.int32)]
        ends += [aligned.ends[position:start], np.full(len(new), aligned.ends[end - 1], np.int32)]
        position = end
    text.append(aligned.text[position:])
    starts.append(aligned.starts[position:])
    ends.append(aligned.ends[position:])
    return _Aligned("".join(text), np.concatenate(starts), np.concatenate(ends))


def _cut(aligned: _Aligned, places: Iterable[tuple[int, int]]) -> Words:
    bounds = np.array(list(places), np.int64).reshape(-1, 2)
    spans = np.stack((aligned.starts[bounds[:, 0]], aligned.ends[bounds[:, 1] - 1]), axis=1)
    return Words([aligned.text[start:end] for start, end in bounds.tolist()], spans)
