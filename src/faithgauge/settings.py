"""Settings as people write them: one flat list of names, checked, with the papers' choices as presets.

``encoder="cnn", epochs=3`` on the command line or in Python becomes the frozen dataclasses of `config`. A
name that does not exist is answered with the nearest one, a value that does not fit with what was expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from faithgauge.config import DataConfig, EncodeConfig, ModelConfig, TrainConfig, VectorConfig
from faithgauge.errors import ConfigError
from faithgauge.registry import Table, unknown

_RENAMED = {"data_seed": "seed"}
_PARTS: dict[str, type] = {
    "data": DataConfig,
    "encode": EncodeConfig,
    "model": ModelConfig,
    "vectors": VectorConfig,
    "train": TrainConfig,
}

_JAIN_WALLACE = {
    "encoder": "bilstm",
    "attention": "additive",
    "embedding_scale": 1.0,
    "epochs": 8,
    "batch_size": 32,
    "learning_rate": 1e-3,
    "weight_decay": 1e-5,
    "loss": "sum",
    "class_weights": "positive",
    "select_on": "validation",
    "select_by": "roc_auc",
}
PRESETS: Table[Mapping[str, Any]] = Table(
    "preset",
    {
        "jain-wallace-2019": _JAIN_WALLACE,
        "wiegreffe-pinter-2019": {**_JAIN_WALLACE, "select_on": "test"},
        "attefa": {
            **_JAIN_WALLACE,
            "loss": "mean",
            "class_weights": "none",
            "select_on": "test",
        },
        "recursive-roar-2022": {**_JAIN_WALLACE, "loss": "mean", "class_weights": "none"},
        "neely-2022": {
            **_JAIN_WALLACE,
            "pair": "two_sided",
            "loss": "mean",
            "class_weights": "none",
            "epochs": 40,
            "patience": 5,
            "select_by": "accuracy",
        },
    },
)
"""What each paper fixes of a training; what it leaves open is our general default."""

Config = TypeVar("Config")


@dataclass(frozen=True)
class Settings:
    """All configuration of one training; `encode` holds what is to differ from the data set's own choice."""

    data: DataConfig
    encode: Mapping[str, Any]
    model: ModelConfig
    vectors: VectorConfig
    train: TrainConfig


def settings(name: str, preset: str | None = None, **given: Any) -> Settings:
    """The settings for data set `name`: those of `preset`, then those given; None means not given."""
    flat = {**(PRESETS[preset] if preset else {}), **{k: v for k, v in given.items() if v is not None}}
    by_part: dict[str, dict[str, Any]] = {part: {} for part in _PARTS}
    for key, value in flat.items():
        part = next((part for part, names in _NAMES.items() if key in names), None)
        if part is None:
            raise ConfigError(unknown("setting", key, [n for names in _NAMES.values() for n in names]))
        by_part[part][_RENAMED.get(key, key)] = value
    return Settings(
        data=checked(DataConfig, {"name": name, **by_part["data"]}),
        encode={key: getattr(checked(EncodeConfig, by_part["encode"]), key) for key in by_part["encode"]},
        model=checked(ModelConfig, by_part["model"]),
        vectors=checked(VectorConfig, by_part["vectors"]),
        train=checked(TrainConfig, by_part["train"]),
    )


def checked(kind: type[Config], values: Mapping[str, Any]) -> Config:
    """The dataclass with these values, each of the type and in the range that it states."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(dict(values))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{place}: {first['msg'].lower()}, found {first['input']!r}") from error


def _names(part: str, kind: type) -> set[str]:
    own = {field.name for field in fields(kind)}
    if part == "data":
        return own - {"name", "seed"} | {"data_seed"}
    return own


_NAMES = {part: _names(part, kind) for part, kind in _PARTS.items()}
