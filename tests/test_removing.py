"""The jobs of ROAR, run through the engine on small made-up data."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from faithgauge import jobs, removing, results
from faithgauge.encode.corpus import open_corpus
from faithgauge.engine.inline import Inline
from faithgauge.engine.job import Job, key_of
from faithgauge.engine.run import graph, run
from faithgauge.engine.store import Store
from faithgauge.models import store as models
from faithgauge.plans.grid import jobs_of
from faithgauge.plans.study import read
from faithgauge.train.metrics import METRICS

STUDY = """\
seeds = [0]
tests = ["recursive_roar"]
explainers = ["attention"]
[data]
names = ["reviews.csv"]
[model]
encoder = "mlp"
embed_size = 4
hidden_size = 4
[train]
epochs = 1
learning_rate = 0.01
[roar]
fractions = [0, 0.4, 0.6, 1]
null = false
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"the film {i} was {'good' if i % 2 else 'bad'},{'yes' if i % 2 else 'no'}" for i in range(40)]
    (tmp_path / "reviews.csv").write_text("text,label\n" + "\n".join(rows) + "\n")
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def asked(folder: Path, *changes: str) -> list[Job]:
    return jobs_of(read(folder / "study.toml", changes))


def computed(folder: Path, *targets: Job) -> Store:
    store = Store(folder / "store")
    ended = run(list(targets), store, Inline())
    assert {node.reason for node in ended.values()} == {""}
    return store


def rows_of(store: Store, job: Job) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = results.read(store.place(key_of(job)) / results.ROWS, "").to_pylist()
    return rows


def test_curves_have_a_row_for_each_explainer_fraction_and_metric(folder: Path) -> None:
    curves, seeds = asked(folder)
    store = computed(folder, curves, seeds)
    rows = rows_of(store, curves)
    points = {
        (row["explainer"], row["fraction"], row["measure"]) for row in rows if row["fraction"] is not None
    }
    assert points == {
        (name, step, metric)
        for name in ("random", "attention")
        for step in (0, 0.4, 0.6, 1)
        for metric in METRICS
    }
    rest = {(row["explainer"], row["measure"]) for row in rows if row["fraction"] is None}
    assert rest == {
        ("attention", "faithfulness"),
        ("attention", "faithfulness_clipped"),
        ("attention", "unscored_texts"),
        ("random", "unscored_texts"),
    }
    assert {row["measure"] for row in rows_of(store, seeds)} >= {"faithfulness_mean", "below_random_p_holm"}


def test_masked_data_share_all_but_their_ids_with_what_they_were_made_of(folder: Path) -> None:
    masked: Any = asked(folder)[0].masks["attention"]["0.4"]  # type: ignore[attr-defined]
    store = computed(folder, masked)
    own, source = (store.place(key_of(job)) / "corpus" for job in (masked, masked.data))
    for name in ("spans.npy", "ids.offsets.npy", "texts.npy", "labels.npy"):
        assert (own / "train" / name).samefile(source / "train" / name)
    assert not (own / "train" / "ids.npy").samefile(source / "train" / "ids.npy")
    facts = json.loads((store.place(key_of(masked)) / jobs.MASKED).read_text())
    assert {split: one["unscored"] for split, one in facts.items()} == {
        "train": 0,
        "validation": 0,
        "test": 0,
    }


def test_only_the_splits_that_are_named_are_masked(folder: Path) -> None:
    whole: Any = asked(folder)[0].masks["attention"]["0.4"]  # type: ignore[attr-defined]
    some = replace(whole, splits=("test",))
    store = computed(folder, some)
    corpus = open_corpus(store.place(key_of(some)) / "corpus")
    mask = corpus.tokenizer.mask
    assert {split: bool((one.ids.values == mask).any()) for split, one in corpus.splits.items()} == {
        "train": False,
        "validation": False,
        "test": True,
    }


def test_a_chain_at_its_floor_ends_and_the_floor_stands_for_the_rest(folder: Path) -> None:
    """Nothing is better than the floor by more than 1."""
    curves: Any = asked(folder, "roar.early_stop_fractions=1")[0]
    store = computed(folder, curves)
    last = curves.steps["attention"]["0.6"]
    for job in (last, last.model, last.data, last.data.explanation):
        files = {path.name for path in store.place(key_of(job)).iterdir()}
        assert files == {"stopped", "job.json", "provenance.json"}
    values = {
        (row["explainer"], row["fraction"]): row["value"]
        for row in rows_of(store, curves)
        if row["measure"] == "accuracy"
    }
    assert values["attention", 0.6] == values["attention", 1.0]


def test_a_chain_above_its_floor_goes_on_to_the_same_models(folder: Path) -> None:
    """No model is better by less than −1, which no metric can be: the chain never ends."""
    plain: Any = asked(folder)[0]
    step = plain.steps["attention"]["0.4"]
    stop = removing.AtFloor(step, plain.floor, -2.0)
    on = removing.EvaluateOn(step.model, step.data, step.splits, stop=stop)
    store = computed(folder, on, step)
    same = [[row["value"] for row in rows_of(store, job)] for job in (on, step)]
    np.testing.assert_array_equal(*same)


