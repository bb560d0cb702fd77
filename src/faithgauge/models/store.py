"""A trained classifier with what is needed to use it, and its folder on disk.

    model.safetensors   the weights
    tokenizer.json      how text becomes ids
    config.json         of a pretrained transformer, its configuration
    model.json          what the model is, and the record of its training; written last

Weights are safetensors and facts are JSON, so reading a folder runs no code that it brings. The facts of a
model that is not ours name the function that makes it, which is then imported and called: from what Python
finds anyway, never from a file in the folder itself. Of others, open such a folder only if you trust them.
A folder without ``model.json`` holds no model, so a kill while writing leaves nothing half-made behind.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import math
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from faithgauge.config import ModelConfig
from faithgauge.encode.tokenizer import Tokenizer, load_tokenizer, save_tokenizer
from faithgauge.errors import ConfigError, DataError, FaithgaugeError, JobError
from faithgauge.models import pretrained
from faithgauge.models.classifier import AttentionClassifier, Shape
from faithgauge.models.labels import renamed
from faithgauge.models.transformer import Transformer
from faithgauge.registry import locate
from faithgauge.settings import checked
from faithgauge.types import Task

FORMAT = 2
"""2 is that of transformers; any other model is written as 1."""
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
    def tasks(self) -> tuple[Task, ...]:
        """What it can be given: a model of the transformers library does not say which of two."""
        known = not isinstance(self.classifier, Transformer) or self.record.get("dataset")
        return (self.task,) if known else ("single", "pair")

    @property
    def shape(self) -> Shape:
        return Shape(len(self.tokenizer.vocabulary), self.classes, self.task)


def save(trained: Trained, folder: Path) -> None:
    """Write the model; the folder is one only once the last file stands."""
    try:
        _write(trained, folder)
    except (OSError, safetensors.SafetensorError) as error:
        with contextlib.suppress(OSError):
            for name in (WEIGHTS, FACTS):
                (folder / (name + ".new")).unlink(missing_ok=True)
        raise JobError(
            f"{folder}: the model could not be written ({error}); make room there, then run it again"
        ) from error


def _write(trained: Trained, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FACTS).unlink(missing_ok=True)  # an older model goes first, lest its facts meet new weights
    # Copies, because safetensors takes no weights that two layers share.
    transformer = trained.classifier if isinstance(trained.classifier, Transformer) else None
    weights = trained.classifier.state_dict() if transformer is None else transformer.network.state_dict()
    tensors = {name: value.detach().clone().contiguous() for name, value in weights.items()}
    new = folder / (WEIGHTS + ".new")
    new.write_bytes(safetensors.torch.save(tensors))  # not save_file, whose files only their owner may read
    new.replace(folder / WEIGHTS)
    save_tokenizer(trained.tokenizer, folder)
    if transformer is not None:
        configuration = transformer.config.to_json_string(use_diff=False)
        (folder / pretrained.CONFIG).write_text(configuration, encoding="utf-8")
    model: dict[str, Any] = {"distribution": transformer.distribution} if transformer is not None else {}
    if transformer is None and not trained.factory:
        model = asdict(trained.classifier.config)  # type: ignore[call-overload]
    facts = {
        "format": FORMAT if transformer is not None else 1,
        "factory": trained.factory,
        "model": model,
        "classes": trained.classes,
        "task": trained.task,
        "record": _finite(trained.record),
    }
    new = folder / (FACTS + ".new")
    text = json.dumps(facts, indent=1, ensure_ascii=False, allow_nan=False, default=str)
    new.write_text(text + "\n", encoding="utf-8")
    new.replace(folder / FACTS)


def is_model(folder: Path) -> bool:
    return (folder / FACTS).is_file()


def load(folder: Path) -> Trained:
    """What `save` wrote; a number of the record that is not finite comes back as None."""
    facts = _facts(folder)
    tokenizer = load_tokenizer(folder)
    shape = Shape(len(tokenizer.vocabulary), tuple(facts["classes"]), facts["task"])
    path = folder / WEIGHTS
    try:
        weights = safetensors.torch.load_file(path)
        if facts["format"] == FORMAT:
            restored = _transformer(folder, shape, weights)
            distribution = facts["model"].get("distribution", "softmax")
            classifier: nn.Module = Transformer(restored.network, distribution)
        else:
            if facts["factory"]:
                classifier = _made(folder, facts["factory"], shape)
            else:
                classifier = _ours(_config(folder, facts["model"]), shape, weights)
            classifier.load_state_dict(weights)
        _refuse_nan(path, weights)
    except (OSError, safetensors.SafetensorError) as error:
        raise DataError(f"{path}: expected the weights of a model, found {error}; train it again") from error
    except (RuntimeError, TypeError) as error:  # a size that is no size of a tensor is a TypeError
        first = " ".join(str(error).split("\n")[:2])
        raise DataError(
            f"{path}: its weights do not fit {folder / FACTS} ({first}); train it again"
        ) from error
    return Trained(
        classifier.eval(), tokenizer, shape.classes, shape.task, facts["record"], facts["factory"], folder
    )


def _refuse_nan(path: Path, weights: Mapping[str, Tensor]) -> None:
    """Infinity may be meant, as in a mask that somebody's model keeps; what is no number never is."""
    for name, value in weights.items():
        if value.isnan().any():
            raise DataError(
                f"{path}: expected weights that are numbers, found nan in {name!r}; train it again"
            )


def open_model(place: str, labels: str | None = None) -> Trained:
    """A model's folder, or the `Trained` that the user's own ``package.module:function`` returns.

    The folder may be one of the transformers library; ``hf:PLACE`` is always such a one. `labels` give its
    classes other names, ``negative=0,positive=1``.
    """
    trained = _opened(place)
    if labels is None:
        return trained
    return replace(trained, classes=renamed(trained.classes, labels))


