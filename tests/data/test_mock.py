"""AtteFa's synthetic texts, measured against the paper's description."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from faithgauge.config import DataConfig
from faithgauge.data.dataset import Dataset
from faithgauge.data.mock import AMOUNTS, PUBLISHED, mock, word_list
from faithgauge.errors import ConfigError, DataError
from faithgauge.seeds import generator
from faithgauge.types import Example

WORDS = {0: set(word_list("negative")), 1: set(word_list("positive"))}


@cache
def made(name: str, seed: int = 0) -> Dataset:
    return mock(DataConfig(name, seed=seed), name)


def informative(example: Example) -> list[str]:
    assert example.evidence is not None
    return [example.text[start:end] for start, end in example.evidence]


@pytest.mark.parametrize("name", AMOUNTS)
def test_the_sizes_are_those_of_the_paper(name: str):
    counts = made(name).counts()
    for published in PUBLISHED:
        assert counts[published.split] == {"examples": published.examples, "labels": published.labels}


@pytest.mark.parametrize("name", AMOUNTS)
def test_the_evidence_is_exactly_the_words_that_are_not_filler(name: str):
    for example in made(name).splits["train"]:
        assert informative(example) == [word for word in example.text.split() if word != "something"]


@pytest.mark.parametrize("name", AMOUNTS)
def test_all_evidence_has_the_polarity_of_the_label(name: str):
    for example in made(name).splits["test"]:
        assert WORDS[example.label].issuperset(informative(example))


@pytest.mark.parametrize("name", ["mock-1", "mock-2", "mock-5", "mock-10"])
def test_a_fixed_number_of_tokens_is_informative(name: str):
    assert {len(informative(e)) for e in made(name).splits["train"]} == {AMOUNTS[name]}


@pytest.mark.parametrize(
    ("name", "of_50", "of_51", "of_74"),
    [("mock-1q", 13, 13, 19), ("mock-2q", 25, 26, 37), ("mock-3q", 38, 38, 56), ("mock-4q", 50, 51, 74)],
)
def test_a_share_of_the_tokens_is_rounded_halves_up(name: str, of_50: int, of_51: int, of_74: int):
    found = {len(e.text.split()): len(informative(e)) for e in made(name).splits["train"]}
    assert (found[50], found[51], found[74]) == (of_50, of_51, of_74)


def test_lengths_are_even_from_50_to_100():
    lengths = Counter(len(example.text.split()) for example in made("mock-1").splits["train"])
    assert set(lengths) == set(range(50, 101))
    expected = 8000 / 51
    # Chi-squared with 50 degrees of freedom is above 86.7 once in a thousand seeds.
    assert sum((n - expected) ** 2 / expected for n in lengths.values()) < 86.7


def test_the_informative_word_may_stand_anywhere():
    places = Counter(
        e.text[: e.evidence[0][0]].count(" ") for e in made("mock-1").splits["train"] if e.evidence
    )
    assert set(places) == set(range(100))
    # Each of the first fifty places is in every text, so each is taken equally often: 8000 · E[1 / length].
    expected = 8000 * sum(1 / n for n in range(50, 101)) / 51
    assert sum((places[i] - expected) ** 2 / expected for i in range(50)) < 86.7


def test_every_word_of_the_list_is_used():
    used = {word for e in made("mock-10").splits["train"] for word in informative(e)}
    assert used == WORDS[0] | WORDS[1]


def test_the_word_lists_are_sorted_and_share_no_word():
    for name in ("negative", "positive", "planted-negative", "planted-positive"):
        assert word_list(name) == sorted(set(word_list(name)))
    assert not WORDS[0] & WORDS[1]
    assert not set(word_list("planted-negative")) & set(word_list("planted-positive"))


def test_the_labels_are_drawn_for_data_set_and_split():
    """A change here changes everybody's texts: it belongs under "Numbers changed"."""
    drawn = generator(0, "mock-2", "test").random(1000)
    assert [e.label for e in made("mock-2").splits["test"]] == (drawn.argsort() < 500).astype(int).tolist()


def test_another_seed_gives_other_texts():
    assert made("mock-1", 0).splits["test"] != made("mock-1", 1).splits["test"]


def test_the_splits_and_the_data_sets_are_drawn_independently():
    labels = [
        [e.label for e in made(name).splits[s]]
        for name in ("mock-1", "mock-2")
        for s in ("validation", "test")
    ]
    assert len({tuple(row) for row in labels}) == 4


def test_a_lexicon_replaces_the_words(tmp_path: Path):
    (tmp_path / "positive-words.txt").write_text("; a comment\n\nfine\nmerry\n")
    (tmp_path / "negative-words.txt").write_bytes(b";; another\r\nna\xefve\r\nmerry\r\n")
    dataset = mock(DataConfig("mock-5", lexicon=tmp_path), "mock-5")
    words = {example.label: set(informative(example)) for example in dataset.splits["test"]}
    assert words == {0: {"naïve"}, 1: {"fine"}}
    assert dataset.notes[0].endswith("1 that stand in both lists left out")


def test_a_lexicon_without_its_files_is_an_error(tmp_path: Path):
    (tmp_path / "positive-words.txt").write_text("fine\n")
    with pytest.raises(DataError, match=r"negative-words\.txt is not there"):
        mock(DataConfig("mock-1", lexicon=tmp_path), "mock-1")


def test_a_lexicon_without_words_is_an_error(tmp_path: Path):
    (tmp_path / "positive-words.txt").write_text("; nothing\n")
    (tmp_path / "negative-words.txt").write_text("bad\n")
    with pytest.raises(DataError, match="expected one word a line, found none"):
        mock(DataConfig("mock-1", lexicon=tmp_path), "mock-1")


def test_a_negative_seed_is_an_error():
    with pytest.raises(ConfigError, match="seed -1: expected a whole number that is not negative"):
        mock(DataConfig("mock-1", seed=-1), "mock-1")


def test_the_public_lexicon_is_read(shared_data: Path):
    folder = shared_data / "opinion_lexicon"
    if not folder.is_dir():
        pytest.skip("the opinion lexicon is not among the real data")
    note = mock(DataConfig("mock-1", lexicon=folder), "mock-1").notes[0]
    assert note.startswith("words: 2003 positive and 4780 negative ones")
    assert note.endswith("3 that stand in both lists left out")


@pytest.mark.slow
def test_every_process_generates_the_same_texts():
    code = (
        "import hashlib; from faithgauge.config import DataConfig; from faithgauge.data.mock import mock\n"
        "texts = [e.text for e in mock(DataConfig('mock-2'), 'mock-2').splits['train']]\n"
        "print(hashlib.sha256('\\n'.join(texts).encode()).hexdigest())"
    )
    here = hashlib.sha256("\n".join(e.text for e in made("mock-2").splits["train"]).encode()).hexdigest()
    for hash_seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == here
