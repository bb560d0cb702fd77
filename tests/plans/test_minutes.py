"""How long each measure took, from what is stored beside the results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faithgauge.engine.job import key_of
from faithgauge.engine.store import PROVENANCE, Store
from faithgauge.plans.grid import cells
from faithgauge.plans.minutes import minutes, training_minutes
from faithgauge.plans.roar import Road, curves
from faithgauge.plans.study import read

STUDY = """\
explainers = ["integrated_gradient:recursive-roar-2022", "integrated_gradient:madsen-2022-code"]
[data]
names = ["planted"]
[roar]
fractions = [0, 0.3, 0.6, 1]
null = false
"""


def test_a_step_is_explaining_masking_training_and_evaluating_on_average(tmp_path: Path) -> None:
    """Two steps of 60 + 3 · 20 and 120 + 3 · 20 seconds are 2.5 minutes; what is not stored has none."""
    (tmp_path / "study.toml").write_text(STUDY)
    (cell,) = cells(read(tmp_path / "study.toml"))
    steps = curves(cell, Road(cell.study.roar)).steps["integrated_gradient:recursive-roar-2022"]
    store = Store(tmp_path / "store")

    def spend(job: object, seconds: float) -> None:
        place = store.place(key_of(job))  # type: ignore[arg-type]
        place.mkdir(parents=True, exist_ok=True)
        (place / PROVENANCE).write_text(json.dumps({"cpu_seconds": seconds}))

    for step, seconds in (("0.3", 60), ("0.6", 120)):
        done = steps[step]
        for job in (done, done.data, done.data.explanation):  # type: ignore[attr-defined]
            spend(job, 20)
        spend(done.model, seconds)  # type: ignore[attr-defined]
    (number,) = minutes([cell], store)
    assert (number.dataset, number.encoder, number.metric) == ("planted", "bilstm", "walltime_minutes")
    assert number.keys == {"measure": "integrated_gradient"}
    assert number.value == pytest.approx(2.5)


def test_a_training_takes_its_mean_over_seeds_with_the_spread_among_them(tmp_path: Path) -> None:
    """60 and 180 seconds are 2 minutes with a spread of 1; a seed that is not stored does not count."""
    (tmp_path / "study.toml").write_text("seeds = [0, 1, 2]\n" + STUDY)
    own, store = cells(read(tmp_path / "study.toml")), Store(tmp_path / "store")
    for cell, seconds in zip(own, (60, 180), strict=False):
        place = store.place(key_of(cell.model))
        place.mkdir(parents=True)
        (place / PROVENANCE).write_text(json.dumps({"cpu_seconds": seconds}))
    (number,) = training_minutes(own, store)
    assert (number.dataset, number.encoder, number.metric) == ("planted", "bilstm", "minutes")
    assert (number.value, number.spread, number.n_seeds) == (2.0, 1.0, 2)
    assert number.note == "minutes of the processor, on one thread"