def _opened(place: str) -> Trained:
    folder = Path(place).expanduser()
    if pretrained.is_pretrained(place):
        return fine_tuned(pretrained.find(place))
    if folder.exists() or ":" not in place:
        return fine_tuned(folder) if pretrained.is_folder(folder) and not is_model(folder) else load(folder)
    function = locate(place)
    if callable(function) and _needs_a_shape(function):
        raise ConfigError(
            f"{place}: expected a function without arguments that returns a faithgauge.Trained, found one "
            "that makes new models; train one with it: faithgauge train --model"
        )
    trained = _called(place, function) if callable(function) else function
    if not isinstance(trained, Trained):
        raise ConfigError(
            f"{place}: expected it to return a faithgauge.Trained, found {type(trained).__name__}"
        )
    return trained


def fine_tuned(folder: Path) -> Trained:
    """A model that somebody has trained with the transformers library, for single texts or for pairs."""
    found = pretrained.opened(folder)
    record = {
        "dataset": "",
        "complete": True,
        "notes": found.notes,
        "encoder": pretrained.name_of(f"hf:{folder}"),
        "attention": None,
        "distribution": None,
        "settings": {},
        "seed": None,
        "selected_on": None,
        "vectors": {},
    }
    return Trained(found.classifier, found.tokenizer, found.classes, "single", record, folder=folder)


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
    model = _called(factory, function, shape)
    if not isinstance(model, nn.Module):
        raise ConfigError(f"{factory}: expected it to return a torch module, found {type(model).__name__}")
    return model


def _called(place: str, function: Callable[..., object], *given: Shape) -> object:
    """What the user's own function returns; what it raises is said in one line, with where it was raised."""
    try:
        return function(*given)
    except FaithgaugeError:
        raise
    except (Exception, SystemExit) as error:
        raised = traceback.extract_tb(error.__traceback__)[-1]
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigError(
            f"{place}: it raised {reason} ({raised.filename}, line {raised.lineno}); mend it there"
        ) from error


def _needs_a_shape(function: Callable[..., object]) -> bool:
    given = inspect.signature(function).parameters.values()
    return any(
        one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in given
    )


def _transformer(folder: Path, shape: Shape, weights: Mapping[str, Tensor]) -> Transformer:
    with torch.device("meta"):  # as `_ours`
        pretrained.restored(folder, len(shape.classes)).network.load_state_dict(weights, assign=True)
    made = pretrained.restored(folder, len(shape.classes))
    made.network.load_state_dict(weights)
    return made


def _ours(config: ModelConfig, shape: Shape, weights: Mapping[str, Tensor]) -> nn.Module:
    """A model into which the weights fit: where they do not, no memory is taken for the sizes it has."""
    with torch.device("meta"):
        AttentionClassifier(config, shape).load_state_dict(weights, assign=True)
    return AttentionClassifier(config, shape)


def _made(folder: Path, factory: str, shape: Shape) -> nn.Module:
    try:
        _refuse_code_of(folder, factory.partition(":")[0])
        return make(factory, shape)
    except (Exception, SystemExit) as error:  # whatever the function, or the import of its module, raises
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        if isinstance(error, FaithgaugeError):
            reason = str(error)
        raise DataError(f"{folder / FACTS}: its factory {factory!r} makes no model ({reason})") from error


def _refuse_code_of(folder: Path, module: str) -> None:
    """A folder must not bring the code that reads it, as it could where Python was started in or above it."""
    if module in sys.modules:
        return
    top, *rest = module.split(".")
    found = importlib.util.find_spec(top) if top else None  # without a dot nothing is imported
    for place in (found.submodule_search_locations or [found.origin or ""]) if found else []:
        path = Path(place, *rest).resolve()
        if folder.resolve() in (path, *path.parents):
            raise ConfigError(
                f"expected code outside the model's folder, found {path}; move it if you trust it"
            )


def _finite(value: object) -> object:
    """The value with null, as JSON has it, for every number that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def _facts(folder: Path) -> dict[str, Any]:
    path = folder / FACTS
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DataError(
            f"{folder}: expected a folder that `faithgauge train` wrote, found no {FACTS} in it"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected JSON, found a damaged file ({error}); train it again") from error
    version = facts.get("format") if isinstance(facts, dict) else None
    if type(version) is not int or not 1 <= version <= FORMAT:
        newer = type(version) is int and version > FORMAT
        way = "update faithgauge: pip install --upgrade faithgauge" if newer else "train it again"
        raise DataError(f"{path}: expected a model of format {FORMAT} or older, found {version}; {way}")
    wanted = {"factory", "model", "classes", "task", "record"}
    if lacking := sorted(wanted - set(facts)):
        raise DataError(f"{path}: expected {', '.join(sorted(wanted))}, found no {', '.join(lacking)}")
    kinds = {"factory": str, "model": dict, "classes": list, "record": dict}
    sound = facts["task"] in get_args(Task) and all(isinstance(facts[k], kinds[k]) for k in kinds)
    if not sound or not facts["classes"] or not all(isinstance(name, str) for name in facts["classes"]):
        raise DataError(f"{path}: expected the facts of a model, found other kinds; train it again")
    return dict(facts)


def _config(folder: Path, fields: Mapping[str, Any]) -> ModelConfig:
    try:
        return checked(ModelConfig, asdict(ModelConfig(**fields)), strict=True)
    except (TypeError, ConfigError) as error:
        raise DataError(
            f"{folder / FACTS}: expected the settings of a model, found others ({error})"
        ) from error
