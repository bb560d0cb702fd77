"""The kinds of jobs, run through the engine on small made-up data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from faithgauge import jobs, results
from faithgauge.config import DataConfig
from faithgauge.encode.corpus import open_corpus
from faithgauge.engine.inline import Inline
from faithgauge.engine.job import Job, key_of
from faithgauge.engine.run import run
from faithgauge.engine.store import Store
from faithgauge.plans import inputs
from faithgauge.settings import settings

SMALL = {"encoder": "mlp", "embed_size": 8, "hidden_size": 4, "epochs": 1, "learning_rate": 0.01}


def reviews(folder: Path, name: str = "reviews.csv") -> Path:
    rows = [f"the film {i} was {'good' if i % 2 else 'bad'},{'yes' if i % 2 else 'no'}" for i in range(40)]
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("text,label\n" + "\n".join(rows) + "\n")
    return path


def prepared(path: Path, **encode: object) -> jobs.Prepare:
    return inputs.prepare(DataConfig(str(path)), encode)


def trained(data: Job, seed: int = 0) -> jobs.Train:
    return inputs.training(data, settings("x", seed=seed, **SMALL))


def computed(store: Store, *targets: Job) -> None:
    graph = run(list(targets), store, Inline())
    assert {node.reason for node in graph.values()} == {""}


def test_data_are_known_by_their_content_and_not_by_their_folder(tmp_path: Path) -> None:
    here, there = prepared(reviews(tmp_path / "a")), prepared(reviews(tmp_path / "b"))
    assert key_of(here) == key_of(there)
    (tmp_path / "b" / "reviews.csv").write_text("text,label\nother,yes\n")
    assert key_of(prepared(tmp_path / "b" / "reviews.csv")) != key_of(here)


def test_what_is_encoded_otherwise_is_another_job(tmp_path: Path) -> None:
    path = reviews(tmp_path)
    assert key_of(prepared(path, min_df=2)) != key_of(prepared(path))


def test_a_seed_of_the_training_is_another_training_of_the_same_data(tmp_path: Path) -> None:
    data = prepared(reviews(tmp_path))
    assert key_of(trained(data, 0)) != key_of(trained(data, 1))


def test_evaluation_writes_a_row_for_every_metric_of_every_split(tmp_path: Path) -> None:
    data = prepared(reviews(tmp_path))
    model = trained(data)
    job = jobs.Evaluate(model, data, ("validation", "test"))
    store = Store(tmp_path / "store")
    computed(store, job)
    rows = results.stored([job], store).to_pylist()
    assert {(row["split"], row["measure"]) for row in rows} >= {
        ("validation", "accuracy"),
        ("test", "roc_auc"),
    }
    record = json.loads((store.place(key_of(model)) / "model" / "model.json").read_text())["record"]
    measured = {row["measure"]: row["value"] for row in rows if row["split"] == "test"}
    assert measured["accuracy"] == record["metrics"]["test"]["accuracy"]
    assert {(row["dataset"], row["model"], row["seed"]) for row in rows} == {("reviews.csv", "mlp", 0)}


def test_a_stored_model_holds_no_time(tmp_path: Path) -> None:
    model = trained(prepared(reviews(tmp_path)))
    stores = [Store(tmp_path / name) for name in ("one", "two")]
    for store in stores:
        computed(store, model)
    one, two = (store.facts(key_of(model)) for store in stores)
    assert one == two


def test_recursive_roar_is_a_loop_that_wraps_one_training_in_the_next(tmp_path: Path) -> None:
    data: Job = prepared(reviews(tmp_path))
    steps = [data]
    for step in (1, 2):
        model = trained(data)
        data = jobs.Mask(data, jobs.Explain(model, data, "attention"), step / 4)
        steps.append(data)
    store = Store(tmp_path / "store")
    computed(store, jobs.Evaluate(trained(data), data))
    masked = []
    for job in steps:
        corpus = open_corpus(store.place(key_of(job)) / "corpus")
        masked.append(corpus.splits["train"].ids.values == corpus.tokenizer.mask)
    # Each text has the words "the film N was good": five of seven tokens, of which ⌊5/4⌋ and ⌊10/4⌋ go.
    texts = len(masked[0]) // 7
    assert [int(one.sum()) for one in masked] == [0, texts, 2 * texts]
    assert not (masked[1] & ~masked[2]).any()


def test_explanations_are_flat_as_the_ids_and_nan_at_special_tokens(tmp_path: Path) -> None:
    data = prepared(reviews(tmp_path))
    job = jobs.Explain(trained(data), data, "attention")
    store = Store(tmp_path / "store")
    computed(store, job)
    scores = np.load(store.place(key_of(job)) / "scores-test.npy")
    encoded = open_corpus(store.place(key_of(data)) / "corpus").splits["test"]
    assert (np.isnan(scores) == (encoded.spans.values[:, 0] < 0)).all()
    sums = [
        np.nansum(scores[a:b]) for a, b in zip(encoded.ids.offsets, encoded.ids.offsets[1:], strict=False)
    ]
    assert sums == pytest.approx([1.0] * len(encoded))


def test_a_lexicon_is_known_by_its_content(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "positive.txt").write_text("fine\n")
        (tmp_path / name / "negative.txt").write_text("poor\n")
    one, two = (inputs.prepare(DataConfig("mock-1", lexicon=tmp_path / name), {}) for name in ("a", "b"))
    assert key_of(one) == key_of(two)
    assert key_of(one) != key_of(inputs.prepare(DataConfig("mock-1"), {}))


def test_a_row_names_every_setting_that_is_not_the_default(tmp_path: Path) -> None:
    data = prepared(reviews(tmp_path))
    job = jobs.Evaluate(trained(data), data)
    store = Store(tmp_path / "store")
    computed(store, job)
    (setting,) = {row["setting"] for row in results.stored([job], store).to_pylist()}
    assert json.loads(setting) == {
        "attention": "additive",
        "distribution": "softmax",
        "selected_on": "validation",
        "vectors": "normal(0, 0.1)",
        "embed_size": 8,
        "hidden_size": 4,
        "epochs": 1,
        "learning_rate": 0.01,
    }


def test_a_folder_with_the_name_of_a_synthetic_set_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "planted").mkdir()
    assert inputs.prepare(DataConfig("planted"), {}).place is None


def explanations(model: Job, data: Job, *names: str) -> dict[str, Job]:
    return {name: jobs.Explain(model, data, name, ("test",), 4) for name in names}


def test_of_a_split_so_many_texts_are_explained_and_the_rest_is_nan(tmp_path: Path) -> None:
    data = prepared(reviews(tmp_path))
    (job,) = explanations(trained(data), data, "attention").values()
    store = Store(tmp_path / "store")
    computed(store, job)
    folder = store.place(key_of(job))
    rows = np.load(folder / "rows-test.npy").tolist()
    assert len(rows) == 4
    scores = np.load(folder / "scores-test.npy")
    encoded = open_corpus(store.place(key_of(data)) / "corpus").splits["test"]
    explained = [
        i
        for i, (a, b) in enumerate(zip(encoded.ids.offsets, encoded.ids.offsets[1:], strict=False))
        if not np.isnan(scores[a:b]).all()
    ]
    assert explained == rows
    assert not (folder / "scores-train.npy").exists()


def test_the_same_texts_are_explained_whatever_the_seed_and_the_explainer(tmp_path: Path) -> None:
    data = prepared(reviews(tmp_path))
    wanted = [
        jobs.Explain(trained(data, seed), data, name, ("test",), 4, seed)
        for seed, name in ((0, "attention"), (1, "attention"), (1, "random"))
    ]
    store = Store(tmp_path / "store")
    computed(store, *wanted)
    rows = [np.load(store.place(key_of(job)) / "rows-test.npy").tolist() for job in wanted]
    assert rows[0] == rows[1] == rows[2]


def test_explanations_are_compared_and_judged_by_erasing(tmp_path: Path) -> None:
    data = prepared(reviews(tmp_path))
    model = trained(data)
    own = explanations(model, data, "attention", "random")
    agree = jobs.Agree(model, data, own, ("kendall_tau", "overlap_fraction"))
    erase = jobs.Erase(model, data, own, by="delete")
    store = Store(tmp_path / "store")
    computed(store, agree, erase)
    rows = results.stored([agree], store).to_pylist()
    texts = [row for row in rows if row["example"] is not None]
    assert {row["measure"] for row in texts} == {"kendall_tau", "overlap_fraction"}
    assert len(texts) == 2 * 4
    assert {row["class"] for row in texts} <= {"no", "yes"}
    assert {row["measure"] for row in rows} > {"kendall_tau_floor"}
    erased = results.stored([erase], store).to_pylist()
    assert {(row["explainer"], row["versus"]) for row in erased} == {
        (name, versus) for name in ("attention", "random") for versus in (None, "random order")
    }
    assert json.loads(erased[0]["setting"])["erased_by"] == "delete"


def test_evidence_is_looked_for_where_it_is_known(tmp_path: Path) -> None:
    data = inputs.prepare(DataConfig("planted", evidence=1), {})
    model = inputs.training(data, settings("x", **SMALL))
    own = explanations(model, data, "oracle", "reversed")
    job = jobs.Find(model, data, own)
    store = Store(tmp_path / "store")
    computed(store, job)
    rows = results.stored([job], store).to_pylist()
    found = {
        name: {row["value"] for row in rows if (row["explainer"], row["versus"]) == (name, None)}
        for name in own
    }
    assert found["oracle"] == {1.0}
    assert max(found["reversed"]) < 1


def test_without_known_evidence_its_test_fails_with_a_sentence(tmp_path: Path) -> None:
    data = prepared(reviews(tmp_path))
    model = trained(data)
    graph = run(
        [jobs.Find(model, data, explanations(model, data, "random"))], Store(tmp_path / "s"), Inline()
    )
    assert [node.reason for node in graph.values() if node.status == "failed"] == [
        "expected texts whose evidence is known, found none; choose another data set"
    ]
