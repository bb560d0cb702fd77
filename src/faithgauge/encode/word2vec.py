"""Word vectors trained on the texts themselves, for texts whose words no public file knows.

The settings are those of the discharge summaries in the papers: continuous bag of words, window 10, size 300.
Training is done by gensim with one thread, so that a seed decides the result. Words that are not in the
vocabulary are left out, as gensim does with rare ones.

Paper: attefa, section 5.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from faithgauge.encode.corpus import Corpus
from faithgauge.encode.vectors import Vectors
from faithgauge.errors import DataError, UnsupportedError
from faithgauge.types import Ragged

_LONGEST = 10_000
"""gensim silently drops what a sentence holds beyond this."""


@dataclass(frozen=True)
class _Sentences:
    """The training texts as words, again at every iteration."""

    corpora: Sequence[Corpus]

    def __iter__(self) -> Iterator[list[str]]:
        for corpus in self.corpora:
            vocabulary = corpus.tokenizer.vocabulary
            unknown = corpus.tokenizer.unk
            encoded = corpus.splits["train"]
            for ids, spans in ((encoded.ids, encoded.spans), (encoded.pair_ids, encoded.pair_spans)):
                if ids is not None and spans is not None:
                    yield from _parts(ids, spans, vocabulary, unknown=unknown)


def train_word2vec(
    corpora: Sequence[Corpus], size: int = 300, *, window: int = 10, epochs: int = 5, seed: int = 0
) -> Vectors:
    """Vectors of every word of the training splits, most frequent first."""
    try:
        from gensim.models import Word2Vec
    except ImportError as error:
        raise UnsupportedError(
            "training word vectors needs gensim, which is not installed: pip install 'faithgauge[gensim]'"
        ) from error
    for corpus in corpora:
        if "train" not in corpus.splits:
            raise DataError(
                f"{corpus.full_name}: expected a training split to train word vectors on, found none"
            )
    model = Word2Vec(
        _Sentences(corpora),
        vector_size=size,
        window=window,
        epochs=epochs,
        min_count=1,
        sg=0,
        workers=1,
        seed=seed,
    )
    words = tuple(model.wv.index_to_key)
    matrix = np.asarray(model.wv.vectors, np.float32)
    names = "+".join(corpus.full_name for corpus in corpora)
    return Vectors(words, matrix, f"word2vec({names}, window {window}, epochs {epochs}, seed {seed})")


def write_bin(vectors: Vectors, path: Path) -> None:
    """The vectors in word2vec's binary form; the file appears whole or not at all."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        partial = Path(file.name)
        try:
            file.write(f"{len(vectors.words)} {vectors.matrix.shape[1]}\n".encode())
            for word, row in zip(vectors.words, vectors.matrix, strict=True):
                file.write(word.encode() + b" " + row.astype("<f4").tobytes() + b"\n")
            file.close()
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def _parts(
    ids: Ragged, spans: Ragged, vocabulary: Sequence[str], *, unknown: int | None
) -> Iterator[list[str]]:
    for i in range(len(ids)):
        row = ids.row(i)
        known = row[(spans.row(i)[:, 0] != -1) & (row != unknown)].tolist()
        for start in range(0, len(known), _LONGEST):
            yield [vocabulary[j] for j in known[start : start + _LONGEST]]
