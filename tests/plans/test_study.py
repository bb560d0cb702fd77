"""Study files: what they may say, how lists are crossed, and the error for each thing that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from faithgauge.config import DataConfig, ModelConfig, TrainConfig
from faithgauge.errors import ConfigError, DataError, FaithgaugeError
from faithgauge.plans.study import read

SMALL = '[data]\nnames = "planted"\n'


def study_file(folder: Path, text: str) -> Path:
    path = folder / "grid.toml"
    path.write_text(text, encoding="utf-8")
    return path


def message(folder: Path, text: str, *changes: str) -> str:
    with pytest.raises(FaithgaugeError) as raised:
        read(study_file(folder, text), changes)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_lists_are_crossed_and_the_last_runs_fastest(tmp_path: Path) -> None:
    study = read(
        study_file(
            tmp_path,
            'seeds = [3, 5]\n[data]\nnames = ["planted", "mock-2"]\n[model]\nencoder = ["bilstm", "mlp"]\n',
        )
    )
    cells = [(one.data.name, one.model.encoder, one.train.seed) for one in study.settings]
    assert cells == [
        (name, encoder, seed)
        for name in ("planted", "mock-2")
        for encoder in ("bilstm", "mlp")
        for seed in (3, 5)
    ]


def test_what_a_study_does_not_say_is_the_general_default(tmp_path: Path) -> None:
    study = read(study_file(tmp_path, SMALL))
    (only,) = study.settings
    assert (study.name, study.tests, study.splits, study.threads) == ("grid", ("performance",), ("test",), 1)
    assert only.data == DataConfig("planted")
    assert only.model == ModelConfig()
    assert only.train == TrainConfig()
    assert only.encode == {}


def test_a_preset_comes_before_what_the_study_says_and_after_the_defaults(tmp_path: Path) -> None:
    text = 'preset = "jain-wallace-2019"\n' + SMALL + "[train]\nepochs = 2\n"
    (only,) = read(study_file(tmp_path, text)).settings
    assert only.train == TrainConfig(
        epochs=2, loss="sum", class_weights="positive", learning_rate=1e-3, weight_decay=1e-5
    )
    assert only.vectors.embedding_scale == 1.0


def test_only_what_a_study_says_of_the_encoding_is_said(tmp_path: Path) -> None:
    text = SMALL + 'data_seed = 4\n[encode]\nmin_df = [2, 3]\nwords = "whitespace"\n'
    study = read(study_file(tmp_path, text.replace("whitespace", "plain")))
    assert [dict(one.encode) for one in study.settings] == [
        {"min_df": 2, "words": "plain"},
        {"min_df": 3, "words": "plain"},
    ]
    assert {one.data.seed for one in study.settings} == {4}


def test_cells_share_what_is_equal(tmp_path: Path) -> None:
    one, two = read(study_file(tmp_path, "seeds = [0, 1]\n" + SMALL)).settings
    assert one.data is two.data
    assert one.model is two.model


def test_files_are_looked_for_beside_the_study(tmp_path: Path) -> None:
    (tmp_path / "reviews.csv").write_text("text,label\n")
    (tmp_path / "words.txt").write_text("a 1\n")
    text = '[data]\nnames = ["reviews.csv"]\n[vectors]\nembeddings = "words.txt"\n'
    (only,) = read(study_file(tmp_path, text)).settings
    assert only.data.name == str(tmp_path / "reviews.csv")
    assert only.vectors.embeddings == tmp_path / "words.txt"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SMALL + "[train]\nepoch = 1\n", "grid.toml: [train] unknown key 'epoch': did you mean 'epochs'?"),
        (SMALL + "[trian]\nepochs = 1\n", "grid.toml: unknown key 'trian': did you mean 'train'?"),
        (
            SMALL + '[train]\nencoder = "mlp"\n',
            "grid.toml: [train] unknown key 'encoder': it belongs in [model]",
        ),
        ("epochs = 1\n" + SMALL, "grid.toml: unknown key 'epochs': it belongs in [train]"),
        (
            SMALL + "seeds = [1]\n",
            "grid.toml: [data] unknown key 'seeds': it belongs at the top of the file",
        ),
        (SMALL + "seed = 1\n", "grid.toml: [data] unknown key 'seed': did you mean 'data_seed'?"),
        (
            SMALL + "[train]\nseed = 1\n",
            "grid.toml: [train] seed: seeds stand at the top of the file: seeds = [0, 1, 2]",
        ),
        ("train = 3\n" + SMALL, "grid.toml: train: expected a table [train], found 3"),
        (
            SMALL + "[train]\nepochs = 0\n",
            "grid.toml: [train] epochs: input should be greater than or equal to 1, found 0",
        ),
        (
            SMALL + '[train]\nepochs = [1, "2"]\n',
            "grid.toml: [train] epochs: input should be a valid integer, found '2'",
        ),
        (
            SMALL + "[train]\nepochs = true\n",
            "grid.toml: [train] epochs: input should be a valid integer, found True",
        ),
        (
            SMALL + "[model]\nencoder = []\n",
            "grid.toml: [model] encoder: expected one value or more, found none",
        ),
        (
            'seeds = [0, "a"]\n' + SMALL,
            "grid.toml: seeds: input should be a valid integer, found 'a'",
        ),
        ("seeds = []\n" + SMALL, "grid.toml: seeds: expected one value or more, found none"),
        ("seeds = [-1]\n" + SMALL, "grid.toml: seeds: expected numbers from 0, found -1"),
        ("seeds = [0]\n", 'grid.toml: [data] names: expected data sets, such as ["planted"]'),
        (
            SMALL + '[model]\nencoder = "bilstmm"\n',
            "grid.toml: [model] encoder: unknown encoder 'bilstmm': did you mean 'bilstm'?",
        ),
        (
            SMALL + '[train]\nselect_by = "accurcy"\n',
            "grid.toml: [train] select_by: unknown select_by 'accurcy': did you mean 'accuracy'?",
        ),
        (
            'tests = ["perfomance"]\n' + SMALL,
            "grid.toml: tests: unknown test 'perfomance': did you mean 'performance'?",
        ),
        (
            'factory = "no_such:model"\n' + SMALL,
            "grid.toml: factory: cannot import 'no_such' of 'no_such:model': No module named 'no_such'",
        ),
        (
            SMALL + "strength = 2.0\n",
            "grid.toml: [data] strength: input should be less than or equal to 1, found 2.0",
        ),
        (
            'preset = "attafa"\n' + SMALL,
            "grid.toml: preset: unknown preset 'attafa': did you mean 'attefa'?",
        ),
        (
            '[data]\nnames = ["plantd"]\n',
            "grid.toml: [data] names: unknown data set 'plantd': did you mean 'planted'?",
        ),
        (
            '[data]\nnames = ["sst@jain-walac"]\n',
            "grid.toml: [data] names: unknown variant of sst 'jain-walac': did you mean 'jain-wallace-2019'?",
        ),
    ],
)
def test_an_error_has_its_place_and_the_nearest_name(tmp_path: Path, text: str, expected: str) -> None:
    assert message(tmp_path, text) == expected


def test_a_file_that_is_not_there_is_named_with_its_place(tmp_path: Path) -> None:
    place = "grid.toml: [vectors] embeddings: expected a file or folder"
    said = message(tmp_path, SMALL + '[vectors]\nembeddings = "glove.txt"\n')
    assert said == f"{place}, {tmp_path / 'glove.txt'} is not there"
    said = message(tmp_path, '[data]\nnames = ["a.csv"]\n')
    assert said.startswith("grid.toml: [data] names: expected labelled texts or a data set's name")


def test_a_public_data_set_that_is_not_here_is_found_out_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FAITHGAUGE_DATA", raising=False)
    text = f'[data]\nnames = ["sst"]\ndata_dir = "{tmp_path}"\n'
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(DataError, match=r"^grid.toml: \[data\] names: no data of sst: expected a folder"):
        read(study_file(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "line"), [("name = \n", 1), ('name = "a"\nseeds = [0\n[data]\n', 3), ("a = 1\na = 2\n", 2)]
)
def test_broken_toml_is_an_error_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    assert message(tmp_path, text).startswith(f"{tmp_path / 'grid.toml'}, line {line}, column ")


def test_a_study_that_is_not_there_or_not_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected a study file, found none"):
        read(tmp_path / "no.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read(tmp_path / "bytes.toml")


def test_a_study_may_be_changed_on_the_command_line(tmp_path: Path) -> None:
    path = study_file(tmp_path, 'name = "a"\n' + SMALL + "[train]\nepochs = 8\n")
    study = read(
        path, ["train.epochs=2", "seeds=[4, 5]", "model.encoder=mlp", 'name="b"', "train.clip = 0.5"]
    )
    assert study.name == "b"
    assert [one.train.seed for one in study.settings] == [4, 5]
    assert {(one.train.epochs, one.train.clip, one.model.encoder) for one in study.settings} == {
        (2, 0.5, "mlp")
    }
    assert read(path).settings[0].train.epochs == 8


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            "train.epoch=2",
            "--set train.epoch=2: unknown key 'train.epoch': did you mean 'train.epochs'?",
        ),
        ("train.epochs", "--set train.epochs: expected KEY=VALUE, such as train.epochs=2"),
        ("train.epochs=0", "--set train.epochs: input should be greater than or equal to 1, found 0"),
        ("seeds=[-1]", "--set seeds: expected numbers from 0, found -1"),
        ("model.encoder=bilstn", "--set model.encoder: unknown encoder 'bilstn': did you mean 'bilstm'?"),
        (
            "train.epochs=2,5",
            '--set train.epochs=2,5: expected a TOML value (2, 0.5, true, word, "text", [1, 2]), '
            "found '2,5'",
        ),
    ],
)
def test_a_wrong_change_is_an_error_of_the_command_line(tmp_path: Path, change: str, expected: str) -> None:
    assert message(tmp_path, SMALL, change) == expected


def test_a_change_cannot_smuggle_in_another_key(tmp_path: Path) -> None:
    assert "expected a TOML value" in message(tmp_path, SMALL, "train.epochs=2\nother = 3")
