"""Word vectors of a vocabulary: read from a public file, or drawn.

Files are GloVe's text, fastText's and word2vec's text (a line with both sizes first) and word2vec's binary
form (``.bin``), each also as ``.gz`` or ``.xz``. They are read as a stream, and only the numbers of wanted
words are looked at. A word is looked for as it is, then in lower case.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithgauge.encode.tokenizer import N_BEFORE, Tokenizer, WordTokenizer
from faithgauge.errors import ConfigError, DataError, UnsupportedError
from faithgauge.seeds import generator

_CHUNK = 1 << 22


@dataclass(frozen=True)
class Vectors:
    """Vectors of some words: row i of `matrix` (vocab, embed) is that of ``words[i]``, from `source`."""

    words: tuple[str, ...]
    matrix: NDArray[np.float32]
    source: str
    sha256: str = ""


class _Entry(NamedTuple):
    word: str
    vector: NDArray[np.float32]
    where: str


def read_vectors(path: Path, vocabulary: Collection[str]) -> Vectors:
    """The vectors that the file has for words of the vocabulary, in the vocabulary's order."""
    wanted = {form.encode() for word in vocabulary for form in (word, word.lower())}
    found: dict[str, NDArray[np.float32]] = {}
    for word, vector, where in _entries(path, wanted):
        if not np.isfinite(vector).all():
            raise DataError(f"{where}: expected finite numbers for {word!r}, found nan or inf; mend the file")
        found.setdefault(word, vector)
    words = tuple(word for word in vocabulary if word in found or word.lower() in found)
    if not words:
        raise DataError(
            f"{path}: expected vectors of words of these texts, found none in common; is it the right file?"
        )
    matrix = np.stack([found[word if word in found else word.lower()] for word in words])
    return Vectors(words, matrix, path.name, _sha256(path))


def embedding_matrix(
    tokenizer: Tokenizer,
    size: int | None = None,
    *,
    vectors: Path | Vectors | None = None,
    scale: float = 0.1,
    seed: int = 0,
    counts: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.float32], dict[str, Any]]:
    """The matrix (vocab, embed) a training starts from, and a report of where its rows come from.

    A word without a vector is drawn from N(0, scale), special tokens as well; padding is zero. What is drawn
    for an id does not depend on which words have vectors. `size` None is that of the vectors. `counts`, how
    often each id occurs, adds the share of tokens that have a vector.
    """
    if vectors is not None:
        if not isinstance(tokenizer, WordTokenizer):
            raise UnsupportedError(
                "vectors are of words, and this tokenizer has parts of words: leave them out"
            )
        if isinstance(vectors, Path):
            vectors = read_vectors(vectors, tokenizer.index)
        size = _agreed(size, vectors)
    if size is None or size < 1 or not 0 <= scale < np.inf:
        raise ConfigError(f"expected a size of at least 1 and a finite scale, found {size} and {scale}")
    drawn = generator(seed, "word vectors").standard_normal((len(tokenizer.vocabulary), size), np.float32)
    matrix = drawn * np.float32(scale)
    matrix[tokenizer.pad] = 0
    report = {"vectors": f"normal(0, {scale:g})", "size": size, "scale": scale, "seed": seed}
    if vectors is None or not isinstance(tokenizer, WordTokenizer):
        return matrix, report
    known = [(tokenizer.index[word], i) for i, word in enumerate(vectors.words) if word in tokenizer.index]
    ids, rows = np.array(known, np.int64).reshape(-1, 2).T
    matrix[ids] = vectors.matrix[rows]
    return matrix, {**report, **_coverage(vectors, tokenizer, ids, counts)}


def _agreed(size: int | None, vectors: Vectors) -> int:
    columns = int(vectors.matrix.shape[1])
    if size not in (None, columns):
        raise DataError(
            f"{vectors.source}: expected vectors of size {size}, found {columns}; set the embedding size to "
            f"{columns}, or take another file"
        )
    return columns


