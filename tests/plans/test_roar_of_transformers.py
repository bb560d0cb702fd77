"""ROAR on fine-tuned transformers: word pieces are masked, special tokens and second texts never."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny

from faithgauge import jobs, results
from faithgauge.encode.corpus import Corpus, open_corpus
from faithgauge.engine.inline import Inline
from faithgauge.engine.job import Job, key_of
from faithgauge.engine.run import run
from faithgauge.engine.store import Store
from faithgauge.plans.grid import jobs_of
from faithgauge.plans.study import read

STUDY = """
seeds = [0]
tests = ["recursive_roar"]
explainers = ["gradient:recursive-roar-2022"]
[data]
names = ["reviews.csv"]
[model]
encoder = "hf:small"
[train]
epochs = 1
learning_rate = 0.01
select_by = "loss"
[roar]
fractions = [0, 0.5, 1]
null = false
"""
FIRST = ("the film was good", "a bad plot .", "unlikely", "not good")
SECOND = ("the plot", "a film .", "played", "good")


def study(folder: Path, family: str, *, pairs: bool) -> Path:
    tiny.folder_of(folder / "small", family)
    rows = [
        ",".join([FIRST[i % 4] + " ." * (i // 4), *([SECOND[i // 4 % 4]] * pairs), "yes" if i % 2 else "no"])
        for i in range(48)
    ]
    head = "text,text_pair,label" if pairs else "text,label"
    (folder / "reviews.csv").write_text("\n".join([head, *rows]) + "\n")
    path = folder / "study.toml"
    path.write_text(STUDY)
    return path


def computed(path: Path, store: Store, *changes: str) -> list[Job]:
    targets = list(jobs_of(read(path, changes)))
    assert {node.reason for node in run(targets, store, Inline()).values()} == {""}
    return targets


def corpus(store: Store, data: Job) -> Corpus:
    return open_corpus(store.place(key_of(data)) / jobs.CORPUS)


@pytest.mark.parametrize("family", ["bert", "roberta", "deberta-v2"])
def test_of_a_pair_half_of_the_first_text_is_masked_whatever_the_second_one_scores(
    tmp_path: Path, family: str
) -> None:
    """RoBERTa and DeBERTa have no types of tokens: which text a token is of, the data know."""
    store = Store(tmp_path / "store")
    found: Any = computed(study(tmp_path, family, pairs=True), store)[0]
    done = found.steps["gradient:recursive-roar-2022"]["0.5"]
    whole, less, none = (corpus(store, one) for one in (found.full.data, done.data, found.floor.data))
    scores = store.place(key_of(done.data.explanation))
    for split, own in whole.splits.items():
        assert own.segments is not None
        flat = np.load(scores / f"scores-{split}.npy")
        for i in range(len(own)):
            ids, half, nothing = (one.splits[split].ids.row(i) for one in (whole, less, none))
            first = (own.segments.row(i) == 0) & (own.spans.row(i)[:, 0] >= 0)
            score = flat[own.ids.offsets[i] : own.ids.offsets[i + 1]]
            assert not np.isnan(score[(own.segments.row(i) == 1) & (own.spans.row(i)[:, 0] >= 0)]).any()
            assert nothing.tolist() == np.where(first, tiny.MASK, ids).tolist()
            places = np.flatnonzero(first)
            gone = places[np.argsort(-score[places], kind="stable")[: len(places) // 2]]
            expected = ids.copy()
            expected[gone] = tiny.MASK
            assert half.tolist() == expected.tolist()


def test_of_a_single_text_word_pieces_are_masked_and_special_tokens_stay(tmp_path: Path) -> None:
    """ "unlikely" is three pieces between [CLS] and [SEP], one of which is masked at one half."""
    store = Store(tmp_path / "store")
    found: Any = computed(study(tmp_path, "distilbert", pairs=False), store)[0]
    half = corpus(store, found.steps["random"]["0.5"].data)
    whole = corpus(store, found.full.data)
    pieces = [tiny.VOCABULARY.index(piece) for piece in ("un", "##like", "##ly")]
    rows = [
        (own.row(i).tolist(), half.splits[split].ids.row(i).tolist())
        for split, own in ((split, one.ids) for split, one in whole.splits.items())
        for i in range(len(own))
    ]
    assert [tiny.CLS, *pieces, tiny.SEP] in [own for own, _ in rows]
    for own, (first, *between, last) in rows:
        assert (first, last, between.count(tiny.MASK)) == (tiny.CLS, tiny.SEP, (len(own) - 2) // 2)
    measures = {row["measure"] for row in results.stored([found], store).to_pylist()}
    assert {"faithfulness", "f1_macro"} <= measures


def test_a_model_that_is_trained_on_masked_texts_sees_the_second_ones_whole(tmp_path: Path) -> None:
    path = study(tmp_path, "roberta", pairs=True)
    (found,) = jobs_of(read(path, ['tests=["masked_training"]']))
    done: Any = found.steps["random"]["0.5"]  # type: ignore[attr-defined]
    assert (done.model.masked_inputs, done.data.first_text) == ("first_text", True)
    store = Store(tmp_path / "store")
    computed(path, store, 'tests=["masked_training"]')
    own = corpus(store, done.data).splits["test"]
    assert own.segments is not None
    assert not (own.ids.values[own.segments.values == 1] == tiny.MASK).any()


def test_masks_of_words_keep_the_keys_they_had(tmp_path: Path) -> None:
    path = study(tmp_path, "bert", pairs=False)
    found: Any = jobs_of(read(path, ["model.encoder=mlp", 'explainers=["attention"]']))[0]
    assert found.steps["attention"]["0.5"].data.first_text is False
