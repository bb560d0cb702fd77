from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import classifier, encode, ragged

from faithgauge.encode.tokenizer import WordTokenizer
from faithgauge.measured import (
    RANDOM_ORDER,
    Explained,
    Measured,
    agreement,
    agreement_again,
    erasure,
    plausibility,
    taken,
)
from faithgauge.models.store import Trained
from faithgauge.types import Encoded, Ragged

NAN = float("nan")
WORDS = WordTokenizer.of("plain", [chr(97 + i) for i in range(19)])


def of(encoded: Encoded, *, predicted: list[int] | None = None, **options: Any) -> Measured:
    """A model of random weights on a split of which the predictions are said."""
    model = classifier("mlp", vocabulary=len(WORDS.vocabulary), **options)
    classes = np.array(predicted if predicted is not None else [0] * len(encoded))
    trained = Trained(model, WORDS, ("no", "yes"))
    return Measured(trained, encoded, "test", {"dataset": "d", "seed": 0}, classes)


def texts(n: int, size: int = 4) -> Encoded:
    return encode([[4 + (i + j) % 19 for j in range(size)] for i in range(n)])


def named(label: str, *rows: list[float], signed: bool = False) -> Explained:
    return Explained(label, np.arange(len(rows)), ragged(rows, np.float32), None, signed)


def test_some_rows_of_ragged_ones_are_taken_in_their_order() -> None:
    found = taken(ragged([[1, 2, 3], [4], [5, 6]]), np.array([2, 0]))
    assert found.values.tolist() == [5, 6, 1, 2, 3]
    assert found.offsets.tolist() == [0, 2, 5]
    assert len(taken(ragged([[1], [2]]), np.array([], np.int64))) == 0


def test_what_was_stored_of_some_texts_is_read_for_these_texts(tmp_path: Path) -> None:
    encoded = encode([[2, 5, 3], [2, 6, 7, 3]], pairs=[[8], [9, 9]])
    np.save(tmp_path / "scores-test.npy", np.array([NAN, NAN, NAN, NAN, 0.25, 0.75, NAN], np.float32))
    np.save(tmp_path / "pair-test.npy", np.array([NAN, 1, 2], np.float32))
    np.save(tmp_path / "rows-test.npy", np.array([1]))
    found = of(encoded).explained(tmp_path, "gradient")
    assert (found.label, found.signed, found.rows.tolist()) == ("gradient", False, [1])
    np.testing.assert_array_equal(found.scores.row(0), [NAN, 0.25, 0.75, NAN])
    np.testing.assert_array_equal(found.both().scores.row(0), [NAN, 0.25, 0.75, NAN, 1, 2])


def test_the_label_says_whether_scores_have_a_sign(tmp_path: Path) -> None:
    np.save(tmp_path / "scores-test.npy", np.array([-1], np.float32))
    np.save(tmp_path / "rows-test.npy", np.array([0]))
    one = of(encode([[5]]))
    assert one.explained(tmp_path, "leave_one_out").signed
    assert not one.explained(tmp_path, "leave_one_out:jain-wallace-2019").signed


def test_every_pair_gets_a_row_for_each_text_with_its_reason_where_there_is_no_number() -> None:
    """ρ of 1 2 3 and 1 3 2 is 1/2. A text of one token has none."""
    first, second = named("attention", [1, 2, 3], [5]), named("random", [1, 3, 2], [7])
    measured = of(encode([[4, 5, 6], [7]]), predicted=[0, 1])
    (part,) = list(agreement(measured, [first, second], ["spearman"]))
    assert (part["explainer"], part["versus"], part["measure"]) == ("attention", "random", "spearman")
    assert (part["dataset"], part["example"]) == ("d", ["0", "1"])
    assert (part["class"], part["class_of"]) == (["no", "yes"], "predicted")
    assert part["value"][0] == pytest.approx(0.5)
    assert np.isnan(part["value"][1])
    assert part["reason"] == [None, "one token"]


def test_kendall_comes_with_what_random_order_reaches() -> None:
    rows = [[1.0, 2, 3, 4]] * 50
    pair = [named("a", *rows), named("b", *rows)]
    parts = list(agreement(of(texts(50)), pair, ["kendall_tau"]))
    assert [part["measure"] for part in parts] == [
        "kendall_tau",
        ["kendall_tau_floor", "kendall_tau_floor_low", "kendall_tau_floor_high"],
    ]
    assert parts[0]["value"].tolist() == [1.0] * 50
    mean, low, high = parts[1]["value"]
    assert low < mean < high
    assert abs(mean) < 0.05


def test_an_explanation_is_compared_with_itself_elsewhere_sign_and_all() -> None:
    one, other = named("deeplift", [1, -2, 3], signed=True), named("deeplift", [1, 2, 3], signed=True)
    (part,) = list(agreement_again(of(texts(1, 3)), [one], ["kendall_tau"], again=[other]))
    assert (part["explainer"], part["versus"]) == ("deeplift", "deeplift")
    assert part["value"].tolist() == [pytest.approx(1 / 3)]


def test_erasure_gives_each_text_its_own_number_whatever_the_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of different length are read in another order than they are told in."""
    encoded = encode([[4 + (3 * i + j) % 19 for j in range(2 + (5 * i) % 7)] for i in range(12)])
    scores = named("a", *([float(x) for x in range(len(encoded.ids.row(i)))] for i in range(12)))
    together = list(erasure(of(encoded), [scores], "mask"))
    for text in (0, 3, 11):
        one = Explained("a", np.array([text]), taken(scores.scores, np.array([text])), None, signed=False)
        alone = list(erasure(of(encoded), [one], "mask"))
        for whole, single in zip(together, alone, strict=True):
            assert single["example"] == [str(text)]
            np.testing.assert_allclose(single["value"][0], whole["value"][text], atol=1e-6)


def test_every_number_against_random_has_a_row_for_itself_and_one_for_the_difference() -> None:
    first, second, *_ = list(erasure(of(texts(3)), [named("a", *[[1.0, 2, 3, 4]] * 3)], "delete"))
    assert (first["measure"], first.get("versus")) == ("comprehensiveness", None)
    assert (second["measure"], second["versus"]) == ("comprehensiveness", RANDOM_ORDER)
    assert not np.allclose(first["value"], second["value"])


def test_evidence_is_looked_for_in_the_texts_that_were_explained() -> None:
    flags = ragged([[1, 0, 0], [0, 0, 1]], bool)
    encoded = texts(2, 3)
    encoded = Encoded(encoded.ids, encoded.spans, encoded.labels, encoded.texts, evidence=flags)
    one = Explained("a", np.array([1]), Ragged(np.array([1.0, 2, 3]), np.array([0, 3])), None, signed=False)
    part, difference, *_ = list(plausibility(of(encoded), [one]))
    assert (part["measure"], part["example"], part["value"].tolist()) == ("evidence_recall", ["1"], [1.0])
    assert difference["value"].tolist() == [pytest.approx(2 / 3)]  # by chance one of three is found
