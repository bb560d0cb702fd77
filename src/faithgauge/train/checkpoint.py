"""Where a training stands, so that one that was killed goes on as if it had not been.

A checkpoint is one file, written beside the old one and put in its place by a rename: tensors as safetensors,
facts as JSON in its header. The order of the batches is derived from the seed and the epoch, so the number
of steps that are done is all that needs to be known of it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from faithgauge.errors import DataError, JobError

FILE = "checkpoint.safetensors"


@dataclass
class State:
    """The progress of one training: the epoch under way, its steps done, and the epochs before it."""

    epoch: int = 0
    step: int = 0
    examples: int = 0
    loss: float = 0.0
    history: list[dict[str, Any]] = field(default_factory=list)
    best_epoch: int | None = None
    best_value: float | None = None
    seconds: float = 0.0


def save(
    folder: Path,
    state: State,
    model: nn.Module,
    *,
    optimiser: torch.optim.Optimizer,
    best: dict[str, Tensor] | None,
    fingerprint: str,
) -> None:
    """Write the checkpoint; a kill at any moment leaves the old one or the new one."""
    tensors = {f"model.{name}": value.detach() for name, value in model.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in (best or {}).items()}
    for index, moments in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{index}.{name}": value for name, value in moments.items()}
    # Copies, since layers may share their weights, which the file format refuses.
    tensors = {name: value.contiguous().clone() for name, value in tensors.items()}
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / (FILE + ".new")
    metadata = {"state": json.dumps(asdict(state)), "fingerprint": fingerprint}
    try:
        safetensors.torch.save_file(tensors, new, metadata)
    except safetensors.SafetensorError as error:
        new.unlink(missing_ok=True)
        raise JobError(f"{folder}: the checkpoint could not be written ({error}); free some space") from error
    new.replace(folder / FILE)


def restore(
    folder: Path, model: nn.Module, optimiser: torch.optim.Optimizer, *, fingerprint: str
) -> tuple[State, dict[str, Tensor] | None] | None:
    """Put model and optimiser where the checkpoint left them; None where there is no checkpoint."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        tensors = safetensors.torch.load_file(path)
        with safetensors.safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
    except safetensors.SafetensorError as error:
        raise DataError(f"{path}: damaged ({error}); delete it to start the training anew") from error
    if metadata.get("fingerprint") != fingerprint:
        raise DataError(
            f"{path}: belongs to a training with other settings or data; expected the same ones to go on; "
            "choose another --out, or delete the file to start anew"
        )
    model.load_state_dict(_part(tensors, "model."))
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in _part(tensors, "optimiser.").items():
        index, _, kind = name.partition(".")
        moments.setdefault(int(index), {})[kind] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": moments})
    return State(**json.loads(metadata["state"])), _part(tensors, "best.") or None


def remove(folder: Path) -> None:
    """Take the checkpoint away, once what it was for is safely stored."""
    for name in (FILE, FILE + ".new"):
        (folder / name).unlink(missing_ok=True)


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
