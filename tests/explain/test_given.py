"""Scores from elsewhere: whose they are, which text and which tokens they belong to, and what is refused."""

from __future__ import annotations

import json
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import classifier

from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Dataset
from faithgauge.encode.corpus import encode
from faithgauge.encode.tokenizer import SubwordTokenizer, Tokenizer, WordTokenizer
from faithgauge.errors import DataError
from faithgauge.explain.asked import named
from faithgauge.explain.given import Given, align, of_rows, read_file
from faithgauge.models.store import Trained
from faithgauge.report.explanation import rows, write_rows
from faithgauge.steps import explain_examples
from faithgauge.types import Encoded, Example

WORDS = WordTokenizer.of("plain", ["a", "fine", "film", "bad"])
TEXTS = (Example("A fine film", -1, "t1"), Example("bad", -1, "t2"))


def subwords() -> SubwordTokenizer:
    """Film and s are two tokens; [CLS] and [SEP] stand around a text."""
    from tokenizers import Tokenizer as Made
    from tokenizers import models, normalizers, pre_tokenizers, processors

    vocabulary = {word: i for i, word in enumerate(["[UNK]", "[CLS]", "[SEP]", "a", "fine", "film", "##s"])}
    made = Made(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return SubwordTokenizer(made.to_str())


def encoded(examples: tuple[Example, ...], tokenizer: Tokenizer) -> Encoded:
    task = "single" if examples[0].text_pair is None else "pair"
    data = Dataset("texts", "", task, ("no", "yes"), {"test": list(examples)})  # type: ignore[arg-type]
    return encode(data, EncodeConfig(), tokenizer=tokenizer).splits["test"]


def aligned(
    *given: dict[str, Any], examples: tuple[Example, ...] = TEXTS, tokenizer: Tokenizer = WORDS
) -> dict[str, Given]:
    return align(of_rows(given, "mine.jsonl"), examples, encoded(examples, tokenizer), tokenizer=tokenizer)


def scores(found: Given) -> list[float | None]:
    """Flat, special tokens included; None for nan."""
    return [None if isnan(score) else pytest.approx(score) for score in found.scores.scores.tolist()]


def reason(row: dict[str, Any], **options: Any) -> str:
    """Why the row, which is about the first text, has no scores."""
    found = aligned({"id": "t1", **row}, **options)["mine"]
    assert np.isnan(found.scores.scores).all()
    return found.reasons[0]


# ---- whose scores, and of which text


def test_rows_are_known_by_their_id_in_any_order() -> None:
    found = aligned({"id": "t2", "scores": [4]}, {"id": "t1", "scores": [1, 2.5, -3]})
    assert list(found) == ["mine"]
    assert scores(found["mine"]) == [None, 1, 2.5, -3, None, None, 4, None]
    assert found["mine"].reasons == {}
    assert found["mine"].unused == 0


def test_rows_are_known_by_their_text() -> None:
    found = aligned({"text": "bad", "scores": [4]}, {"text": "A fine film", "scores": [1, 2, 3]})["mine"]
    assert scores(found) == [None, 1, 2, 3, None, None, 4, None]


def test_an_id_that_is_not_ours_gives_way_to_the_text() -> None:
    found = aligned({"id": 17, "text": "bad", "scores": [4]})["mine"]
    assert scores(found)[6] == 4


def test_without_id_and_text_rows_stand_in_the_order_of_the_texts() -> None:
    assert scores(aligned({"scores": [1, 2, 3]}, {"scores": [4]})["mine"])[6] == 4
    with pytest.raises(DataError, match=r"expected a row for each of 2 texts, found 1; give each row the id"):
        aligned({"scores": [1, 2, 3]})


def test_equal_texts_have_equal_scores() -> None:
    twice = (Example("bad", -1, "t1"), Example("bad", -1, "t2"))
    assert scores(aligned({"text": "bad", "scores": [4]}, examples=twice)["mine"]) == [None, 4, None] * 2


def test_each_explainer_is_a_column_of_its_name() -> None:
    found = aligned({"id": "t2", "lime": [1], "shap": [2], "note": "x", "tokens": ["bad"]})
    assert list(found) == ["lime", "shap"]
    assert (scores(found["lime"])[6], scores(found["shap"])[6]) == (1, 2)


def test_or_is_named_in_the_column_explainer() -> None:
    found = aligned(
        {"id": "t2", "explainer": "lime", "scores": [1]}, {"id": "t2", "explainer": "shap", "scores": [2]}
    )
    assert list(found) == ["lime", "shap"]
    assert (scores(found["lime"])[6], scores(found["shap"])[6]) == (1, 2)


def test_a_text_of_which_no_row_is_about_has_no_scores_and_a_reason() -> None:
    found = aligned({"id": "t2", "scores": [4]})["mine"]
    assert scores(found) == [None] * 6 + [4, None]
    assert found.reasons == {0: "mine.jsonl: no row is about this text"}


def test_rows_about_other_texts_are_counted() -> None:
    assert aligned({"id": "t2", "scores": [4]}, {"id": "t9", "scores": [4]})["mine"].unused == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [{"id": "t9", "scores": [4]}],
            "expected rows with the id or the text of one of 2 texts, found none",
        ),
        ([{"id": "t2", "note": "x"}], "expected a column 'scores' .* found 'id', 'note'; rename it"),
        (
            [{"id": "t2", "scores": [4]}, {"id": "t2", "scores": [5]}],
            "mine.jsonl, row 2: expected one row for a text, found another at row 1; remove one of them",
        ),
    ],
)
def test_a_file_that_cannot_be_used_at_all_is_an_error(given: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        aligned(*given)


# ---- which tokens


def test_numbers_are_put_on_tokens_in_order_with_or_without_special_ones() -> None:
    assert scores(aligned({"id": "t1", "scores": [9, 1, 2, 3, 9]})["mine"])[:5] == [None, 1, 2, 3, None]


def test_a_token_may_be_written_as_in_the_text_or_as_in_the_vocabulary() -> None:
    texts = (Example("A fine films", -1, "t1"),)
    for tokens in (["A", "fine", "film", "s"], ["a", "fine", "film", "##s"], ["▁a", "Ġfine", "film", "S"]):
        row = {"id": "t1", "tokens": tokens, "scores": [1, 2, 3, 4]}
        assert scores(aligned(row, examples=texts, tokenizer=subwords())["mine"])[1:5] == [1, 2, 3, 4]


def test_null_is_no_score() -> None:
    assert scores(aligned({"id": "t1", "scores": [1, None, 3]})["mine"])[:5] == [None, 1, None, 3, None]


def test_scores_of_sub_words_are_summed_over_each_word_that_they_touch() -> None:
    row = {"id": "t1", "spans": [[0, 1], [2, 4], [4, 6], [7, 11]], "scores": [1, 2, 0.5, 4]}
    assert scores(aligned(row)["mine"])[:5] == [None, 1, 2.5, 4, None]


def test_the_score_of_a_word_goes_to_each_of_its_sub_words_whole() -> None:
    texts = (Example("A fine films", -1, "t1"),)
    row = {"id": "t1", "spans": [[0, 1], [2, 6], [7, 12]], "scores": [1, 2, 4]}
    assert scores(aligned(row, examples=texts, tokenizer=subwords())["mine"]) == [None, 1, 2, 4, 4, None]


def test_a_token_that_none_of_theirs_touches_has_no_score() -> None:
    row = {"id": "t1", "spans": [[0, 1], [6, 7], [7, 7]], "scores": [1, 2, 3]}
    assert scores(aligned(row)["mine"])[:5] == [None, 1, None, None, None]


def test_among_theirs_null_counts_for_nothing_unless_all_are() -> None:
    row = {"id": "t1", "spans": [[0, 1], [2, 4], [4, 6]], "scores": [None, 2, None]}
    assert scores(aligned(row)["mine"])[:5] == [None, None, 2, None, None]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"scores": [1, 2]}, "expected 3 tokens, found 2"),
        ({"scores": [1, 2, 3], "tokens": ["a", "fine", "movie"]}, "expected the token 'film', found 'movie'"),
        ({"scores": [1, 2, 3], "tokens": ["a", "fine"]}, "expected as many tokens as its 3 scores, found"),
        ({"scores": [1, 2], "spans": [[0, 1]]}, "expected as many spans as its 2 scores, found [[0, 1]]"),
        ({"scores": [1], "spans": [[0, 99]]}, "expected spans [start, end] within 0 to 11, found [[0, 99]]"),
        ({"scores": [1], "spans": [[3, 2]]}, "expected spans [start, end] within 0 to 11, found [[3, 2]]"),
        ({"scores": "high"}, "expected a list of numbers in scores, found high"),
        ({"scores": [1, "x", 3]}, "expected a list of numbers in scores, found [1, 'x', 3]"),
        ({"scores": [1, float("inf"), 3]}, "expected a list of numbers in scores, found [1, inf, 3]"),
        ({"scores": [True, False, True]}, "expected a list of numbers in scores, found [True, False, True]"),
        ({"scores": None}, "expected a list of numbers in scores, found None"),
    ],
)
def test_a_row_that_does_not_fit_has_no_scores_and_its_reason(row: dict[str, Any], said: str) -> None:
    assert reason(row).startswith(f"mine.jsonl, row 1: {said}")


