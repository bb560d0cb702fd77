from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from engine.toys import (
    Broken,
    Reads,
    Steps,
    Sum,
    artefacts,
    layers,
    leftovers,
    lines,
    value_in,
)

from faithgauge.engine import run as engine
from faithgauge.engine.inline import Inline
from faithgauge.engine.job import File, Here, Job, key_of
from faithgauge.engine.run import Event, graph, needed, run
from faithgauge.engine.store import Store
from faithgauge.engine.work import Outcome, Ticket, work


class Dying:
    """An executor whose workers die the first `times` times; it computes nothing before."""

    slots = 2

    def __init__(self, times: int) -> None:
        self.times, self.sent, self.closed = times, list[Ticket](), ""

    def submit(self, ticket: Ticket) -> None:
        self.sent.append(ticket)

    def wait_any(self, seconds: float) -> list[Outcome]:
        ticket = self.sent.pop(0)
        self.times -= 1
        return [Outcome(ticket.key, "died", "killed by signal 9") if self.times >= 0 else work(ticket)]

    def close(self, *, abandon: bool = False) -> None:
        self.closed = "abandoned" if abandon else "closed"


def statuses(targets: list[Job], store: Store, **more: object) -> list[str]:
    ended = run(targets, store, Inline(), **more)  # type: ignore[arg-type]
    return [ended[key_of(job)].status for job in targets]


def test_equal_jobs_are_one_node_and_inputs_come_first() -> None:
    nodes = graph([Sum(3, (Sum(1), Sum(2, (Sum(1),)))), Sum(1)])
    assert list(nodes) == [
        key_of(one) for one in (Sum(1), Sum(2, (Sum(1),)), Sum(3, (Sum(1), Sum(2, (Sum(1),)))))
    ]
    assert [len(node.inputs) for node in nodes.values()] == [0, 1, 2]


def test_an_input_that_stands_twice_is_waited_for_once(tmp_path: Path) -> None:
    assert statuses([Sum(1, (Sum(2), Sum(2)))], Store(tmp_path)) == ["done"]
    assert value_in(Store(tmp_path).checked(key_of(Sum(1, (Sum(2), Sum(2)))))) == 5


def test_what_is_only_needed_by_what_is_stored_is_left_out(tmp_path: Path) -> None:
    store = Store(tmp_path)
    inner, middle = Sum(1), Sum(2, (Sum(1),))
    run([middle], store, Inline())
    store.discard(key_of(inner))
    outer = Sum(3, (middle,))
    wanted = needed(graph([outer]), [outer], store)
    assert {key: node.status for key, node in wanted.items()} == {
        key_of(middle): "cached",
        key_of(outer): "todo",
    }
    assert statuses([outer], store) == ["done"]
    assert not store.has(key_of(inner))


def test_a_run_computes_all_and_a_second_one_nothing(tmp_path: Path) -> None:
    log, events = tmp_path / "log", list[Event]()
    targets = layers(3, 3, log=log)
    store = Store(tmp_path / "store")
    first = run(targets, store, Inline(), on_event=events.append)
    assert Counter(node.status for node in first.values()) == {"done": 9}
    assert Counter(event.what for event in events) == {"started": 9, "done": 9}
    assert len(lines(log)) == 9
    events.clear()
    again = run(layers(3, 3, log=log), store, Inline(), on_event=events.append)
    assert [event.what for event in events] == ["cached"] * 3
    assert {node.status for node in again.values()} == {"cached"}
    assert len(lines(log)) == 9


def test_a_failure_blocks_what_needs_it_and_nothing_else(tmp_path: Path) -> None:
    events = list[Event]()
    broken = Broken()
    below = Sum(2, (broken,))
    far = Sum(3, (below, Sum(1)))
    aside = Sum(4, (Sum(1),))
    ended = run([far, aside], Store(tmp_path), Inline(), on_event=events.append)
    names = {
        key: type(node.job).__name__ + str(getattr(node.job, "number", "")) for key, node in ended.items()
    }
    assert {names[key]: node.status for key, node in ended.items()} == {
        "Broken": "failed", "Sum2": "blocked", "Sum1": "done", "Sum3": "blocked", "Sum4": "done",
    }  # fmt: skip
    assert ended[key_of(far)].reason == f"needs Broken {key_of(broken)[:12]}, which failed"
    assert Counter(event.what for event in events if event.key == key_of(far)) == {"blocked": 1}


@pytest.mark.parametrize(
    ("raises", "reason", "in_log"),
    [
        ("ValueError", "ValueError: two lines", "Traceback"),
        ("DataError", "rows.csv, row 3: expected a label, found none; add one", "rows.csv, row 3"),
        ("exit", "SystemExit: 3", "Traceback"),
    ],
)
def test_an_exception_is_a_failure_with_reason_and_log_and_is_not_retried(
    tmp_path: Path, raises: str, reason: str, in_log: str
) -> None:
    job = Broken(raises, (), tmp_path / "count")
    node = run([job], Store(tmp_path / "store"), Inline())[key_of(job)]
    assert (node.status, node.reason) == ("failed", reason)
    assert node.log is not None
    text = node.log.read_text()
    assert text.startswith("this was printed\n")
    assert in_log in text
    assert ("Traceback" in text) == (raises != "DataError")
    assert lines(tmp_path / "count") == ["broken"]
    assert leftovers(tmp_path / "store") == [f"failed/{key_of(job)}"]


