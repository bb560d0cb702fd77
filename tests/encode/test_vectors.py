"""Word vectors: every form of file gives the same numbers, and a damaged one is named."""

from __future__ import annotations

import csv
import gzip
import hashlib
import lzma
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faithgauge.encode import vectors as vectors_module
from faithgauge.encode.tokenizer import SubwordTokenizer, WordTokenizer
from faithgauge.encode.vectors import Vectors, embedding_matrix, read_vectors
from faithgauge.encode.word2vec import write_bin
from faithgauge.errors import ConfigError, DataError, UnsupportedError

GLOVE = "the 1 2 -3.5\nFilm 0.25 0 1e-3\n. . . 9 9 9\nfilm 4 5 6\né 7 8 9\nthe 0 0 0\n"
TOKENIZER = WordTokenizer.of("plain", ["the", "film", "é", "unseen"])


def written(folder: Path, text: str | bytes, name: str = "vectors.txt") -> Path:
    data = text.encode() if isinstance(text, str) else text
    (folder / name).write_bytes(data)
    return folder / name


def test_only_words_of_the_vocabulary_are_read_in_its_order(tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, GLOVE), ["é", "nowhere", "the"])
    assert vectors.words == ("é", "the")
    assert vectors.matrix.tolist() == [[7, 8, 9], [1, 2, -3.5]]
    assert vectors.matrix.dtype == np.float32
    assert (vectors.source, vectors.sha256) == ("vectors.txt", hashlib.sha256(GLOVE.encode()).hexdigest())


def test_of_a_word_that_stands_twice_the_first_is_taken(tmp_path: Path) -> None:
    assert read_vectors(written(tmp_path, GLOVE), ["the"]).matrix.tolist() == [[1, 2, -3.5]]


def test_a_word_is_looked_for_as_it_is_and_then_in_lower_case(tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, GLOVE), ["Film", "film", "The", "FILM"])
    assert vectors.words == ("Film", "film", "The", "FILM")
    np.testing.assert_array_equal(
        vectors.matrix, np.array([[0.25, 0, 1e-3], [4, 5, 6], [1, 2, -3.5], [4, 5, 6]], np.float32)
    )


def test_a_word_with_blanks_is_not_taken_for_its_first_part(tmp_path: Path) -> None:
    vectors = read_vectors(written(tmp_path, GLOVE + ". 1 1 1\nat a@b.c 2 2 2\n"), [".", "at", "the"])
    assert vectors.words == (".", "the")
    assert vectors.matrix[0].tolist() == [1, 1, 1]


def test_a_first_line_with_both_sizes_is_not_a_word(tmp_path: Path) -> None:
    path = written(tmp_path, "2 3\n2 1 2 3 \nb 4 5 6 \n")
    assert read_vectors(path, ["2", "b"]).matrix.tolist() == [[1, 2, 3], [4, 5, 6]]


WORD = st.text(st.characters(exclude_categories=["Cs", "Z", "C"]), min_size=1)
TABLE = st.dictionaries(WORD, st.lists(st.floats(-1e6, 1e6, width=32), min_size=3, max_size=3), min_size=1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TABLE)
def test_every_form_of_file_gives_the_same_matrix(tmp_path: Path, table: dict[str, list[float]]) -> None:
    words, matrix = tuple(table), np.array([*table.values()], np.float32)
    text = "".join(f"{word} {' '.join(map(repr, row))}\n" for word, row in table.items()).encode()
    headed = f"{len(words)} 3\n".encode() + text
    write_bin(Vectors(words, matrix, "made"), tmp_path / "v.bin")
    binary = (tmp_path / "v.bin").read_bytes()
    forms = {
        "v.vec": headed,
        "v.vec.gz": gzip.compress(headed),
        "v.txt.xz": lzma.compress(headed),
        "v.bin": binary,
        "v.bin.gz": gzip.compress(binary),
    }
    for name, data in forms.items():
        vectors = read_vectors(written(tmp_path, data, name), words)
        assert vectors.words == words
        np.testing.assert_array_equal(vectors.matrix, matrix)


