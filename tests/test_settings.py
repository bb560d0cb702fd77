from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest

from faithgauge.config import DataConfig, EncodeConfig, ModelConfig, TrainConfig, VectorConfig
from faithgauge.errors import ConfigError
from faithgauge.settings import PRESETS, checked, settings

# What the papers, or where they are silent their public code, fix of a training. Written by hand from them.
JAIN_WALLACE = {
    "encoder": "bilstm",
    "attention": "additive",
    "distribution": "softmax",
    "embedding_scale": 1.0,
    "learning_rate": 0.001,
    "weight_decay": 0.00001,
    "decay_attention": False,
    "amsgrad": True,
    "batch_size": 32,
    "epochs": 8,
    "clip": None,
    "patience": None,
    "loss": "sum",
    "class_weights": "positive",
    "select_on": "validation",
    "select_by": "roc_auc",
    "pair": "queried",
}
PAPERS: dict[str, dict[str, Any]] = {
    "jain-wallace-2019": JAIN_WALLACE,
    "wiegreffe-pinter-2019": JAIN_WALLACE | {"select_on": "test"},
    "attefa": JAIN_WALLACE | {"loss": "mean", "class_weights": "none", "select_on": "test"},
    "recursive-roar-2022": JAIN_WALLACE | {"loss": "mean", "class_weights": "none"},
    "neely-2022": JAIN_WALLACE
    | {
        "loss": "mean",
        "class_weights": "none",
        "pair": "two_sided",
        "epochs": 40,
        "patience": 5,
        "select_by": "accuracy",
    },
}


def flat(name: str, preset: str | None = None, **given: Any) -> dict[str, Any]:
    chosen = settings(name, preset, **given)
    return {**asdict(chosen.model), **asdict(chosen.vectors), **asdict(chosen.train)}


def test_without_anything_given_all_is_the_general_default() -> None:
    chosen = settings("sst")
    assert chosen.data == DataConfig("sst")
    assert chosen.encode == {}
    assert (chosen.model, chosen.vectors, chosen.train) == (ModelConfig(), VectorConfig(), TrainConfig())


def test_there_is_a_preset_for_every_paper() -> None:
    assert list(PRESETS) == list(PAPERS)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_preset_is_what_its_paper_fixes(paper: str) -> None:
    chosen = flat("sst", paper)
    assert {name: chosen[name] for name in PAPERS[paper]} == PAPERS[paper]


@pytest.mark.parametrize("paper", PAPERS)
def test_what_a_paper_leaves_open_is_the_general_default(paper: str) -> None:
    chosen, default = flat("sst", paper), flat("sst")
    assert all(chosen[name] == default[name] for name in chosen if name not in PAPERS[paper])


def test_what_is_given_comes_after_the_preset() -> None:
    chosen = settings("sst", "neely-2022", epochs=3, pair="queried")
    assert (chosen.train.epochs, chosen.model.pair) == (3, "queried")
    assert (chosen.train.patience, chosen.train.select_by) == (5, "accuracy")


def test_none_means_not_given() -> None:
    assert settings("sst", "neely-2022", patience=None, epochs=None, encoder=None, words=None) == settings(
        "sst", "neely-2022"
    )


def test_the_seed_of_the_data_and_that_of_the_training_are_two() -> None:
    chosen = settings("sst", data_seed=3, seed=5)
    assert (chosen.data.seed, chosen.train.seed) == (3, 5)
    assert settings("sst", data_seed=3).train.seed == 0
    assert settings("sst", seed=5).data.seed == 0


def test_encode_holds_what_was_given_and_nothing_else() -> None:
    chosen = settings("sst", min_df=2, tokenizer="t.json")
    assert chosen.encode == {"min_df": 2, "tokenizer": Path("t.json")}


def test_a_default_that_is_given_still_counts_as_given() -> None:
    assert settings("sst", min_df=1).encode == {"min_df": 1}


def test_a_name_of_a_file_becomes_a_path() -> None:
    assert settings("sst", embeddings="glove.txt").vectors.embeddings == Path("glove.txt")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"encodr": "cnn"}, "unknown setting 'encodr': did you mean 'encoder'?"),
        ({"learning-rate": 1}, "unknown setting 'learning-rate': did you mean 'learning_rate'?"),
        ({"epochs": 0}, "epochs: input should be greater than or equal to 1, found 0"),
        ({"learning_rate": 0}, "learning_rate: input should be greater than 0, found 0"),
        ({"learning_rate": float("nan")}, "learning_rate: input should be greater than 0, found nan"),
        ({"weight_decay": -1.0}, "weight_decay: input should be greater than or equal to 0, found -1.0"),
        ({"temperature": -2.0}, "temperature: input should be greater than 0, found -2.0"),
        ({"loss": "product"}, "loss: input should be 'mean' or 'sum', found 'product'"),
        ({"pair": "both"}, "pair: input should be 'queried' or 'two_sided', found 'both'"),
        ({"too_long": "skip"}, "too_long: input should be 'error' or 'cut', found 'skip'"),
        ({"min_df": 0}, "min_df: input should be greater than or equal to 1, found 0"),
        (
            {"hidden_size": "big"},
            "hidden_size: input should be a valid integer, unable to parse string as an integer, found 'big'",
        ),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(given: dict[str, Any], error: str) -> None:
    with pytest.raises(ConfigError) as raised:
        settings("sst", **given)
    assert str(raised.value) == error


def test_a_setting_like_no_other_is_answered_with_all_of_them_in_order() -> None:
    with pytest.raises(ConfigError) as raised:
        settings("sst", xyz=1)
    kinds = (DataConfig, EncodeConfig, ModelConfig, VectorConfig, TrainConfig)
    names = [field.name for kind in kinds for field in fields(kind)]
    names.remove("name")
    names[names.index("seed")] = "data_seed"  # the first of two
    assert str(raised.value) == f"unknown setting 'xyz': known are {', '.join(names)}"


def test_the_name_of_the_data_is_no_setting_beside_itself() -> None:
    with pytest.raises(ConfigError, match="unknown setting 'nam'"):
        settings("sst", nam="imdb")


def test_an_unknown_preset_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as raised:
        settings("sst", "jain-wallace")
    assert str(raised.value) == "unknown preset 'jain-wallace': did you mean 'jain-wallace-2019'?"


def test_no_field_of_one_part_has_the_name_of_one_of_another() -> None:
    """Or a flat list of names would be ambiguous."""
    kinds = (EncodeConfig, ModelConfig, VectorConfig, TrainConfig)
    names = [field.name for kind in kinds for field in fields(kind)]
    names += [field.name for field in fields(DataConfig) if field.name not in ("name", "seed")] + [
        "data_seed"
    ]
    assert len(names) == len(set(names))


def test_checked_makes_the_dataclass() -> None:
    assert checked(TrainConfig, {"epochs": 2}) == TrainConfig(epochs=2)
