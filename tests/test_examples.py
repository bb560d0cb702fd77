"""What lies in examples/, and that the README can be followed with it."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest

import faithgauge
from faithgauge.cli.main import run

ROOT = Path(__file__).parents[1]
REVIEWS = ROOT / "examples" / "reviews.csv"


def shown() -> list[list[str]]:
    """The commands of the README, word by word."""
    block = re.search(
        r"## Use\n\n```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert block is not None
    words = [shlex.split(line, comments=True) for line in block[1].splitlines()]
    return [line[1:] for line in words if line[0] == "faithgauge"]


def test_the_reviews_are_sixty_of_three_classes_and_no_two_alike() -> None:
    dataset = faithgauge.load(REVIEWS)
    examples = [example for part in dataset.splits.values() for example in part]
    assert dataset.classes == ("negative", "neutral", "positive")
    assert Counter(example.label for example in examples) == {0: 20, 1: 20, 2: 20}
    assert len({example.text for example in examples}) == 60
    assert [len(part) for part in dataset.splits.values()] == [42, 9, 9]


def test_every_file_that_a_command_of_the_readme_reads_is_there() -> None:
    files = [word for line in shown() for word in line if word.endswith(".csv")]
    assert files == ["examples/reviews.csv"] * 5
    assert all((ROOT / file).is_file() for file in files)


def test_the_example_of_adversaries_crosses_what_is_planted() -> None:
    from faithgauge.plans.grid import jobs_of
    from faithgauge.plans.study import read

    study = read(ROOT / "examples" / "adversaries.toml")
    assert len(study.settings) == 2 * 2 * 2 * 3
    assert len(jobs_of(study)) == 2 * 24  # a gauge and an evaluation each


@pytest.mark.slow
def test_the_example_of_roar_runs_and_its_rows_have_every_step_of_every_explainer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One seed, two epochs, small models and two steps; random_2 is among the explainers."""
    small = ["seeds=[0]", "train.epochs=2", "model.hidden_size=8", "roar.fractions=[0, 0.2, 0.6, 1]"]
    options = ["--store", str(tmp_path), *(word for one in small for word in ("--set", one))]
    file = str(ROOT / "examples" / "roar.toml")
    assert run(["run", file, "--executor", "inline", *options]) == 0
    capsys.readouterr()
    assert run(["results", file, "--json", *options]) == 0
    rows = json.loads(capsys.readouterr().out)
    steps = {(row["explainer"], row["fraction"]) for row in rows if row["measure"] == "f1_macro"}
    names = {"attention", "integrated_gradient:steps=20", "oracle", "reversed", "random_2"}
    assert steps == {(name, step) for name in (*names, "random") for step in (0, 0.2, 0.6, 1)}
    areas = {row["explainer"]: row["value"] for row in rows if row["measure"] == "faithfulness"}
    assert set(areas) == names
    assert max(areas, key=areas.__getitem__) == "oracle"
    assert min(areas, key=areas.__getitem__) == "reversed"


@pytest.mark.slow
def test_the_example_of_adversaries_runs_in_a_reduced_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One size of each training, and every coordinate that the example is about."""
    small = ["data.strength=[0.8, 1.0]", "data.evidence=[1]", "model.temperature=[0.5, 2.0]"]
    small += ["train.epochs=1", "adversary.epochs=1", "model.embed_size=4", "model.hidden_size=4"]
    asked = [str(ROOT / "examples" / "adversaries.toml"), "--store", str(tmp_path / "store")]
    asked += [word for one in small for word in ("--set", one)]
    assert run(["run", *asked, "--executor", "inline"]) == 0
    capsys.readouterr()
    assert run(["results", *asked, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    datasets = {
        "planted@evidence=1", "planted@evidence=1,position=start",
        "planted@evidence=1,strength=0.8", "planted@evidence=1,position=start,strength=0.8",
    }  # fmt: skip
    for measure in ("attefa_cold", "attefa_best", "attefa_cap"):
        found = [row for row in rows if row["measure"] == measure]
        places = {(row["dataset"], row["setting"]["temperature"]) for row in found}
        assert places == {(name, temperature) for name in datasets for temperature in (0.5, 2.0)}
        assert len(found) == len(places)
    starts = Counter(row["setting"]["start"] for row in rows if row["measure"] == "attefa")
    assert starts == {"fresh": 8, "warm": 8}


@pytest.mark.slow
def test_the_commands_of_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All but those on a data set that has to be fetched, and audits, whose tests have smaller models."""
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "reviews.csv").write_bytes(REVIEWS.read_bytes())
    monkeypatch.chdir(tmp_path)
    commands = [line for line in shown() if "sst" not in line and line[0] != "audit"]
    assert [line[0] for line in commands] == [
        *("data", "train", "explain", "explain", "explain", "list", "predict", "train")
    ]
    assert [run(line) for line in commands] == [0] * 8
