from __future__ import annotations

import csv
import json
import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.main import get_command

from faithgauge.cli import output
from faithgauge.cli.main import app, run
from faithgauge.cli.train import HELP, PANELS
from faithgauge.config import DataConfig, EncodeConfig, ModelConfig, TrainConfig, VectorConfig
from faithgauge.data.dataset import Dataset
from faithgauge.models.store import load
from faithgauge.train.metrics import METRICS
from faithgauge.types import Example

SMALL = ["--encoder", "mlp", "--hidden-size", "4", "--embed-size", "4", "--epochs", "2", "--batch-size", "8"]
KEYS = ["model", "dataset", "encoder", "seed", "epoch", "selected_on", "metrics", "seconds"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output.out, "width", 100)
    return tmp_path


@pytest.fixture
def reviews(place: Path) -> str:
    with Path("reviews.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label", "split"])
        for split, size in (("train", 20), ("validation", 8), ("test", 8)):
            writer.writerows(
                (f"{split} {i}: a {'good' if i % 2 else 'bad'} film", "yes" if i % 2 else "no", split)
                for i in range(size)
            )
    return "reviews.csv"


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Standard output is one line of JSON and nothing else."""
    assert run([*arguments, "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return json.loads(out)


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The last line; notes on the data may come before it."""
    assert run(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    *notes, last = err.splitlines()
    assert not any(note.startswith(("error", "Traceback")) for note in notes)
    assert last.startswith("error: ")
    return last.removeprefix("error: ")


# ---- options


@pytest.mark.parametrize("kind", [EncodeConfig, ModelConfig, VectorConfig, TrainConfig])
def test_every_field_of_the_configuration_has_its_help(kind: type) -> None:
    assert {field.name for field in fields(kind)} <= set(HELP)
    assert kind in PANELS.values()


def test_no_help_is_left_of_a_field_that_is_gone() -> None:
    assert set(HELP) == {field.name for kind in PANELS.values() for field in fields(kind)}


def test_every_field_is_an_option() -> None:
    parameters = get_command(app).commands["train"].params  # type: ignore[attr-defined]
    options = {option for one in parameters for option in (*one.opts, *one.secondary_opts)}
    kinds = (DataConfig, EncodeConfig, ModelConfig, VectorConfig, TrainConfig)
    names = {field.name for kind in kinds for field in fields(kind)} - {"name"} | {"data_seed"}
    assert {"--" + name.replace("_", "-") for name in names} <= options
    assert {
        "--no-amsgrad",
        "--no-decay-attention",
        "--preset",
        "--model",
        "--out",
        "--threads",
        "--json",
    } <= options


def test_the_options_reach_the_training(reviews: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = (
        "--attention dot --distribution sparsemax --temperature 0.5 --min-df 2 --no-amsgrad "
        "--decay-attention --clip 1.5 --patience 1 --loss sum --class-weights balanced --select-on test "
        "--select-by loss --seed 7 --learning-rate 0.01 --weight-decay 0 --embedding-scale 0.5 --out m"
    )
    found = document(capsys, "train", reviews, *SMALL, *options.split())
    assert (found["seed"], found["selected_on"], found["selected_by"]) == (7, "test", "loss")
    assert found["vectors"]["scale"] == 0.5
    trained = load(Path("m"))
    assert trained.record["settings"] == {
        "epochs": 2,
        "batch_size": 8,
        "learning_rate": 0.01,
        "weight_decay": 0.0,
        "decay_attention": True,
        "amsgrad": False,
        "clip": 1.5,
        "patience": 1,
        "loss": "sum",
        "class_weights": "balanced",
        "select_on": "test",
        "select_by": "loss",
        "seed": 7,
    }
    config: Any = trained.classifier.config
    assert (config.attention, config.distribution, config.temperature) == ("dot", "sparsemax", 0.5)
    words = {":", "a", "bad", "film", "good", "train"}  # each number stands in one training text
    assert set(trained.tokenizer.vocabulary) == words | {"<pad>", "<unk>", "<sos>", "<eos>", "<mask>"}
    assert torch.get_num_threads() == 1


def test_a_preset_stands_behind_what_is_given(reviews: str, capsys: pytest.CaptureFixture[str]) -> None:
    document(capsys, "train", reviews, *SMALL, "--preset", "attefa", "--select-by", "loss", "--out", "m")
    found = load(Path("m")).record["settings"]
    assert (found["select_on"], found["select_by"], found["epochs"]) == ("test", "loss", 2)


# ---- what is printed


def test_json_has_the_keys_that_are_promised(reviews: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "train", reviews, *SMALL, "--out", "m")
    assert set(KEYS) <= set(found)
    assert {
        key: found[key] for key in ("model", "dataset", "encoder", "seed", "selected_on", "complete")
    } == {
        "model": "m",
        "dataset": "reviews.csv",
        "encoder": "mlp",
        "seed": 0,
        "selected_on": "validation",
        "complete": True,
    }
    assert found["epoch"] in (1, 2)
    assert list(found["metrics"]) == ["train", "validation", "test"]
    assert all(tuple(values) == METRICS for values in found["metrics"].values())
    assert found["seconds"] > 0


def test_with_json_progress_goes_to_standard_error_one_line_per_epoch(
    reviews: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["train", reviews, *SMALL, "--json"])
    err = capsys.readouterr().err.splitlines()
    assert len(err) == 2
    assert re.fullmatch(r"epoch 1/2  loss \d\.\d{4}  validation roc_auc \d\.\d{4}  \d+ s, \d+ s left", err[0])
    assert err[1].startswith("epoch 2/2  ")


def test_without_json_notes_and_progress_go_to_standard_error_and_a_table_to_standard_output(
    reviews: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", reviews, *SMALL, "--out", "m"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("text from column 'text', label from column 'label', split from column 'split'\n")
    assert err.count("\nepoch ") == 2
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[0].split() == ["f1_positive", "f1_macro", "accuracy", "roc_auc", "calibration_error"]
    measured = load(Path("m")).record["metrics"]
    for line, split in zip(lines[1:4], ("train", "validation", "test"), strict=True):
        assert line.split() == [split, *(f"{measured[split][name]:.3f}" for name in lines[0].split())]
    epoch = load(Path("m")).record["epoch"]
    assert lines[4:] == [
        f"Epoch {epoch}, selected by roc_auc on validation.",
        "Word vectors: normal(0, 0.1).",
        "Model: m",
    ]


def test_of_three_classes_the_f1_of_the_positive_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{['good', 'bad', 'odd'][i % 3]} film {i},{['yes', 'no', 'maybe'][i % 3]}\n" for i in range(60)]
    Path("three.csv").write_text("text,label\n" + "".join(rows))
    found = document(capsys, "train", "three.csv", *SMALL, "--out", "m")
    assert found["metrics"]["test"]["f1_positive"] is None
    assert run(["train", "three.csv", *SMALL, "--out", "m"]) == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert head.split() == ["f1_macro", "accuracy", "roc_auc", "calibration_error"]


def partial(monkeypatch: pytest.MonkeyPatch, **facts: Any) -> None:
    examples = [Example(f"a {'good' if i % 2 else 'bad'} film {i}", i % 2, str(i)) for i in range(8)]
    dataset = Dataset(
        "sst",
        "",
        "single",
        ("no", "yes"),
        {"train": examples, "validation": examples, "test": examples},
        **facts,
    )
    monkeypatch.setattr(sys.modules["faithgauge.data.load"], "load", lambda _: dataset)


MARK = "Partial or substituted data: not comparable with published numbers."


@pytest.mark.parametrize(
    "facts",
    [
        {"missing": ("test: 8 of 1,821 examples are there",)},
        {"substituted": True, "notes": ("others stand in",)},
    ],
)
def test_numbers_on_partial_and_substituted_data_are_marked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], facts: dict[str, Any]
) -> None:

    partial(monkeypatch, **facts)
    assert run(["train", "sst", *SMALL, "--out", "m"]) == 0
    out, err = capsys.readouterr()
    assert MARK in " ".join(out.split())
    assert err.startswith("\n".join((*facts.get("missing", ()), *facts.get("notes", ()))) + "\n")
    found = document(capsys, "train", "sst", *SMALL, "--out", "m")
    assert found["complete"] is False
    assert tuple(found["missing"]) == facts.get("missing", ())


def test_numbers_on_complete_data_are_not_marked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    partial(monkeypatch)
    assert run(["train", "sst", *SMALL, "--out", "m"]) == 0
    assert "published" not in capsys.readouterr().out


def test_an_escape_sequence_in_the_data_does_not_reach_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    partial(monkeypatch, notes=("\x1b[31mred",))
    assert run(["train", "sst", *SMALL, "--out", "m"]) == 0
    assert "\x1b" not in "".join(capsys.readouterr())


# ---- the folder


def test_without_out_the_folder_is_named_after_data_encoder_and_seed(
    reviews: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert document(capsys, "train", reviews, *SMALL, "--seed", "3")["model"] == "runs/reviews-mlp-3"
    assert load(Path("runs/reviews-mlp-3")).record["seed"] == 3


def test_the_same_command_again_prints_the_same_numbers(
    reviews: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = document(capsys, "train", reviews, *SMALL)
    assert run(["train", reviews, *SMALL, "--json"]) == 0
    out, err = capsys.readouterr()
    assert (json.loads(out), err) == (first, "")


def test_the_same_seed_gives_the_same_weights_elsewhere(
    reviews: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        document(capsys, "train", reviews, *SMALL, "--out", name)
    assert Path("one/model.safetensors").read_bytes() == Path("two/model.safetensors").read_bytes()


def test_a_training_that_is_stored_is_copied_and_not_computed_again(
    reviews: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = document(capsys, "train", reviews, *SMALL, "--out", "one")
    assert run(["train", reviews, *SMALL, "--out", "two", "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out) | {"model": "one"} == first
    files = [{path.name: path.read_bytes() for path in Path(name).iterdir()} for name in ("one", "two")]
    assert files[0] == files[1]


def test_the_store_can_be_named(reviews: str, capsys: pytest.CaptureFixture[str]) -> None:
    document(capsys, "train", reviews, *SMALL, "--out", "m", "--store", "mine")
    assert Path("mine/store.json").is_file()


# ---- what is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--encoder bilstn", "unknown encoder 'bilstn': did you mean 'bilstm'?"),
        ("--preset jain-wallace", "unknown preset 'jain-wallace': did you mean 'jain-wallace-2019'?"),
        ("--epochs 0", "epochs: input should be greater than or equal to 1, found 0"),
        ("--learning-rate 0", "learning_rate: input should be greater than 0, found 0.0"),
        ("--select-by auc", "unknown metric 'auc': did you mean 'pr_auc'?"),
        (
            "--embeddings glove.txt",
            "glove.txt: no such file; expected word vectors (.txt, .vec or .bin, or these as .gz)",
        ),
        (
            "--text review",
            "reviews.csv: no column 'review' for the text: the columns are 'text', 'label', 'split'",
        ),
        (
            "--out reviews.csv",
            "reviews.csv: expected a folder to write to, found reviews.csv; choose another --out",
        ),
        (
            "--model nowhere_at_all:make",
            "cannot import 'nowhere_at_all' of 'nowhere_at_all:make': No module named 'nowhere_at_all'",
        ),
    ],
)
def test_what_is_wrong_is_one_line(
    reviews: str, capsys: pytest.CaptureFixture[str], arguments: str, message: str
) -> None:
    found = error(capsys, "train", reviews, *arguments.split())
    assert found.replace(f"{Path.cwd()}/", "") == message
    assert sorted(path.name for path in Path().iterdir()) == ["reviews.csv"]


def test_a_choice_that_does_not_exist_is_answered_with_those_that_do(
    reviews: str, capsys: pytest.CaptureFixture[str]
) -> None:
    message = error(capsys, "train", reviews, "--loss", "product")
    assert all(word in message for word in ("--loss", "product", "mean", "sum"))


def test_with_json_what_is_wrong_is_a_document(reviews: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", reviews, "--epochs", "0", "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out) == {"error": "epochs: input should be greater than or equal to 1, found 0"}
    assert err == ""


def test_a_folder_of_another_training_is_refused(reviews: str, capsys: pytest.CaptureFixture[str]) -> None:
    document(capsys, "train", reviews, *SMALL, "--out", "m")
    assert error(capsys, "train", reviews, *SMALL, "--seed", "1", "--out", "m") == (
        "m: holds a model of another training; choose another --out, or delete this folder"
    )


def test_a_loss_that_is_no_number_is_a_failure_and_not_a_wrong_input(
    reviews: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", reviews, *SMALL, "--learning-rate", "1e38", "--out", "m"]) == 1
    err = capsys.readouterr().err.splitlines()
    assert err[-1].startswith("error: ")
    assert "--learning-rate" in err[-1]
    assert not Path("m/model.json").exists()
