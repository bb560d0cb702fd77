"""DeepLIFT, and its mean over other texts that might have stood there.

Both compare a text with a baseline and hand the difference of the two answers back to the tokens, in one pass
backward that carries multipliers in place of derivatives (`rescale`, `restated`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from faithgauge.config import AtLeastOne
from faithgauge.errors import UnsupportedError
from faithgauge.explain.baseline import Baseline
from faithgauge.explain.baseline import baseline as vectors_without
from faithgauge.explain.restated import refuse_what_is_not_restated, restated
from faithgauge.models.budget import TOKENS, in_parts
from faithgauge.models.classifier import AttentionClassifier
from faithgauge.models.encoders import SmallTransformer
from faithgauge.models.question import Question
from faithgauge.models.slopes import along
from faithgauge.types import Batch, Importance, Ragged

Rule = Literal["rescale", "gradient"]
Contributions = tuple[Float[Tensor, "batch token"], Float[Tensor, "batch"]]
"""What each token adds, and what all of them lack of f(x) − f(baseline)."""


def deeplift(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    rule: Rule = "rescale",
    baseline: Baseline = "pad",
    absolute: bool = False,
) -> Importance:
    """What each token adds to the difference between the answers to the text and to its baseline.

    score_t = Σ_d m_td (x_td − b_td),  Σ_t score_t = f(x) − f(b).

    Here x are the word vectors, b those of the `baseline`, and m the multipliers of f. The rule "rescale"
    carries them through the whole network: Δy/Δx for functions of one number, gates included; a product is
    split evenly between its factors (gates × states, attention × values); a distribution (softmax,
    entmax15, sparsemax) is φ of every score above a common threshold, and the rescale rule for φ is all
    that it needs (`rescale.distribute`). The rule "gradient" takes derivatives for m; the sum is then
    another, and `error` says by how much. `absolute` is |score_t|.

    Paper: shrikumar2017, section 3.5; neely-2022, section 4.4 (the preset `neely-2022` is their code).
    Differs: the paper has no rule for products, and of a softmax at the output explains what enters it.
        Taking softmax apart into exp, sum, 1/x and product has the same sum, but multiplies the scores by
        the ratio of the two sums of exp, and floats cannot cancel that again where attention is sharp.
        neely-2022 gave captum a model without modules that it hooks, which leaves (x − b) × derivative, the
        rule "gradient"; the same holds of captum and any torch.nn.LSTM, whose gates are no modules.
    Range: (−∞, ∞); with `absolute` [0, ∞).
    Cost: two texts forward and backward, an LSTM or a GRU step by step.
    """
    if rule == "gradient":
        found = _differentiated(model, batch, question, baseline=baseline)
    else:
        refuse_what_is_not_restated(model)

        def add(texts: Batch, asked: Question) -> Contributions:
            return _rescaled(model, texts, asked, without=vectors_without(model, texts, asked, kind=baseline))

        found = _in_parts(add, model, batch, question=question)
    return _without_sign(found) if absolute else found


def deep_shap(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    references: AtLeastOne = 10,
    rule: Rule = "rescale",
    baseline: Baseline | Literal["drawn"] = "drawn",
    absolute: bool = False,
) -> Importance:
    """The mean of DeepLIFT over baselines that are texts of the same length, of words of the training split.

    score_t = (1/R) Σ_r Σ_d m_td(b_r) (x_td − b_rtd),  Σ_t score_t = f(x) − (1/R) Σ_r f(b_r).

    Here R is `references`. For b_r each maskable token is drawn anew, a word as likely as it is frequent in
    the training split; special tokens stay. m(b_r) are the multipliers of `deeplift` by `rule` against b_r.
    With another `baseline` than drawn texts all b_r are the same one. `absolute` is |score_t|.

    Paper: lundberg2017, section 4.2; neely-2022, section 4.4.
    Differs: the paper's baselines are whole inputs of the training split; texts differ in length, so here
        words are drawn. neely-2022 gave copies of one baseline, for which this is `deeplift`, although the
        paper prints rank correlations of .45 to .87 between the two.
    Range: (−∞, ∞); with `absolute` [0, ∞).
    Cost: `references` times that of `deeplift`.
    """
    if baseline != "drawn":
        return deeplift(model, batch, question, rule=rule, baseline=baseline, absolute=absolute)
    if rule == "rescale":
        refuse_what_is_not_restated(model)
    words = _training_words(question)

    def add(texts: Batch, asked: Question) -> Contributions:
        scores = torch.zeros(texts.ids.shape, device=texts.ids.device)
        error = scores.new_zeros(len(texts))
        for ids in _drawn(texts, asked, words, references=references):
            start = _embedded(model, replace(texts, ids=ids))
            own, lack = contributions(model, texts, asked, without=start)
            scores, error = scores + own / references, error + lack / references
        return scores, error

    contributions = _rescaled if rule == "rescale" else _sloped

    found = _in_parts(add, model, batch, question=question)
    return _without_sign(found) if absolute else found


def _without_sign(found: Importance) -> Importance:
    return replace(found, scores=found.scores.abs(), signed=False)


def _rescaled(model: nn.Module, batch: Batch, question: Question, *, without: Tensor) -> Contributions:
    text = _embedded(model, batch)
    stack = torch.cat([text, without]).requires_grad_()
    with torch.enable_grad():
        answers = restated(cast("AttentionClassifier", model), stack, batch, question=question)
        multipliers = torch.autograd.grad(answers[: len(batch)].sum(), stack)[0][: len(batch)]
    scores = (multipliers * (text - without)).sum(-1).masked_fill(~batch.maskable, 0)
    value, value_without = answers.detach().chunk(2)
    return scores, value - value_without - scores.sum(-1)


def _differentiated(model: nn.Module, batch: Batch, question: Question, *, baseline: Baseline) -> Importance:
    """(x − b) times the derivative at x: the end of a line of one point."""
    scores, error = _sloped(
        model, batch, question, without=vectors_without(model, batch, question, kind=baseline)
    )
    return Importance(scores.masked_fill(~batch.maskable, torch.nan), signed=True, error=error)


def _sloped(model: nn.Module, batch: Batch, question: Question, *, without: Tensor) -> Contributions:
    one = torch.ones(1, len(batch), device=without.device)
    scores, error = along(model, batch, question, start=without, shares=one, weights=one[:, 0])
    return scores.masked_fill(~batch.maskable, 0), error


def _in_parts(
    add: Callable[[Batch, Question], Contributions], model: nn.Module, batch: Batch, *, question: Question
) -> Importance:
    """All texts of a batch, as many at a time as fit into memory, each with its baseline."""
    scores = torch.full(batch.ids.shape, torch.nan, device=batch.ids.device)
    error = torch.full((len(batch),), torch.nan, device=batch.ids.device)

    def work(numbers: Tensor) -> None:
        texts = _some(batch, numbers)
        own, lack = add(texts, replace(question, target=question.target[numbers], evidence=None))
        scores[numbers, : own.shape[1]] = own.masked_fill(~texts.maskable, torch.nan).to(scores)
        error[numbers] = lack.to(error)

    places = batch.lengths
    if isinstance(getattr(model, "encoder", None), SmallTransformer):
        places = places * (1 + places // 128)  # there each token has a weight for every other one
    in_parts(work, places, tokens=TOKENS // 2)
    return Importance(scores, signed=True, error=error)


def _some(batch: Batch, numbers: Int[Tensor, "example"]) -> Batch:
    """These texts of a batch; `rows` says which they are, as their randomness depends on it."""
    lengths = batch.lengths[numbers]
    width = int(lengths.max())
    return Batch(
        batch.ids[numbers, :width],
        lengths,
        batch.valid[numbers, :width],
        batch.maskable[numbers, :width],
        rows=numbers if batch.rows is None else batch.rows[numbers],
        candidates=None if batch.candidates is None else batch.candidates[numbers],
        pair=None if batch.pair is None else _some(batch.pair, numbers),
        segments=None if batch.segments is None else batch.segments[numbers, :width],
    )


def _embedded(model: nn.Module, batch: Batch) -> Float[Tensor, "batch token embed"]:
    anything: Any = model
    return torch.as_tensor(anything.embed(batch)).detach()


def _training_words(question: Question) -> NDArray[np.generic]:
    """All words of the training split, each as often as it stands there."""
    train = question.known.train
    if train is None:
        raise UnsupportedError("deep_shap needs the training split, found none; choose deeplift")
    ids, spans = train.ids, train.spans
    if question.side == "second" and train.pair_ids is not None and train.pair_spans is not None:
        ids, spans = train.pair_ids, train.pair_spans
    return question.known.once(f"deep_shap {question.side}", lambda: ids.values[_ordinary(spans)])


def _ordinary(spans: Ragged) -> NDArray[np.bool_]:
    """Which tokens of a split were read from its texts; the others are special."""
    return np.asarray(spans.values[:, 0] >= np.int32(0))


def _drawn(
    batch: Batch, question: Question, words: NDArray[np.generic], *, references: int
) -> Int[Tensor, "example batch token"]:
    """The ids of a batch with words drawn at random for its maskable tokens, several times."""
    drawn = batch.ids.repeat(references, 1, 1)
    for text, own in enumerate(batch.maskable):
        random = question.random(batch, text, "deep_shap")
        chosen = words[random.integers(len(words), size=(references, int(own.sum())))]
        drawn[:, text, own] = torch.from_numpy(chosen).to(drawn)
    return drawn
