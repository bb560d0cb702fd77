"""Pairs in one row: which token belongs to which text, and what is cut of a row that is too long."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Dataset
from faithgauge.encode.corpus import Corpus, encode, open_corpus
from faithgauge.encode.joined import cut_pair, side_of
from faithgauge.encode.tokenizer import (
    Joined,
    SubwordTokenizer,
    load_tokenizer,
    read_subwords,
    save_tokenizer,
)
from faithgauge.errors import DataError
from faithgauge.types import Example, Split


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tiny.tokenizer_file(tmp_path)


def corpus_of(file: Path, *pairs: tuple[str, str], folder: Path | None = None, **config: object) -> Corpus:
    own = EncodeConfig(tokenizer=file, joined=True, **{"max_tokens": 20, **config})  # type: ignore[arg-type]
    splits: dict[Split, list[Example]] = {
        "test": [Example(a, 0, str(i), b) for i, (a, b) in enumerate(pairs)]
    }
    return encode(Dataset("pairs", "", "pair", ("no", "yes"), splits), own, folder)


def words(corpus: Corpus, i: int = 0) -> str:
    return " ".join(corpus.tokenizer.vocabulary[j] for j in corpus.splits["test"].ids.row(i))


def test_a_special_token_belongs_to_the_text_before_it(file: Path) -> None:
    corpus = corpus_of(file, ("unlikely", "bad film"))
    encoded = corpus.splits["test"]
    assert words(corpus) == "[CLS] un ##like ##ly [SEP] bad film [SEP]"
    assert encoded.segments is not None
    assert encoded.segments.row(0).tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    special = [-1, -1]
    assert encoded.spans.row(0).tolist() == [
        *(special, [0, 2], [2, 6], [6, 8], special),
        *([0, 3], [4, 8], special),
    ]
    assert (encoded.text(0), encoded.text_pair(0)) == ("unlikely", "bad film")
    assert (encoded.pair_ids, encoded.pair_spans) == (None, None)


def test_the_sides_of_a_row_are_its_texts_again(file: Path) -> None:
    encoded = corpus_of(file, ("good", "bad film"), ("a", "the")).splits["test"]
    ids, spans, places = side_of(encoded, 1)
    assert ids.row(0).tolist() == [*map(tiny.VOCABULARY.index, ("bad", "film", "[SEP]"))]
    assert spans.row(1).tolist() == [[0, 3], [-1, -1]]
    assert places.tolist() == [3, 4, 5, 9, 10]


def test_the_longer_text_is_cut_first_and_equal_ones_from_the_second_on() -> None:
    ids = np.arange(11, dtype=np.int32)
    # [CLS] five tokens [SEP] three tokens [SEP]
    segments = np.array([0] * 7 + [1] * 4, np.int32)
    spans = np.array([[i, i + 1] for i in range(11)], np.int32)
    spans[[0, 6, 10]] = -1
    row = Joined(ids, spans, segments)
    assert cut_pair(row, 0) is row
    assert cut_pair(row, 2).ids.tolist() == [0, 1, 2, 3, 6, 7, 8, 9, 10]
    assert cut_pair(row, 3).ids.tolist() == [0, 1, 2, 3, 6, 7, 8, 10]
    assert cut_pair(row, 4).ids.tolist() == [0, 1, 2, 6, 7, 8, 10]
    assert cut_pair(row, 4).segments.tolist() == [0, 0, 0, 0, 1, 1, 1]


def test_rows_that_are_cut_are_counted_and_else_an_error(file: Path) -> None:
    pairs = (("good " * 9, "bad"), ("good", "bad"), ("a " * 5, "the " * 5))
    corpus = corpus_of(file, *pairs, max_tokens=9, too_long="cut")
    assert corpus.report["splits"]["test"]["cut"] == 2
    assert corpus.splits["test"].ids.lengths().tolist() == [9, 5, 9]
    assert words(corpus, 2) == "[CLS] a a a [SEP] the the the [SEP]"
    with pytest.raises(DataError, match=r"test, 0: expected at most 9 tokens, found 13; the model"):
        corpus_of(file, *pairs, max_tokens=9)
    assert "cut" not in corpus_of(file, ("good", "bad")).report["splits"]["test"]


def test_single_texts_are_cut_and_counted_as_well(file: Path) -> None:
    tokenizer = read_subwords(file, joined=True, longest=4)
    data = Dataset("one", "", "single", ("a", "b"), {"test": [Example("good bad film", 0, "0")]})
    corpus = encode(data, EncodeConfig(too_long="cut"), tokenizer=tokenizer)
    assert words(corpus) == "[CLS] good bad [SEP]"
    assert corpus.report["splits"]["test"]["cut"] == 1
    with pytest.raises(DataError, match=r"expected at most 4 tokens, found 5; the model can read no more"):
        encode(data, EncodeConfig(), tokenizer=tokenizer)


def test_a_pair_of_which_nothing_is_left_of_one_text_is_an_error(file: Path) -> None:
    with pytest.raises(DataError, match=r"expected a token or more of each text of the pair"):
        corpus_of(file, ("good", " "))


def test_evidence_is_in_the_first_text_alone(file: Path) -> None:
    example = Example("good film", 0, "0", "bad film", evidence=((0, 4),))
    data = Dataset("pairs", "", "pair", ("no", "yes"), {"test": [example]})
    encoded = encode(data, EncodeConfig(tokenizer=file, joined=True)).splits["test"]
    assert encoded.evidence is not None
    assert encoded.evidence.row(0).tolist() == [False, True, *[False] * 5]


def test_a_corpus_on_disk_keeps_rows_and_tokenizer(file: Path, tmp_path: Path) -> None:
    corpus = corpus_of(file, ("good", "bad film"), folder=tmp_path / "corpus")
    again = open_corpus(tmp_path / "corpus")
    assert again.splits["test"].segments is not None
    assert again.splits["test"].segments.row(0).tolist() == [0, 0, 0, 1, 1, 1]
    assert again.tokenizer.state() == corpus.tokenizer.state()
    assert isinstance(again.tokenizer, SubwordTokenizer)
    assert (again.tokenizer.joined, again.tokenizer.longest) == (True, 20)


def test_a_tokenizer_that_joins_nothing_is_written_as_before(file: Path, tmp_path: Path) -> None:
    tokenizer = read_subwords(file)
    assert set(tokenizer.state()) == {"kind", "definition"}
    save_tokenizer(replace(tokenizer, joined=True, longest=7), tmp_path)
    assert load_tokenizer(tmp_path).state()["longest"] == 7


def test_words_are_those_of_the_pre_tokenizer(file: Path) -> None:
    found = read_subwords(file).words("unlikely, film.")
    assert found.tolist() == [0, 0, 0, 1, 2, 3]
