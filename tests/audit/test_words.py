"""Where a text is shown it has words, whatever its model reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tiny

from faithgauge.audit.words import Side
from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Dataset
from faithgauge.encode.corpus import encode
from faithgauge.types import Example, Task


def side(tmp_path: Path, example: Example) -> tuple[Any, Any]:
    own = EncodeConfig(tokenizer=tiny.tokenizer_file(tmp_path), joined=True, max_tokens=20)
    task: Task = "single" if example.text_pair is None else "pair"
    corpus = encode(Dataset("one", "", task, ("no", "yes"), {"test": [example]}), own)
    return corpus.tokenizer, corpus.splits["test"]


def test_the_pieces_of_a_word_are_summed_and_special_tokens_left_out(tmp_path: Path) -> None:
    """[CLS] un ##like ##ly film [SEP]: −4 + 1 + 2 for the first word."""
    tokenizer, encoded = side(tmp_path, Example("unlikely film", 0, "a"))
    scores = np.array([9, 1, 2, -4, 0.5, 9], np.float32)
    found = Side.first(encoded, {"lime": scores}).told(0, "unlikely film", tokenizer)
    assert found.tokens("unlikely film") == ["unlikely", "film"]
    assert found.spans == [[0, 8], [9, 13]]
    assert found.scores == {"lime": [-1.0, 0.5]}


def test_two_texts_in_one_row_are_shown_one_by_one(tmp_path: Path) -> None:
    """[CLS] good film [SEP] un ##like ##ly [SEP]"""
    tokenizer, encoded = side(tmp_path, Example("good film", 0, "a", "unlikely"))
    scores = {"lime": np.arange(8, dtype=np.float32)}
    second = Side.second(encoded, scores, {})
    assert second is not None
    assert Side.first(encoded, scores).told(0, "good film", tokenizer).scores == {"lime": [1.0, 2.0]}
    told = second.told(0, "unlikely", tokenizer)
    assert (told.tokens("unlikely"), told.scores) == (["unlikely"], {"lime": [15.0]})


def test_a_word_without_any_score_has_none(tmp_path: Path) -> None:
    tokenizer, encoded = side(tmp_path, Example("good film", 0, "a"))
    scores = {"lime": np.array([np.nan, np.nan, 0.5, np.nan], np.float32)}
    assert Side.first(encoded, scores).told(0, "good film", tokenizer).scores == {"lime": [None, 0.5]}
