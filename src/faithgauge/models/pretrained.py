"""A pretrained transformer from a folder or the hub: as an encoder to train a new head on, or as it is.

    hf:./minilm            a folder with config.json, model.safetensors and tokenizer.json
    hf:roberta-base        a name on the hub, fetched once; never with HF_HUB_OFFLINE=1

Weights are safetensors and nothing else, code that a model brings is never run, and numbers of half precision
are computed with in full. What is no encoder, or does not fit together, is refused with the way out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from faithgauge.encode.tokenizer import FILE as TOKENIZER
from faithgauge.encode.tokenizer import SubwordTokenizer, read_subwords
from faithgauge.errors import ConfigError, DataError, UnsupportedError
from faithgauge.models.transformer import Transformer
from faithgauge.seeds import derive
from faithgauge.settings import PRETRAINED, Settings
from faithgauge.types import Batch

CONFIG, WEIGHTS = "config.json", "*.safetensors"
_HALF = {"F16": "float16", "BF16": "bfloat16"}
_PADDED = 128
"""Up to so many rows a table of word vectors may have more than its tokenizer has tokens."""
_OTHERS = {
    "ForCausalLM": "writes text",
    "LMHeadModel": "writes text",
    "ForConditionalGeneration": "writes text",
    "ForTokenClassification": "labels tokens",
    "ForQuestionAnswering": "marks answers",
    "ForMultipleChoice": "chooses among texts",
}
_CONVERT = (
    "python -c \"import torch, safetensors.torch as s; w = torch.load('{0}/pytorch_model.bin', "
    "weights_only=True); s.save_file({{k: v.clone() for k, v in w.items()}}, '{0}/model.safetensors', "
    "{{'format': 'pt'}})\""
)


@dataclass(frozen=True)
class Opened:
    """A fine-tuned model as its folder has it; `notes` say what was changed to use it."""

    classifier: Transformer
    tokenizer: SubwordTokenizer
    classes: tuple[str, ...]
    notes: tuple[str, ...]


def is_pretrained(encoder: str) -> bool:
    return encoder.startswith(PRETRAINED)


def is_folder(folder: Path) -> bool:
    """Whether it is a folder of the transformers library."""
    return (folder / CONFIG).is_file()


def name_of(encoder: str) -> str:
    """The encoder as results name it: a folder by its own name, wherever it lies, or as the hub does."""
    place = encoder.removeprefix(PRETRAINED)
    if not _is_local(place):
        return PRETRAINED + place
    folder = Path(place).expanduser().absolute()
    if folder.parent.name == "snapshots":  # where the hub's own cache keeps a model
        return PRETRAINED + folder.parents[1].name.removeprefix("models--").replace("--", "/")
    return PRETRAINED + folder.name


def find(encoder: str) -> Path:
    """The folder of a pretrained encoder, fetched from the hub if it is none here."""
    place = encoder.removeprefix(PRETRAINED)
    folder = Path(place).expanduser()
    if not _is_local(place):
        folder = _fetched(place)
    refuse_what_is_no_folder(folder)
    return folder


def files(folder: Path) -> list[Path]:
    """Those that decide what the model is."""
    return [folder / CONFIG, *sorted(folder.glob(WEIGHTS)), *sorted(folder.glob("*.safetensors.index.json"))]


def completed(chosen: Settings) -> Settings:
    """The settings with how texts become ids, which a pretrained encoder decides; others as they are."""
    if not is_pretrained(chosen.model.encoder):
        return chosen
    for name in ("words", "tokenizer"):
        if chosen.encode.get(name) is not None:
            raise ConfigError(
                f"a pretrained encoder brings its own tokenizer: expected no {name}, found "
                f"{chosen.encode[name]}; leave it out"
            )
    if chosen.vectors.embeddings is not None or chosen.vectors.word2vec:
        raise ConfigError(
            "a pretrained encoder brings its own word vectors: expected none, found --embeddings or "
            "--word2vec; leave it out"
        )
    folder = find(chosen.model.encoder)
    longest = outline(folder.resolve()).positions
    asked = chosen.encode.get("max_tokens") or longest
    if asked > longest:
        raise ConfigError(
            f"expected at most {longest} tokens, which are the positions of {chosen.model.encoder}, found "
            f"--max-tokens {asked}; give a smaller number, and --too-long cut if texts are longer"
        )
    own = {"tokenizer": folder / TOKENIZER, "max_tokens": asked, "joined": True}
    return replace(chosen, encode={**chosen.encode, **own})


def new(encoder: str, classes: tuple[str, ...], *, vocabulary: int, seed: int) -> Transformer:
    """The encoder under a head whose weights are drawn under `seed`, whatever head it had before."""
    folder = find(encoder)
    from transformers import AutoModel

    config = _configuration(folder)
    config.num_labels = len(classes)
    config.id2label = dict(enumerate(classes))
    config.label2id = {name: i for i, name in enumerate(classes)}
    config.problem_type = "single_label_classification"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, "weights"))
        with _understood(folder):
            network: Any = _network(config)
            body, info = AutoModel.from_pretrained(folder, output_loading_info=True, **_SAFELY)
    if lacking := [name for name in info["missing_keys"] if "pooler" not in name]:
        raise DataError(
            f"{folder}: expected the weights of a {config.model_type} model, found none of "
            f"{len(lacking)} layers ({lacking[0]} …); fetch it again"
        )
    there = network.base_model.state_dict().keys()
    network.base_model.load_state_dict({k: v for k, v in body.state_dict().items() if k in there})
    made = Transformer(network)
    refuse_what_does_not_fit(made, vocabulary, folder)
    return made


def opened(folder: Path) -> Opened:
    """A fine-tuned model of somebody else's: its weights, tokenizer and labels."""
    refuse_what_is_no_folder(folder)
    from transformers import AutoModelForSequenceClassification

    config = _configuration(folder)
    names = [str(name) for name in config.architectures or ()]
    if not any(name.endswith("ForSequenceClassification") for name in names):
        raise UnsupportedError(
            f"{folder}: expected a model that was fine-tuned to classify texts, found "
            f"{', '.join(names) or 'no architecture'}; fine-tune it: faithgauge train DATA --encoder "
            f"hf:{folder}"
        )
    if config.num_labels < 2 or config.problem_type in ("regression", "multi_label_classification"):
        what = config.problem_type or f"{config.num_labels} label"
        raise UnsupportedError(
            f"{folder}: expected a model with one label for each text out of two or more, found {what}"
        )
    with _understood(folder), torch.random.fork_rng(devices=[]):
        network, info = AutoModelForSequenceClassification.from_pretrained(
            folder, output_loading_info=True, **_SAFELY
        )
    if lacking := sorted(info["missing_keys"]):
        raise DataError(f"{folder}: expected all weights of its model, found no {lacking[0]}; save it again")
    made = Transformer(network.eval())
    classes = tuple(str(config.id2label[i]) for i in range(config.num_labels))
    tokenizer = read_subwords(folder, joined=True, longest=made.positions)
    refuse_what_does_not_fit(made, len(tokenizer.vocabulary), folder)
    return Opened(made, tokenizer, classes, tuple(_notes(folder)))


