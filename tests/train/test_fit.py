from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fakes import classifier, encode, ragged, some_split
from torch import Tensor, nn

from faithgauge.config import TrainConfig
from faithgauge.encode import batching
from faithgauge.encode.batching import collate, training_batches
from faithgauge.errors import ConfigError, DataError, JobError
from faithgauge.models.classifier import AttentionClassifier
from faithgauge.train import fit as module
from faithgauge.train.checkpoint import FILE
from faithgauge.train.fit import Event, fit
from faithgauge.train.metrics import METRICS, metrics
from faithgauge.train.predict import predict
from faithgauge.types import Batch, Encoded, Output, Split

CONFIG = TrainConfig(epochs=3, batch_size=8, learning_rate=0.02)


def splits(task: str = "single", classes: int = 2) -> dict[Split, Encoded]:
    return {
        "train": some_split(30, classes=classes, task=task),  # type: ignore[arg-type]
        "validation": some_split(20, seed=50, classes=classes, task=task),  # type: ignore[arg-type]
        "test": some_split(20, seed=70, classes=classes, task=task),  # type: ignore[arg-type]
    }


def equal(one: nn.Module, two: nn.Module) -> bool:
    pairs = zip(one.state_dict().values(), two.state_dict().values(), strict=True)
    return all(torch.equal(ours, theirs) for ours, theirs in pairs)


class PlainLSTM(nn.Module):
    """The classifier as a PyTorch user writes it: nn.Embedding, packed nn.LSTM, additive attention."""

    def __init__(self, model: AttentionClassifier) -> None:
        super().__init__()
        words, size = model.embedding.weight.shape
        self.embedding = nn.Embedding(words, size)
        self.rnn = nn.LSTM(size, 4, batch_first=True, bidirectional=True)
        self.first, self.second = nn.Linear(8, 4), nn.Linear(4, 1, bias=False)
        self.out = nn.Linear(8, 1)
        for own, theirs in (
            (self.embedding, model.embedding),
            (self.rnn, model.encoder.rnn),
            (self.first, model.attention.attn1),
            (self.second, model.attention.attn2),
            (self.out, model.decoder),
        ):
            own.load_state_dict(theirs.state_dict())  # type: ignore[union-attr]

    def forward(self, batch: Batch) -> Tensor:
        sequence = nn.utils.rnn.pack_padded_sequence(
            self.embedding(batch.ids), batch.lengths, batch_first=True, enforce_sorted=False
        )
        hidden, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(sequence)[0], batch_first=True)
        scores = self.second(torch.tanh(self.first(hidden)))[..., 0]
        attention = scores.masked_fill(~batch.maskable, -torch.inf).softmax(-1)
        return self.out((attention[..., None] * hidden).sum(1))[:, 0]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_curve_is_that_of_a_plain_loop_in_torch(weighted: bool) -> None:
    data = splits()
    config = replace(
        CONFIG,
        weight_decay=0.01,
        loss="sum" if weighted else "mean",
        class_weights="positive" if weighted else "none",
        clip=1.0 if weighted else None,
    )
    model = classifier("bilstm")
    plain = PlainLSTM(model)
    attention = [*plain.first.parameters(), *plain.second.parameters()]
    others = [p for p in plain.parameters() if not any(p is own for own in attention)]
    adam = torch.optim.Adam(
        [{"params": others, "weight_decay": 0.01}, {"params": attention, "weight_decay": 0}],
        lr=0.02,
        amsgrad=True,
    )
    train = data["train"]
    positives = train.labels.sum()
    pos_weight = torch.tensor((30 - positives) / positives if weighted else 1.0)
    curve = []
    for epoch in range(3):
        total = 0.0
        for rows in training_batches(train.ids.lengths(), 8, seed=0, epoch=epoch):
            batch = collate(train, rows)
            assert batch.labels is not None
            loss = nn.functional.binary_cross_entropy_with_logits(
                plain(batch), batch.labels.float(), reduction=config.loss, pos_weight=pos_weight
            )
            adam.zero_grad()
            loss.backward()
            if config.clip is not None:
                nn.utils.clip_grad_norm_(plain.parameters(), config.clip)
            adam.step()
            total += loss.item() * (1 if weighted else len(rows))
        curve.append(total / 30)
    assert curve[2] < curve[0]
    fitted = fit(model, data, config)
    assert [epoch["train_loss"] for epoch in fitted.history] == pytest.approx(curve, abs=1e-5)


