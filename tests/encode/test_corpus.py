"""A data set as ids: the vocabulary, what is kept of each text, and what is refused."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.config import DataConfig, EncodeConfig
from faithgauge.data.dataset import Dataset
from faithgauge.data.load import load
from faithgauge.encode.corpus import Corpus, encode, open_corpus
from faithgauge.encode.tokenizer import SubwordTokenizer, WordTokenizer
from faithgauge.errors import ConfigError, DataError
from faithgauge.types import Encoded, Example, Split, Task


def examples(*texts: str) -> list[Example]:
    return [Example(text, i % 2, f"row-{i}") for i, text in enumerate(texts)]


def dataset(splits: Mapping[Split, list[Example]], task: Task = "single") -> Dataset:
    return Dataset("tiny", "v", task, ("bad", "good"), splits, ("one row",), ("a note",), True)


FILMS = dataset({"train": examples("a good film", "a bad, bad Film"), "test": examples("a fine film indeed")})
CONFIG = EncodeConfig()


def tokens(corpus: Corpus, split: Split, i: int = 0) -> list[str]:
    return [corpus.tokenizer.vocabulary[j] for j in corpus.splits[split].ids.row(i).tolist()]


def assert_same(one: Encoded, other: Encoded) -> None:
    for name in Encoded.__dataclass_fields__:
        a, b = getattr(one, name), getattr(other, name)
        if a is None or isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_array_equal(a.values, b.values)
            np.testing.assert_array_equal(a.offsets, b.offsets)
            assert a.values.dtype == b.values.dtype


def test_the_vocabulary_is_of_the_training_split_in_alphabetical_order() -> None:
    corpus = encode(FILMS, CONFIG)
    assert corpus.tokenizer.vocabulary[4:-1] == (",", "a", "bad", "film", "good")
    assert corpus.splits["train"].ids.row(1).tolist() == [2, 5, 6, 4, 6, 7, 3]
    assert tokens(corpus, "test") == ["<sos>", "a", "<unk>", "film", "<unk>", "<eos>"]


def test_min_df_counts_texts_and_not_occurrences() -> None:
    corpus = encode(FILMS, EncodeConfig(min_df=2))
    assert corpus.tokenizer.vocabulary[4:-1] == ("a", "film")
    assert tokens(corpus, "train", 1) == ["<sos>", "a", "<unk>", "<unk>", "<unk>", "film", "<eos>"]


def test_both_texts_of_a_pair_are_read_and_counted() -> None:
    pairs = [Example("a cat", 0, "1", "a dog"), Example("one cat", 1, "2", "a cat")]
    corpus = encode(dataset({"train": pairs}, "pair"), EncodeConfig(min_df=2))
    train = corpus.splits["train"]
    assert corpus.tokenizer.vocabulary[4:-1] == ("a", "cat")
    assert train.pair_ids is not None
    assert [train.pair_ids.row(i).tolist() for i in range(2)] == [[2, 4, 1, 3], [2, 4, 5, 3]]
    assert [train.text_pair(i) for i in range(2)] == ["a dog", "a cat"]


def test_texts_come_back_with_the_places_of_their_tokens() -> None:
    text = "Naïve 👍🏽 films"
    train = encode(dataset({"train": examples(text)}), CONFIG).splits["train"]
    assert train.text(0) == text
    assert [text[start:end] for start, end in train.spans.row(0).tolist()[1:-1]] == ["Naïve", "👍🏽", "films"]
    assert train.spans.row(0)[[0, -1]].tolist() == [[-1, -1], [-1, -1]]


def test_a_token_is_evidence_if_it_shares_a_character_with_a_span() -> None:
    texts = [
        Example("very(good)film", 1, "1", evidence=((5, 9),)),
        Example("a wonderful film", 1, "2", evidence=((8, 10), (15, 16))),
        Example("no evidence", 0, "3", evidence=()),
    ]
    evidence = encode(dataset({"train": texts}), CONFIG).splits["train"].evidence
    assert evidence is not None
    assert [evidence.row(i).astype(int).tolist() for i in range(3)] == [
        [0, 0, 0, 1, 0, 0, 0],
        [0, 0, 1, 1, 0],
        [0, 0, 0, 0],
    ]


def test_without_known_evidence_there_are_no_flags() -> None:
    assert encode(FILMS, CONFIG).splits["train"].evidence is None


def test_candidates_are_kept_as_they_are() -> None:
    cloze = [Example("x", 1, "1", "q", candidates=(1, 5)), Example("y", 0, "2", "q", candidates=(0, 2, 7))]
    candidates = encode(dataset({"train": cloze}, "cloze"), CONFIG).splits["train"].candidates
    assert candidates is not None
    assert [candidates.row(i).tolist() for i in range(2)] == [[1, 5], [0, 2, 7]]


def test_what_a_partial_data_set_lacks_is_said_where_there_is_no_train() -> None:
    partial = replace(dataset({"test": [Example("x", 0, "1")]}), missing=("train: no file train.tsv",))
    with pytest.raises(DataError) as raised:
        encode(partial, CONFIG)
    assert str(raised.value).endswith("the vocabulary from, found test; train: no file train.tsv")


def test_the_report_counts_words_and_leaves_special_tokens_out() -> None:
    report = encode(FILMS, CONFIG).report
    assert report["vocabulary"] == 10
    assert report["splits"]["train"] == {"examples": 2, "mean_length": 4.0, "max_length": 7, "unknown": 0.0}
    assert report["splits"]["test"] == {"examples": 1, "mean_length": 4.0, "max_length": 6, "unknown": 0.5}


def test_the_facts_of_the_data_set_go_with_it() -> None:
    corpus = encode(FILMS, CONFIG)
    assert (corpus.full_name, corpus.classes, corpus.task) == ("tiny@v", ("bad", "good"), "single")
    assert (corpus.missing, corpus.notes, corpus.substituted, corpus.complete) == (
        ("one row",),
        ("a note",),
        True,
        False,
    )
    assert corpus.splits["train"].labels.tolist() == [0, 1]


def test_a_given_tokenizer_is_used_and_needs_no_training_split() -> None:
    tokenizer = WordTokenizer.of("plain", ["film"])
    corpus = encode(dataset({"test": examples("a film")}), CONFIG, tokenizer=tokenizer)
    assert corpus.tokenizer is tokenizer
    assert corpus.splits["test"].ids.row(0).tolist() == [2, 1, 4, 3]


def test_a_tokenizer_file_of_the_configuration_is_used(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    model = Tokenizer(models.WordLevel({"[UNK]": 0, "film": 1}, unk_token="[UNK]"))
    model.pre_tokenizer = pre_tokenizers.Whitespace()
    model.save(str(tmp_path / "t.json"))
    corpus = encode(FILMS, EncodeConfig(tokenizer=tmp_path / "t.json"))
    assert isinstance(corpus.tokenizer, SubwordTokenizer)
    assert corpus.splits["test"].ids.row(0).tolist() == [0, 0, 1, 0]
    assert corpus.report["splits"]["test"]["unknown"] == 0.75


@given(st.lists(st.text(st.sampled_from("ab ."), min_size=1).filter(str.strip), min_size=1, max_size=8))
def test_every_text_has_the_ids_it_has_alone(texts: list[str]) -> None:
    corpus = encode(dataset({"train": examples(*texts)}), CONFIG)
    train = corpus.splits["train"]
    for i, text in enumerate(texts):
        alone = corpus.tokenizer.encode(text)
        assert train.ids.row(i).tolist() == alone.ids.tolist()
        assert train.spans.row(i).tolist() == alone.spans.tolist()
        assert train.text(i) == text


def test_a_corpus_in_a_folder_is_the_one_in_memory_but_memory_mapped(tmp_path: Path) -> None:
    data = dataset(
        {
            "train": [Example("a é", 0, "1", "b", ((0, 1),), (0, 1)), Example("c", 1, "2", "d e", (), (1,))],
            "test": [Example("a", 0, "3", "x", None, None)],
        },
        "cloze",
    )
    memory, disk = encode(data, CONFIG), encode(data, CONFIG, tmp_path / "corpus")
    assert isinstance(disk.splits["train"].ids.values, np.memmap)
    assert memory.tokenizer == disk.tokenizer
    assert replace(memory, splits={}) == replace(disk, splits={})
    assert list(disk.splits) == ["train", "test"]
    for split in disk.splits:
        assert_same(memory.splits[split], disk.splits[split])
        assert_same(open_corpus(tmp_path / "corpus").splits[split], disk.splits[split])


def test_two_encodings_are_equal_to_the_byte(tmp_path: Path) -> None:
    for name in ("one", "two"):
        encode(FILMS, CONFIG, tmp_path / name)
    files = sorted(
        path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()
    )
    assert len(files) > 10
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


LONG = dataset({"train": examples("a film", "b " * 200_000)})


def test_a_text_that_is_too_long_is_named_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        encode(LONG, CONFIG, tmp_path / "corpus")
    assert str(caught.value) == (
        "tiny@v, train, row-1: expected at most 20,000 tokens, found 200,002; "
        "set --max-tokens 200002 or --too-long cut"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_text_of_just_the_greatest_length_is_taken() -> None:
    corpus = encode(dataset({"train": examples("a film")}), EncodeConfig(max_tokens=4))
    assert tokens(corpus, "train") == ["<sos>", "a", "film", "<eos>"]


def test_a_text_that_is_too_long_can_be_cut_and_keeps_its_special_tokens() -> None:
    corpus = encode(
        dataset({"train": examples("a film", "c b a d e")}), EncodeConfig(max_tokens=4, too_long="cut")
    )
    assert tokens(corpus, "train", 1) == ["<sos>", "c", "b", "<eos>"]
    assert corpus.splits["train"].spans.row(1).tolist() == [[-1, -1], [0, 1], [2, 3], [-1, -1]]
    assert corpus.splits["train"].text(1) == "c b a d e"


def test_words_that_were_cut_off_do_not_enter_the_vocabulary() -> None:
    corpus = encode(dataset({"train": examples("c b a d e")}), EncodeConfig(max_tokens=4, too_long="cut"))
    assert corpus.tokenizer.vocabulary[4:-1] == ("b", "c")


@pytest.mark.parametrize(
    ("data", "config", "message"),
    [
        (
            dataset({"train": examples("a", "\u200b")}),
            CONFIG,
            r"tiny@v, train, row-1: expected at least one token",
        ),
        (
            dataset({"train": examples("a \ud83d")}),
            CONFIG,
            r"row-0: .* half a character \(\\ud83d\) at character 2",
        ),
        (
            dataset({"test": examples("a")}),
            CONFIG,
            "expected a training split to take the vocabulary from, found test",
        ),
        (dataset({}), CONFIG, "found no split"),
        (
            dataset({"train": [Example("a", 0, "x", "b"), Example("a", 0, "y")]}),
            CONFIG,
            "tiny@v, train, y: expected a second text",
        ),
        (FILMS, EncodeConfig(words="jain-walace"), "did you mean 'jain-wallace'"),
        (FILMS, EncodeConfig(min_df=0), "expected min_df of at least 1"),
        (
            FILMS,
            EncodeConfig(tokenizer=Path("/nowhere/tokenizer.json")),
            "/nowhere/tokenizer.json: not found",
        ),
    ],
)
def test_what_cannot_be_encoded_is_refused_in_one_line(
    data: Dataset, config: EncodeConfig, message: str, tmp_path: Path
) -> None:
    with pytest.raises((DataError, ConfigError), match=message) as caught:
        encode(data, config, tmp_path / "corpus")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_the_vocabulary_of_sst_is_that_of_jain_and_wallace(shared_data: Path) -> None:
    reference = shared_data.parent / "reference/jain-wallace-sst/vocab_word2idx.json"
    if not reference.exists():
        pytest.skip(f"needs the reference vocabulary {reference}")
    theirs = json.loads(reference.read_text(encoding="utf-8"))
    with gzip.open(shared_data / "sst/sst_dataset.csv.gz", "rt", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["exp_split"] == "train"]
    train = [Example(row["text"], int(row["label"]), str(i)) for i, row in enumerate(rows)]
    tokenizer = encode(dataset({"train": train}), EncodeConfig(words="whitespace")).tokenizer
    assert isinstance(tokenizer, WordTokenizer)
    assert len(theirs) == tokenizer.mask == 13_826
    assert tokenizer.index == {word: i for word, i in theirs.items() if i > 3}


@pytest.mark.slow
def test_the_vocabulary_of_imdb_has_the_size_that_jain_and_wallace_print(shared_data: Path) -> None:
    """Their first preparation took it from all 21,516 reviews of train that are short enough."""
    data = load(DataConfig("imdb@jain-wallace-2019", shared_data))
    reviews = [*data.splits["train"], *data.splits["validation"]]
    assert len(reviews) == 21_516
    corpus = encode(replace(data, splits={"train": reviews}), EncodeConfig(words="keras", min_df=10))
    assert corpus.tokenizer.mask == 14_355