def restored(folder: Path, classes: int) -> Transformer:
    """A model as the configuration in a folder of ours says, its weights still to be loaded."""
    _library()
    from transformers import AutoConfig

    own = read_configuration(folder)
    with _understood(folder), torch.random.fork_rng(devices=[]):
        config = AutoConfig.for_model(own.pop("model_type", ""), **own)
        config.num_labels = classes
        return Transformer(_network(config))


def refuse_what_is_no_folder(folder: Path) -> None:
    """What can be seen of a model without opening its weights."""
    _library()
    if not is_folder(folder):
        raise DataError(
            f"{folder}: expected a folder of the transformers library, found no {CONFIG} in it; give the "
            "folder that save_pretrained wrote, or a name on the hub"
        )
    if not list(folder.glob(WEIGHTS)):
        if list(folder.glob("*.bin")):
            raise DataError(
                f"{folder}: expected model.safetensors, found a pickle (.bin), which can run code when it "
                f"is opened; if you trust it, convert it: {_CONVERT.format(folder)}"
            )
        raise DataError(f"{folder}: expected model.safetensors, found no weights; fetch the model again")
    if not (folder / TOKENIZER).is_file():
        raise DataError(
            f'{folder}: expected a {TOKENIZER}, found none; write it: python -c "from transformers import '
            f"AutoTokenizer as T; T.from_pretrained('{folder}').save_pretrained('{folder}')\""
        )
    _refuse_what_is_no_encoder(folder)


def _refuse_what_is_no_encoder(folder: Path) -> None:
    facts = read_configuration(folder)
    if facts.get("auto_map"):
        raise UnsupportedError(
            f"{folder}: expected a model of the transformers library, found one that brings code of its "
            "own, which is never run"
        )
    names = [str(name) for name in facts.get("architectures") or ()]
    for name in names:
        for ending, does in _OTHERS.items():
            if name.endswith(ending):
                raise UnsupportedError(
                    f"{folder}: expected an encoder for whole texts, such as BERT or RoBERTa, found "
                    f"{name}, which {does}; choose another model"
                )
    if facts.get("is_encoder_decoder") or facts.get("is_decoder"):
        raise UnsupportedError(
            f"{folder}: expected an encoder that reads in both directions, found a "
            f"{facts.get('model_type')} model with a decoder; choose another model"
        )