def test_what_failed_is_tried_again_by_the_next_run(tmp_path: Path) -> None:
    job = Broken("ValueError", (), tmp_path / "count")
    for _ in range(2):
        assert statuses([job], Store(tmp_path / "store")) == ["failed"]
    assert len(lines(tmp_path / "count")) == 2


@pytest.mark.parametrize(("deaths", "status"), [(2, "done"), (3, "failed")])
def test_a_job_whose_worker_dies_is_sent_again_twice(tmp_path: Path, deaths: int, status: str) -> None:
    events = list[Event]()
    executor = Dying(deaths)
    ended = run([Sum(1)], Store(tmp_path), executor, on_event=events.append)
    node = ended[key_of(Sum(1))]
    assert node.status == status
    assert [event.what for event in events] == ["started", "retried", "retried", status]
    assert executor.closed == "closed"
    if status == "failed":
        assert node.reason == "its worker died 3 times: killed by signal 9"
        assert node.log is not None
        assert node.log.read_text() == node.reason + "\n"


def test_a_job_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    job = Steps(5, 0.0, tmp_path / "log")
    store.prepare()
    store.partial(key_of(job)).mkdir()
    (store.partial(key_of(job)) / "step").write_text("3")
    assert statuses([job], store) == ["done"]
    assert lines(tmp_path / "log") == ["4", "5"]
    assert leftovers(store.root) == []


def test_an_interrupted_run_lets_everything_go(tmp_path: Path) -> None:
    class Interrupted(Dying):
        def wait_any(self, seconds: float) -> list[Outcome]:
            raise KeyboardInterrupt

    executor, store = Interrupted(0), Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run([Sum(1), Sum(2)], store, executor)
    assert executor.closed == "abandoned"
    assert leftovers(tmp_path) == []
    assert statuses([Sum(1), Sum(2)], store) == ["done", "done"]


def test_what_another_coordinator_computes_is_waited_for_and_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PATIENCE", 0.01)
    store, log, events = Store(tmp_path / "store"), tmp_path / "log", list[Event]()
    store.prepare()
    there, here = Sum(1, (), 0, 0.0, log), Sum(2, (), 0, 0.0, log)
    claim = store.claim(key_of(there))
    assert claim is not None
    looks = 0

    def sleep(_: float) -> None:
        nonlocal looks
        looks += 1
        if looks == 5:
            assert work(Ticket(store.root, key_of(there), there)).status == "done"
            claim.release()

    monkeypatch.setattr(time, "sleep", sleep)
    top = Sum(3, (there, here))
    assert run([top], store, Inline(), on_event=events.append)[key_of(top)].status == "done"
    names = {key_of(there): "there", key_of(here): "here", key_of(top): "top"}
    assert [(event.what, names[event.key]) for event in events] == [
        ("elsewhere", "there"), ("started", "here"), ("done", "here"),
        ("cached", "there"), ("started", "top"), ("done", "top"),
    ]  # fmt: skip
    assert len([line for line in lines(log) if line.startswith("1 ")]) == 1


def test_what_failed_at_another_coordinator_meanwhile_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, log = Store(tmp_path / "store"), tmp_path / "log"
    store.prepare()
    job = Broken("ValueError", (), log)
    claim = store.claim(key_of(job))
    assert claim is not None

    def sleep(_: float) -> None:
        work(Ticket(store.root, key_of(job), job))
        claim.release()

    monkeypatch.setattr(time, "sleep", sleep)
    node = run([job], store, Inline())[key_of(job)]
    assert (node.status, node.reason) == ("failed", "ValueError: two lines")
    assert lines(log) == ["broken"]


