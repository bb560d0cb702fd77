"""What tests of commands on studies share: a study of toy jobs, and a store of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy_jobs


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study file whose jobs are toys; results go to a store of this test."""
    monkeypatch.setattr("faithgauge.plans.grid.jobs_of", toy_jobs.jobs_of)
    monkeypatch.setenv("FAITHGAUGE_STORE", str(tmp_path / "store"))
    return toy_jobs.write_study(tmp_path)
