"""The trained model of jain-wallace-2019's own code, and what that code computed with it.

It lies outside the project: in the folder that FAITHGAUGE_REFERENCE names, or in ``reference`` beside the
folder of the shared data (FAITHGAUGE_DATA).
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fakes import batch_of
from numpy.typing import NDArray
from safetensors.torch import load_file

from faithgauge.config import ModelConfig
from faithgauge.models.classifier import AttentionClassifier, Shape, build
from faithgauge.types import Batch

PARTS = {
    "encoder.embedding": "embedding",
    "encoder.rnn": "encoder.rnn",
    "decoder.attention": "attention",
    "decoder.linear_1": "decoder",
}
"""The names of their parts, and of ours."""


def jain_wallace_sst() -> tuple[AttentionClassifier, Batch, dict[str, NDArray[Any]]]:
    """Their model, their 100 test texts of SST as one batch, and their numbers by name.

    Arrays over tokens are cut to the width of the batch; tokens stand at 1 … length − 2, the first and the
    last are special. Skips the test where the files are not there.
    """
    folder = _folder()
    if not (folder / "model.safetensors").is_file():
        pytest.skip(f"needs the reference model of jain-wallace-2019: nothing in {folder}")
    return _read(folder)


def _folder() -> Path:
    beside_data = Path(os.environ.get("FAITHGAUGE_DATA", "/nowhere/data")).parent / "reference"
    return Path(os.environ.get("FAITHGAUGE_REFERENCE", beside_data)) / "jain-wallace-sst"


@functools.cache
def _read(folder: Path) -> tuple[AttentionClassifier, Batch, dict[str, NDArray[Any]]]:
    with np.load(folder / "reference100.npz") as file:
        arrays = {name: file[name] for name in file.files}
    weights = load_file(folder / "model.safetensors")
    model = build(
        ModelConfig(), Shape(len(weights["encoder.embedding.weight"]), ("0", "1"), "single"), seed=0
    )
    renamed = {_renamed(name): values for name, values in weights.items()}
    assert renamed.keys() == model.state_dict().keys()
    model.load_state_dict(renamed)
    lengths = arrays["lengths_incl_sos_eos"]
    texts = [ids[:n].tolist() for ids, n in zip(arrays["token_ids"], lengths, strict=True)]
    batch = batch_of(texts)
    assert torch.equal(batch.maskable.sum(-1), torch.from_numpy(lengths) - 2)
    longest = arrays["token_ids"].shape[1]
    cut = {
        name: array[..., : batch.ids.shape[1]] if array.shape[-1] == longest else array
        for name, array in arrays.items()
    }
    return model.eval(), batch, cut


def _renamed(name: str) -> str:
    theirs = next(part for part in PARTS if name.startswith(part))
    return PARTS[theirs] + name.removeprefix(theirs)