def test_a_failure_from_before_does_not_count_when_somebody_only_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock may be held for a moment by who asks for the state, or sweeps."""
    store = Store(tmp_path / "store")
    store.prepare()
    store.fail(key_of(Sum(1)), "long ago", "")
    claim = store.claim(key_of(Sum(1)))
    assert claim is not None
    monkeypatch.setattr(time, "sleep", lambda _: claim.release())
    assert statuses([Sum(1)], store) == ["done"]


def test_a_worker_that_comes_second_finds_the_result(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    job = Sum(1, (), 0, 0.0, tmp_path / "log")
    store.prepare()
    assert [work(Ticket(store.root, key_of(job), job)).status for _ in range(2)] == ["done", "done"]
    assert len(lines(tmp_path / "log")) == 1


def test_a_worker_without_a_store_fails_with_a_reason(tmp_path: Path) -> None:
    outcome = work(Ticket(tmp_path / "nowhere", key_of(Sum(1)), Sum(1)))
    assert outcome.status == "failed"
    assert outcome.reason.startswith("FileNotFoundError: ")


def test_a_worker_with_other_code_refuses(tmp_path: Path) -> None:
    Store(tmp_path).prepare()
    outcome = work(Ticket(tmp_path, "0" * 64, Sum(1)))
    assert outcome.status == "failed"
    assert outcome.reason.endswith(
        "another version of the code than its coordinator; install the same on both"
    )


def test_a_file_that_changed_after_the_plan_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("abc")
    job = Reads(File.of(tmp_path / "f"))
    (tmp_path / "f").write_text("abcd")
    node = run([job], Store(tmp_path / "store"), Inline())[key_of(job)]
    assert node.reason == f"{tmp_path / 'f'}: expected the file of the plan, found another or none; run again"
    (tmp_path / "f").write_text("abc")
    assert statuses([job], Store(tmp_path / "store")) == ["done"]


def test_provenance_stands_beside_the_result(tmp_path: Path) -> None:
    store = Store(tmp_path)
    inner, outer = Sum(1), Sum(2, (Sum(1),))
    run([outer], store, Inline())
    document = json.loads((store.place(key_of(outer)) / "provenance.json").read_text())
    assert document["inputs"] == [key_of(inner)]
    assert {"host", "platform", "device", "python", "versions", "commit", "started"} < set(document)
    assert 0 < document["seconds"] < 5
    assert 1e6 < document["peak_memory"] < 1e11
    assert document["versions"]["faithgauge"]


def test_progress_is_told_where_others_can_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from faithgauge.engine import work as module

    monkeypatch.setattr(module, "PROGRESS_EVERY", -1.0)
    place = module.Place(Store(tmp_path), "k", tmp_path, tmp_path / "partial")
    place.progress(1, 4, "epoch 1")
    told = json.loads((tmp_path / "partial" / "progress.json").read_text())
    assert told == {"done": 1, "total": 4, "text": "epoch 1"}
    (tmp_path / "file").touch()
    module.Place(Store(tmp_path), "k", tmp_path, tmp_path / "file" / "no").progress(1, 4)


def test_a_full_disk_fails_that_job_and_leaves_the_store_whole(disk: Callable[[str], Path]) -> None:
    root = disk("size=1m")
    store = Store(root)
    big, small = Sum(1, (), 4_000_000), Sum(2, (), 1000)
    ended = run([big, Sum(3, (big,)), small], store, Inline())
    assert [node.status for node in ended.values()] == ["failed", "blocked", "done"]
    assert ended[key_of(big)].reason.startswith("no space is left on the disk: free some and run again (")
    assert list(store.keys()) == [key_of(small)]
    assert value_in(store.checked(key_of(small))) == 2
    assert leftovers(root) == [f"failed/{key_of(big)}"]
    disk("remount,size=16m")
    assert {node.status for node in run([big, small], store, Inline()).values()} == {"done", "cached"}
    assert leftovers(root) == []


@dataclass(frozen=True, eq=False)
class Array(Job):
    """Saves an array of so many bytes."""

    size: int

    def run(self, here: Here) -> None:
        np.save(here.folder / "array.npy", np.zeros(self.size, np.uint8))


def test_an_array_that_a_full_disk_cuts_short_is_said_to_be_that(disk: Callable[[str], Path]) -> None:
    root = disk("size=1m")
    (node,) = run([Array(4_000_000)], Store(root), Inline()).values()
    assert node.reason.startswith("no space is left on the disk: free some and run again (4000000 requested")
    assert leftovers(root) == [f"failed/{node.key}"]


def test_a_disk_without_room_for_a_lock_fails_jobs_not_the_run(disk: Callable[[str], Path]) -> None:
    root = disk("size=1m,nr_inodes=40")
    store = Store(root)
    ended = run([Sum(i) for i in range(20)], store, Inline())
    counts = Counter(node.status for node in ended.values())
    assert counts["done"] >= 1
    assert counts["failed"] >= 1
    assert sum(counts.values()) == 20
    for key, node in ended.items():
        assert (node.status == "done") == store.has(key)
    for key in store.keys():  # noqa: SIM118 a store is no mapping
        store.checked(key)
    disk("remount,nr_inodes=4000")
    assert {node.status for node in run([Sum(i) for i in range(20)], store, Inline()).values()} == {
        "done",
        "cached",
    }
    assert leftovers(root) == []


def test_ten_thousand_stored_jobs_are_looked_up_in_no_time(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.prepare()
    jobs = [Sum(i) for i in range(10_000)]
    for job in jobs[::10]:
        store.place(key_of(job)).mkdir(parents=True)
        (store.place(key_of(job)) / "job.json").touch()
    started = time.process_time()
    wanted = needed(graph(jobs), jobs, store)
    assert Counter(node.status for node in wanted.values()) == {"cached": 1000, "todo": 9000}
    assert time.process_time() - started < 3


def test_results_are_those_of_the_graph(tmp_path: Path) -> None:
    """By hand: 3 + (1 + 2) + 2 is 8."""
    job = Sum(3, (Sum(1, (Sum(2),)), Sum(2)))
    run([job], Store(tmp_path), Inline())
    assert value_in(Store(tmp_path).checked(key_of(job))) == 8
    assert len(artefacts(tmp_path)) == 3 * 3
