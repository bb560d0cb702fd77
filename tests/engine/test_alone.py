from __future__ import annotations

from pathlib import Path

import pytest
from engine import toys

from faithgauge.engine.alone import compute
from faithgauge.engine.job import key_of
from faithgauge.engine.store import Store
from faithgauge.errors import DataError, JobError


def test_a_job_is_computed_with_what_it_needs(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    folder = compute(toys.Sum(1, (toys.Sum(2), toys.Sum(3, (toys.Sum(4),)))), store)
    assert toys.value_in(folder) == 10
    assert len(list(store.keys())) == 4


def test_what_is_stored_is_not_computed_again(tmp_path: Path) -> None:
    store, log = Store(tmp_path / "store"), tmp_path / "log"
    below = toys.Sum(2, log=log)
    compute(toys.Sum(1, (below,)), store)
    compute(toys.Sum(5, (below,)), store)
    assert len(log.read_text().splitlines()) == 1


def test_a_result_needs_nothing_of_what_it_was_made_from(tmp_path: Path) -> None:
    store, log = Store(tmp_path / "store"), tmp_path / "log"
    below = toys.Sum(2, log=log)
    whole = toys.Sum(1, (below,))
    compute(whole, store)
    store.discard(key_of(below))
    compute(whole, store)
    assert len(log.read_text().splitlines()) == 1


def test_an_error_of_the_input_is_raised_as_it_was(tmp_path: Path) -> None:
    with pytest.raises(DataError) as raised:
        compute(toys.Broken("DataError"), Store(tmp_path / "store"))
    assert str(raised.value) == "rows.csv, row 3: expected a label, found none; add one"


def test_any_other_error_names_its_log(tmp_path: Path) -> None:
    with pytest.raises(JobError) as raised:
        compute(toys.Broken("ValueError"), Store(tmp_path / "store"))
    reason, _, log = str(raised.value).partition("; its log: ")
    assert reason == "ValueError: two lines"
    assert "Traceback" in Path(log).read_text()


def test_a_job_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    store, log = Store(tmp_path / "store"), tmp_path / "log"
    job = toys.Steps(3, log=log)
    store.prepare()
    store.partial(key_of(job)).mkdir()
    (store.partial(key_of(job)) / "step").write_text("2")
    compute(job, store)
    assert log.read_text().splitlines() == ["3"]
