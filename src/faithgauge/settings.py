"""Settings as people write them: one flat list of names, checked, with the papers' choices as presets.

``encoder="cnn", epochs=3`` on the command line or in Python becomes the frozen dataclasses of `config`. A
name that does not exist is answered with the nearest one, a value that does not fit with what was expected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

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
_QUESTIONS = {
    "embed_size": 50,
    "hidden_size": 30,
    "batch_size": 50,
    "epochs": 100,
    "class_weights": "none",
    "decay_attention": True,
    "select_by": "accuracy",
}
_PAIRS = {"batch_size": 128, "epochs": 25, "class_weights": "none", "select_by": "accuracy"}
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

FOR_DATA: dict[tuple[str, str], Mapping[str, Any]] = {
    ("jain-wallace-2019", "babi"): _QUESTIONS,
    ("jain-wallace-2019", "snli"): {**_PAIRS, "decay_attention": True},
    ("jain-wallace-2019", "cnn"): {"class_weights": "none", "decay_attention": True, "select_by": "accuracy"},
    ("recursive-roar-2022", "babi"): {**_QUESTIONS, "hidden_size": 32},
    ("recursive-roar-2022", "snli"): {**_PAIRS, "decay_attention": True},
}
"""What a paper fixes otherwise for one data set. Batches and epochs of babi and snli are printed in table 4
of recursive-roar-2022, for jain-wallace-2019 as well."""

PRETRAINED = "hf:"
"""How an encoder that is a pretrained transformer begins."""
FINE_TUNING: Mapping[str, Any] = {
    "optimiser": "adamw",
    "beta2": 0.98,
    "learning_rate": 2e-5,
    "weight_decay": 0.01,
    "amsgrad": False,
    "schedule": "linear",
    "warm_up": 0.06,
    "batch_size": 16,
    "epochs": 3,
}
"""Of a pretrained encoder, unless something else is said; those of recursive-roar-2022, table 5."""
_OF_ANY_ENCODER = ("loss", "class_weights", "select_on", "select_by")
_FINE_TUNED: dict[tuple[str, str], Mapping[str, Any]] = {
    ("recursive-roar-2022", ""): {"too_long": "cut"},
    ("recursive-roar-2022", "babi"): {"epochs": 8},
    ("neely-2022", ""): {"epochs": 40, "patience": 5},
}
"""What a paper fixes of a pretrained encoder, and of one data set; neely-2022 leaves rate and batch open."""

if TYPE_CHECKING:
    from pydantic import TypeAdapter

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
    wanted = {key: value for key, value in given.items() if value is not None}
    flat = {**preset_for(preset, name, str(wanted.get("encoder", ""))), **wanted}
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


def preset_for(preset: str | None, name: str, encoder: str = "") -> dict[str, Any]:
    """A paper's settings, with what it fixes for this data set: ``babi-2@…`` is one of babi.

    Of a pretrained encoder these are others, but for what does not depend on the encoder.
    """
    base = name.partition("@")[0]
    bases = (base, base.rpartition("-")[0])
    general = PRESETS[preset] if preset is not None else {}
    own = next((FOR_DATA[preset or "", one] for one in bases if (preset, one) in FOR_DATA), {})
    if not encoder.startswith(PRETRAINED):
        return {**general, **own}
    kept = {key: value for key, value in {**general, **own}.items() if key in _OF_ANY_ENCODER}
    ours = [_FINE_TUNED.get((preset or "", one), {}) for one in ("", *reversed(bases))]
    return {**kept, **FINE_TUNING, **ours[0], **ours[1], **ours[2]}


def checked(kind: type[Config], values: Mapping[str, Any], *, strict: bool = False) -> Config:
    """The dataclass with these values, each of the type and in the range that it states.

    `strict` takes values as a file has them: no number for text, no text for a number.
    """
    from pydantic import ValidationError

    adapter = _adapter(cast("Any", kind))
    try:
        if strict:
            return cast("Config", adapter.validate_json(json.dumps(values, default=str), strict=True))
        return cast("Config", adapter.validate_python(dict(values)))
    except ValidationError as error:
        found = error.errors()
        # Of a field that may be one thing or another, the way that got furthest.
        first = max((one for one in found if one["loc"][:1] == found[0]["loc"][:1]), key=_depth)
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{place}: {first['msg'].lower()}, found {first['input']!r}") from error


def _depth(error: Mapping[str, Any]) -> int:
    return len(error["loc"])


def checked_value(kind: Any, value: str, place: str) -> Any:
    """One value that was written as text, as the type it must have; `place` says whose value it is."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        messages = dict.fromkeys(one["msg"].lower() for one in error.errors())
        raise ConfigError(f"{place}: {', or '.join(messages)}, found {value!r}") from error


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _names(part: str, kind: type) -> list[str]:
    own = [field.name for field in fields(kind)]
    if part == "data":
        return ["data_seed" if name == "seed" else name for name in own if name != "name"]
    return own


_NAMES = {part: _names(part, kind) for part, kind in _PARTS.items()}
