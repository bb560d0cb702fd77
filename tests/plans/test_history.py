"""What a store tells of jobs that are not in it yet."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import toy_jobs

from faithgauge.engine.inline import Inline
from faithgauge.engine.job import Here, Job, key_of
from faithgauge.engine.run import graph, run
from faithgauge.engine.store import PROVENANCE, Store
from faithgauge.plans.history import History

DATA = toy_jobs.Texts("planted")


@dataclass(frozen=True, eq=False)
class Mask(Job):
    """Called like the kind that masks texts, which stay as long as they were."""

    data: Job
    explanation: Job

    def run(self, here: Here) -> None:
        (here.folder / "text").write_text((here.path(self.data) / "text").read_text())


def fit(encoder: str, *, seed: int = 0, epochs: int = 2, data: Job = DATA) -> Job:
    return toy_jobs.Fit(data, encoder, epochs, seed)


def stored(folder: Path, seconds: dict[Job, float]) -> Store:
    """A store in which each job has taken so many seconds, and as many megabytes."""
    store = Store(folder)
    run(list(seconds), store, Inline())
    for job, value in seconds.items():
        path = store.place(key_of(job)) / PROVENANCE
        facts = json.loads(path.read_text())
        path.write_text(
            json.dumps(facts | {"seconds": value, "cpu_seconds": value, "peak_memory": int(value * 1e6)})
        )
    return store


def test_a_job_costs_the_median_of_those_that_differ_in_nothing_but_the_seed(tmp_path: Path) -> None:
    store = stored(
        tmp_path,
        {fit("mlp", seed=0): 1.0, fit("mlp", seed=1): 2.0, fit("mlp", seed=2): 6.0, fit("cnn"): 50.0},
    )
    new = fit("mlp", seed=9)
    cost = History(store, graph([new])).cost(key_of(new))
    assert cost is not None
    assert (cost.seconds, cost.memory, cost.fields) == (2.0, 6_000_000, 0)


def test_seconds_that_other_work_took_of_a_job_are_not_counted(tmp_path: Path) -> None:
    done, new = fit("mlp", seed=0), fit("mlp", seed=9)
    store = stored(tmp_path, {done: 2.0})
    path = store.place(key_of(done)) / PROVENANCE
    path.write_text(json.dumps(json.loads(path.read_text()) | {"seconds": 5.0}))
    cost = History(store, graph([new])).cost(key_of(new))
    assert cost is not None
    assert cost.seconds == 2.0


def test_without_such_a_job_it_costs_what_those_cost_that_differ_least(tmp_path: Path) -> None:
    store = stored(tmp_path, {fit("mlp", epochs=1): 3.0})
    new = fit("mlp", seed=4)
    cost = History(store, graph([new])).cost(key_of(new))
    assert cost is not None
    assert (cost.seconds, cost.fields) == (3.0, 1)


def test_a_job_on_other_texts_or_of_another_encoder_tells_nothing(tmp_path: Path) -> None:
    store = stored(tmp_path, {fit("mlp", data=toy_jobs.Texts("mock-2")): 9.0, fit("cnn"): 3.0})
    new = fit("mlp")
    history = History(store, graph([new, fit("mlp", seed=1), fit("cnn")]))
    assert history.cost(key_of(new)) is None
    assert history.likeness(key_of(new)) == history.likeness(key_of(fit("mlp", seed=1)))
    assert history.likeness(key_of(new)) != history.likeness(key_of(fit("cnn")))


def test_a_job_whose_provenance_is_damaged_tells_nothing(tmp_path: Path) -> None:
    store = stored(tmp_path, {fit("mlp", seed=0): 1.0, fit("mlp", seed=1): 2.0})
    for seed, text in ((0, "{"), (1, '{"seconds": 1}')):
        (store.place(key_of(fit("mlp", seed=seed))) / PROVENANCE).write_text(text)
    new = fit("mlp", seed=9)
    assert History(store, graph([new])).cost(key_of(new)) is None


def test_nothing_is_known_of_a_kind_of_which_none_is_stored(tmp_path: Path) -> None:
    store = stored(tmp_path, {fit("mlp"): 1.0})
    measure = toy_jobs.Measure(fit("mlp"))
    assert History(store, graph([measure])).cost(key_of(measure)) is None
    assert History(Store(tmp_path / "none"), graph([measure])).difference(key_of(measure)) is None


def test_the_nearest_stored_job_says_which_fields_differ_also_those_of_inputs(tmp_path: Path) -> None:
    near, far = fit("mlp", seed=1), fit("cnn", seed=5, epochs=3)
    store = stored(tmp_path, {near: 1.0, far: 1.0})
    new = fit("mlp", seed=2, data=toy_jobs.Texts("mock-2"))
    found = History(store, graph([new])).difference(key_of(new))
    assert found == (key_of(near), {"data.name": ("planted", "mock-2"), "seed": (1, 2)})


def test_a_long_chain_of_inputs_is_compared_in_no_time(tmp_path: Path) -> None:
    def chain(seed: int) -> Job:
        job: Job = toy_jobs.Texts("planted")
        for _ in range(300):
            job = toy_jobs.Fit(job, "mlp", 2, seed)
        return job

    store = stored(tmp_path, {fit("mlp"): 1.0})
    long = chain(3)
    history = History(store, graph([long]))
    assert history.cost(key_of(long)) is None
    assert history.difference(key_of(long)) is not None


def test_masked_texts_cost_what_whole_ones_cost_however_often_and_by_whatever_they_were_masked(
    tmp_path: Path,
) -> None:
    store = stored(tmp_path, {fit("mlp"): 5.0})
    data: Job = DATA
    for encoder in ("cnn", "bilstm", "average", "cnn", "mlp"):
        data = Mask(data, fit(encoder, data=data))
    new, other = fit("mlp", data=data), fit("mlp", data=Mask(DATA, fit("cnn")))
    history = History(store, graph([new, other]))
    cost = history.cost(key_of(new))
    assert cost is not None
    assert (cost.seconds, cost.fields) == (5.0, 0)
    assert history.likeness(key_of(new)) == history.likeness(key_of(other))


def test_other_texts_that_were_masked_tell_nothing(tmp_path: Path) -> None:
    store = stored(tmp_path, {fit("mlp"): 5.0})
    new = fit("mlp", data=Mask(toy_jobs.Texts("mock-2"), fit("mlp")))
    assert History(store, graph([new])).cost(key_of(new)) is None
