from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import safetensors.torch
import torch
from fakes import batch_of, classifier, some_texts
from torch import nn

from faithgauge.config import TrainConfig
from faithgauge.errors import DataError
from faithgauge.models.classifier import AttentionClassifier
from faithgauge.train import checkpoint
from faithgauge.train.checkpoint import FILE, State, remove, restore, save
from faithgauge.train.optimiser import clear_grad, make

STATE = State(
    epoch=2,
    step=5,
    examples=160,
    loss=0.1 + 0.2,
    history=[{"epoch": 1, "roc_auc": float("nan"), "train_loss": 1 / 3}],
    best_epoch=1,
    best_value=0.7,
    seconds=1.5,
)
CONFIG = TrainConfig(learning_rate=0.1)


def trained(steps: int, *, seed: int = 0) -> tuple[AttentionClassifier, torch.optim.Optimizer]:
    model = classifier("bilstm", seed=seed)
    optimiser = make(model, CONFIG)
    for step in range(steps):
        advance(model, optimiser, step)
    return model, optimiser


def advance(model: AttentionClassifier, optimiser: torch.optim.Optimizer, step: int) -> None:
    clear_grad(model)
    model(batch_of(some_texts(4, seed=step))).logits.square().sum().backward()
    optimiser.step()


def saved(
    folder: Path, *, state: State = STATE, steps: int = 2
) -> tuple[AttentionClassifier, torch.optim.Optimizer]:
    model, optimiser = trained(steps)
    best = {name: value + 1 for name, value in model.state_dict().items()}
    save(folder, state, model, optimiser=optimiser, best=best, fingerprint="mine")
    return model, optimiser


def equal(one: dict[str, torch.Tensor], two: dict[str, torch.Tensor]) -> bool:
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


def test_where_there_is_no_checkpoint_there_is_nothing_to_restore(tmp_path: Path) -> None:
    model, optimiser = trained(0)
    assert restore(tmp_path / "nothing", model, optimiser, fingerprint="mine") is None


def test_what_is_restored_is_what_was_saved(tmp_path: Path) -> None:
    model, _ = saved(tmp_path)
    other, optimiser = trained(0, seed=9)
    restored = restore(tmp_path, other, optimiser, fingerprint="mine")
    assert restored is not None
    state, best = restored
    # A nan is not equal to itself; its JSON is.
    assert json.dumps(dataclasses.asdict(state)) == json.dumps(dataclasses.asdict(STATE))
    assert best is not None
    assert equal(other.state_dict(), model.state_dict())
    assert equal(best, {name: value + 1 for name, value in model.state_dict().items()})


def test_a_training_goes_on_as_if_it_had_not_been_interrupted(tmp_path: Path) -> None:
    model, optimiser = saved(tmp_path)
    resumed, its_optimiser = trained(0, seed=9)
    restore(tmp_path, resumed, its_optimiser, fingerprint="mine")
    for step in (7, 8, 9):
        advance(model, optimiser, step)
        advance(resumed, its_optimiser, step)
    assert equal(resumed.state_dict(), model.state_dict())


def test_before_the_first_epoch_is_over_there_is_no_best(tmp_path: Path) -> None:
    model, optimiser = trained(1)
    save(tmp_path, State(step=1), model, optimiser=optimiser, best=None, fingerprint="mine")
    restored = restore(tmp_path, model, optimiser, fingerprint="mine")
    assert restored == (State(step=1), None)


def test_weights_that_never_had_a_gradient_have_no_moments_to_restore(tmp_path: Path) -> None:
    model = classifier("mlp", distribution="uniform")
    optimiser = make(model, CONFIG)
    advance(model, optimiser, 0)
    save(tmp_path, STATE, model, optimiser=optimiser, best=None, fingerprint="mine")
    other = classifier("mlp", distribution="uniform")
    its_optimiser = make(other, CONFIG)
    restore(tmp_path, other, its_optimiser, fingerprint="mine")
    assert len(its_optimiser.state) == len(optimiser.state) < len(list(model.parameters()))


def test_what_is_restored_may_be_trained_without_changing_the_file(tmp_path: Path) -> None:
    saved(tmp_path)
    before = (tmp_path / FILE).read_bytes()
    model, optimiser = trained(0)
    restore(tmp_path, model, optimiser, fingerprint="mine")
    advance(model, optimiser, 3)
    assert (tmp_path / FILE).read_bytes() == before


def test_saving_again_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    saved(tmp_path)
    model, optimiser = saved(tmp_path, state=State(epoch=3), steps=3)
    restored = restore(tmp_path, model, optimiser, fingerprint="mine")
    assert restored is not None
    assert restored[0] == State(epoch=3)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_the_checkpoint_of_another_training_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    saved(tmp_path)
    model, optimiser = trained(0, seed=9)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(
        DataError, match=r"belongs to a training with other settings or data.*--out"
    ) as caught:
        restore(tmp_path, model, optimiser, fingerprint="yours")
    assert str(tmp_path / FILE) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert equal(model.state_dict(), before)


@pytest.mark.parametrize("kept", [0, 4, 100, -1])
def test_a_truncated_checkpoint_is_named_with_the_way_out(tmp_path: Path, kept: int) -> None:
    saved(tmp_path)
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes()[:kept])
    model, optimiser = trained(0)
    with pytest.raises(DataError, match=r"damaged .*delete it to start the training anew") as caught:
        restore(tmp_path, model, optimiser, fingerprint="mine")
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_of_tensors_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    safetensors.torch.save_file({"weight": torch.zeros(2)}, tmp_path / FILE)
    model, optimiser = trained(0)
    with pytest.raises(DataError, match=r"belongs to a training with other settings or data"):
        restore(tmp_path, model, optimiser, fingerprint="mine")


@pytest.mark.parametrize("written", ["nothing", "half", "all"])
def test_a_crash_while_saving_leaves_the_old_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    model, optimiser = saved(tmp_path)
    before = (tmp_path / FILE).read_bytes()

    def crash(tensors: dict[str, torch.Tensor], path: Path, metadata: dict[str, str]) -> None:
        whole = safetensors.torch.save(tensors, metadata)
        if written != "nothing":
            Path(path).write_bytes(whole if written == "all" else whole[: len(whole) // 2])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.safetensors.torch, "save_file", crash)
        with pytest.raises(KeyboardInterrupt):
            save(tmp_path, State(), model, optimiser=optimiser, best=None, fingerprint="mine")
    assert (tmp_path / FILE).read_bytes() == before
    restored = restore(tmp_path, model, optimiser, fingerprint="mine")
    assert restored is not None
    assert restored[0].epoch == 2


def test_weights_that_two_layers_share_are_saved(tmp_path: Path) -> None:
    model = nn.ModuleDict({"one": nn.Linear(2, 2), "two": nn.Linear(2, 2)})
    model["two"].weight = model["one"].weight
    optimiser = make(model, CONFIG)
    save(tmp_path, STATE, model, optimiser=optimiser, best=None, fingerprint="mine")
    expected = model["one"].weight.detach().clone()
    nn.init.zeros_(model["one"].weight)
    restore(tmp_path, model, optimiser, fingerprint="mine")
    assert torch.equal(model["two"].weight, expected)


def test_removing_takes_away_the_checkpoint_and_a_half_written_one_and_nothing_else(tmp_path: Path) -> None:
    saved(tmp_path)
    (tmp_path / (FILE + ".new")).write_bytes(b"half")
    (tmp_path / "model.json").write_text("{}")
    remove(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]
    remove(tmp_path)
