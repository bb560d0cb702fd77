"""What a training works towards, beside the labels: another model's output and not its attention."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest
import torch
from fakes import EOS, SOS, classifier, encode, ragged, set_weights, some_split
from torch import Tensor, nn

from faithgauge.config import AdversaryConfig, TrainConfig
from faithgauge.encode.batching import collate
from faithgauge.errors import JobError
from faithgauge.train.fit import fit, labels
from faithgauge.train.goals import Covered, Goal, Opposition
from faithgauge.train.predict import predict, say
from faithgauge.types import Batch, Encoded, Output, Ragged, Said, Split

LN2 = log(2)


class Fixed(nn.Module):
    """It says p of class 1, and attends as its one parameter says, the same for every text of two tokens."""

    n_classes = 2
    capabilities = frozenset({"attention"})

    def __init__(self, p: float, first: float) -> None:
        super().__init__()
        self.p, self.first = (nn.Parameter(torch.tensor(value)) for value in (p, first))

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Output:
        row = torch.stack([torch.zeros(()), self.first, 1 - self.first, torch.zeros(())])
        logit = torch.logit(self.p).expand(len(batch), 1)
        return Output(logit, row.expand(len(batch), 4) if attention is None else attention)


TEXTS = encode([[SOS, 4, 5, EOS]] * 2, [0, 1])
SPLITS: dict[Split, Encoded] = {"train": TEXTS, "validation": TEXTS}


def base(*probability: float, first: float = 1.0) -> dict[Split, Said]:
    p = np.array([[1 - value, value] for value in probability], np.float32)
    said = Said(p, ragged([[0, first, 1 - first, 0]] * len(p), np.float32))
    return {"train": said, "validation": said}


def batch() -> Batch:
    return collate(TEXTS, np.arange(2), classes=2)


def test_the_loss_of_an_adversary_by_hand() -> None:
    """It says .7 where the base says .9 and .3: ½·.2 and ½·.4, of ½ at most; its attention is elsewhere."""
    goal = Opposition(SPLITS, base(0.9, 0.3), AdversaryConfig())
    assert isinstance(goal, Goal)
    assert float(goal.loss(Fixed(0.7, 0.0), batch()).detach()) == pytest.approx(0.3 - 1)


def test_a_sum_counts_every_text_and_the_weight_every_nat() -> None:
    """Σ (TVD − λ KL): .1 + .2 − 2 · .01 · ln 2, where KL((½, ½) ‖ (¼, ¾)) = (ln 2 + ln 2/3) / 2."""
    goal = Opposition(SPLITS, base(0.9, 0.3, first=0.25), AdversaryConfig("kl", 0.01), "sum")
    kl = (log(2) + log(2 / 3)) / 2
    assert float(goal.loss(Fixed(0.7, 0.5), batch()).detach()) == pytest.approx(0.3 - 2 * 0.01 * kl)


def test_with_a_weight_of_0_only_the_output_counts() -> None:
    goal = Opposition(SPLITS, base(0.9, 0.3), AdversaryConfig("kl", 0.0))
    assert float(goal.loss(Fixed(0.7, 0.0), batch()).detach()) == pytest.approx(0.15)


def test_the_other_sign_seeks_the_same_attention() -> None:
    goal = Opposition(SPLITS, base(0.7, 0.7), AdversaryConfig(), sign=-1)
    assert float(goal.loss(Fixed(0.7, 0.0), batch()).detach()) == pytest.approx(1)
    assert float(goal.loss(Fixed(0.7, 1.0), batch()).detach()) == pytest.approx(0)


def test_a_split_is_judged_by_its_mean_distances() -> None:
    judged = Opposition(SPLITS, base(0.9, 0.3), AdversaryConfig()).judge(Fixed(0.7, 0.0), "validation")
    assert judged["tvd"] == pytest.approx(0.15)
    assert judged["jsd"] == pytest.approx(LN2)
    assert judged["loss"] == pytest.approx(0.3 - 1)
    assert judged["f1_positive"] == pytest.approx(2 / 3)


def test_the_base_is_looked_up_by_the_rows_of_the_batch() -> None:
    goal = Opposition(SPLITS, base(0.9, 0.3), AdversaryConfig())
    one = collate(TEXTS, np.array([1]), classes=2)
    assert float(goal.loss(Fixed(0.7, 0.0), one).detach()) == pytest.approx(0.4 - 1)


def test_of_three_classes_the_output_counts_whole() -> None:
    model = classifier(classes=3).eval()
    data = some_split(8, classes=3)
    said = {"train": say(model, data), "validation": say(model, data)}
    turned = {
        split: replace(one, probability=np.roll(one.probability, 1, axis=1)) for split, one in said.items()
    }
    goal = Opposition({"train": data, "validation": data}, turned, AdversaryConfig())
    p = said["train"].probability.astype(np.float64)
    expected = np.abs(p - np.roll(p, 1, axis=1)).sum(1).mean() / 2
    assert goal.judge(model, "validation")["loss"] == pytest.approx(expected, abs=1e-6)


def test_both_texts_of_a_two_sided_pair_count() -> None:
    model = classifier(task="pair", pair="two_sided").eval()
    data = some_split(6, task="pair")
    said = say(model, data)
    assert said.pair is not None
    goal = Opposition(
        {"train": data, "validation": data}, {"train": said, "validation": said}, AdversaryConfig()
    )
    assert goal.judge(model, "validation")["loss"] == pytest.approx(0, abs=1e-6)
    assert float(goal.loss(model, collate(data, np.arange(6), classes=2)).detach()) == pytest.approx(
        0, abs=1e-5
    )
    elsewhere = replace(said, pair=Ragged(np.zeros_like(said.pair.values), said.pair.offsets))
    both = {"train": elsewhere, "validation": elsewhere}
    other = Opposition({"train": data, "validation": data}, both, AdversaryConfig())
    assert other.judge(model, "validation")["jsd"] > 0


@pytest.mark.parametrize("encoder", ["mlp", "bilstm", "average", "cnn", "gru", "transformer-small"])
@pytest.mark.parametrize("task", ["single", "pair", "cloze"])
def test_every_encoder_and_form_can_be_opposed(encoder: str, task: str) -> None:
    model = classifier(encoder, task=task, classes=3)  # type: ignore[arg-type]
    data = some_split(12, classes=3, task=task)  # type: ignore[arg-type]
    splits: dict[Split, Encoded] = {"train": data, "validation": data}
    said = {split: say(model, data) for split in splits}
    before = model.state_dict()["decoder.weight"].clone()
    goal = Opposition(splits, said, AdversaryConfig())
    found = fit(model, splits, TrainConfig(epochs=1, batch_size=4, select_by="loss"), goal=goal)
    assert -1 <= found.history[0]["loss"] <= 1
    assert not torch.equal(model.state_dict()["decoder.weight"], before)


def test_a_loss_that_is_not_a_number_says_where(tmp_path: object) -> None:
    goal = Opposition(SPLITS, base(float("nan"), 0.3), AdversaryConfig())
    with pytest.raises(JobError, match=r"loss became nan in epoch 1, step 1 \(training rows \[.*\] …\)"):
        fit(Fixed(0.7, 0.4), SPLITS, TrainConfig(epochs=1, select_by="loss"), goal=goal)


def test_another_goal_is_another_training() -> None:
    """Else a checkpoint of one adversary could be gone on with as another."""
    said = base(0.9, 0.3)
    goals = [
        Opposition(SPLITS, said, AdversaryConfig()),
        Opposition(SPLITS, said, AdversaryConfig("kl", 0.1)),
        Opposition(SPLITS, said, AdversaryConfig("kl", 0.2)),
        Opposition(SPLITS, said, AdversaryConfig(), sign=-1),
        Opposition(SPLITS, base(0.8, 0.3), AdversaryConfig()),
        Opposition(SPLITS, base(0.9, 0.3, first=0.5), AdversaryConfig()),
    ]
    assert len({b"".join(goal.identity()) for goal in goals}) == 6


def guide(*first: float) -> dict[Split, Ragged]:
    weights = ragged([[0, value, 1 - value, 0] for value in first], np.float32)
    return {"train": weights, "validation": weights}


def two_words() -> nn.Module:
    """Word 4 says class 1 with logit 2, word 5 class 0 with −2; attention is what is given."""
    model = classifier("average", embed_size=1, hidden_size=2, vocabulary=6)
    with torch.no_grad():
        model.embedding.weight.copy_(torch.tensor([[0.0], [0], [0], [0], [1], [-1]]))
    set_weights(model, encoder__layer__weight=[[1.0], [-1.0]], encoder__layer__bias=[0.0, 0.0])
    set_weights(model, decoder__weight=[[2.0, -2.0]], decoder__bias=[0.0])
    return model


@pytest.mark.parametrize("training", [True, False])
def test_a_guided_model_is_given_the_attention_of_its_guide(training: bool) -> None:
    """Attention .75 to the positive word: logit 2·.75 − 2·.25 = 1, so that −ln σ(1) for class 1."""
    model = two_words().train(training)
    data = encode([[SOS, 4, 5, EOS]], [1])
    splits: dict[Split, Encoded] = {"train": data, "validation": data}
    goal = labels(model, splits, TrainConfig(), guide=guide(0.75))
    expected = float(np.log1p(np.exp(-1)))
    assert float(goal.loss(model, collate(data, np.array([0]), classes=2)).detach()) == pytest.approx(
        expected
    )
    assert goal.judge(model, "validation")["loss"] == pytest.approx(expected)
    p = predict(model, data, guide=guide(0.75)["validation"])
    assert p[0, 1] == pytest.approx(1 / (1 + np.exp(-1)))


def test_another_guide_is_another_training() -> None:
    model, data = two_words(), encode([[SOS, 4, 5, EOS]], [1])
    splits: dict[Split, Encoded] = {"train": data, "validation": data}
    ways = [guide(0.75), guide(0.5), None]
    goals = [labels(model, splits, TrainConfig(), guide=way) for way in ways]
    assert len({b"".join(goal.identity()) for goal in goals}) == 3


def test_a_guided_training_learns_from_the_words_that_it_is_shown() -> None:
    """Word 4 tells the class; a guide that shows the other word leaves nothing to learn but the share."""
    texts = [[SOS, word, 6, EOS] for word in (4, 5)] * 16
    data = encode(texts, [1, 0] * 16)
    splits: dict[Split, Encoded] = {"train": data, "validation": data}
    config = TrainConfig(epochs=20, learning_rate=0.05, batch_size=8, select_by="loss")
    reached = {}
    for first in (1.0, 0.0):
        model, way = classifier(vocabulary=8), guide(*[first] * 32)
        fit(model, splits, config, goal=labels(model, splits, config, guide=way))
        reached[first] = predict(model, data, guide=way["validation"])[:, 1]
    assert ((reached[1.0] > 0.5) == data.labels).all()
    assert reached[0.0] == pytest.approx(np.full(32, reached[0.0][0]))


@pytest.mark.parametrize("first_text", [True, False])
def test_of_a_pair_in_one_row_the_first_text_alone_is_masked_in_training_where_that_is_said(
    first_text: bool,
) -> None:
    """Twelve rows [begin] 4 5 6 [end] 7 8 9 [end] whose model keeps the ids that it is given."""
    seen: list[Tensor] = []

    class Watching(nn.Module):
        n_classes = 2

        def forward(self, batch: Batch) -> Output:
            seen.append(batch.ids)
            return Output(torch.zeros(len(batch), 2, requires_grad=True))

    own = encode([[2, 4, 5, 6, 3, 7, 8, 9, 3]] * 12, [0, 1] * 6)
    sides = np.tile([0, 0, 0, 0, 0, 1, 1, 1, 1], 12).astype(np.int32)
    own = replace(own, segments=Ragged(sides, own.ids.offsets))
    goal = Covered(labels(Watching(), {"train": own}, TrainConfig()), 10, 0, first_text)
    torch.manual_seed(0)
    goal.loss(Watching(), collate(own, np.arange(12)))
    goal.judge(Watching(), "train")
    trained, whole, judged = seen
    assert not (whole == 10).any()
    for ids in (trained, judged):
        assert (ids[:, 1:4] == 10).any()
        assert bool((ids[:, 5:8] == 10).any()) is not first_text
        assert not (ids[:, [0, 4, 8]] == 10).any()