def test_a_binary_file_is_read_across_the_seams_of_its_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = tuple(f"word{i}" for i in range(50))
    matrix = np.arange(150, dtype=np.float32).reshape(50, 3)
    write_bin(Vectors(words, matrix, "made"), tmp_path / "v.bin")
    for size in (1, 7, 64):
        monkeypatch.setattr(vectors_module, "_CHUNK", size)
        np.testing.assert_array_equal(read_vectors(tmp_path / "v.bin", words).matrix, matrix)


def test_a_binary_file_without_line_ends_is_read(tmp_path: Path) -> None:
    row = np.array([1, 2], "<f4").tobytes()
    assert read_vectors(
        written(tmp_path, b"2 2\na " + row + b"b " + row, "v.bin"), ["b"]
    ).matrix.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (
            "v.txt",
            "the 1 2 3\nfilm 1 nan 3\n",
            r"v\.txt, line 2: expected finite numbers for 'film', found nan or inf",
        ),
        ("v.txt", "the 1 2 3\nfilm 1 1e300 3\n", "line 2: expected finite numbers"),
        ("v.txt", "the 1 2 3\nfilm 1 2\n", "line 2: expected 3 numbers behind the word, found 2"),
        ("v.txt", "the 1 2 3\nfilm 1 2 3 4\n", "line 2: expected 3 numbers behind the word, found 4"),
        (
            "v.txt",
            "the 1 2 3\nfilm 1 x 3\n",
            "line 2: expected 3 numbers behind the word, found a field that is none",
        ),
        ("v.txt", "the 1 2\né 1 2\n".encode("latin-1"), r"line 2: expected UTF-8, found b'\\xe9'; convert"),
        ("v.txt", "\n", "line 1: expected a word and its numbers"),
        ("v.txt", "", "found none in common"),
        ("v.txt", "other 1 2 3\n", "found none in common"),
        ("v.txt.gz", gzip.compress(GLOVE.encode() * 99, mtime=0)[:-20], "truncated, damaged or unreadable"),
        ("v.txt.gz", GLOVE, "truncated, damaged or unreadable"),
        ("v.txt.xz", lzma.compress(GLOVE.encode())[:40], "truncated, damaged or unreadable"),
        ("v.zip", "PK", "found an archive; unpack it"),
        ("v.bin", GLOVE, "expected word2vec's binary form"),
        ("v.bin", b"2 1\nthe \0\0\0\0\nfilm \0\0", "expected 2 words, found the end at word 2"),
        ("v.bin", b"1 1\nthe \0\0\xc0\x7f\n", r"v\.bin, word 1: expected finite numbers for 'the'"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(
    tmp_path: Path, name: str, data: str | bytes, message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_vectors(written(tmp_path, data, name), ["the", "film", "é"])
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.txt: no such file"):
        read_vectors(tmp_path / "none.txt", ["the"])


def test_known_words_get_their_vectors_and_padding_is_zero(tmp_path: Path) -> None:
    matrix, report = embedding_matrix(TOKENIZER, 3, vectors=written(tmp_path, GLOVE))
    assert TOKENIZER.vocabulary[4:] == ("film", "the", "unseen", "é", "<mask>")
    assert matrix[[0, 4, 5, 7]].tolist() == [[0, 0, 0], [4, 5, 6], [1, 2, -3.5], [7, 8, 9]]
    assert np.abs(matrix[[1, 2, 3, 6, 8]]).min() > 0
    assert matrix.dtype == np.float32
    assert (report["vectors"], report["words"], report["words_found"]) == ("vectors.txt", 4, 3)


def test_the_share_of_tokens_counts_unknown_words_and_no_special_tokens(tmp_path: Path) -> None:
    #         <pad> <unk> <sos> <eos> film the unseen é <mask>
    counts = np.array([100, 2, 50, 50, 3, 4, 1, 0, 9])
    report = embedding_matrix(TOKENIZER, 3, vectors=written(tmp_path, GLOVE), counts=counts)[1]
    assert report["tokens_found"] == pytest.approx(7 / 10)


def test_drawn_rows_depend_on_the_seed_and_not_on_what_was_found(tmp_path: Path) -> None:
    drawn = embedding_matrix(TOKENIZER, 3, seed=5)[0]
    read = embedding_matrix(TOKENIZER, 3, vectors=written(tmp_path, GLOVE), seed=5)[0]
    np.testing.assert_array_equal(read[[1, 2, 3, 6, 8]], drawn[[1, 2, 3, 6, 8]])
    assert not np.array_equal(drawn, embedding_matrix(TOKENIZER, 3, seed=6)[0])


def test_drawn_rows_have_the_scale_that_was_asked_for() -> None:
    tokenizer = WordTokenizer.of("plain", [f"w{i}" for i in range(2000)])
    one = embedding_matrix(tokenizer, 100, scale=1.0)[0]
    tenth, report = embedding_matrix(tokenizer, 100)
    assert one[1:].std() == pytest.approx(1, abs=0.01)
    np.testing.assert_allclose(tenth, one / 10, rtol=1e-6)
    assert report == {"vectors": "normal(0, 0.1)", "size": 100, "scale": 0.1, "seed": 0}


def test_a_scale_of_zero_leaves_words_without_a_vector_at_zero(tmp_path: Path) -> None:
    matrix = embedding_matrix(TOKENIZER, vectors=written(tmp_path, GLOVE), scale=0)[0]
    assert matrix[TOKENIZER.index["unseen"]].tolist() == [0, 0, 0]


def test_the_size_is_that_of_the_vectors_where_none_is_given(tmp_path: Path) -> None:
    assert embedding_matrix(TOKENIZER, vectors=written(tmp_path, GLOVE))[0].shape == (9, 3)


def test_another_size_than_the_vectors_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"vectors\.txt: expected vectors of size 300, found 3; set the embedding"
    ):
        embedding_matrix(TOKENIZER, 300, vectors=written(tmp_path, GLOVE))


def test_parts_of_words_have_no_vectors(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="parts of words"):
        embedding_matrix(SubwordTokenizer("{}"), 3, vectors=written(tmp_path, GLOVE))


@pytest.mark.parametrize(("size", "scale"), [(None, 0.1), (0, 0.1), (3, -1.0), (3, float("nan"))])
def test_a_size_or_scale_that_makes_no_sense_is_refused(size: int | None, scale: float) -> None:
    with pytest.raises(ConfigError, match="expected a size of at least 1 and a finite scale"):
        embedding_matrix(TOKENIZER, size, scale=scale)


@pytest.mark.slow
def test_the_vectors_at_hand_cover_sst_as_counted(shared_data: Path) -> None:
    with gzip.open(shared_data / "sst/sst_dataset.csv.gz", "rt", encoding="utf-8") as file:
        words = [word for row in csv.DictReader(file) for word in row["text"].split(" ")]
    tokenizer = WordTokenizer.of("whitespace", words)
    counts = np.bincount([tokenizer.index[word] for word in words], minlength=len(tokenizer.vocabulary))
    path = shared_data / "embeddings/glove.6B.100d.subset.txt.gz"
    matrix, report = embedding_matrix(tokenizer, 100, vectors=path, counts=counts)
    assert (report["words"], report["words_found"]) == (16_171, 15_625)
    assert round(report["tokens_found"], 3) == 0.991
    with gzip.open(path, "rt", encoding="utf-8") as file:
        line = next(line for line in file if re.match("film ", line))
    np.testing.assert_array_equal(matrix[tokenizer.index["film"]], np.array(line.split()[1:], np.float32))