def test_clipping_bounds_the_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    norms = []
    original = module.optimiser.make

    def observed(model: nn.Module, config: TrainConfig) -> torch.optim.Adam:
        adam = original(model, config)
        adam.register_step_pre_hook(
            lambda *_: norms.append(
                math.sqrt(sum(float(p.grad.square().sum()) for p in model.parameters() if p.grad is not None))
            )
        )
        return adam

    monkeypatch.setattr(module.optimiser, "make", observed)
    fit(classifier("bilstm"), splits(), replace(CONFIG, loss="sum", clip=0.25))
    assert norms == pytest.approx([0.25] * 12, rel=1e-4)
    norms.clear()
    fit(classifier("bilstm"), splits(), replace(CONFIG, loss="sum"))
    assert max(norms) > 1


def test_a_training_set_can_be_learnt_by_heart() -> None:
    data = splits()
    data["validation"] = data["train"]
    fitted = fit(model := classifier("bilstm"), data, replace(CONFIG, epochs=20, select_by="loss"))
    assert metrics(predict(model, data["train"]), data["train"].labels)["accuracy"] == 1
    assert fitted.history[-1]["train_loss"] < 0.1 < fitted.history[0]["train_loss"]


@pytest.mark.parametrize("task", ["pair", "cloze"])
def test_pairs_and_cloze_questions_can_be_learnt_by_heart(task: str) -> None:
    model = classifier("bilstm", task=task, classes=3)  # type: ignore[arg-type]
    data = splits(task, 3)
    data["validation"] = data["train"]
    fit(model, data, replace(CONFIG, epochs=30, learning_rate=0.05, select_by="loss"))
    assert metrics(predict(model, data["train"]), data["train"].labels)["accuracy"] == 1


def test_the_history_says_what_was_measured_after_each_epoch() -> None:
    data = splits()
    fitted = fit(model := classifier(), data, replace(CONFIG, select_on="test"))
    assert [epoch["epoch"] for epoch in fitted.history] == [1, 2, 3]
    assert {epoch["split"] for epoch in fitted.history} == {"test"}
    expected = metrics(predict(model, data["test"]), data["test"].labels)
    found = fitted.history[fitted.epoch - 1]
    assert {name: found[name] for name in METRICS} == expected


class Scripted(nn.Module):
    """Predicts, in epoch i, the positive class with the i-th of some probabilities, whatever the text."""

    n_classes = 2

    def __init__(self, *script: float) -> None:
        super().__init__()
        self.script = script
        self.weight = nn.Parameter(torch.zeros(1))
        self.register_buffer("epoch", torch.tensor(-1))
        self.was_training = False

    def forward(self, batch: Batch) -> Output:
        if self.training and not self.was_training:
            self.epoch += 1
        self.was_training = self.training
        probability = torch.tensor(self.script[int(self.epoch)])
        return Output(probability.logit() + 0 * self.weight.expand(len(batch), 1))


POSITIVE: dict[Split, Encoded] = {split: encode([[4], [5]], [1, 1]) for split in ("train", "validation")}


def kept(*script: float, **settings: Any) -> tuple[int, int, int]:
    """The kept epoch, the epoch whose weights the model holds, and the number of epochs."""
    model = Scripted(*script)
    fitted = fit(model, POSITIVE, TrainConfig(**{"epochs": len(script), "select_by": "loss", **settings}))
    return fitted.epoch, int(model.epoch) + 1, len(fitted.history)


def test_the_best_epoch_is_kept_with_its_weights() -> None:
    assert kept(0.1, 0.6, 0.9, 0.7) == (3, 3, 4)


def test_the_first_of_two_equal_epochs_is_kept() -> None:
    assert kept(0.1, 0.9, 0.7, 0.9) == (2, 2, 4)


def test_a_lower_loss_is_better_and_a_higher_accuracy() -> None:
    assert kept(0.6, 0.9, 0.1, select_by="loss") == (2, 2, 3)
    assert kept(0.4, 0.9, 0.1, select_by="accuracy") == (2, 2, 3)
    assert kept(0.6, 0.9, 0.7, select_by="calibration_error") == (2, 2, 3)


def test_where_the_metric_is_never_defined_the_last_epoch_is_kept() -> None:
    assert kept(0.6, 0.9, 0.7, select_by="roc_auc") == (3, 3, 3)


def test_patience_ends_the_training_after_as_many_epochs_without_a_better_value() -> None:
    assert kept(0.5, 0.6, 0.55, 0.6, 0.9, patience=2) == (2, 2, 4)
    assert kept(0.5, 0.6, 0.55, 0.7, 0.9, patience=2) == (5, 5, 5)
    assert kept(0.5, 0.4, 0.9, patience=1) == (1, 1, 2)


