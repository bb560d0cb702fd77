"""Where jobs stand in a store, and how they are told apart in words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import toy_jobs

from faithgauge.engine.inline import Inline
from faithgauge.engine.job import File, Job, key_of
from faithgauge.engine.run import graph, run
from faithgauge.engine.store import Store
from faithgauge.plans.state import describe, flattened, standings


@dataclass(frozen=True, eq=False)
class Reading(Job):
    name: str
    files: tuple[File, ...]
    splits: tuple[str, ...]


def targets(*encoders: str) -> list[Job]:
    data = toy_jobs.Texts("planted")
    return [toy_jobs.Measure(toy_jobs.Fit(data, encoder, 2, seed=0)) for encoder in encoders]


def test_everything_is_to_be_done_in_a_store_that_is_not_there(tmp_path: Path) -> None:
    nodes, found = standings(targets("mlp", "cnn"), Store(tmp_path / "none"))
    assert len(nodes) == len(found) == 5
    assert {one.state for one in found.values()} == {"todo"}
    assert not (tmp_path / "none").exists()


def test_a_failure_has_its_reason_and_blocks_what_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAILS", "cnn")
    store, wanted = Store(tmp_path), targets("mlp", "cnn")
    run(wanted, store, Inline())
    nodes, found = standings(wanted, store)
    states = {
        (type(node.job).__name__, getattr(node.job, "encoder", "")): found[key].state
        for key, node in nodes.items()
    }
    assert states[("Fit", "mlp")] == states[("Texts", "")] == "done"
    assert states[("Fit", "cnn")] == "failed"
    failed = next(one for one in found.values() if one.state == "failed")
    assert failed.reason == "epoch 1: the loss of cnn is not a number"
    assert failed.log is not None
    assert failed.log.exists()
    (blocked,) = (one for one in found.values() if one.state == "blocked")
    assert blocked.reason.startswith("needs what failed: ")


def test_a_job_whose_lock_is_held_is_running(tmp_path: Path) -> None:
    store, wanted = Store(tmp_path), targets("mlp")
    store.prepare()
    key = next(iter(graph(wanted)))
    claim = store.claim(key)
    assert claim is not None
    assert standings(wanted, store)[1][key].state == "running"
    claim.release()
    assert standings(wanted, store)[1][key].state == "todo"


def test_what_is_not_needed_any_more_is_left_out(tmp_path: Path) -> None:
    store, wanted = Store(tmp_path), targets("mlp")
    run(wanted, store, Inline())
    (fit,) = (key for key, node in graph(wanted).items() if isinstance(node.job, toy_jobs.Fit))
    store.discard(fit)
    _, found = standings(wanted, store)
    assert fit not in found
    assert {one.state for one in found.values()} == {"done"}


def test_jobs_are_described_by_what_tells_them_apart() -> None:
    data = [toy_jobs.Texts("planted"), toy_jobs.Texts("mock-2")]
    fits = [
        toy_jobs.Fit(one, encoder, 2, seed) for one in data for encoder in ("mlp", "cnn") for seed in (0, 1)
    ]
    measure = toy_jobs.Measure(fits[0])
    texts = describe(graph([measure, *fits]))
    assert texts[key_of(data[1])] == "mock-2"
    assert texts[key_of(fits[3])] == "planted cnn seed=1"
    assert texts[key_of(measure)] == ""


def test_files_and_empty_lists_say_nothing_in_a_description(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text")
    files = Reading("a.csv", (File.of(tmp_path / "a.csv"),), ("train", "test"))
    none = Reading("planted", (), ("test",))
    texts = describe(graph([files, none]))
    assert list(texts.values()) == ["a.csv train+test", "planted test"]


def test_fields_are_flattened_to_paths_and_inputs_stay_whole() -> None:
    fields = {"a": {"b": 1, "c": {"job": "k"}}, "d": [1, 2], "e": [{"job": "x"}, {"f": 2}], "g": {}}
    assert flattened(fields) == {
        "a.b": 1,
        "a.c": {"job": "k"},
        "d": [1, 2],
        "e.0": {"job": "x"},
        "e.1.f": 2,
    }