# ---- both texts of a pair


PAIR = (Example("A fine film", -1, "t1", "bad film"),)


def test_both_texts_of_a_pair_may_have_scores() -> None:
    found = aligned({"id": "t1", "scores": [1, 2, 3], "pair_scores": [4, 5]}, examples=PAIR)["mine"]
    assert found.scores.pair is not None
    assert found.scores.pair[1:3].tolist() == [4, 5]
    assert np.isnan(found.scores.pair[[0, 3]]).all()
    assert aligned({"id": "t1", "scores": [1, 2, 3]}, examples=PAIR)["mine"].scores.pair is None


def test_each_explainer_has_a_column_for_second_texts_too() -> None:
    found = aligned({"id": "t1", "a": [1, 2, 3], "b": [4, 5, 6], "pair_b": [7, 8]}, examples=PAIR)
    assert list(found) == ["a", "b"]
    assert found["a"].scores.pair is None
    assert found["b"].scores.pair is not None
    assert found["b"].scores.pair[1:3].tolist() == [7, 8]


def test_where_one_text_of_a_pair_does_not_fit_neither_has_scores() -> None:
    said = reason({"scores": [1, 2, 3], "pair_scores": [4]}, examples=PAIR)
    assert said == "mine.jsonl, row 1: expected 2 tokens, found 1"


