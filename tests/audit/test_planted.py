"""Known answers: on texts whose evidence is planted the verdicts are right, for five seeds of the data."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

import faithgauge


def page(folder: Path, charts: bool = True) -> Path:
    (folder / "report.html").write_text("", encoding="utf-8")
    return folder / "report.html"


@pytest.mark.slow
@pytest.mark.parametrize("data_seed", range(5))
def test_oracle_is_supported_its_reverse_is_not_and_random_is_no_better(
    data_seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = ModuleType("faithgauge.report.write")
    stand_in.write = page  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "faithgauge.report.write", stand_in)
    found = faithgauge.audit(
        "planted",
        data_seed=data_seed,
        explainers=["random", "oracle", "reversed"],
        tests=["erasure", "deletion"],
        seeds=3,
        instances=100,
        encoder="bilstm",
        embed_size=50,
        hidden_size=32,
        epochs=6,
        budget="1h",
        out=tmp_path / "out",
    )
    assert found.verdicts["oracle"] == "supported"
    assert found.verdicts["reversed"] == "not supported"
    assert found.verdicts["random"] in ("not supported", "undecided")
