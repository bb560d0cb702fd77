from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from engine.toys import Sum, artefacts, leftovers, value_in

from faithgauge.engine.inline import Inline
from faithgauge.engine.job import Job, facts, key_of
from faithgauge.engine.run import run
from faithgauge.engine.store import Claim, Store
from faithgauge.errors import DataError, JobError


def stored(root: Path, *jobs: Job) -> Store:
    store = Store(root)
    run(jobs or [Sum(1)], store, Inline())
    return store


def test_making_a_store_writes_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    assert not store.has("0" * 64)
    assert list(store.keys()) == []
    assert not store.root.exists()


def test_a_store_of_another_format_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text('{"format": 99}')
    with pytest.raises(DataError, match=r"expected a store of format 1, found 99; update faithgauge, or"):
        Store(tmp_path)


def test_a_relative_folder_means_the_same_when_the_process_moves(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    assert Store(Path("store")).root == tmp_path / "store"


def test_a_result_stands_under_its_key_with_facts_and_checksums(tmp_path: Path) -> None:
    job = Sum(5)
    store = stored(tmp_path, job)
    key = key_of(job)
    assert list(store.keys()) == [key]
    assert store.place(key) == tmp_path / "jobs" / key[:2] / key
    document = store.facts(key)
    assert {name: document[name] for name in ("kind", "version", "fields")} == facts(job)
    assert sorted(document["files"]) == ["more/bytes.bin", "value.json"]
    assert document["files"]["more/bytes.bin"] == (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
    assert value_in(store.checked(key)) == 5


def test_nothing_is_left_beside_the_results(tmp_path: Path) -> None:
    store = stored(tmp_path, Sum(1, (Sum(2),)))
    assert leftovers(store.root) == []


@pytest.mark.parametrize("harm", ["truncate", "edit", "delete", "facts", "no files"])
def test_a_damaged_result_is_refused_by_name_taken_out_and_computed_anew(tmp_path: Path, harm: str) -> None:
    store = stored(tmp_path)
    key = key_of(Sum(1))
    before = artefacts(tmp_path)
    file = store.place(key) / ("job.json" if harm in ("facts", "no files") else "value.json")
    if harm == "truncate":
        os.truncate(file, 3)
    elif harm == "edit":
        file.write_text(file.read_text().replace("1", "2"))
    elif harm == "delete":
        file.unlink()
    else:
        file.write_text("" if harm == "facts" else '{"files": [1]}')
    with pytest.raises(
        JobError, match=rf"{key}.* was damaged or deleted \({file.name}\) and is taken out; run"
    ):
        store.checked(key)
    assert not store.has(key)
    assert leftovers(tmp_path) == []
    stored(tmp_path)
    assert artefacts(tmp_path) == before


def test_a_job_that_reads_a_damaged_input_fails_and_the_next_run_mends_it(tmp_path: Path) -> None:
    inner, outer = Sum(1), Sum(2, (Sum(1),))
    store = stored(tmp_path, inner)
    os.truncate(store.place(key_of(inner)) / "value.json", 0)
    first = run([outer], store, Inline())
    assert first[key_of(outer)].status == "failed"
    assert "was damaged or deleted (value.json)" in first[key_of(outer)].reason
    second = run([outer], store, Inline())
    assert {node.status for node in second.values()} == {"done"}
    assert value_in(store.checked(key_of(outer))) == 3


def test_a_result_that_somebody_computes_anew_is_not_taken_out(tmp_path: Path) -> None:
    store = stored(tmp_path)
    key = key_of(Sum(1))
    os.truncate(store.place(key) / "value.json", 0)
    claim = store.claim(f"{key}.work")
    assert claim is not None
    with pytest.raises(JobError, match="damaged"):
        store.checked(key)
    claim.release()
    assert store.has(key)


def test_a_folder_without_facts_is_no_result_and_is_replaced(tmp_path: Path) -> None:
    store = stored(tmp_path)
    key = key_of(Sum(1))
    (store.place(key) / "job.json").unlink()
    assert not store.has(key)
    stored(tmp_path)
    assert value_in(store.checked(key)) == 1


def test_a_commit_where_a_result_stands_already_keeps_the_first(tmp_path: Path) -> None:
    store = stored(tmp_path)
    key = key_of(Sum(1))
    before = artefacts(tmp_path)
    with store.computing(key) as folder:
        (folder / "value.json").write_text('{"value": 99}')
        store.commit(key, folder, facts(Sum(1)))
    assert artefacts(tmp_path) == before
    assert leftovers(tmp_path) == []


def test_a_file_that_cannot_be_read_is_not_committed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.prepare()
    with store.computing("k") as folder:
        (folder / "value.json").write_text("1")
        real = Path.open

        def broken(self: Path, *args: object, **more: object) -> object:
            if self.name == "value.json":
                raise OSError(5, "Input/output error", str(self))
            return real(self, *args, **more)  # type: ignore[call-overload]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, "open", broken)
            with pytest.raises(OSError, match="Input/output"):
                store.commit("k", folder, {})
    assert not store.has("k")


def test_a_claim_is_held_by_one_and_free_after_release(tmp_path: Path) -> None:
    store, other = Store(tmp_path), Store(tmp_path)
    store.prepare()
    claim = store.claim("k")
    assert claim is not None
    assert other.claim("k") is None
    claim.release()
    again = other.claim("k")
    assert again is not None
    again.release()
    assert leftovers(tmp_path) == []


def test_a_lock_on_a_removed_file_is_not_taken_for_a_claim(tmp_path: Path) -> None:
    """Who waits has opened the old file; when it gets the lock, there is a new one in its place."""
    store, got = Store(tmp_path), list[Claim | None]()
    store.prepare()
    first = store.claim("k")
    assert first is not None
    waiting = threading.Thread(target=lambda: got.append(store.claim("k", wait=True)))
    waiting.start()
    time.sleep(0.2)
    first.path.unlink()  # the first half of a release
    second = store.claim("k")
    assert second is not None
    first._file.close()  # the second half wakes who waits
    time.sleep(0.2)
    assert got == []
    second.release()
    waiting.join()
    assert got[0] is not None
    got[0].release()
    assert leftovers(tmp_path) == []


def test_many_may_prepare_one_store_at_once(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def prepare(root: Path) -> None:
        try:
            Store(root).prepare()
        except BaseException as error:
            failures.append(error)

    for i in range(20):
        threads = [threading.Thread(target=prepare, args=(tmp_path / str(i),)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert json.loads((tmp_path / str(i) / "store.json").read_text()) == {"format": 1}
        assert sorted(path.name for path in (tmp_path / str(i)).iterdir() if path.is_file()) == ["store.json"]
    assert failures == []


def test_a_sweep_takes_what_nobody_works_on_and_leaves_the_rest(tmp_path: Path) -> None:
    store = stored(tmp_path)
    done = key_of(Sum(1))
    for folder in ("tmp/dead", "tmp/alive", "partial/alive", "partial/dead", f"partial/{done}"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text("x")
    (tmp_path / "claims" / "dead").touch()
    worker, coordinator = store.claim("alive.work"), store.claim("alive")
    assert worker is not None
    assert coordinator is not None
    store.sweep()
    assert sorted(leftovers(tmp_path)) == [
        "claims/alive", "claims/alive.work", "partial/alive", "partial/dead", "tmp/alive",
    ]  # fmt: skip
    assert (tmp_path / "tmp" / "alive" / "file").exists()
    worker.release()
    coordinator.release()


def test_a_failure_is_kept_until_there_is_a_result(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.prepare()
    key = key_of(Sum(1))
    assert store.failure(key) is None
    log = store.fail(key, "why", "all of it\n")
    assert store.failure(key) == ("why", log)
    assert log.read_text() == "all of it\n"
    stored(tmp_path)
    assert store.failure(key) is None
    assert leftovers(tmp_path) == []


def test_discarding_leaves_nothing(tmp_path: Path) -> None:
    store = stored(tmp_path)
    store.discard(key_of(Sum(1)))
    assert list(store.keys()) == []
    assert leftovers(tmp_path) == []
    store.discard(key_of(Sum(1)))


def test_a_read_only_store_can_be_read(disk: Callable[[str], Path]) -> None:
    store = stored(disk("size=4m"), Sum(1), Sum(2))
    os.truncate(store.place(key_of(Sum(2))) / "value.json", 0)
    disk("remount,ro")
    before = sorted(store.root.rglob("*"))
    reader = Store(store.root)
    assert reader.has(key_of(Sum(1)))
    assert sorted(reader.keys()) == sorted([key_of(Sum(1)), key_of(Sum(2))])
    assert reader.facts(key_of(Sum(1)))["kind"] == "Sum"
    assert value_in(reader.checked(key_of(Sum(1)))) == 1
    assert reader.failure(key_of(Sum(1))) is None
    with pytest.raises(
        JobError, match=r"damaged or deleted \(value.json\) and cannot be taken out \(Read-only"
    ):
        reader.checked(key_of(Sum(2)))
    assert {node.status for node in run([Sum(1)], reader, Inline()).values()} == {"cached"}
    with pytest.raises(DataError, match=r"expected a store that can be written, found .*Read-only"):
        run([Sum(3)], reader, Inline())
    assert sorted(store.root.rglob("*")) == before


def test_waiting_for_a_claim_ends_when_it_is_free(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.prepare()
    first = store.claim("k")
    assert first is not None
    threading.Timer(0.1, first.release).start()
    started = time.monotonic()
    second = store.claim("k", wait=True)
    assert second is not None
    assert time.monotonic() - started > 0.05
    second.release()
