"""What of a store can be removed, and that nothing is removed that somebody works on."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy_jobs

from faithgauge.engine.inline import Inline
from faithgauge.engine.job import Job, key_of
from faithgauge.engine.run import run
from faithgauge.engine.store import Store
from faithgauge.plans.leftovers import leftovers, remove


def measure(encoder: str) -> Job:
    return toy_jobs.Measure(toy_jobs.Fit(toy_jobs.Texts("planted"), encoder, 2, seed=0))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    run([measure("mlp"), measure("cnn")], store, Inline())
    (store.partial("ab" * 32)).mkdir()
    (store.partial("ab" * 32) / "checkpoint").write_bytes(b"x" * 1000)
    store.fail("cd" * 32, "no", "log\n")
    (store.root / "tmp" / f"{'ef' * 32}.1").mkdir()
    return store


def test_results_are_left_over_only_when_it_is_said_what_is_to_stay(store: Store) -> None:
    assert set(leftovers(store, None)) == {"failed", "partial", "tmp"}
    unused = leftovers(store, [measure("mlp")])["results"]
    assert len(unused) == 2
    assert all(one.size > 0 for one in unused)


def test_looking_removes_nothing_and_removing_removes_just_that(store: Store) -> None:
    found = leftovers(store, [measure("mlp")])
    assert found["partial"][0].size == 1000
    assert store.has(key_of(measure("cnn")))
    assert remove(store, found) == 5
    assert leftovers(store, [measure("mlp")]) == {"results": [], "failed": [], "partial": [], "tmp": []}
    assert store.has(key_of(measure("mlp")))
    assert not store.has(key_of(measure("cnn")))


def test_what_somebody_works_on_stays(store: Store) -> None:
    claim = store.claim("ab" * 32)
    assert claim is not None
    remove(store, leftovers(store, None))
    assert store.partial("ab" * 32).is_dir()
    claim.release()
    remove(store, leftovers(store, None))
    assert not store.partial("ab" * 32).exists()
