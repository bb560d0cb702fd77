"""Words and sub-words to ids and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.encode.tokenizer import (
    FORMAT,
    SubwordTokenizer,
    Tokenizer,
    WordTokenizer,
    load_tokenizer,
    read_subwords,
    save_tokenizer,
)
from faithgauge.errors import ConfigError, DataError

WORDS = WordTokenizer.of("plain", ["good", "a", "film", "é"])


def subword_definition() -> str:
    """WordPiece with the special tokens of BERT, and with padding and truncation left switched on."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "film", "good", "##ish", "é"]
    model = Tokenizer(models.WordPiece({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))
    model.pre_tokenizer = pre_tokenizers.Whitespace()
    model.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    model.add_special_tokens(names[:5])
    model.enable_padding(length=12)
    model.enable_truncation(4)
    return str(model.to_str())


@pytest.fixture
def subwords() -> SubwordTokenizer:
    return SubwordTokenizer(subword_definition())


def test_words_have_the_ids_of_jain_and_wallace_and_the_mask_comes_last() -> None:
    assert WORDS.vocabulary == ("<pad>", "<unk>", "<sos>", "<eos>", "a", "film", "good", "é", "<mask>")
    assert (WORDS.pad, WORDS.unk, WORDS.mask) == (0, 1, 8)


def test_a_text_of_words_stands_between_begin_and_end() -> None:
    ids, spans = WORDS.encode("A Bad  film")
    assert ids.tolist() == [2, 4, 1, 5, 3]
    assert spans.tolist() == [[-1, -1], [0, 1], [2, 5], [7, 11], [-1, -1]]
    assert (ids.dtype, spans.dtype) == ("int32", "int32")


def test_a_text_without_words_is_begin_and_end() -> None:
    assert WORDS.encode(" ").ids.tolist() == [2, 3]


def test_no_text_can_spell_a_special_token() -> None:
    tokenizer = WordTokenizer.of("whitespace", ["<pad>", "<mask>", "x"])
    assert tokenizer.vocabulary == ("<pad>", "<unk>", "<sos>", "<eos>", "x", "<mask>")
    assert tokenizer.encode("<pad> x <mask> <sos>").ids.tolist() == [2, 1, 4, 1, 1, 3]


def test_subwords_keep_the_ids_and_places_of_their_library(subwords: SubwordTokenizer) -> None:
    ids, spans = subwords.encode("é goodish unknown film")
    assert ids.tolist() == [2, 8, 6, 7, 1, 5, 3]
    assert spans.tolist() == [[-1, -1], [0, 1], [2, 6], [6, 9], [10, 17], [18, 22], [-1, -1]]
    assert (ids.dtype, spans.dtype) == ("int32", "int32")


def test_subwords_are_neither_padded_nor_cut_by_their_file(subwords: SubwordTokenizer) -> None:
    assert len(subwords.encode("film").ids) == 3
    assert len(subwords.encode("film " * 50).ids) == 52


def test_subwords_know_the_part_of_each_special_token(subwords: SubwordTokenizer) -> None:
    assert (subwords.pad, subwords.unk, subwords.mask) == (0, 1, 4)
    assert subwords.vocabulary[5:] == ("film", "good", "##ish", "é")


def test_subwords_without_a_mask_say_so() -> None:
    from tokenizers import Tokenizer, models

    tokenizer = SubwordTokenizer(Tokenizer(models.BPE({"a": 0, "b": 2}, [])).to_str())
    assert (tokenizer.pad, tokenizer.unk, tokenizer.mask) == (0, None, None)
    assert tokenizer.vocabulary == ("a", "", "b")


@pytest.mark.parametrize(
    "tokenizer", [WORDS, SubwordTokenizer(subword_definition())], ids=["words", "subwords"]
)
def test_many_texts_are_encoded_as_one_by_one(tokenizer: Tokenizer) -> None:
    texts = [f"good {'film ' * (i % 7)}" for i in range(600)]
    for text, tokens in zip(texts, tokenizer.encode_batch(texts), strict=True):
        one = tokenizer.encode(text)
        assert tokens.ids.tolist() == one.ids.tolist()
        assert tokens.spans.tolist() == one.spans.tolist()


@pytest.mark.parametrize(
    "tokenizer", [WORDS, SubwordTokenizer(subword_definition())], ids=["words", "subwords"]
)
def test_a_saved_tokenizer_is_loaded_as_it_was(tokenizer: Tokenizer, tmp_path: Path) -> None:
    save_tokenizer(tokenizer, tmp_path)
    loaded = load_tokenizer(tmp_path)
    assert loaded.vocabulary == tokenizer.vocabulary
    assert loaded.encode("a good film é").ids.tolist() == tokenizer.encode("a good film é").ids.tolist()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1)))
def test_any_words_survive_saving(words: list[str]) -> None:
    tokenizer = WordTokenizer.of("plain", words)
    assert tuple(json.loads(json.dumps(tokenizer.state()))["vocabulary"]) == tokenizer.vocabulary
    assert sorted(tokenizer.index.values()) == list(range(4, tokenizer.mask))


def test_a_file_of_the_tokenizers_library_is_read_from_its_path_or_its_folder(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(subword_definition(), encoding="utf-8")
    for tokenizer in (
        read_subwords(tmp_path),
        read_subwords(tmp_path / "tokenizer.json"),
        load_tokenizer(tmp_path),
    ):
        assert tokenizer.encode("film").ids.tolist() == [2, 5, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            json.dumps({"format": FORMAT + 1}),
            "expected a tokenizer of format 1 or older, found 2; update faithgauge",
        ),
        (json.dumps({"format": FORMAT, "kind": "words"}), "expected the key 'preset', found"),
        (json.dumps({"version": "1.0"}), "found one it cannot read"),
        ("{", "expected JSON, found a damaged file"),
        ("[]", "expected a JSON object, found list"),
    ],
)
def test_a_file_that_cannot_be_a_tokenizer_is_refused_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "tokenizer.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        load_tokenizer(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"tokenizer\.json: not found"):
        load_tokenizer(tmp_path)


def test_a_preset_of_a_plugin_that_is_gone_is_named(tmp_path: Path) -> None:
    save_tokenizer(WordTokenizer.of("gone", ["x"]), tmp_path)
    with pytest.raises(ConfigError, match="unknown word preset 'gone'"):
        load_tokenizer(tmp_path)
