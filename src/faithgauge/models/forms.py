"""One transformer in the form of another: the same function, in the names and the code of another family.

DistilBERT and RoBERTa are BERT without types of tokens, and without the pooler where they classify. Where
every token has the first type, its vector is part of every position, and all other weights have but other
names: states and attention are the same. RoBERTa counts positions from behind that of padding.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from faithgauge.errors import UnsupportedError

_LAYER = {
    "attention.self.query": "attention.q_lin",
    "attention.self.key": "attention.k_lin",
    "attention.self.value": "attention.v_lin",
    "attention.output.dense": "attention.out_lin",
    "attention.output.LayerNorm": "sa_layer_norm",
    "intermediate.dense": "ffn.lin1",
    "output.dense": "ffn.lin2",
    "output.LayerNorm": "output_layer_norm",
}
"""The parts of a layer by their names in BERT and in DistilBERT."""


def as_distilbert(source: Path, target: Path) -> Path:
    """A folder with a BERT in the form of DistilBERT, and its tokenizer; written if it is not there."""
    return _written(source, target, "DistilBERT", lambda weights, _: renamed(weights), _distilbert)


def as_roberta(source: Path, target: Path) -> Path:
    """A folder with a BERT in the form of RoBERTa, and its tokenizer; written if it is not there."""
    return _written(source, target, "RoBERTa", moved, _roberta)


def _written(
    source: Path,
    target: Path,
    name: str,
    weights_of: Callable[[dict[str, Tensor], int], dict[str, Tensor]],
    configuration_of: Callable[[dict[str, Any]], dict[str, Any]],
) -> Path:
    import safetensors.torch

    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    if config.get("model_type") != "bert":
        found = config.get("model_type")
        raise UnsupportedError(f"{source}: expected a BERT to take the form of {name}, found {found}")
    if (target / "config.json").is_file():
        return target
    own = safetensors.torch.load_file(source / "model.safetensors")
    weights = weights_of(own, config.get("pad_token_id", 0))
    target.mkdir(parents=True, exist_ok=True)
    (target / "model.safetensors").write_bytes(safetensors.torch.save(weights, {"format": "pt"}))
    shutil.copyfile(source / "tokenizer.json", target / "tokenizer.json")
    # Written last: a folder without it holds no model.
    text = json.dumps(configuration_of(config), indent=1, sort_keys=True)
    (target / "config.json").write_text(text + "\n", encoding="utf-8")
    return target


def renamed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a BERT by the names of DistilBERT."""
    plain = {name.removeprefix("bert."): value for name, value in weights.items()}
    first = plain["embeddings.token_type_embeddings.weight"][0]
    made = {
        "embeddings.word_embeddings.weight": plain["embeddings.word_embeddings.weight"],
        "embeddings.position_embeddings.weight": plain["embeddings.position_embeddings.weight"] + first,
        "embeddings.LayerNorm.weight": plain["embeddings.LayerNorm.weight"],
        "embeddings.LayerNorm.bias": plain["embeddings.LayerNorm.bias"],
    }
    for name, value in plain.items():
        if name.startswith("encoder.layer."):
            _, _, number, rest = name.split(".", 3)
            part, _, kind = rest.rpartition(".")
            made[f"transformer.layer.{number}.{_LAYER[part]}.{kind}"] = value
    return {name: value.clone().contiguous() for name, value in made.items()}


def moved(weights: dict[str, Tensor], padding: int) -> dict[str, Tensor]:
    """The weights of a BERT as RoBERTa has them: positions begin behind the id of padding, types are one."""
    plain = {name.removeprefix("bert."): value for name, value in weights.items()}
    kept = {
        name: value
        for name, value in plain.items()
        if name.startswith(("embeddings.", "encoder.layer.")) and not name.endswith("position_ids")
    }
    places = kept["embeddings.position_embeddings.weight"]
    before = places.new_zeros(padding + 1, places.shape[1])
    kept["embeddings.position_embeddings.weight"] = torch.cat([before, places])
    kept["embeddings.token_type_embeddings.weight"] = kept["embeddings.token_type_embeddings.weight"][:1]
    return {name: value.clone().contiguous() for name, value in kept.items()}


def _roberta(bert: dict[str, Any]) -> dict[str, Any]:
    padding = bert.get("pad_token_id", 0)
    return {
        "architectures": ["RobertaModel"],
        "model_type": "roberta",
        "attention_probs_dropout_prob": bert["attention_probs_dropout_prob"],
        "hidden_act": bert["hidden_act"],
        "hidden_dropout_prob": bert["hidden_dropout_prob"],
        "hidden_size": bert["hidden_size"],
        "initializer_range": bert.get("initializer_range", 0.02),
        "intermediate_size": bert["intermediate_size"],
        "layer_norm_eps": bert.get("layer_norm_eps", 1e-12),
        "max_position_embeddings": bert["max_position_embeddings"] + padding + 1,
        "num_attention_heads": bert["num_attention_heads"],
        "num_hidden_layers": bert["num_hidden_layers"],
        "pad_token_id": padding,
        "type_vocab_size": 1,
        "vocab_size": bert["vocab_size"],
    }


def _distilbert(bert: dict[str, Any]) -> dict[str, Any]:
    return {
        "architectures": ["DistilBertModel"],
        "model_type": "distilbert",
        "activation": bert["hidden_act"],
        "attention_dropout": bert["attention_probs_dropout_prob"],
        "dropout": bert["hidden_dropout_prob"],
        "dim": bert["hidden_size"],
        "hidden_dim": bert["intermediate_size"],
        "initializer_range": bert.get("initializer_range", 0.02),
        "max_position_embeddings": bert["max_position_embeddings"],
        "n_heads": bert["num_attention_heads"],
        "n_layers": bert["num_hidden_layers"],
        "pad_token_id": bert.get("pad_token_id", 0),
        "vocab_size": bert["vocab_size"],
    }
