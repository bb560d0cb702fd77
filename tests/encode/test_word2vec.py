"""Word vectors trained on the texts: the same for the same seed, in whatever process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Dataset
from faithgauge.encode import word2vec
from faithgauge.encode.corpus import Corpus, encode
from faithgauge.encode.vectors import Vectors, embedding_matrix, read_vectors
from faithgauge.encode.word2vec import train_word2vec, write_bin
from faithgauge.errors import DataError, UnsupportedError
from faithgauge.types import Example


def corpus(*, min_df: int = 1) -> Corpus:
    """Each text is of one of two families of words that never meet."""
    families = (["cat", "dog", "cow", "hen"], ["red", "blue", "pink", "grey"])
    draw = np.random.default_rng(0)
    texts = [" ".join(draw.choice(families[i % 2], 12)) for i in range(300)]
    train = [Example(text, i % 2, str(i)) for i, text in enumerate([*texts, "once red"])]
    return encode(Dataset("made", "", "single", ("a", "b"), {"train": train}), EncodeConfig(min_df=min_df))


def test_words_that_stand_together_are_alike() -> None:
    vectors = train_word2vec([corpus()], 16, epochs=10)
    row = {
        word: vectors.matrix[i] / np.linalg.norm(vectors.matrix[i]) for i, word in enumerate(vectors.words)
    }
    assert row["cat"] @ row["dog"] > 0.9 > 0.5 > row["cat"] @ row["red"]
    assert set(vectors.words) == {"cat", "dog", "cow", "hen", "red", "blue", "pink", "grey", "once"}
    assert (vectors.matrix.shape, vectors.matrix.dtype) == ((9, 16), np.float32)


def test_unknown_words_are_left_out_and_special_tokens_are_no_words() -> None:
    assert "once" not in train_word2vec([corpus(min_df=2)], 4, epochs=1).words
    assert not {"<unk>", "<sos>", "<eos>"} & set(train_word2vec([corpus(min_df=2)], 4, epochs=1).words)


def test_several_corpora_and_both_texts_of_a_pair_are_read() -> None:
    pair = encode(
        Dataset("pair", "", "pair", ("a", "b"), {"train": [Example("one two", 0, "1", "three")]}),
        EncodeConfig(),
    )
    vectors = train_word2vec([pair, corpus()], 4, epochs=1)
    assert {"one", "two", "three", "cat"} < set(vectors.words)
    assert vectors.source == "word2vec(pair+made, window 10, epochs 1, seed 0)"


def test_a_long_text_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word2vec, "_LONGEST", 5)
    sentences = [*word2vec._Sentences([corpus()])]
    assert [len(sentence) for sentence in sentences[:3]] == [5, 5, 2]


def test_the_seed_decides() -> None:
    one, same, other = (train_word2vec([corpus()], 4, epochs=1, seed=seed).matrix for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.slow
def test_another_process_with_other_hashes_trains_the_same_vectors(tmp_path: Path) -> None:
    code = (
        "import importlib.util, hashlib, sys\n"
        "spec = importlib.util.spec_from_file_location('made', sys.argv[1])\n"
        "made = importlib.util.module_from_spec(spec); spec.loader.exec_module(made)\n"
        "vectors = made.train_word2vec([made.corpus()], 8, epochs=2)\n"
        "print(hashlib.sha256(repr(vectors.words).encode() + vectors.matrix.tobytes()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code, __file__],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    here = train_word2vec([corpus()], 8, epochs=2)
    digests.add(hashlib.sha256(repr(here.words).encode() + here.matrix.tobytes()).hexdigest() + "\n")
    assert len(digests) == 1


def test_trained_vectors_fill_an_embedding_and_survive_their_file(tmp_path: Path) -> None:
    made = corpus()
    vectors = train_word2vec([made], 4, epochs=1)
    direct = embedding_matrix(made.tokenizer, 4, vectors=vectors)[0]
    write_bin(vectors, tmp_path / "made.bin")
    assert [path.name for path in tmp_path.iterdir()] == ["made.bin"]
    np.testing.assert_array_equal(
        embedding_matrix(made.tokenizer, 4, vectors=tmp_path / "made.bin")[0], direct
    )
    np.testing.assert_array_equal(
        direct[made.tokenizer.index["cat"]], vectors.matrix[vectors.words.index("cat")]
    )


def test_the_binary_file_is_the_one_gensim_reads_and_writes(tmp_path: Path) -> None:
    from gensim.models import KeyedVectors

    words, matrix = ("é", "b"), np.array([[1, 2], [3, 4]], np.float32)
    write_bin(Vectors(words, matrix, "made"), tmp_path / "ours.bin")
    theirs = KeyedVectors.load_word2vec_format(str(tmp_path / "ours.bin"), binary=True)
    assert theirs.index_to_key == ["é", "b"]
    np.testing.assert_array_equal(theirs.vectors, matrix)
    theirs.save_word2vec_format(str(tmp_path / "theirs.bin"), binary=True)
    np.testing.assert_array_equal(read_vectors(tmp_path / "theirs.bin", words).matrix, matrix)


def test_without_gensim_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'faithgauge\[gensim\]'"):
        train_word2vec([corpus()])


def test_data_without_a_training_split_teach_no_vectors() -> None:
    made = corpus()
    test = Dataset("made", "", "single", ("a", "b"), {"test": [Example("cat", 0, "1")]})
    with pytest.raises(DataError, match="made: expected a training split to train word vectors on"):
        train_word2vec([encode(test, EncodeConfig(), tokenizer=made.tokenizer)])