def test_patience_also_ends_a_training_whose_metric_is_never_defined() -> None:
    assert kept(0.5, 0.4, 0.9, patience=2, select_by="roc_auc") == (2, 2, 2)


def test_a_model_is_left_ready_for_use() -> None:
    model = classifier()
    fit(model, splits(), CONFIG)
    assert not model.training


def test_a_loss_that_is_not_a_number_is_named_with_its_epoch_and_step() -> None:
    class Failing(Scripted):
        def forward(self, batch: Batch) -> Output:
            output = super().forward(batch)
            return replace(output, logits=output.logits * torch.nan) if self.epoch == 1 else output

    data: dict[Split, Encoded] = {split: encode([[4]] * 6, [0, 1] * 3) for split in ("train", "validation")}
    with pytest.raises(JobError, match=r"the loss became nan in epoch 2, step 1 .*--learning-rate"):
        fit(Failing(0.5, 0.5), data, TrainConfig(batch_size=2))


def test_a_learning_rate_that_is_far_too_high_is_a_job_that_failed() -> None:
    with pytest.raises(JobError, match=r"the loss became (inf|nan) in epoch \d+, step \d+"):
        fit(classifier("average"), splits(), replace(CONFIG, learning_rate=1e30, epochs=20))


@pytest.mark.parametrize("train", [None, encode([])], ids=["missing", "empty"])
def test_without_training_texts_there_is_nothing_to_train_on(train: Encoded | None) -> None:
    data: dict[Split, Encoded] = {"validation": some_split(4)} | ({} if train is None else {"train": train})
    with pytest.raises(DataError, match=r"expected a train split, found .*nothing to train on"):
        fit(classifier(), data, CONFIG)


@pytest.mark.parametrize("validation", [None, encode([])], ids=["missing", "empty"])
def test_the_split_to_select_on_must_be_there(validation: Encoded | None) -> None:
    data: dict[Split, Encoded] = {"train": some_split(4)}
    if validation is not None:
        data["validation"] = validation
    with pytest.raises(ConfigError, match=r"expected a validation split .*--select-on"):
        fit(classifier(), data, CONFIG)


def test_an_unknown_metric_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"unknown metric 'f2': known are f1_positive, "):
        fit(classifier(), splits(), replace(CONFIG, select_by="f2"))


def test_the_positive_class_needs_two_classes() -> None:
    with pytest.raises(ConfigError, match=r"f1_positive needs two classes, found 3"):
        fit(classifier(classes=3), splits(classes=3), replace(CONFIG, select_by="f1_positive"))


def test_a_batch_in_parts_gives_the_training_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for loss in ("mean", "sum"):
        config = replace(CONFIG, loss=loss)
        whole, parted = classifier(), classifier()
        expected = fit(whole, splits(), config)
        with monkeypatch.context() as patch:
            few = partial(batching.parts, tokens=20)
            patch.setattr(module, "parts", few)
            found = fit(parted, splits(), config)
        for one, other in zip(found.history, expected.history, strict=True):
            assert one["train_loss"] == pytest.approx(other["train_loss"], abs=1e-5)
        for name, value in whole.state_dict().items():
            torch.testing.assert_close(parted.state_dict()[name], value, rtol=1e-3, atol=1e-5)


def test_events_tell_every_step_and_every_epoch() -> None:
    events: list[Event] = []
    fitted = fit(classifier(), splits(), replace(CONFIG, epochs=2), on_event=events.append)
    places = [(event.epoch, event.step, event.steps, bool(event.metrics)) for event in events]
    steps = [(step, 4, False) for step in (1, 2, 3, 4)]
    assert places == [(epoch, *rest) for epoch in (1, 2) for rest in [*steps, (4, 4, True)]]
    assert {event.epochs for event in events} == {2}
    assert [event.loss for event in events if event.metrics] == [e["train_loss"] for e in fitted.history]


def dropping() -> AttentionClassifier:
    """A model whose training is random: it drops half of the embedding."""
    model = classifier("mlp")
    model.encoder = DropFirst(model.encoder)
    return model


