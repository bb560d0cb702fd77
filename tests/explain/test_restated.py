from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from fakes import batch_of, classifier, noise, some_texts
from torch import Tensor, nn

from faithgauge.errors import UnsupportedError
from faithgauge.explain.restated import refuse_what_is_not_restated, restated
from faithgauge.models.attention import ATTENTIONS, DISTRIBUTIONS
from faithgauge.models.classifier import AttentionClassifier
from faithgauge.models.encoders import ENCODERS, MLP, BiLSTM
from faithgauge.models.question import Of, Question
from faithgauge.types import Batch

FORMS: dict[str, dict[str, Any]] = {
    "single": {"task": "single"},
    "single, three classes": {"task": "single", "classes": 3},
    "queried": {"task": "pair", "pair": "queried"},
    "two-sided": {"task": "pair", "pair": "two_sided", "classes": 3},
    "cloze": {"task": "cloze", "classes": 4},
}


def some_batch(form: str, *, seed: int = 0) -> Batch:
    task, classes = FORMS[form]["task"], FORMS[form].get("classes", 2)
    return batch_of(
        some_texts(5, seed=seed),
        pairs=None if task == "single" else some_texts(5, seed=seed + 1),
        candidates=[[0, 2], [1, 0], [3, 1, 0], [2, 1], [0, 1]] if task == "cloze" else None,
        classes=classes,
    )


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("of", ["probability", "logit"])
def test_it_computes_what_the_model_computes(encoder: str, form: str, of: Of) -> None:
    model, batch = classifier(encoder, **FORMS[form]), some_batch(form)
    question = Question(torch.tensor([0, 1, 0, 1, 0]), of)
    other = model.embed(batch) + noise(*batch.ids.shape, 5, seed=3)
    found = restated(model, torch.cat([model.embed(batch), other]), batch, question=question)
    expected = [question.value(model.forward_embedded(x, batch).logits) for x in (model.embed(batch), other)]
    torch.testing.assert_close(found, torch.cat(expected), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("form", ["single", "queried"])
def test_it_attends_as_the_model_attends(attention: str, distribution: str, form: str) -> None:
    options = {"attention": attention, "distribution": distribution, "temperature": 0.5}
    model, batch = classifier("mlp", **FORMS[form], **options), some_batch(form)
    question = Question(torch.tensor([0, 1, 0, 1, 0]))
    found = restated(model, torch.cat([model.embed(batch)] * 2), batch, question=question)
    torch.testing.assert_close(found[:5], question.value(model(batch).logits), rtol=1e-5, atol=1e-6)


def test_two_steps_of_an_lstm_by_hand() -> None:
    """One unit, read ahead only; each gate has its quotient, each product half of each factor."""
    model = classifier(
        "bilstm", embed_size=1, hidden_size=1, attention_size=1, distribution="uniform"
    ).double()
    enter, repeat, *biases = (weight.flatten().tolist() for weight in model.encoder.rnn.all_weights[0])
    bias = [a + b for a, b in zip(*biases, strict=True)]
    with torch.no_grad():
        model.decoder.weight.copy_(torch.tensor([[2.0, 0.0]]))  # the state of reading ahead, 2·½ of each step
    batch = batch_of([[4, 5]])
    text, base = [0.8, -1.2], [0.1, 0.3]
    stack = torch.tensor([text, base], dtype=torch.float64)[..., None].requires_grad_()
    answers = restated(model, stack, batch, question=Question(torch.tensor([1]), "logit"))
    (found,) = torch.autograd.grad(answers[0], stack)
    expected = lstm_by_hand(text, base, enter, repeat, bias)
    assert found[0, :, 0].tolist() == pytest.approx(expected, abs=1e-12)


def lstm_by_hand(
    text: list[float], base: list[float], enter: list[float], repeat: list[float], bias: list[float]
) -> list[float]:
    """The multipliers of h_1 + h_2 on x_1 and x_2, carried back step by step."""
    runs = [run_by_hand(x, enter, repeat, bias) for x in (text, base)]

    def quotient(step: int, name: str, over: str) -> float:
        new, old = runs[0][step], runs[1][step]
        return (new[name] - old[name]) / (new[over] - old[over])

    def middle(step: int, name: str) -> float:
        return (runs[0][step][name] + runs[1][step][name]) / 2

    found, to_state, to_cell = [0.0, 0.0], 1.0, 0.0
    for step in (1, 0):
        squashed = to_state * middle(step, "o") * quotient(step, "tanh c", "c")
        to_cell = to_cell + squashed
        gates = {
            "i": to_cell * middle(step, "g"),
            "f": to_cell * middle(step, "c before"),
            "g": to_cell * middle(step, "i"),
            "o": to_state * middle(step, "tanh c"),
        }
        each = [gates[gate] * quotient(step, gate, f"into {gate}") for gate in "ifgo"]
        found[step] = sum(m * w for m, w in zip(each, enter, strict=True))
        to_state = 1.0 + sum(m * w for m, w in zip(each, repeat, strict=True))
        to_cell = to_cell * middle(step, "f")
    return found


def run_by_hand(
    text: list[float], enter: list[float], repeat: list[float], bias: list[float]
) -> list[dict[str, float]]:
    steps, hidden, cell = [], 0.0, 0.0
    for x in text:
        into = [w * x + u * hidden + b for w, u, b in zip(enter, repeat, bias, strict=True)]
        i, f, o = (1 / (1 + math.exp(-into[place])) for place in (0, 1, 3))
        g, before = math.tanh(into[2]), cell
        cell = f * before + i * g
        hidden = o * math.tanh(cell)
        now = {"i": i, "f": f, "g": g, "o": o, "c": cell, "tanh c": math.tanh(cell), "c before": before}
        steps.append(now | {f"into {gate}": value for gate, value in zip("ifgo", into, strict=True)})
    return steps


class Strange(MLP):
    pass


def strange_distribution(scores: Tensor, maskable: Tensor, temperature: float) -> Tensor:
    return scores * maskable * temperature


class StrangeClassifier(AttentionClassifier):
    pass


def changed(part: str, value: Any) -> AttentionClassifier:
    model = classifier()
    setattr(model, part, value)
    return model


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (nn.Linear(1, 1), "model Linear"),
        (changed("__class__", StrangeClassifier), "model StrangeClassifier"),
        (changed("encoder", Strange(5, 4)), "encoder Strange"),
        (changed("attention", nn.Linear(1, 1)), "attention Linear"),
        (changed("distribution", strange_distribution), "distribution strange_distribution"),
    ],
    ids=["third party", "subclass", "encoder", "attention", "distribution"],
)
def test_what_is_not_restated_is_refused(model: nn.Module, found: str) -> None:
    with pytest.raises(UnsupportedError) as raised:
        refuse_what_is_not_restated(model)
    assert str(raised.value) == (
        "the rescale rule is written for faithgauge's own encoders, attentions and distributions, found the "
        f"{found}; choose integrated_gradient"
    )


def test_every_encoder_attention_and_distribution_of_ours_is_restated() -> None:
    for encoder in ENCODERS:
        refuse_what_is_not_restated(classifier(encoder))
    for attention in ATTENTIONS:
        for distribution in DISTRIBUTIONS:
            refuse_what_is_not_restated(classifier(attention=attention, distribution=distribution))
    assert BiLSTM in {type(classifier(encoder).encoder) for encoder in ENCODERS}