def refuse_what_does_not_fit(model: Transformer, vocabulary: int, folder: Path) -> None:
    """A tokenizer of another model, weights that are nan, no attention, reading in one direction."""
    rows = model.get_input_embeddings().num_embeddings
    if not rows - _PADDED <= vocabulary <= rows:
        raise DataError(
            f"{folder}: expected a tokenizer of {rows:,} tokens, as many as the model has word vectors, "
            f"found {vocabulary:,}; take the tokenizer that the model was trained with"
        )
    for name, weight in model.network.state_dict().items():
        if bool(weight.isnan().any()):
            raise DataError(
                f"{folder}: expected weights that are numbers, found nan in {name}; fetch or save it again"
            )
    ids = torch.arange(4)[None] % rows
    real = torch.ones_like(ids, dtype=torch.bool)
    with torch.no_grad():
        shown = model.heads(Batch(ids, torch.tensor([4]), real, real)).attentions
    if not any(bool(one.triu(1).any()) for one in shown):
        raise UnsupportedError(
            f"{folder}: expected an encoder that reads in both directions, found a {model.config.model_type} "
            "model, whose tokens attend to none that follow; choose another model"
        )


def _notes(folder: Path) -> Iterator[str]:
    from safetensors import safe_open

    for path in folder.glob(WEIGHTS):
        with safe_open(path, "pt") as file:
            found = {file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118 it is no dict
        for half in found & _HALF.keys():
            yield f"{path.name} holds weights of {_HALF[half]}, which are computed with in float32"


_SAFELY: dict[str, Any] = {
    "attn_implementation": "eager",
    "dtype": torch.float32,
    "local_files_only": True,
    "trust_remote_code": False,
    "use_safetensors": True,
}


@contextmanager
def _understood(folder: Path) -> Iterator[None]:
    """What the library raises, as a sentence; what it prints, left out."""
    from transformers.utils import logging as library_logging

    logging: Any = library_logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except Exception as error:  # whatever a damaged file makes the library raise
        first = " ".join(str(error).split())[:200]
        if "ignore_mismatched_sizes" in first:
            first = f"weights of other sizes than its {CONFIG} says"
        raise DataError(
            f"{folder}: expected a model of the transformers library, found one it cannot read ({first}); "
            "fetch or save it again"
        ) from error
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _configuration(folder: Path) -> Any:
    from transformers import AutoConfig

    with _understood(folder):
        return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def read_configuration(folder: Path) -> dict[str, Any]:
    """The configuration of a model as its folder has it."""
    try:
        facts = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{folder / CONFIG}: expected JSON, found a damaged file ({error})") from error
    if not isinstance(facts, dict):
        raise DataError(f"{folder / CONFIG}: expected a JSON object, found {type(facts).__name__}")
    return facts


def _network(config: Any) -> nn.Module:
    """A network of this configuration, with random weights."""
    from transformers import AutoModelForSequenceClassification

    make: Any = AutoModelForSequenceClassification.from_config
    made: nn.Module = make(config, attn_implementation="eager", dtype=torch.float32)
    return made.eval()


@lru_cache(maxsize=8)
def outline(folder: Path) -> Transformer:
    """A model without its weights, which knows its sizes and what it can be asked."""
    config = _configuration(folder)
    with _understood(folder), torch.device("meta"):
        return Transformer(_network(config))


def _is_local(place: str) -> bool:
    return Path(place).expanduser().exists() or place.startswith((".", "/", "~")) or place.count("/") > 1


def _fetched(name: str) -> Path:
    _library()
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=[CONFIG, WEIGHTS, TOKENIZER, "*.index.json"]))
    except Exception as error:  # whatever the hub, the network or the cache has to say
        first = str(error).strip().partition("\n")[0]
        raise DataError(
            f"{name}: expected a folder here or a model on the hub, found neither ({first}); give the path "
            "of a folder that save_pretrained wrote"
        ) from error


def _library() -> None:
    try:
        import transformers  # noqa: F401 it is only looked for
    except ImportError as error:
        raise UnsupportedError(
            "a pretrained model needs the transformers library, which is not installed: "
            "pip install 'faithgauge[transformers]'"
        ) from error