class DropFirst(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner, self.dropout = inner, nn.Dropout(0.5)

    def forward(self, rows: Any, lengths: Tensor) -> Any:
        return self.inner(rows._replace(vectors=self.dropout(rows.vectors)), lengths)


@pytest.mark.parametrize("make", [dropping, lambda: classifier("bilstm")], ids=["dropout", "bilstm"])
def test_the_same_training_ends_with_the_same_weights(make: Callable[[], AttentionClassifier]) -> None:
    one, two = make(), make()
    history = fit(one, splits(), CONFIG).history
    torch.manual_seed(99)
    assert fit(two, splits(), CONFIG).history == history
    assert equal(one, two)


@pytest.mark.parametrize("make", [dropping, lambda: classifier("bilstm")], ids=["dropout", "bilstm"])
def test_another_seed_ends_with_other_weights(make: Callable[[], AttentionClassifier]) -> None:
    one, two = make(), make()
    fit(one, splits(), CONFIG)
    fit(two, splits(), replace(CONFIG, seed=1))
    assert not equal(one, two)


def test_dropout_differs_from_step_to_step() -> None:
    seen = []

    class Noting(Scripted):
        def forward(self, batch: Batch) -> Output:
            seen.append(tuple(nn.functional.dropout(torch.ones(30), 0.5, self.training).tolist()))
            return super().forward(batch)

    data: dict[Split, Encoded] = {"train": some_split(6), "validation": some_split(3)}
    fit(Noting(0.5, 0.5), data, TrainConfig(epochs=2, batch_size=2))
    judged = tuple([1.0] * 30)
    assert [row == judged for row in seen] == [False, False, False, True] * 2
    assert len(set(seen)) == 7


def test_training_leaves_the_random_state_of_torch_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    fit(dropping(), splits(), CONFIG)
    assert torch.equal(torch.rand(3), expected)


def test_gradients_from_before_the_training_do_not_count() -> None:
    fresh, used = classifier("bilstm"), classifier("bilstm")
    batch = collate(splits()["test"], np.arange(5))
    used(batch).logits.sum().backward()
    used.forward_embedded(used.embed(batch), batch).logits.sum().backward()
    fit(fresh, splits(), CONFIG)
    fit(used, splits(), CONFIG)
    assert equal(fresh, used)


class Interrupted(Exception):  # noqa: N818 nothing went wrong
    pass


def interruption(at: int) -> Callable[[Event], None]:
    counter = iter(range(1, 10_000))

    def interrupt(_: Event) -> None:
        if next(counter) == at:
            raise Interrupted

    return interrupt


@pytest.fixture
def always_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECKPOINT_EVERY", -1.0)


@pytest.mark.usefixtures("always_saving")
@pytest.mark.parametrize("make", [dropping, lambda: classifier("bilstm")], ids=["dropout", "bilstm"])
def test_a_training_interrupted_after_any_step_ends_as_one_that_was_not(
    tmp_path: Path, make: Callable[[], AttentionClassifier]
) -> None:
    whole, config = make(), replace(CONFIG, epochs=2)
    expected = fit(whole, splits(), config)
    for place in range(1, 11):
        folder = tmp_path / str(place)
        with pytest.raises(Interrupted):
            fit(make(), splits(), config, folder=folder, on_event=interruption(place))
        events: list[Event] = []
        resumed = make()
        found = fit(resumed, splits(), config, folder=folder, on_event=events.append)
        assert len(events) == 10 - place + 1, "only what was not saved is done again"
        assert (found.epoch, found.history) == (expected.epoch, expected.history)
        assert equal(resumed, whole)


def test_a_training_interrupted_between_checkpoints_repeats_the_epoch(tmp_path: Path) -> None:
    whole = classifier("bilstm")
    expected = fit(whole, splits(), CONFIG)
    with pytest.raises(Interrupted):
        fit(classifier("bilstm"), splits(), CONFIG, folder=tmp_path, on_event=interruption(8))
    events: list[Event] = []
    resumed = classifier("bilstm")
    found = fit(resumed, splits(), CONFIG, folder=tmp_path, on_event=events.append)
    assert (events[0].epoch, events[0].step) == (2, 1)
    assert found.history == expected.history
    assert equal(resumed, whole)


@pytest.mark.usefixtures("always_saving")
def test_a_training_interrupted_again_and_again_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole, resumed = classifier("bilstm"), classifier("bilstm")
    expected = fit(whole, splits(), CONFIG)
    found = None
    while found is None:
        resumed = classifier("bilstm")
        try:
            found = fit(resumed, splits(), CONFIG, folder=tmp_path, on_event=interruption(3))
        except Interrupted:
            continue
    assert found.history == expected.history
    assert equal(resumed, whole)


def test_a_training_that_is_over_is_not_done_again(tmp_path: Path) -> None:
    first, again = classifier(), classifier()
    expected = fit(first, splits(), CONFIG, folder=tmp_path)
    events: list[Event] = []
    found = fit(again, splits(), CONFIG, folder=tmp_path, on_event=events.append)
    assert events == []
    assert (found.epoch, found.history) == (expected.epoch, expected.history)
    assert equal(first, again)


def test_a_checkpoint_changes_no_number(tmp_path: Path) -> None:
    with_folder, without = classifier("bilstm"), classifier("bilstm")
    fit(with_folder, splits(), CONFIG, folder=tmp_path)
    fit(without, splits(), CONFIG)
    assert equal(with_folder, without)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def altered(data: dict[Split, Encoded], split: Split, **changes: Any) -> dict[Split, Encoded]:
    return {**data, split: replace(data[split], **changes)}


def others() -> dict[str, tuple[AttentionClassifier, dict[Split, Encoded], TrainConfig]]:
    """Trainings that differ in one thing from that of `classifier(task="pair")` on `splits("pair")`."""
    data = splits("pair")
    train = data["train"]
    assert train.pair_ids is not None
    same = classifier(task="pair")
    masked = replace(train.spans, values=train.spans.values.copy())
    masked.values[1] = -1
    later = np.append(train.ids.offsets[:-2], [train.ids.offsets[-2] + 1, train.ids.offsets[-1]])
    return {
        "learning rate": (same, data, replace(CONFIG, learning_rate=0.03)),
        "seed": (same, data, replace(CONFIG, seed=1)),
        "weights": (classifier(task="pair", seed=1), data, CONFIG),
        "temperature": (classifier(task="pair", temperature=2.0), data, CONFIG),
        "distribution": (classifier(task="pair", distribution="sparsemax"), data, CONFIG),
        "labels": (same, altered(data, "train", labels=1 - train.labels), CONFIG),
        "words": (same, altered(data, "train", ids=ragged([[4]] * 30)), CONFIG),
        "borders of texts": (same, altered(data, "train", ids=replace(train.ids, offsets=later)), CONFIG),
        "what is attended to": (same, altered(data, "train", spans=masked), CONFIG),
        "second texts": (same, altered(data, "train", pair_ids=ragged([[4]] * 30)), CONFIG),
        "selecting split": (same, {**data, "validation": data["test"]}, CONFIG),
    }


@pytest.mark.parametrize("what", list(others()))
def test_a_checkpoint_is_refused_by_a_training_with_another(tmp_path: Path, what: str) -> None:
    with pytest.raises(Interrupted):
        fit(classifier(task="pair"), splits("pair"), CONFIG, folder=tmp_path, on_event=interruption(8))
    model, data, config = others()[what]
    with pytest.raises(DataError, match="belongs to a training with other settings or data"):
        fit(model, data, config, folder=tmp_path)


def test_a_training_that_does_not_select_on_the_test_split_goes_on_with_another_one(tmp_path: Path) -> None:
    data = splits()
    with pytest.raises(Interrupted):
        fit(classifier(), data, CONFIG, folder=tmp_path, on_event=interruption(8))
    del data["test"]
    fit(classifier(), data, CONFIG, folder=tmp_path)


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        fit(classifier(), splits(), CONFIG, folder=tmp_path, on_event=interruption(8))
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DataError, match="damaged"):
        fit(classifier(), splits(), CONFIG, folder=tmp_path)


