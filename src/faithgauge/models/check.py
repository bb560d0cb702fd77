"""Whether a model keeps the promises of the Classifier protocol, one finding per promise.

A model of the user's own is tried on small made-up batches: what it says it can do must be there and must
mean what our explainers and tests take it to mean. What it does not say it can do is reported as missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn

from faithgauge.models.classifier import Shape, probabilities
from faithgauge.models.embedding import Rows, rows_of
from faithgauge.models.question import swap
from faithgauge.types import Batch

CAPABILITIES = ("embedding", "attention", "decode", "linear", "entry", "two_sided")
HEADS = "heads"
"""A capability that a model without heads does not lack."""
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Finding:
    """One promise: kept ("ok"), not made ("missing") or broken ("wrong"), and what was seen."""

    promise: str
    status: Literal["ok", "missing", "wrong"]
    detail: str


def check_model(model: nn.Module, shape: Shape) -> list[Finding]:
    """Every promise of the protocol, tried on a batch of three texts of different length."""
    model.eval()
    batch = example_batch(shape, joined=hasattr(model, HEADS))
    findings = [_try("forward", partial(_forward, model, shape, batch))]
    if findings[0].status == "wrong":
        return findings
    findings.append(_try("padding", partial(_padding, model, batch)))
    named: object = getattr(model, "capabilities", frozenset())
    if not isinstance(named, set | frozenset | list | tuple):
        return [*findings, Finding("capabilities", "wrong", f"expected a set of names, found {named!r}")]
    for name, check in zip(CAPABILITIES, _checks(), strict=True):
        if name in named:
            findings.append(_try(name, partial(check, model, batch)))
        else:
            findings.append(Finding(name, "missing", f"not among its capabilities; {_COST[name]}"))
    if HEADS in named:
        findings.append(_try(HEADS, partial(_heads, model, batch)))
    if unknown := sorted(set(map(str, named)) - {*CAPABILITIES, HEADS}):
        findings.append(Finding("capabilities", "wrong", f"unknown: {', '.join(unknown)}"))
    return findings


def example_batch(shape: Shape, texts: int = 3, *, joined: bool = False) -> Batch:
    """Texts of 3, 4, … maskable tokens between two special ones, with what the task needs beside them.

    The texts of a pair are in one row where they are `joined`: there the last token but one is the second.
    """
    last = max(shape.vocabulary - 1, 1)
    lengths = torch.arange(texts) + 5
    steps = torch.arange(int(lengths[-1]))
    valid = steps < lengths[:, None]
    maskable = valid & (steps > 0) & (steps < lengths[:, None] - 1)
    ids = (4 + torch.arange(valid.numel()).view_as(valid) * 7 % max(last - 3, 1)).clamp(max=last) * valid
    batch = Batch(ids, lengths, valid, maskable, labels=torch.zeros(texts, dtype=torch.long))
    if shape.task == "single":
        return batch
    if joined and shape.task == "pair":
        return replace(batch, segments=((steps >= lengths[:, None] - 2) & valid).long())
    pair = Batch((ids + maskable).clamp(max=last), lengths, valid, maskable)  # other words where there are
    candidates = torch.ones(texts, len(shape.classes), dtype=torch.bool) if shape.task == "cloze" else None
    return Batch(ids, lengths, valid, maskable, batch.labels, candidates=candidates, pair=pair)


_COST = {
    "embedding": "gradients, integrated gradients and SHAP need it",
    "attention": "every test of attention needs it",
    "decode": "permuted and adversarial attention need it",
    "linear": "exact adversaries need it",
    "entry": "without it LIME, SHAP and integrated gradients are slower",
    "two_sided": "without it only the first text of a pair is explained",
}


class _Broken(Exception):  # noqa: N818 never leaves this module
    pass


def _checks() -> tuple[Callable[[Any, Batch], str], ...]:
    return (_embedding, _attention, _decode, _linear, _entry, _two_sided)


def _try(promise: str, check: Callable[[], str]) -> Finding:
    try:
        with torch.no_grad():
            return Finding(promise, "ok", check())
    except _Broken as broken:
        return Finding(promise, "wrong", str(broken))
    except Exception as error:  # whatever the user's code raises is a finding
        text = " ".join(str(error).split())
        return Finding(promise, "wrong", f"raised {type(error).__name__}: {text}")


def _forward(model: Any, shape: Shape, batch: Batch) -> str:
    if getattr(model, "n_classes", None) != len(shape.classes):
        found = getattr(model, "n_classes", "none")
        raise _Broken(f"expected n_classes {len(shape.classes)}, found {found}")
    logits = model(batch).logits
    allowed = {(len(batch), len(shape.classes))} | ({(len(batch), 1)} if len(shape.classes) == 2 else set())
    if tuple(logits.shape) not in allowed:
        raise _Broken(
            f"expected logits of shape {' or '.join(map(str, sorted(allowed)))}, found {tuple(logits.shape)}"
        )
    _finite("probabilities", probabilities(logits))
    _equal("a second forward pass", model(batch).logits, logits)
    return f"logits {tuple(logits.shape)}"


def _padding(model: Any, batch: Batch) -> str:
    together = model(batch).logits
    for i in range(len(batch)):
        _equal(f"text {i + 1} alone", model(_alone(batch, i)).logits[0], together[i])
    return "a text alone and beside longer ones gives the same logits"


def _embedding(model: Any, batch: Batch) -> str:
    embedded = model.embed(batch)
    if embedded.shape[:2] != batch.ids.shape or embedded.dim() != 3:
        raise _Broken(f"expected embed to give (batch, token, embed), found {tuple(embedded.shape)}")
    _equal(
        "forward_embedded(embed(batch))", model.forward_embedded(embedded, batch).logits, model(batch).logits
    )
    with torch.enable_grad():
        leaf = embedded.detach().requires_grad_()
        logits = model.forward_embedded(leaf, batch).logits
        finite = logits.masked_select(logits.isfinite())
        (gradient,) = torch.autograd.grad(finite.sum(), leaf, allow_unused=True)
    if gradient is None or not bool(gradient[batch.maskable].any()):
        raise _Broken("the logits have no gradient with respect to the embedded tokens")
    if not bool(gradient.isfinite().all()):
        raise _Broken("the gradient with respect to the embedded tokens is not finite")
    return f"embeds to {embedded.shape[-1]} numbers, with a gradient"


def _attention(model: Any, batch: Batch) -> str:
    attention = model(batch).attention
    if attention is None or attention.shape != batch.ids.shape:
        found = None if attention is None else tuple(attention.shape)
        raise _Broken(f"expected attention of shape {tuple(batch.ids.shape)}, found {found}")
    if bool((attention < 0).any()) or bool(attention[~batch.maskable].any()):
        raise _Broken("expected attention of 0 outside maskable tokens and at least 0 on them")
    _equal("the sum of attention", attention.sum(-1), torch.ones(len(batch)))
    given, _ = _two_attentions(batch)
    output = model(batch, attention=given)
    _equal("the attention that was given", output.attention, given)
    if "embedding" in model.capabilities:
        embedded = model.forward_embedded(model.embed(batch), batch, attention=given)
        _equal("the attention that was given to forward_embedded", embedded.attention, given)
        _equal("the logits of forward_embedded under it", embedded.logits, output.logits)
    own = model(batch, attention=attention)
    _equal("the logits under its own attention, given", own.logits, model(batch).logits)
    return "a distribution over the maskable tokens; a given one is used"


def _decode(model: Any, batch: Batch) -> str:
    output = model(batch)
    if output.hidden is None or output.hidden.shape[:2] != batch.ids.shape:
        raise _Broken("expected hidden states of shape (batch, token, hidden), found none")
    again = model.decode(output.hidden, output.attention, batch)
    _equal("decode of its own states and attention", again, output.logits)
    return "hidden states and attention give the logits again"


def _linear(model: Any, batch: Batch) -> str:
    hidden = model(batch).hidden
    first, second = _two_attentions(batch)
    between = model.decode(hidden, (first + second) / 2, batch)
    ends = (model.decode(hidden, first, batch) + model.decode(hidden, second, batch)) / 2
    _equal("the logits half-way between two attentions", between, ends)
    ends = (model.decode(hidden * 3, first, batch) + model.decode(-hidden, first, batch)) / 2
    _equal("the logits half-way between two hidden states", model.decode(hidden, first, batch), ends)
    return "the logits are affine in the attention, and in the hidden states"


def _entry(model: Any, batch: Batch) -> str:
    rows = rows_of(model.embed(batch))
    entered = model.enter(rows.vectors)
    output = model.forward_entered(Rows(entered, rows.places), batch, beside=model.beside(batch))
    _equal("the logits of what has entered", output.logits, model(batch).logits)
    between = (model.enter(rows.vectors * 3) + model.enter(-rows.vectors)) / 2
    _equal("enter half-way between two vectors", between, entered)
    return "the logits again from what has entered, which is affine in the vectors"


def _two_sided(model: Any, batch: Batch) -> str:
    if batch.pair is None:
        raise _Broken("expected a task with two texts, found one")
    _equal(
        "the logits of swapped() for swapped texts", model.swapped()(swap(batch)).logits, model(batch).logits
    )
    return "texts and model can be exchanged"


def _heads(model: Any, batch: Batch) -> str:
    found = model.heads(batch)
    _equal("the logits of heads", found.logits, model(batch).logits)
    if "embedding" in model.capabilities:
        again = model.heads(batch, embedded=model.embed(batch))
        _equal("the logits of heads of its own word vectors", again.logits, found.logits)
    for layer, one in enumerate(found.attentions, start=1):
        if one.dim() != 4 or one.shape[0] != len(batch) or one.shape[2:] != (batch.ids.shape[1],) * 2:
            raise _Broken(f"expected attention (batch, head, token, token), found {tuple(one.shape)}")
        rows = one.transpose(1, 2)[batch.valid]
        _equal(f"the sum of attention in layer {layer}", rows.sum(-1), torch.ones(rows.shape[:2]))
    return f"{len(found.attentions)} layers of {found.attentions[0].shape[1]} heads"


def _two_attentions(batch: Batch) -> tuple[Tensor, Tensor]:
    """Rising along the text, and all on its first maskable token: far from each other and from uniform."""
    rising = batch.maskable.cumsum(-1) * batch.maskable
    first = batch.maskable & (batch.maskable.cumsum(-1) == 1)
    return rising / rising.sum(-1, keepdim=True), first.to(torch.get_default_dtype())


def _alone(batch: Batch, i: int) -> Batch:
    """Text i without the padding that the others bring."""
    cut = (slice(i, i + 1), slice(0, int(batch.lengths[i])))
    return Batch(
        batch.ids[cut],
        batch.lengths[i : i + 1],
        batch.valid[cut],
        batch.maskable[cut],
        candidates=None if batch.candidates is None else batch.candidates[i : i + 1],
        pair=None if batch.pair is None else _alone(batch.pair, i),
        segments=None if batch.segments is None else batch.segments[cut],
    )


def _finite(what: str, values: Tensor) -> None:
    if not bool(values.isfinite().all()):
        raise _Broken(f"{what} are not finite")


def _equal(what: str, found: Tensor, expected: Tensor) -> None:
    if found.shape != expected.shape:
        raise _Broken(f"{what}: expected shape {tuple(expected.shape)}, found {tuple(found.shape)}")
    # Equal infinities have no difference; a nan is never near anything.
    gap = (found - expected).masked_fill(found == expected, 0).abs().max().item()
    if not gap <= TOLERANCE:
        raise _Broken(f"{what}: differs by {gap:.2g} from what it must equal (tolerance {TOLERANCE:g})")