def _coverage(
    vectors: Vectors, tokenizer: WordTokenizer, ids: NDArray[np.int64], counts: NDArray[np.int64] | None
) -> dict[str, Any]:
    """How much of the vocabulary, and of the text, has a vector; unknown words count as text."""
    report = {
        "vectors": vectors.source,
        "sha256": vectors.sha256,
        "words": len(tokenizer.index),
        "words_found": len(ids),
        "found_std": float(vectors.matrix.std()),
    }
    if counts is not None:
        text = counts[tokenizer.unk] + counts[N_BEFORE : tokenizer.mask].sum()
        report["tokens_found"] = float(counts[ids].sum() / max(1, text))
    return report


def _entries(path: Path, wanted: Collection[bytes]) -> Iterator[_Entry]:
    """The wanted entries of a file of either form, with its damage put into words."""
    name = path.name.removesuffix(".gz").removesuffix(".xz")
    opener: Any = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    if name.endswith(".zip"):
        raise DataError(
            f"{path}: expected a file of vectors, found an archive; unpack it and name one of its files"
        )
    try:
        with opener(path, "rb") as file:
            yield from (_binary if name.endswith(".bin") else _text)(file, path, wanted)
    except FileNotFoundError as error:
        raise DataError(
            f"{path}: no such file; expected word vectors (.txt, .vec or .bin, or these as .gz)"
        ) from error
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise DataError(
            f"{path}: truncated, damaged or unreadable ({error}); fetch the file again"
        ) from error


def _text(file: IO[bytes], path: Path, wanted: Collection[bytes]) -> Iterator[_Entry]:
    size = 0
    for number, line in enumerate(file, 1):
        word, _, rest = line.partition(b" ")
        if number == 1:
            fields = rest.split()
            header = len(fields) == 1 and word.isdigit() and fields[0].isdigit()
            size = int(fields[0]) if header else len(fields)
            if size == 0:
                raise DataError(f"{path}, line 1: expected a word and its numbers, found {line[:40]!r}")
            if header:
                continue
        where = f"{path}, line {number}"
        decoded = _decoded(word, where)
        if word in wanted:
            vector = _numbers(rest.split(), size, where)
            if vector is not None:
                yield _Entry(decoded, vector, where)


def _decoded(word: bytes, where: str) -> str:
    try:
        return word.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: expected UTF-8, found {word[:40]!r}; convert the file to UTF-8") from error


def _numbers(fields: Sequence[bytes], size: int, where: str) -> NDArray[np.float32] | None:
    """The vector; or None where the word goes on behind a blank, as some of glove.840B do."""
    try:
        numbers = [float(field) for field in fields]
    except ValueError as error:
        if len(fields) > size:
            return None
        raise DataError(
            f"{where}: expected {size} numbers behind the word, found a field that is none; "
            "mend the file or take that line out"
        ) from error
    if len(numbers) != size:
        raise DataError(
            f"{where}: expected {size} numbers behind the word, found {len(numbers)}; mend the file or take "
            "that line out"
        )
    with np.errstate(over="ignore"):  # what does not fit becomes inf, which is refused
        return np.array(numbers, np.float64).astype(np.float32)


def _binary(file: IO[bytes], path: Path, wanted: Collection[bytes]) -> Iterator[_Entry]:
    header = file.readline(64).split()
    if len(header) != 2 or not all(field.isdigit() for field in header) or b"0" in header:
        raise DataError(
            f"{path}: expected word2vec's binary form (a line with two sizes first), found another"
        )
    count, size = map(int, header)
    buffer, position = b"", 0
    for number in range(1, count + 1):
        while (blank := buffer.find(b" ", position)) < 0 or len(buffer) <= blank + 4 * size:
            more = file.read(_CHUNK)
            if not more:
                raise DataError(
                    f"{path}: expected {count:,} words, found the end at word {number:,}; fetch it again"
                )
            buffer, position = buffer[position:] + more, 0
        word = buffer[position:blank].removeprefix(b"\n")
        if word in wanted:
            vector = np.frombuffer(buffer, "<f4", size, blank + 1).astype(np.float32)
            yield _Entry(word.decode(), vector, f"{path}, word {number}")
        position = blank + 1 + 4 * size


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