def test_a_warm_start_has_the_weights_of_the_model_before(folder: Path) -> None:
    plain: Any = asked(folder)[0]
    base = plain.full.model
    # With so small a step nothing is learnt, and the weights stay what they were.
    warm = replace(base, base=base, train=replace(base.train, learning_rate=1e-12, epochs=1))
    store = computed(folder, warm)
    before, after = (
        models.load(store.place(key_of(job)) / jobs.MODEL).classifier.state_dict() for job in (base, warm)
    )
    for name, weights in before.items():
        np.testing.assert_allclose(after[name], weights, atol=1e-6)


def test_a_model_trained_on_masked_texts_knows_what_the_mask_is(folder: Path) -> None:
    (curves,) = asked(folder, 'tests=["masked_training"]', "train.epochs=2")
    store = computed(folder, curves)
    rows = rows_of(store, curves)
    assert {row["measure"] for row in rows} >= {"masked_training_curve", "masked_training_curve_clipped"}
    assert {json.loads(row["setting"])["masking"] for row in rows} == {"masked_training"}
    model: Any = curves.full.model  # type: ignore[attr-defined]
    usual = replace(model, masked_inputs=False)
    computed(folder, usual)
    one, other = (models.load(store.place(key_of(job)) / jobs.MODEL) for job in (model, usual))
    mask = one.tokenizer.mask
    moved = [
        float(np.abs(trained.classifier.state_dict()["embedding.weight"][mask].numpy()).sum())
        for trained in (one, other)
    ]
    assert moved[0] != moved[1]


def test_sparsity_has_a_row_for_every_count_and_fraction(folder: Path) -> None:
    (job,) = asked(folder, 'tests=["sparsity"]', "roar.counts=[1, 9]")
    rows = rows_of(computed(folder, job), job)
    own = [row for row in rows if row["explainer"] == "random" and row["measure"] == "sparsity"]
    assert [row["value"] for row in rows if row["measure"] == "sparsity_undefined"] == [0, 0]
    assert [row["fraction"] for row in own] == [None, None, 0.4, 0.6, 1.0]
    assert [json.loads(row["setting"]).get("count") for row in own] == [1, 9, None, None, None]
    # Five tokens a text: nine of them, and all of them, are everything.
    assert [own[1]["value"], own[4]["value"]] == pytest.approx([1, 1])
    assert own[0]["value"] < own[2]["value"] < own[3]["value"]


def test_curves_of_both_labels_are_told_apart_by_their_setting(folder: Path) -> None:
    """Of two classes only scores with a sign depend on which of them is explained."""
    targets = asked(folder, 'roar.label=["gold", "predicted"]', 'explainers=["input_x_gradient"]')
    store = computed(folder, *targets)
    labels = [{json.loads(row["setting"]).get("label") for row in rows_of(store, job)} for job in targets]
    assert labels == [{"gold"}, {"predicted"}, {"gold"}, {"predicted"}, {"gold"}]
    measures = {row["measure"] for row in rows_of(store, targets[-1])}
    assert measures >= {"leakage", "leakage_low", "leakage_p_holm", "leakage_area"}


@pytest.mark.slow
def test_a_run_that_is_killed_with_its_workers_is_finished_by_the_same_command_with_the_same_rows(
    folder: Path,
) -> None:
    """Killed where eight jobs have ended: in the middle of a chain."""
    main = "import sys; from faithgauge.cli.main import run; sys.exit(run(sys.argv[1:]))"
    store, command = Store(folder / "killed"), [sys.executable, "-c", main, "run"]
    command += [str(folder / "study.toml"), "--workers", "2", "--store", str(store.root)]
    first = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 300
    while first.poll() is None and len(list(store.keys())) < 8 and time.monotonic() < until:
        time.sleep(0.02)
    os.killpg(first.pid, signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    targets = asked(folder)
    assert 8 <= len(list(store.keys())) < len(graph(targets))
    subprocess.run(command, check=True, capture_output=True)
    other = computed(folder, *targets)
    for job in targets:
        assert repr(rows_of(store, job)) == repr(rows_of(other, job))


@pytest.mark.slow
def test_on_planted_words_the_oracle_is_first_its_reverse_last_and_a_second_random_order_0(
    tmp_path: Path,
) -> None:
    text = STUDY.replace("reviews.csv", "planted").replace("seeds = [0]", "seeds = [0, 1, 2, 3, 4]")
    text = text.replace('explainers = ["attention"]', 'explainers = ["attention", "oracle", "reversed"]')
    text = text.replace("null = false\n", "").replace("[0, 0.4, 0.6, 1]", "[0, 0.2, 0.4, 0.7, 1]")
    text = text.replace("epochs = 1", "epochs = 3").replace("_size = 4", "_size = 16")
    (tmp_path / "study.toml").write_text(text)
    targets = asked(tmp_path)
    store = computed(tmp_path, *targets)
    (seeds,) = [job for job in targets if isinstance(job, removing.OverSeeds)]
    found = {(row["explainer"], row["measure"]): row["value"] for row in rows_of(store, seeds)}
    names = ("oracle", "attention", "random_2", "reversed")
    means = {name: found[name, "faithfulness_mean"] for name in names}
    assert max(means, key=means.__getitem__) == "oracle"
    assert min(means, key=means.__getitem__) == "reversed"
    assert found["oracle", "faithfulness_student_low"] > 0 > found["reversed", "faithfulness_student_high"]
    # Both random orders are drawn alike: the true score of the second is 0, which its interval covers.
    assert found["random_2", "faithfulness_student_low"] < 0 < found["random_2", "faithfulness_student_high"]
