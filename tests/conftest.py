"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

# The same examples in every run, and as long for each as a loaded machine takes.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")

# Shapes in signatures are checked while tests run. The modules must not have been imported before.
install_import_hook(
    ("faithgauge.models", "faithgauge.train", "faithgauge.explain", "faithgauge.encode.batching"),
    "signatures.checked",
)


@pytest.fixture
def shared_data() -> Path:
    """The folder with real data sets; tests that ask for it are skipped where there is none."""
    folder = Path(os.environ.get("FAITHGAUGE_DATA", ""))
    if not os.environ.get("FAITHGAUGE_DATA") or not folder.is_dir():
        pytest.skip("needs real data: FAITHGAUGE_DATA does not name a folder")
    return folder


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a command stores goes to a folder of this test."""
    monkeypatch.setenv("FAITHGAUGE_STORE", str(tmp_path_factory.mktemp("store", numbered=True)))
