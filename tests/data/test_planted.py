"""Planted reviews: what is known of them must be so."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from faithgauge.config import DataConfig
from faithgauge.data.dataset import Dataset
from faithgauge.data.mock import word_list
from faithgauge.data.planted import bayes_accuracy, planted
from faithgauge.errors import ConfigError
from faithgauge.types import SPLITS, Example

WORDS = [set(word_list("planted-negative")), set(word_list("planted-positive"))]


@cache
def made(evidence: int = 3, position: str = "scattered", strength: float = 1.0, seed: int = 0) -> Dataset:
    config = DataConfig("planted", evidence=evidence, position=position, strength=strength, seed=seed)  # type: ignore[arg-type]
    return planted(config)


def evidence_of(example: Example) -> list[str]:
    assert example.evidence is not None
    return [example.text[start:end] for start, end in example.evidence]


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def sentences_with_evidence(example: Example) -> list[bool]:
    """For each sentence, whether evidence stands in it."""
    ends = [match.end() for match in re.finditer(r"\.( |$)", example.text)]
    starts = [0, *ends[:-1]]
    spans = example.evidence or ()
    return [any(s <= span[0] < e for span in spans) for s, e in zip(starts, ends, strict=True)]


def test_the_sizes_are_balanced():
    assert made().counts() == {
        "train": {"examples": 2000, "labels": {"negative": 1000, "positive": 1000}},
        "validation": {"examples": 500, "labels": {"negative": 250, "positive": 250}},
        "test": {"examples": 500, "labels": {"negative": 250, "positive": 250}},
    }


def test_no_text_comes_twice():
    texts = [example.text for split in SPLITS for example in made().splits[split]]
    assert len(set(texts)) == 3000


def test_the_neutral_sentences_are_never_the_same_in_two_texts():
    examples = [example for split in SPLITS for example in made(1, "start").splits[split]]
    rest = [example.text.split(". ", 1)[1] for example in examples]
    assert len(set(rest)) == 3000


def test_two_to_four_neutral_sentences_stand_around_the_evidence():
    neutral = Counter(sentences_with_evidence(example).count(False) for example in made().splits["train"])
    assert set(neutral) == {2, 3, 4}
    # Chi-squared with 2 degrees of freedom is above 13.8 once in a thousand seeds.
    assert sum((n - 2000 / 3) ** 2 / (2000 / 3) for n in neutral.values()) < 13.8


@pytest.mark.parametrize("evidence", [1, 2, 3, 7, 20])
def test_as_many_words_are_planted_as_were_asked_for(evidence: int):
    assert {len(evidence_of(example)) for example in made(evidence).splits["test"]} == {evidence}


def test_at_full_strength_every_planted_word_agrees_with_the_label():
    for split in SPLITS:
        for example in made().splits[split]:
            assert WORDS[example.label].issuperset(evidence_of(example))


def test_planted_words_stand_nowhere_but_in_the_evidence():
    for example in made().splits["train"]:
        known = [word for word in words_of(example.text) if word in WORDS[0] | WORDS[1]]
        assert known == evidence_of(example)


def test_weaker_evidence_agrees_as_often_as_its_strength_says():
    examples = made(3, "scattered", 0.6).splits["train"]
    agree = sum(word in WORDS[e.label] for e in examples for word in evidence_of(e))
    n = 3 * len(examples)
    # Four standard errors about (1 + .6) / 2.
    assert abs(agree / n - 0.8) < 4 * math.sqrt(0.8 * 0.2 / n)


@pytest.mark.parametrize(("evidence", "strength"), [(1, 0.5), (2, 0.5), (3, 0.6), (5, 0.2)])
def test_the_majority_of_the_evidence_is_as_good_as_the_bayes_accuracy(evidence: int, strength: float):
    right = 0.0
    examples = [e for split in SPLITS for e in made(evidence, "scattered", strength).splits[split]]
    for example in examples:
        votes = sum(1 if word in WORDS[example.label] else -1 for word in evidence_of(example))
        right += 1.0 if votes > 0 else 0.5 if votes == 0 else 0.0
    best = bayes_accuracy(evidence, strength)
    assert abs(right / len(examples) - best) < 4 * math.sqrt(best * (1 - best) / len(examples))


def test_bayes_accuracy_by_hand():
    assert bayes_accuracy(1, 0.5) == 0.75
    # Both agree (9/16), or one does and a coin decides (6/16 · 1/2).
    assert bayes_accuracy(2, 0.5) == 0.75
    # Three agree (27/64) or two do (27/64).
    assert bayes_accuracy(3, 0.5) == pytest.approx(54 / 64, abs=1e-15)
    assert bayes_accuracy(4, 1.0) == 1.0


@pytest.mark.parametrize("evidence", [1, 2, 3, 4, 5])
def test_bayes_accuracy_is_what_counting_all_outcomes_gives(evidence: int):
    q, total = 0.8, 0.0
    for outcome in product((True, False), repeat=evidence):
        chance = math.prod(q if agrees else 1 - q for agrees in outcome)
        votes = sum(1 if agrees else -1 for agrees in outcome)
        total += chance * (1.0 if votes > 0 else 0.5 if votes == 0 else 0.0)
    assert bayes_accuracy(evidence, 0.6) == pytest.approx(total, abs=1e-14)


def test_evidence_at_the_start_comes_before_all_else():
    for example in made(3, "start").splits["test"]:
        places = sentences_with_evidence(example)
        assert places == sorted(places, reverse=True)


def test_evidence_at_the_end_comes_after_all_else():
    for example in made(3, "end").splits["test"]:
        places = sentences_with_evidence(example)
        assert places == sorted(places)


def test_evidence_in_the_middle_has_neutral_sentences_around_it():
    for example in made(2, "middle").splits["test"]:
        places = sentences_with_evidence(example)
        before = (len(places) - 2) // 2
        assert places == [False] * before + [True, True] + [False] * (len(places) - 2 - before)


def test_scattered_evidence_may_stand_in_any_sentence():
    places = Counter(
        tuple(sentences_with_evidence(e))
        for e in made(1).splits["train"]
        if len(sentences_with_evidence(e)) == 4
    )
    total = sum(places.values())
    assert len(places) == 4
    # Chi-squared with 3 degrees of freedom is above 16.3 once in a thousand seeds.
    assert sum((n - total / 4) ** 2 / (total / 4) for n in places.values()) < 16.3


def test_the_position_changes_neither_labels_nor_words():
    start, end = made(3, "start").splits["train"], made(3, "end").splits["train"]
    assert [e.label for e in start] == [e.label for e in end]
    assert [evidence_of(e) for e in start] == [evidence_of(e) for e in end]


def neutral_words(example: Example) -> list[str]:
    text = example.text
    for start, end in reversed(example.evidence or ()):
        text = text[:start] + text[end:]
    return words_of(text)


def test_without_its_evidence_a_text_tells_nothing_of_its_label():
    counts = [Counter[str](), Counter[str]()]
    for example in made().splits["train"]:
        counts[example.label].update(set(neutral_words(example)))
    right = 0
    held_out = [*made().splits["validation"], *made().splits["test"]]
    for example in held_out:
        words = set(neutral_words(example))
        odds = sum(math.log((counts[1][word] + 1) / (counts[0][word] + 1)) for word in words)
        right += (odds > 0) == (example.label == 1)
    # Four standard errors about one half.
    assert abs(right / len(held_out) - 0.5) < 4 * 0.5 / math.sqrt(len(held_out))


def test_the_strength_leaves_all_but_the_evidence_as_it_is():
    full, weak = made(3, "scattered", 1.0).splits["train"], made(3, "scattered", 0.2).splits["train"]
    assert [neutral_words(e) for e in full] == [neutral_words(e) for e in weak]


def test_the_same_seed_gives_the_same_reviews_and_another_does_not():
    config = DataConfig("planted", seed=5)
    assert planted(config).splits == planted(config).splits
    assert planted(config).splits["test"] != made().splits["test"]


def test_the_note_says_what_can_be_reached():
    assert made(1, "end", 0.5).notes == (
        "generated with seed 0; planted words in each text: 1, end, of strength 0.5; "
        "the best possible accuracy is 0.75",
    )


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"evidence": 0}, "evidence 0: expected the number of planted words, 1 or more"),
        ({"strength": 0.0}, "strength 0.0: expected a number above 0 and at most 1"),
        ({"strength": 1.5}, "strength 1.5: expected"),
        ({"strength": math.nan}, "strength nan: expected"),
        ({"position": "top"}, "position 'top': expected one of start, middle, end, scattered"),
    ],
)
def test_a_setting_out_of_its_range_is_an_error(setting: dict[str, object], message: str):
    with pytest.raises(ConfigError, match=re.escape(message)):
        planted(DataConfig("planted", **setting))  # type: ignore[arg-type]


def test_neutral_words_are_not_in_the_public_opinion_lexicon(shared_data: Path):
    files = sorted((shared_data / "opinion_lexicon").glob("*-words.txt"))
    if len(files) != 2:
        pytest.skip("the opinion lexicon is not among the real data")
    opinion = {line for file in files for line in file.read_text().splitlines() if not line.startswith(";")}
    used = {word for split in SPLITS for example in made().splits[split] for word in neutral_words(example)}
    assert used & opinion == set()


def test_what_is_planted_otherwise_than_by_default_is_in_the_name() -> None:
    assert planted(DataConfig("planted", seed=3)).full_name == "planted"
    other = planted(DataConfig("planted", evidence=1, position="start", strength=0.8))
    assert other.full_name == "planted@evidence=1,position=start,strength=0.8"
