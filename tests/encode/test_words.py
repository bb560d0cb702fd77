"""The words of each preset, and their places in the original text."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import tarfile
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faithgauge.encode import words as words_module
from faithgauge.encode.words import WORDS, keras, mimic, plain
from faithgauge.errors import ConfigError, UnsupportedError

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ENGLISH = st.lists(
    st.sampled_from(
        ["don't", "It's", "n't", "'", "’t", "<br />", "O'Brien", "3.14", "_", "...", "x", " ", "é", "N"]
    )
).map("".join)
SPACY = ("jain-wallace", "jain-wallace-sst", "jain-wallace-20news", "mimic")


def pieces(preset: str, text: str) -> list[tuple[str, str]]:
    """Each word beside the characters it was read from."""
    words, spans = WORDS[preset](text)
    return [(word, text[start:end]) for word, (start, end) in zip(words, spans.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't go, it's O'Brien's!", "do n't go , it 's o'brien 's !"),
        ("I can’t. We’RE here", "i ca n't . we 're here"),
        ("'Tis rock'n'roll; the dogs' 4th 'n't'", "' tis rock'n'roll ; the dogs ' 4th ' n't '"),
        ("isn'tx don 't", "isn'tx don ' t"),
        ("1,000.5 or 3.14, v2.0", "1,000.5 or 3.14 , v2 . 0"),
        ("good<br /><BR>bad <brr>", "good bad < brr >"),
        ("snake_case ... #1", "snake _ case . . . # 1"),
    ],
)
def test_plain_reads_english_as_glove_does(text: str, expected: str) -> None:
    assert plain(text).words == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Naïve—yes…", ["naïve", "—", "yes", "…"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("我爱 Python3", ["我", "爱", "python3"]),
        ("ありがとう", list("ありがとう")),
        ("한국어 텍스트", ["한국어", "텍스트"]),
        ("שלום עולם\u200f!", ["שלום", "עולם", "!"]),
        ("می‌خواهم", ["می‌خواهم"]),
        ("👩🏽‍⚕️👍🏽 🇩🇪🇫🇷 1️⃣", ["👩🏽‍⚕️", "👍🏽", "🇩🇪", "🇫🇷", "1️⃣"]),
        ("ΟΔΟΣ", ["οδος"]),
        ("cafe\u0301", ["caf\u00e9"]),
        ("\u200b\ufeff", []),
    ],
)
def test_plain_reads_any_script(text: str, expected: list[str]) -> None:
    assert plain(text).words == expected


def test_a_composed_word_stands_for_the_characters_it_was_written_with() -> None:
    assert pieces("plain", "a cafe\u0301") == [("a", "a"), ("caf\u00e9", "cafe\u0301")]


@given(TEXTS | ENGLISH)
def test_every_plain_word_is_its_characters_in_lower_case(text: str) -> None:
    for word, characters in pieces("plain", text):
        assert word == unicodedata.normalize("NFC", characters.lower()).replace("’", "'")


@given(TEXTS | ENGLISH)
@example("\x1c\x85\u2028")
def test_plain_words_do_not_overlap_and_leave_out_only_what_cannot_be_seen(text: str) -> None:
    spans = plain(text).spans
    position, left = 0, []
    for start, end in spans.tolist():
        assert position <= start < end
        left.append(text[position:start])
        position = end
    left.append(text[position:])
    seen = re.sub(r"<br\s*/?>", "", "".join(left), flags=re.IGNORECASE)
    assert [c for c in seen if not c.isspace() and unicodedata.category(c) != "Cf"] == []


@given(ENGLISH | st.text(st.characters(codec="ascii")))
def test_an_ascii_text_has_the_same_words_beside_one_that_is_not(text: str) -> None:
    assert plain(text + " é").words == [*plain(text).words, "é"]


@given(TEXTS)
@pytest.mark.parametrize("preset", ["whitespace", "keras", "babi"])
def test_words_that_are_only_lower_cased_are_their_characters(preset: str, text: str) -> None:
    assert all(word == characters.lower() for word, characters in pieces(preset, text))


@given(TEXTS)
def test_whitespace_agrees_with_split(text: str) -> None:
    assert WORDS["whitespace"](text).words == [word.lower() for word in text.split()]


@given(TEXTS)
def test_keras_agrees_with_replacing_its_filters_by_blanks(text: str) -> None:
    blanks = str.maketrans(dict.fromkeys('!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n', " "))
    assert keras(text).words == [word.lower() for word in text.translate(blanks).split(" ") if word]


def test_keras_keeps_apostrophes_and_drops_other_punctuation() -> None:
    assert keras("It's <br />a well-known 'fact'.").words == ["it's", "br", "a", "well", "known", "'fact'"]


def test_babi_keeps_full_stops_and_question_marks() -> None:
    words = WORDS["babi"]("Mary went home. Where is Mary?").words
    assert " ".join(words) == "mary went home . where is mary ?"


def test_jain_wallace_hides_words_with_a_digit() -> None:
    assert pieces("jain-wallace", " Don't\n pay 12,50  or B2B² now.") == [
        ("do", "Do"),
        ("n't", "n't"),
        ("pay", "pay"),
        ("qqq", "12,50"),
        ("or", "or"),
        ("qqq", "B2B²"),
        ("now", "now"),
        (".", "."),
    ]


def test_jain_wallace_sst_drops_punctuation_and_keeps_digits() -> None:
    words = WORDS["jain-wallace-sst"]("You 're gonna -LRB- not -RRB- see 8 1\\/2 of co-writer 's 28K").words
    assert " ".join(words) == "you re gon na not see 8 1 2 of co writer s 28 k"


def test_jain_wallace_20news_keeps_of_marks_and_blanks_in_a_row_the_last() -> None:
    assert pieces("jain-wallace-20news", "Hello, (world)\n don't! U.S. 12,3 end.") == [
        ("hello", "Hello"),
        ("world", "world"),
        ("do", "do"),
        ("n", "n"),
        ("'", "'"),
        ("t", "t"),
        ("u", "U"),
        (".", "."),
        ("s", "S"),
        ("qqq", "12,3"),
        ("end", "end"),
        (".", "."),
    ]


def test_mimic_names_what_was_removed_and_collapses_repeated_symbols() -> None:
    assert pieces(
        "mimic", "Seen [**2101-10-20**] by Dr. [**Last Name (un) 123**] -- BP 120/80 ....  a--b . . x"
    ) == [
        ("seen", "Seen"),
        ("<DE>", "[**2101-10-20**]"),
        ("by", "by"),
        ("dr.", "Dr."),
        ("<DE>", "[**Last Name (un) 123**]"),
        ("-", "--"),
        ("bp", "BP"),
        ("qqq", "120/80"),
        (".", "...."),
        ("a", "a"),
        ("-", "--"),
        ("b", "b"),
        (".", ". ."),
        ("x", "x"),
    ]


def mimic_without_places(text: str) -> list[str]:
    """The same cleaning on plain strings, step by step."""
    text = " ".join(words_module._spacy(text).words)
    text = re.sub(r"\[\s*\*\s*\*(.*?)\*\s*\*\s*\]", " <DE> ", text)
    text = re.sub(r"([^a-zA-Z0-9])(\s*\1\s*)+", r"\1 ", text)
    return ["qqq" if any(c.isdigit() for c in word) else word for word in text.split()]


@given(
    st.lists(st.sampled_from(["[**", "**]", "* ", "-", "--", " ", ".", "a1", "b", "é", "\n", "(", "İ"])).map(
        "".join
    )
)
def test_mimic_agrees_with_the_same_cleaning_on_plain_strings(text: str) -> None:
    assert mimic(text).words == mimic_without_places(text)


@given(TEXTS | ENGLISH)
@pytest.mark.parametrize("preset", SPACY)
def test_places_of_spacy_words_lie_in_the_text_and_in_order(preset: str, text: str) -> None:
    words, spans = WORDS[preset](text)
    assert len(words) == len(spans)
    starts, ends = spans.T.tolist()
    assert all(0 <= start < end <= len(text) for start, end in zip(starts, ends, strict=True))
    assert starts == sorted(starts)


@given(TEXTS | ENGLISH)
def test_spacy_words_are_their_characters_in_lower_case(text: str) -> None:
    words, spans = words_module._spacy(text)
    assert words == [text[start:end].lower() for start, end in spans.tolist()]


def test_without_spacy_its_presets_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    words_module._spacy_tokenizer.cache_clear()
    with pytest.raises(UnsupportedError, match=r"pip install 'faithgauge\[spacy\]'"):
        WORDS["jain-wallace"]("a text")


def test_an_unknown_preset_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'jain-wallace'"):
        WORDS["jain-walace"]


@pytest.mark.slow
def test_the_words_of_sst_are_those_of_jain_and_wallace(shared_data: Path) -> None:
    trees = [
        tree
        for split in ("train", "dev", "test")
        for tree in read(shared_data / f"sst/{split}.txt.gz").splitlines()
        if tree[1] != "2"
    ]
    texts = [" ".join(re.findall(r"\(\d ([^()]+)\)", tree)) for tree in trees]
    ours = [WORDS["jain-wallace-sst"](text).words for text in texts]
    theirs = [
        row["text"].split(" ")
        for row in csv.DictReader(io.StringIO(read(shared_data / "sst/sst_dataset.csv.gz")))
    ]
    assert len(theirs) == 9613
    assert ours == theirs


@pytest.mark.slow
def test_the_words_of_imdb_are_those_of_keras_but_for_capitals_that_are_not_ascii(shared_data: Path) -> None:
    lines = read(shared_data / "imdb/jain_wallace_split.tsv.gz").splitlines()[1:]
    development = {path for path, _, split, _ in (line.split("\t") for line in lines) if split == "dev"}
    ours: Counter[str] = Counter()
    with tarfile.open(shared_data / "imdb/aclImdb_labelled.tar.xz") as archive:
        for member in archive:
            if member.name in development and (file := archive.extractfile(member)) is not None:
                ours[" ".join(keras(file.read().decode()).words)] += 1
    theirs = Counter(
        row[0] for row in csv.reader(io.StringIO(read(shared_data / "imdb/courtofxai_dev.csv.gz")))
    )
    assert ours.total() == theirs.total() == 4304
    assert (ours & theirs).total() == 4301
    assert ours == Counter(text.lower() for text in theirs.elements())


def read(path: Path) -> str:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read()
