"""Small random models of the transformers library, of every family, and tokenizers for them.

Their vocabulary is special tokens, words, and pieces of words: "unlikely" is un ##like ##ly.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

transformers = pytest.importorskip("transformers")

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)
WORDS = ("good", "bad", "film", "a", "the", "was", "un", "##like", "##ly", "plot", ".", "not", "play", "##ed")
VOCABULARY = (*SPECIAL, *WORDS)
POSITIONS = 24

_SIZES = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": POSITIONS,
    "pad_token_id": PAD,
}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("BertConfig", _SIZES),
    "roberta": ("RobertaConfig", {**_SIZES, "type_vocab_size": 1, "max_position_embeddings": POSITIONS + 1}),
    "electra": ("ElectraConfig", {**_SIZES, "embedding_size": 8}),
    "albert": ("AlbertConfig", {**_SIZES, "embedding_size": 8}),
    "distilbert": (
        "DistilBertConfig",
        {
            "vocab_size": len(VOCABULARY),
            "dim": 16,
            "n_layers": 2,
            "n_heads": 2,
            "hidden_dim": 24,
            "max_position_embeddings": POSITIONS,
            "pad_token_id": PAD,
        },
    ),
    "deberta-v2": (
        "DebertaV2Config",
        {
            **_SIZES,
            "relative_attention": True,
            "pos_att_type": ["c2p", "p2c"],
            "position_biased_input": False,
            "type_vocab_size": 0,
        },
    ),
}


def config(family: str = "bert", classes: int = 2, **more: Any) -> Any:
    kind, sizes = FAMILIES[family]
    # Weights larger than usual, so that what should differ does.
    own = {**sizes, "num_labels": classes, "initializer_range": 0.5, **more}
    return getattr(transformers, kind)(**own)


def network(family: str = "bert", classes: int = 2, seed: int = 0, **more: Any) -> Any:
    """A model as transformers makes it, with random weights, and no dropout since it is not in training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = transformers.AutoModelForSequenceClassification.from_config(
            config(family, classes, **more), attn_implementation="eager"
        )
    return made.eval()


def tokenizer_file(folder: Path, vocabulary: Sequence[str] = VOCABULARY) -> Path:
    """A WordPiece tokenizer that joins pairs as BERT does."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    known = {token: i for i, token in enumerate(vocabulary)}
    made = Tokenizer(models.WordPiece(known, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", SEP), ("[CLS]", CLS))
    made.add_special_tokens(list(SPECIAL))
    made.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


def folder_of(folder: Path, family: str = "bert", classes: int = 2, seed: int = 0, **more: Any) -> Path:
    """A folder as `save_pretrained` leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    network(family, classes, seed, **more).save_pretrained(folder)
    tokenizer_file(folder)
    return folder


def change_config(folder: Path, **values: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