SCRIPT = """
import sys
from pathlib import Path
import safetensors.torch
from fakes import classifier, some_split
from faithgauge.config import TrainConfig
from faithgauge.train import fit as module

module.CHECKPOINT_EVERY = 0.0
model = classifier("bilstm", hidden_size=64)
splits = {"train": some_split(400), "validation": some_split(40, seed=50)}
module.fit(
    model, splits, TrainConfig(epochs=4, batch_size=8), folder=Path(sys.argv[1]),
    on_event=lambda event: print(event.epoch, event.step, flush=True),
)
safetensors.torch.save_file(model.state_dict(), Path(sys.argv[1]) / "weights.safetensors")
"""


@pytest.mark.slow
def test_a_training_killed_in_the_middle_of_an_epoch_ends_with_the_same_bytes(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "OMP_NUM_THREADS": "1"}

    def start(folder: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(folder)], stdout=subprocess.PIPE, text=True, env=environment
        )

    with start(tmp_path / "whole") as whole:
        assert whole.stdout is not None
        assert len(whole.stdout.readlines()) == 4 * 51
    assert whole.returncode == 0
    with start(tmp_path / "killed") as killed:
        assert killed.stdout is not None
        for line in killed.stdout:
            if line == "3 17\n":
                killed.kill()
                break
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed" / "weights.safetensors").exists()
    with start(tmp_path / "killed") as resumed:
        assert resumed.stdout is not None
        epoch, step = map(int, resumed.stdout.readline().split())
        assert epoch == 3, "it goes on where it was killed"
        assert step >= 17
        resumed.stdout.read()
    assert resumed.returncode == 0
    one, two = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "killed"))
    assert one == two