def test_a_pair_is_known_by_both_its_texts() -> None:
    for second, there in (("bad film", True), ("other", False)):
        row = {"text": "A fine film", "text_pair": second, "scores": [1, 2, 3]}
        if there:
            assert scores(aligned(row, examples=PAIR)["mine"])[1] == 1
        else:
            with pytest.raises(DataError, match="found none"):
                aligned(row, examples=PAIR)


# ---- files


def test_a_file_is_named_by_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "theirs.jsonl"
    given = [{"id": "t2", "scores": [4]}, {"id": "t1", "scores": [1]}]
    file.write_text("\n\n".join(map(json.dumps, given)))
    found = align(read_file(file), TEXTS, encoded(TEXTS, WORDS), tokenizer=WORDS)
    assert found["theirs"].reasons == {0: f"{file}, line 3: expected 3 tokens, found 1"}


@pytest.mark.parametrize("name", ["scores.csv", "scores.txt", "scores"])
def test_other_files_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("id,scores\nt1,1\n")
    with pytest.raises(DataError, match=r"expected scores as \.jsonl, \.json or \.parquet"):
        read_file(tmp_path / name)


def test_arrays_and_tuples_are_lists_of_numbers() -> None:
    found = aligned({"id": "t1", "scores": np.array([1.0, nan, 3.0]), "tokens": ("a", "fine", "film")})[
        "mine"
    ]
    assert scores(found)[1:4] == [1, None, 3]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_what_explain_writes_is_read_again_as_it_was(ending: str, tmp_path: Path) -> None:
    model = classifier("average", vocabulary=len(WORDS.vocabulary))
    trained = Trained(model, WORDS, ("no", "yes"))
    found = list(explain_examples(trained, TEXTS, named("attention,random")))
    file = tmp_path / f"ours.{ending}"
    write_rows((row for one in found for row in rows(one)), file, parquet=ending == "parquet")
    again = align(read_file(file), TEXTS, encoded(TEXTS, WORDS), tokenizer=WORDS)
    assert list(again) == ["attention", "random"]
    assert not any(one.reasons for one in again.values())
    for name, one in again.items():
        assert one.scores.scores[1:4].tolist() == list(found[0].scores[name])
        assert one.scores.scores[6].tolist() == found[1].scores[name][0]
