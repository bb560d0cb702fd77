"""A study's jobs without language: texts, a fit on them that may fail, and a measurement with its rows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from faithgauge import results
from faithgauge.engine.job import Here, Job
from faithgauge.errors import JobError
from faithgauge.plans.study import Study

GRID = """\
name = "toy"
seeds = [0, 1]
[data]
names = ["planted", "mock-2"]
[model]
encoder = ["bilstm", "mlp"]
[train]
epochs = 2
"""
"""Two texts, eight fits, eight measurements."""


@dataclass(frozen=True, eq=False)
class Texts(Job):
    name: str

    def run(self, here: Here) -> None:
        (here.folder / "text").write_text(self.name)


@dataclass(frozen=True, eq=False)
class Fit(Job):
    """Fails for the encoder that TOY_FAILS names."""

    data: Job
    encoder: str
    epochs: int
    seed: int

    def run(self, here: Here) -> None:
        if os.environ.get("TOY_FAILS") == self.encoder:
            raise JobError(f"epoch 1: the loss of {self.encoder} is not a number")
        name = (here.path(self.data) / "text").read_text()
        here.progress(1, 2, "epoch 1")
        (here.folder / "weights").write_text(f"{name} {self.encoder} {self.seed} {self.epochs}")


@dataclass(frozen=True, eq=False)
class Measure(Job):
    model: Job

    def run(self, here: Here) -> None:
        name, encoder, seed, epochs = (here.path(self.model) / "weights").read_text().split()
        known = {"dataset": name, "split": "test", "model": encoder, "seed": int(seed)}
        values = {"roc_auc": int(seed) + int(epochs) / 3, "loss": float("nan")}
        rows = [
            {**known, "measure": measure, "setting": "{}", "value": value}
            for measure, value in values.items()
        ]
        results.write(rows, here.folder / results.ROWS)


def jobs_of(study: Study) -> list[Job]:
    texts = {chosen.data.name: Texts(chosen.data.name) for chosen in study.settings}
    return [
        Measure(
            Fit(texts[one.data.name], one.model.encoder, one.train.epochs, one.train.seed),
        )
        for one in study.settings
    ]


def write_study(folder: Path, text: str = GRID) -> Path:
    path = folder / "toy.toml"
    path.write_text(text, encoding="utf-8")
    return path
