"""Attacks on attention as rows: their coordinates, what has no number and why, and the jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import classifier, encode, set_weights
from test_jobs import computed, prepared, reviews, trained

from faithgauge import attacking, results
from faithgauge.attacked import (
    EQUAL,
    MANY_CLASSES,
    NOT_LINEAR,
    attack,
    exactly,
    measured_of,
    permuting,
    searching,
)
from faithgauge.config import SearchConfig
from faithgauge.encode.corpus import Corpus, open_corpus
from faithgauge.encode.tokenizer import WordTokenizer
from faithgauge.engine.job import key_of
from faithgauge.engine.store import Store
from faithgauge.measured import Measured
from faithgauge.models.store import Trained
from faithgauge.types import Encoded

WORDS = WordTokenizer.of("plain", [chr(97 + i) for i in range(19)])
SHORT = SearchConfig(steps=5)
TEXTS = [[2, 4, 5, 6, 7, 3], [2, 4, 5, 3], [2, 4, 3], [2, 3], [2, 9, 8, 7, 3]]


def of(encoded: Encoded, *, classes: int = 2, **options: Any) -> Measured:
    model = classifier("mlp", vocabulary=len(WORDS.vocabulary), classes=classes, **options).eval()
    names = tuple(f"class {i}" for i in range(classes))
    about = {"dataset": "d", "model": "mlp", "seed": 0, "setting": '{"attention":"additive"}'}
    return Measured(Trained(model, WORDS, names), encoded, "test", about, np.zeros(len(encoded), np.int64))


def rows(measured: Measured, how: Any, **setting: Any) -> dict[tuple[str, float | None], dict[str, Any]]:
    """The parts by measure and ε, first texts only."""
    parts = attack(measured, np.arange(len(measured.encoded)), how, setting=setting)
    found = {}
    for part in parts:
        said = json.loads(part["setting"])
        if "side" not in said:
            found[part["measure"], said.get("epsilon")] = part
    return found


def test_each_text_has_its_number_its_largest_attention_or_a_reason() -> None:
    found = rows(of(encode(TEXTS)), permuting(20, 0), permutations=20)
    part = found["permutation_tvd", None]
    assert part["reason"] == [None, "two tokens", "one token", "no token", None]
    assert np.isnan(part["value"]).tolist() == [False, True, True, True, False]
    assert part["example"] == ["0", "1", "2", "3", "4"]
    assert json.loads(part["setting"]) == {"attention": "additive", "permutations": 20}
    largest = found["max_attention", None]
    assert largest["reason"] == [None, None, None, "no token", None]
    assert largest["value"][2] == pytest.approx(1)


def test_permuted_equal_attention_is_no_finding() -> None:
    found = rows(of(encode(TEXTS), distribution="uniform"), permuting(5, 0))
    part = found["permutation_tvd", None]
    assert part["reason"] == [EQUAL, "two tokens", "one token", "no token", EQUAL]
    assert np.isnan(part["value"]).all()
    adversary = rows(of(encode(TEXTS), distribution="uniform"), searching(SHORT, [0.01], 0))
    assert adversary["epsilon_max_jsd", 0.01]["reason"][0] is None


def test_a_search_and_the_exact_adversary_say_their_epsilon() -> None:
    measured = of(encode(TEXTS))
    search = rows(measured, searching(SHORT, [0.01, 0.05], 0), adversary="search")
    exact = rows(measured, exactly(SHORT, [0.01, 0.05], 0), adversary="exact")
    for epsilon in (0.01, 0.05):
        some, all_ = search["epsilon_max_jsd", epsilon], exact["epsilon_max_jsd", epsilon]
        assert json.loads(some["setting"])["adversary"] == "search"
        assert some["reason"] == all_["reason"] == [None, "two tokens", "one token", "no token", None]
        assert (some["value"][[0, 4]] <= all_["value"][[0, 4]] + 1e-5).all()
    assert exact["only_own_attention", 0.01]["value"][[0, 4]].tolist() == [0, 0]


def test_more_classes_have_bounds_and_a_decoder_that_is_not_linear_a_lower_one() -> None:
    found = rows(of(encode(TEXTS), classes=3), exactly(SHORT, [0.05], 0))
    assert found["epsilon_max_jsd", 0.05]["reason"][0] == MANY_CLASSES
    lower, upper = (found[f"epsilon_max_jsd_{end}", 0.05]["value"] for end in ("lower", "upper"))
    assert (lower[[0, 4]] <= upper[[0, 4]] + 1e-5).all()
    pairs = encode(TEXTS, pairs=[[2, 8, 3]] * 5)
    found = rows(of(pairs, task="pair"), exactly(SHORT, [0.05], 0))
    assert found["epsilon_max_jsd", 0.05]["reason"][0] == NOT_LINEAR
    assert found["epsilon_max_jsd_upper", 0.05]["reason"][0] == NOT_LINEAR
    assert found["epsilon_max_jsd_lower", 0.05]["reason"][0] is None


def test_of_two_sided_models_both_texts_are_attacked_and_stored(tmp_path: Path) -> None:
    pairs = encode(TEXTS, pairs=[[2, 8, 9, 10, 3]] * 5)
    measured = of(pairs, task="pair", pair="two_sided")
    how = searching(SHORT, [0.05], 0)
    parts = list(attack(measured, np.array([4, 0]), how, setting={}, folder=tmp_path))
    sides = [json.loads(part["setting"]).get("side", "first") for part in parts]
    assert sides == ["first", "first", "second", "second"]
    assert {tuple(part["example"]) for part in parts} == {("4", "0")}
    first, second = (np.load(tmp_path / f"{name}-test.npy") for name in ("adversarial", "adversarial-pair"))
    assert len(first) == len(pairs.ids.values)
    sums = np.add.reduceat(first, pairs.ids.offsets[:-1])
    np.testing.assert_allclose(sums, [1, np.nan, np.nan, np.nan, 1], atol=1e-5)
    np.testing.assert_allclose(np.add.reduceat(second, pairs.pair_ids.offsets[:-1])[[0, 4]], 1, atol=1e-5)  # type: ignore[union-attr]


def test_a_model_that_does_worse_than_a_guess_is_said_to(tmp_path: Path) -> None:
    """It says class 1 of every text: of labels 0, 0, 1 a third is right."""
    model = classifier("mlp", vocabulary=len(WORDS.vocabulary)).eval()
    set_weights(model, decoder__weight=[[0.0] * 4], decoder__bias=[5.0])
    record = {"dataset": "d", "encoder": "mlp", "seed": 0, "attention": "additive", "distribution": "softmax"}
    record |= {"selected_on": "validation", "vectors": {}, "settings": {}, "complete": True}
    one = Trained(model, WORDS, ("no", "yes"), "single", record)
    for labels, said in (([0, 0, 1], True), ([0, 1, 1], None)):
        corpus = Corpus.__new__(Corpus)
        object.__setattr__(corpus, "splits", {"test": encode(TEXTS[:3], labels)})
        about = measured_of(one, corpus, "test").about
        assert json.loads(about["setting"]).get("below_chance") is said


def test_the_jobs_write_rows_of_the_texts_that_are_asked_for(tmp_path: Path) -> None:
    data = prepared(reviews(tmp_path))
    model = trained(data)
    jobs = [
        attacking.Permute(model, data, permutations=10, instances=3),
        attacking.SearchAdversary(model, data, how=SHORT, instances=3),
        attacking.ExactAdversary(model, data, epsilon=(0.0, 0.05)),
    ]
    store = Store(tmp_path / "store")
    computed(store, *jobs)
    found = results.stored(jobs, store).to_pylist()
    counts: dict[str, int] = {}
    for row in found:
        counts[row["measure"]] = counts.get(row["measure"], 0) + 1
        assert row["value"] == row["value"]
        assert row["class_of"] == "predicted"
    texts = len(open_corpus(store.place(key_of(data)) / "corpus").splits["test"])
    assert counts == {
        "permutation_tvd": 3,
        "epsilon_max_jsd": 3 + 2 * texts,
        "only_own_attention": 2 * texts,
        "max_attention": 6 + texts,
    }
    for job in jobs[1:]:
        assert (store.place(key_of(job)) / "adversarial-test.npy").exists()
