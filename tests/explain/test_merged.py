"""Scores of word pieces as scores of words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiny

from faithgauge.encode.tokenizer import WordTokenizer, read_subwords
from faithgauge.explain.merged import Merge, by_word, merge
from faithgauge.report.explanation import Explanation

NAN = float("nan")


@pytest.mark.parametrize(
    ("how", "expected"), [("sum", [0.0, 0.5, NAN]), ("max", [-0.75, 0.5, NAN]), ("first", [0.5, 0.5, NAN])]
)
def test_a_word_gets_the_sum_the_strongest_or_the_first_of_its_pieces(
    how: Merge, expected: list[float]
) -> None:
    scores, words = np.array([0.5, 0.25, -0.75, 0.5, NAN]), np.array([0, 0, 0, 1, 2])
    np.testing.assert_array_equal(merge(scores, words, how), expected)


def test_a_piece_without_a_score_counts_for_nothing() -> None:
    scores, words = np.array([NAN, 1.0, 2.0]), np.array([0, 0, 0])
    assert merge(scores, words, "sum").tolist() == [3.0]
    assert merge(scores, words, "max").tolist() == [2.0]
    assert np.isnan(merge(scores, words, "first")).all()


def explanation(**more: object) -> Explanation:
    return Explanation(
        text="unlikely film",
        text_pair=None,
        tokens=("un", "like", "ly", "film"),
        spans=((0, 2), (2, 6), (6, 8), (9, 13)),
        label="a",
        probabilities={"a": 1.0},
        scores={"lime": (1.0, 2.0, -4.0, 0.5)},
        errors={"lime": 0.125},
        **more,  # type: ignore[arg-type]
    )


def test_an_explanation_of_pieces_becomes_one_of_words(tmp_path: Path) -> None:
    tokenizer = read_subwords(tiny.tokenizer_file(tmp_path))
    found = by_word(explanation(), tokenizer, "sum")
    assert (found.tokens, found.spans) == (("unlikely", "film"), ((0, 8), (9, 13)))
    assert found.scores == {"lime": (-1.0, 0.5)}
    assert found.errors == {"lime": 0.125}
    assert by_word(explanation(), tokenizer, "max").errors == {}


def test_a_text_that_was_cut_inside_a_word_keeps_what_is_there(tmp_path: Path) -> None:
    tokenizer = read_subwords(tiny.tokenizer_file(tmp_path))
    cut = Explanation("film unlikely", None, ("film", "un"), ((0, 4), (5, 7)), "a", {"a": 1.0}, {"x": (1, 2)})
    found = by_word(cut, tokenizer, "first")
    assert (found.tokens, found.scores) == (("film", "un"), {"x": (1.0, 2.0)})


def test_the_second_text_is_merged_by_its_own_words(tmp_path: Path) -> None:
    tokenizer = read_subwords(tiny.tokenizer_file(tmp_path))
    own = explanation()
    both = Explanation(
        **{
            **own.__dict__,
            "text_pair": "played",
            "pair_tokens": ("play", "ed"),
            "pair_spans": ((0, 4), (4, 6)),
            "pair_scores": {"lime": (1.0, 1.0)},
        }
    )
    found = by_word(both, tokenizer, "sum")
    assert (found.pair_tokens, found.pair_scores) == (("played",), {"lime": (2.0,)})


def test_words_stay_as_they_are() -> None:
    own = explanation()
    assert by_word(own, WordTokenizer.of("plain", ["film"]), "sum") is own
