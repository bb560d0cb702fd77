"""A trained classifier with what is needed to use it, and its folder on disk.

    model.safetensors   the weights
    tokenizer.json      how text becomes ids
    model.json          what the model is, and the record of its training; written last

Reading a folder runs no code that the folder brings: weights are safetensors, facts are JSON. A folder
without ``model.json`` holds no model, so a kill while writing leaves nothing half-made behind.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import nn

from faithgauge.config import ModelConfig
from faithgauge.encode.tokenizer import Tokenizer, load_tokenizer, save_tokenizer
from faithgauge.errors import ConfigError, DataError
from faithgauge.models.classifier import AttentionClassifier, Shape
from faithgauge.registry import locate
from faithgauge.types import Task

FORMAT = 1
FACTS, WEIGHTS = "model.json", "model.safetensors"

Factory = Callable[[Shape], nn.Module]


@dataclass(frozen=True)
class Trained:
    """A classifier, its tokenizer and its classes; `record` says how it was trained and how well it does.

    `factory` is the place ``package.module:function`` of a model that is not ours.
    """

    classifier: nn.Module
    tokenizer: Tokenizer
    classes: tuple[str, ...]
    task: Task = "single"
    record: Mapping[str, Any] = field(default_factory=dict)
    factory: str = ""
    folder: Path | None = None

    @property
    def shape(self) -> Shape:
        return Shape(len(self.tokenizer.vocabulary), self.classes, self.task)


def save(trained: Trained, folder: Path) -> None:
    """Write the model; the folder is one only once the last file stands."""
    folder.mkdir(parents=True, exist_ok=True)
    # Copies, because safetensors takes no weights that two layers share.
    weights = trained.classifier.state_dict()
    tensors = {name: value.detach().clone().contiguous() for name, value in weights.items()}
    new = folder / (WEIGHTS + ".new")
    safetensors.torch.save_file(tensors, new)
    new.replace(folder / WEIGHTS)
    save_tokenizer(trained.tokenizer, folder)
    facts = {
        "format": FORMAT,
        "factory": trained.factory,
        "model": asdict(trained.classifier.config) if not trained.factory else {},  # type: ignore[call-overload]
        "classes": trained.classes,
        "task": trained.task,
        "record": trained.record,
    }
    new = folder / (FACTS + ".new")
    new.write_text(json.dumps(facts, indent=1, ensure_ascii=False, default=str) + "\n", encoding="utf-8")
    new.replace(folder / FACTS)


def is_model(folder: Path) -> bool:
    return (folder / FACTS).is_file()


def load(folder: Path) -> Trained:
    """What `save` wrote."""
    facts = _facts(folder)
    tokenizer = load_tokenizer(folder)
    shape = Shape(len(tokenizer.vocabulary), tuple(facts["classes"]), facts["task"])
    if facts["factory"]:
        classifier = make(facts["factory"], shape)
    else:
        classifier = AttentionClassifier(_config(folder, facts["model"]), shape)
    path = folder / WEIGHTS
    try:
        classifier.load_state_dict(safetensors.torch.load_file(path))
    except (OSError, safetensors.SafetensorError) as error:
        raise DataError(f"{path}: expected the weights of a model, found {error}; train it again") from error
    except RuntimeError as error:
        first = " ".join(str(error).split("\n")[:2])
        raise DataError(
            f"{path}: its weights do not fit {folder / FACTS} ({first}); train it again"
        ) from error
    return Trained(
        classifier.eval(), tokenizer, shape.classes, shape.task, facts["record"], facts["factory"], folder
    )


def open_model(place: str) -> Trained:
    """A model's folder, or the `Trained` that the user's own ``package.module:function`` returns."""
    folder = Path(place).expanduser()
    if folder.exists() or ":" not in place:
        return load(folder)
    function = locate(place)
    trained = function() if callable(function) else function
    if not isinstance(trained, Trained):
        raise ConfigError(
            f"{place}: expected it to return a faithgauge.Trained, found {type(trained).__name__}"
        )
    return trained


def open_or_make(place: str, shape: Shape) -> tuple[nn.Module, Shape]:
    """A model and its shape: a trained one, or a new one of `shape` from a function that takes one."""
    if ":" in place and not Path(place).expanduser().exists():
        function = locate(place)
        if callable(function) and inspect.signature(function).parameters:
            return make(place, shape), shape
    trained = open_model(place)
    return trained.classifier, trained.shape


def make(factory: str, shape: Shape) -> nn.Module:
    """The user's own model from ``package.module:function``, which is called with the `Shape` of the data."""
    function = locate(factory)
    if not callable(function):
        raise ConfigError(f"{factory}: expected a function of a Shape, found {type(function).__name__}")
    model = function(shape)
    if not isinstance(model, nn.Module):
        raise ConfigError(f"{factory}: expected it to return a torch module, found {type(model).__name__}")
    return model


def _facts(folder: Path) -> dict[str, Any]:
    path = folder / FACTS
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(
            f"{folder}: expected a folder that `faithgauge train` wrote, found no {FACTS} in it"
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: expected JSON, found a damaged file ({error}); train it again") from error
    version = facts.get("format") if isinstance(facts, dict) else None
    if not isinstance(version, int) or version > FORMAT:
        raise DataError(
            f"{path}: expected a model of format {FORMAT} or older, found {version}; "
            "update faithgauge: pip install --upgrade faithgauge"
        )
    wanted = {"factory", "model", "classes", "task", "record"}
    if lacking := sorted(wanted - set(facts)):
        raise DataError(f"{path}: expected {', '.join(sorted(wanted))}, found no {', '.join(lacking)}")
    return dict(facts)


def _config(folder: Path, fields: Mapping[str, Any]) -> ModelConfig:
    try:
        return ModelConfig(**fields)
    except TypeError as error:
        raise DataError(
            f"{folder / FACTS}: expected the settings of a model, found others ({error})"
        ) from error
