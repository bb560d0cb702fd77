"""Adversaries through the engine: from a study, or a paper's recipe, to rows and numbers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faithgauge import jobs, results
from faithgauge.cli.main import run as cli
from faithgauge.config import AdversaryConfig, DataConfig
from faithgauge.engine.inline import Inline
from faithgauge.engine.job import key_of
from faithgauge.engine.run import run
from faithgauge.engine.store import Store
from faithgauge.plans import inputs
from faithgauge.plans.grid import jobs_of
from faithgauge.plans.study import read
from faithgauge.settings import settings

SMALL = """
tests = ["attefa"]
[data]
names = "{file}"
[model]
encoder = "mlp"
embed_size = 8
hidden_size = 4
[train]
epochs = 2
learning_rate = 0.05
[adversary]
epochs = 2
starts = ["fresh", "warm"]
"""


def reviews(folder: Path) -> Path:
    words = {True: ("good", "fine"), False: ("bad", "poor")}
    rows = [
        f"the film {i % 7} was {words[i % 2 == 1][i % 4 // 2]},{'yes' if i % 2 else 'no'}" for i in range(60)
    ]
    path = folder / "reviews.csv"
    path.write_text("text,label\n" + "\n".join(rows) + "\n")
    return path


def study(folder: Path) -> Path:
    path = folder / "s.toml"
    path.write_text(SMALL.format(file=reviews(folder).name))
    return path


def test_a_study_of_adversaries_ends_in_rows_of_every_start(tmp_path: Path) -> None:
    targets, store = jobs_of(read(study(tmp_path))), Store(tmp_path / "store")
    graph = run(list(targets), store, Inline())
    assert {node.reason for node in graph.values()} == {""}
    rows = results.documents(results.stored(targets, store))
    starts = {row["setting"].get("start") for row in rows if row["measure"] == "attefa"}
    assert starts == {"fresh", "warm"}
    (best,) = [row["value"] for row in rows if row["measure"] == "attefa_best"]
    (cap,) = [row["value"] for row in rows if row["measure"] == "attefa_cap"]
    assert best <= cap + 1e-6, "the constant predictor is one of the starts"


def test_the_adversary_reads_what_its_base_said_from_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No model but the adversary itself is asked while it trains."""
    from faithgauge.models import store as models

    data = inputs.prepare(DataConfig(str(reviews(tmp_path))), {})
    chosen = settings("x", encoder="mlp", embed_size=8, hidden_size=4, epochs=1)
    base, store = inputs.training(data, chosen), Store(tmp_path / "store")
    target = jobs.Answer(base, data)
    run([target], store, Inline())
    monkeypatch.setattr(models, "load", lambda *_: pytest.fail("the base was opened"))
    other = replace(
        base, target=target, adversary=AdversaryConfig(), train=replace(base.train, select_by="loss")
    )
    assert {node.reason for node in run([other], store, Inline()).values()} == {""}


def test_an_adversary_whose_loss_is_no_number_fails_and_leaves_no_model(tmp_path: Path) -> None:
    data = inputs.prepare(DataConfig(str(reviews(tmp_path))), {})
    base = inputs.training(data, settings("x", encoder="mlp", embed_size=8, hidden_size=4, epochs=1))
    store, far = (
        Store(tmp_path / "store"),
        replace(base.train, select_by="loss", learning_rate=1e38, epochs=3),
    )
    other = replace(base, target=jobs.Answer(base, data), adversary=AdversaryConfig(), train=far)
    node = run([other], store, Inline())[key_of(other)]
    assert node.status == "failed"
    where = r"the loss became (nan|inf) in epoch \d, step \d \(training rows \[\d+, .*\] …\)"
    assert re.search(where, node.reason)
    assert not store.has(key_of(other))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paper", "metrics"),
    [
        ("attefa", {"attefa", "attefa_cap", "share_won", "share_of_one_class", "share_below_half_cap"}),
        ("wiegreffe-pinter-2019", {"tvd", "jsd", "chord_area", "far_lambda", "f1_positive_gap", "seed_jsd"}),
    ],
)
def test_a_paper_is_reproduced_from_its_recipe(
    capsys: pytest.CaptureFixture[str], paper: str, metrics: set[str]
) -> None:
    arguments = ["--set", "model.embed_size=8", "--set", "model.hidden_size=4", "--set", "train.epochs=2"]
    arguments += ["--set", "adversary.epochs=2", "--set", "adversary.weights=[0, 0.01, 1]", "--starts", "2"]
    arguments += ["--set", "train.learning_rate=0.02", "--encoder", "mlp" if paper == "attefa" else "bilstm"]
    code = cli(
        [
            "reproduce",
            paper,
            "--dataset",
            "planted",
            "--seeds",
            "2",
            *arguments,
            "--executor",
            "inline",
            "--json",
        ]
    )
    assert code == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert metrics <= {row["metric"] for row in found["rows"] if row["ours"] is not None}
    assert found["failures"] == []
    names = {finding["name"] for finding in found["findings"]}
    assert any(name.endswith(", best of starts") for name in names) == (paper == "attefa")
