"""Models of ours keep every promise; each broken one is found, with the promise that it breaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from fakes import classifier
from torch import Tensor, nn

from faithgauge.config import ModelConfig
from faithgauge.models.check import CAPABILITIES, Finding, check_model, example_batch
from faithgauge.models.classifier import Shape, build
from faithgauge.models.embedding import Rows
from faithgauge.models.encoders import ENCODERS
from faithgauge.types import Batch, Output, Task

SHAPE = Shape(24, ("no", "yes"), "single")
PROMISES = ["forward", "padding", *CAPABILITIES]
SINGLE = {**dict.fromkeys(PROMISES, "ok"), "two_sided": "missing"}
"""What a good model for single texts has."""
PLAIN = {**SINGLE, "entry": "missing"}
"""The same without the shortcut for many variants of one text."""


def statuses(findings: list[Finding]) -> dict[str, str]:
    return {finding.promise: finding.status for finding in findings}


def detail(findings: list[Finding], promise: str) -> str:
    (found,) = [finding.detail for finding in findings if finding.promise == promise]
    return found


# ---- models of ours


@pytest.mark.parametrize("distribution", ["softmax", "sparsemax", "entmax15", "uniform"])
@pytest.mark.parametrize("attention", ["additive", "dot"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_model_for_single_texts_keeps_every_promise(
    encoder: str, attention: str, distribution: str
) -> None:
    findings = check_model(classifier(encoder, attention=attention, distribution=distribution), SHAPE)
    assert statuses(findings) == SINGLE


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [("pair", "queried"), ("pair", "two_sided"), ("cloze", "queried")])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_model_for_two_texts_keeps_every_promise_and_does_not_claim_to_be_linear(
    encoder: str, options: tuple[Task, str], classes: int
) -> None:
    task, form = options
    model = classifier(encoder, task=task, classes=classes, pair=form)
    findings = check_model(model, Shape(24, tuple("abc"[:classes]), task))
    missing = {"linear": "missing"} | ({} if form == "two_sided" else {"two_sided": "missing"})
    assert statuses(findings) == {**dict.fromkeys(PROMISES, "ok"), **missing}
    assert detail(findings, "linear") == "not among its capabilities; exact adversaries need it"


def test_a_model_of_the_papers_size_keeps_every_promise() -> None:
    shape = Shape(5000, tuple(map(str, range(4))), "single")
    findings = check_model(build(ModelConfig("bilstm"), shape, seed=0), shape)
    assert statuses(findings) == SINGLE
    assert detail(findings, "forward") == "logits (3, 4)"
    assert detail(findings, "embedding") == "embeds to 300 numbers, with a gradient"


@pytest.mark.parametrize("vocabulary", [5, 6, 8])
def test_a_vocabulary_of_a_few_words_is_enough(vocabulary: int) -> None:
    findings = check_model(classifier(vocabulary=vocabulary), replace(SHAPE, vocabulary=vocabulary))
    assert statuses(findings) == SINGLE


# ---- the batch


def test_the_example_is_three_texts_of_three_to_five_words_between_special_tokens() -> None:
    batch = example_batch(SHAPE)
    assert batch.lengths.tolist() == [5, 6, 7]
    assert batch.maskable.sum(-1).tolist() == [3, 4, 5]
    assert batch.valid.sum(-1).tolist() == [5, 6, 7]
    assert batch.maskable[0].tolist() == [False, True, True, True, False, False, False]
    assert (batch.pair, batch.candidates) == (None, None)


@pytest.mark.parametrize("vocabulary", [5, 24, 100, 30_000])
def test_its_ids_are_words_of_the_vocabulary_and_padding(vocabulary: int) -> None:
    batch = example_batch(replace(SHAPE, vocabulary=vocabulary))
    ids = batch.ids[batch.valid]
    assert 4 <= ids.min() <= ids.max() < vocabulary
    assert batch.ids[~batch.valid].unique().tolist() == [0]
    assert vocabulary == 5 or all(
        len(row[valid].unique()) > 3 for row, valid in zip(batch.ids, batch.valid, strict=True)
    )


def test_it_has_what_the_task_needs() -> None:
    pair, cloze = (example_batch(replace(SHAPE, task=task)) for task in ("pair", "cloze"))
    assert pair.pair is not None
    assert pair.candidates is None
    assert cloze.pair is not None
    assert cloze.candidates is not None
    assert cloze.candidates.tolist() == [[True, True]] * 3


# ---- models that break a promise: each differs from a good one in one thing


class Other(nn.Module):
    """A good model, whose methods the tests below change one by one."""

    def __init__(self, *, classes: int = 2, task: Task = "single") -> None:
        super().__init__()
        self.good = classifier("bilstm", classes=classes, task=task)
        self.n_classes = classes
        self.capabilities: Any = self.good.capabilities - {"entry"}

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        return self.good(batch, attention)

    def embed(self, batch: Batch) -> Any:
        return self.good.embed(batch)

    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Any:
        return self.good.forward_embedded(embedded, batch, attention)

    def decode(self, hidden: Tensor, attention: Tensor, batch: Batch) -> Any:
        return self.good.decode(hidden, attention, batch)


class TooManyClasses(Other):
    def __init__(self) -> None:
        super().__init__()
        self.n_classes = 3


class NoClasses(Other):
    def __init__(self) -> None:
        super().__init__()
        del self.n_classes


class WideLogits(Other):
    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        return replace(self.good(batch, attention), logits=torch.zeros(len(batch), 5))


class OneRow(Other):
    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        return replace(self.good(batch, attention), logits=torch.zeros(1, 2))


class NanLogits(Other):
    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        return replace(self.good(batch, attention), logits=torch.full((len(batch), 1), torch.nan))


class Raises(Other):
    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        raise ValueError("not\ntoday")


class BareTensor(Other):
    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        return self.good(batch, attention).logits


class Nondeterministic(Other):
    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        output = self.good(batch, attention)
        return replace(output, logits=output.logits + torch.rand(()))


class NeverTheSame(Other):
    """As dropout that is left on, but other every time for certain."""

    calls = 0

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        self.calls += 1
        output = self.good(batch, attention)
        return replace(output, logits=output.logits + self.calls)


class PaddingLeaks(Other):
    """Divides by the width of the batch."""

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        output = self.good(batch, attention)
        return replace(output, logits=output.logits + 1 / batch.ids.shape[1])


class ReadsNeighbours(Other):
    """Normalises over the batch."""

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        output = self.good(batch, attention)
        return replace(output, logits=output.logits - output.logits.mean())


class FlatEmbedding(Other):
    def embed(self, batch: Batch) -> Any:
        return self.good.embed(batch).flatten(1)


class OtherEmbedding(Other):
    def embed(self, batch: Batch) -> Any:
        return self.good.embed(batch) * 2


class NoGradient(Other):
    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Any:
        return self.good.forward_embedded(embedded.detach(), batch, attention)


class GradientOfNothing(Other):
    """A graph that does not lead to the embedded tokens."""

    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Any:
        return self.good.forward_embedded(self.good.embed(batch).requires_grad_(), batch, attention)


class NanGradient(Other):
    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Any:
        nothing = (embedded.sum() * 0).abs().sqrt()  # 0, with the gradient 0 · ∞
        output = self.good.forward_embedded(embedded, batch, attention)
        return replace(output, logits=output.logits + nothing)


class NoAttention(Other):
    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        return replace(self.good(batch, attention), attention=None)


class HalfAttention(Other):
    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        output = self.good(batch, attention)
        return output if attention is not None else replace(output, attention=output.attention / 2)


class AttentionOnSpecialTokens(Other):
    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        output = self.good(batch, attention)
        return replace(output, attention=batch.valid / batch.lengths[:, None])


class NegativeAttention(Other):
    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        output = self.good(batch, attention)
        moved = output.attention.clone()
        moved[:, 1] -= 2
        moved[:, 2] += 2
        return replace(output, attention=moved)


class AttentionByHead(Other):
    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        output = self.good(batch, attention)
        return replace(output, attention=output.attention[:, None])


class GivenAttentionIgnored(Other):
    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        return self.good(batch)


class GivenAttentionShownButNotUsed(Other):
    """Returns what was given, and computes with it scaled."""

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        output = self.good(batch, None if attention is None else attention * 2)
        return output if attention is None else replace(output, attention=attention)


class GivenAttentionNotTaken(Other):
    def forward(self, batch: Batch) -> Any:  # type: ignore[override]
        return self.good(batch)


class GivenAttentionIgnoredOfEmbedded(Other):
    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Any:
        return self.good.forward_embedded(embedded, batch)


class DecodesDifferently(Other):
    def decode(self, hidden: Tensor, attention: Tensor, batch: Batch) -> Any:
        return self.good.decode(hidden, attention, batch) + 0.01


class DecodesToNothing(Other):
    def decode(self, hidden: Tensor, attention: Tensor, batch: Batch) -> Any:
        return self.good.decode(hidden, attention, batch) * torch.nan


class DecodesOneRow(Other):
    def decode(self, hidden: Tensor, attention: Tensor, batch: Batch) -> Any:
        return self.good.decode(hidden, attention, batch)[:1]


class NoHidden(Other):
    def __init__(self) -> None:
        super().__init__()
        self.capabilities = frozenset({"embedding", "attention", "decode"})

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        return replace(self.good(batch, attention), hidden=None)


class Tanh(Other):
    """Not affine, though it says so: the logits are tanh of affine ones."""

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        output = self.good(batch, attention)
        return replace(output, logits=(8 * output.logits).tanh())

    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Any:
        output = self.good.forward_embedded(embedded, batch, attention)
        return replace(output, logits=(8 * output.logits).tanh())

    def decode(self, hidden: Tensor, attention: Tensor, batch: Batch) -> Any:
        return (8 * self.good.decode(hidden, attention, batch)).tanh()


class UniformTanh(Tanh):
    """Its own attention is uniform, so that half-way between it and uniform is nowhere new."""

    def __init__(self) -> None:
        super().__init__()
        self.good = classifier("bilstm", distribution="uniform")


class TanhOfStates(Other):
    """Affine in the attention, but not in the states."""

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        output = self.good(batch, attention)
        return replace(output, logits=self.decode(output.hidden, output.attention, batch))

    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Any:
        output = self.good.forward_embedded(embedded, batch, attention)
        return replace(output, logits=self.decode(output.hidden, output.attention, batch))

    def decode(self, hidden: Tensor, attention: Tensor, batch: Batch) -> Any:
        return self.good.decode((hidden * 4).tanh(), attention, batch)


class UnknownCapability(Other):
    def __init__(self) -> None:
        super().__init__()
        self.capabilities = self.capabilities | {"atention", "tails"}


BROKEN: dict[type[Other], tuple[str, str]] = {
    TooManyClasses: ("forward", "expected n_classes 2, found 3"),
    NoClasses: ("forward", "expected n_classes 2, found none"),
    WideLogits: ("forward", "expected logits of shape (3, 1) or (3, 2), found (3, 5)"),
    OneRow: ("forward", "expected logits of shape (3, 1) or (3, 2), found (1, 2)"),
    NanLogits: ("forward", "probabilities are not finite"),
    Raises: ("forward", "raised ValueError: not today"),
    BareTensor: ("forward", "raised AttributeError: 'Tensor' object has no attribute 'logits'"),
    Nondeterministic: ("forward", "a second forward pass: differs by "),
    NeverTheSame: ("forward", "a second forward pass: differs by "),
    PaddingLeaks: ("padding", "text 1 alone: differs by "),
    ReadsNeighbours: ("padding", "text 1 alone: differs by "),
    FlatEmbedding: ("embedding", "expected embed to give (batch, token, embed), found (3, 35)"),
    OtherEmbedding: ("embedding", "forward_embedded(embed(batch)): differs by "),
    NoGradient: ("embedding", "the logits have no gradient with respect to the embedded tokens"),
    GradientOfNothing: ("embedding", "the logits have no gradient with respect to the embedded tokens"),
    NanGradient: ("embedding", "the gradient with respect to the embedded tokens is not finite"),
    NoAttention: ("attention", "expected attention of shape (3, 7), found None"),
    HalfAttention: ("attention", "the sum of attention: differs by 0.5 from what it must equal"),
    AttentionOnSpecialTokens: (
        "attention",
        "expected attention of 0 outside maskable tokens and at least 0 on them",
    ),
    NegativeAttention: (
        "attention",
        "expected attention of 0 outside maskable tokens and at least 0 on them",
    ),
    AttentionByHead: ("attention", "expected attention of shape (3, 7), found (3, 1, 7)"),
    GivenAttentionIgnored: ("attention", "the attention that was given: differs by "),
    GivenAttentionShownButNotUsed: ("attention", "the logits of forward_embedded under it: differs by "),
    GivenAttentionNotTaken: ("attention", "raised TypeError: "),
    GivenAttentionIgnoredOfEmbedded: (
        "attention",
        "the attention that was given to forward_embedded: differs by ",
    ),
    DecodesDifferently: ("decode", "decode of its own states and attention: differs by 0.01 "),
    DecodesToNothing: ("decode", "decode of its own states and attention: differs by nan "),
    DecodesOneRow: ("decode", "decode of its own states and attention: expected shape (3, 1), found (1, 1)"),
    NoHidden: ("decode", "expected hidden states of shape (batch, token, hidden), found none"),
    Tanh: ("linear", "the logits half-way between two attentions: differs by "),
    UniformTanh: ("linear", "the logits half-way between two attentions: differs by "),
    TanhOfStates: ("linear", "the logits half-way between two hidden states: differs by "),
    UnknownCapability: ("capabilities", "unknown: atention, tails"),
}


def test_the_model_that_they_all_change_is_a_good_one() -> None:
    assert statuses(check_model(Other(), SHAPE)) == PLAIN


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_a_broken_promise_is_found(broken: type[Other]) -> None:
    promise, what = BROKEN[broken]
    findings = check_model(broken(), SHAPE)
    wrong = [finding for finding in findings if finding.status == "wrong"]
    assert wrong[0].promise == promise
    assert wrong[0].detail.startswith(what)
    assert "\n" not in wrong[0].detail


@pytest.mark.parametrize(
    "broken",
    [b for b in BROKEN if BROKEN[b][0] not in ("forward", "padding", "decode") and b is not NoAttention],
    ids=lambda broken: broken.__name__,
)
def test_it_is_found_where_it_is_and_the_other_promises_stand(broken: type[Other]) -> None:
    promise, _ = BROKEN[broken]
    found = statuses(check_model(broken(), SHAPE))
    touched = {name for name, status in found.items() if status == "wrong"}
    # What a model shows as its attention and its embedding is also what the other promises are tried with.
    allowed = {"embedding": {"embedding", "attention"}, "attention": {"attention", "decode", "embedding"}}
    assert promise in touched
    assert touched <= allowed.get(promise, {promise})


def test_a_model_that_cannot_run_is_asked_for_nothing_else() -> None:
    assert [finding.promise for finding in check_model(Raises(), SHAPE)] == ["forward"]


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_promise_that_is_not_made_is_missing_and_not_wrong(capability: str) -> None:
    model = Other()
    model.capabilities = model.capabilities - {capability}
    found = statuses(check_model(model, SHAPE))
    assert found == {**PLAIN, capability: "missing"}


def test_a_model_that_names_no_capabilities_lacks_all_of_them() -> None:
    model = Other()
    del model.capabilities
    assert statuses(check_model(model, SHAPE)) == {
        "forward": "ok",
        "padding": "ok",
        **dict.fromkeys(CAPABILITIES, "missing"),
    }


def test_capabilities_that_are_no_set_of_names_are_a_finding() -> None:
    for given in (None, 3, "attention"):
        model = Other()
        model.capabilities = given
        found = statuses(check_model(model, SHAPE))
        assert found == {"forward": "ok", "padding": "ok", "capabilities": "wrong"}


def test_two_logits_of_a_binary_task_are_allowed() -> None:
    class Two(Other):
        def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
            positive = self.good(batch, attention).logits
            return Output(torch.cat([-positive / 2, positive / 2], -1))

    model = Two()
    model.capabilities = frozenset()
    assert statuses(check_model(model, SHAPE))["forward"] == "ok"


def test_a_promise_is_tried_on_the_model_as_it_predicts() -> None:
    """Dropout that is off when the model predicts breaks nothing."""

    class Dropout(Other):
        def __init__(self) -> None:
            super().__init__()
            self.drop = nn.Dropout()
            self.capabilities = frozenset()

        def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
            output = self.good(batch, attention)
            return replace(output, logits=self.drop(output.logits))

    assert "wrong" not in statuses(check_model(Dropout().train(), SHAPE)).values()


def test_an_interruption_is_no_finding() -> None:
    class Interrupted(Other):
        def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_model(Interrupted(), SHAPE)


# ---- shortcuts


class Enters(Other):
    """A good model with the shortcut."""

    def __init__(self, *, task: Task = "single", pair: str = "queried") -> None:
        super().__init__(task=task)
        self.good = classifier("bilstm", task=task, pair=pair)
        self.capabilities = self.good.capabilities

    def enter(self, vectors: Tensor) -> Any:
        return self.good.enter(vectors)

    def beside(self, batch: Batch) -> Any:
        return self.good.beside(batch)

    def forward_entered(
        self, rows: Rows, batch: Batch, attention: Tensor | None = None, *, beside: Tensor | None = None
    ) -> Any:
        return self.good.forward_entered(rows, batch, attention, beside=beside)

    def swapped(self) -> Any:
        return self.good.swapped()


class EntersCrookedly(Enters):
    def enter(self, vectors: Tensor) -> Any:
        return self.good.enter(vectors.tanh())

    def forward_entered(self, rows: Rows, batch: Batch, *_: Any, **__: Any) -> Any:
        return self.good(batch)


class EntersTwice(Enters):
    def enter(self, vectors: Tensor) -> Any:
        return 2 * self.good.enter(vectors)


class SwapsNothing(Enters):
    def swapped(self) -> Any:
        return self.good


def test_a_model_with_shortcuts_keeps_their_promises() -> None:
    assert statuses(check_model(Enters(), SHAPE)) == SINGLE
    shape = replace(SHAPE, task="pair")
    found = statuses(check_model(Enters(task="pair", pair="two_sided"), shape))
    assert found == {**dict.fromkeys(PROMISES, "ok"), "linear": "missing"}


@pytest.mark.parametrize(
    ("model", "promise", "what"),
    [
        (EntersCrookedly(), "entry", "enter half-way between two vectors: differs by "),
        (EntersTwice(), "entry", "the logits of what has entered: differs by "),
        (SwapsNothing(task="pair", pair="two_sided"), "two_sided", "the logits of swapped() for swapped"),
    ],
    ids=["crooked", "twice", "not swapped"],
)
def test_a_shortcut_that_leads_elsewhere_is_found(model: Enters, promise: str, what: str) -> None:
    task: Task = "pair" if promise == "two_sided" else "single"
    findings = check_model(model, replace(SHAPE, task=task))
    assert [finding.promise for finding in findings if finding.status == "wrong"] == [promise]
    assert detail(findings, promise).startswith(what)
