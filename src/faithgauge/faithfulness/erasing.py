"""What a model says of texts whose tokens are erased in the order of their importance.

For each order of the tokens of a text the model is asked twice at each size k: without the first k tokens of
the order, and with these alone. All orders, sizes and texts of a batch are asked together, sizes that come to
the same number of tokens once, and the text itself and the empty text once for all orders.

A text with holes is none that the model was trained on. What it says of one mixes what the erased tokens
meant to it with how it takes the holes, and nothing here can tell the two apart; only the comparison with
other orders, random ones above all, on the same texts and with as many holes, is safe to read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from faithgauge.errors import ConfigError, UnsupportedError
from faithgauge.models.answers import Variants, answers
from faithgauge.models.budget import TOKENS
from faithgauge.models.question import Question
from faithgauge.types import Batch

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Erasing:
    """How tokens are erased: replaced by the mask token, or deleted; how many at a time; how often at random.

    `fractions` are the bins over which comprehensiveness and sufficiency are averaged, ERASER's by default;
    `steps` is into how many parts the curves divide the text; `orders` how many random orders there are.
    """

    by: Literal["mask", "delete"] = "mask"
    fractions: tuple[float, ...] = (0.01, 0.05, 0.1, 0.2, 0.5)
    steps: int = 10
    orders: int = 10

    def __post_init__(self) -> None:
        if not self.fractions or not all(0 < fraction <= 1 for fraction in self.fractions):
            raise ConfigError(f"expected fractions above 0 and at most 1, found {self.fractions}")
        if self.steps < 1 or self.orders < 1:
            raise ConfigError(
                f"expected at least one step and one random order, found {self.steps} and {self.orders}"
            )


ERASER = Erasing()
"""The bins of the benchmark, by masking."""


@dataclass(frozen=True)
class Erased:
    """f of texts from which tokens were erased in several orders: (order, batch, step) unless said otherwise.

    whole     (batch)         f of the text itself
    empty     (batch)         f of the text with every token erased; nan where nothing would be left to read
    tokens    (batch)         n, how many tokens can be erased
    sizes     (batch, step)   k at each step: first 1, then the bins, then the curve from 0 to n
    without                   f without the first k tokens of the order
    only                      f with the first k tokens of the order alone
    flipped                   1 where the model decides otherwise without the first k tokens, else 0
    decided   (batch)         whether the class that is asked for is the decision on the text itself
    """

    whole: Floats
    empty: Floats
    tokens: Ints
    sizes: Ints
    without: Floats
    only: Floats
    flipped: Floats
    decided: NDArray[np.bool_]
    n_bins: int

    @property
    def bins(self) -> slice:
        return slice(1, 1 + self.n_bins)

    @property
    def curve(self) -> slice:
        return slice(1 + self.n_bins, None)


def erase(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    orders: Float[Tensor, "_ batch token"],
    how: Erasing,
    budget: int = TOKENS,
) -> Erased:
    """Ask the model of every text without, and with nothing but, the first tokens of each of the `orders`.

    An order is given as scores: the highest is first, equal ones go by position, nan comes last. `budget` is
    how many tokens the model reads at once; the answers do not depend on it.
    """
    fill = _fill(question, how)
    tokens = batch.maskable.sum(-1).cpu().numpy()
    special = (batch.valid & ~batch.maskable).any(-1).cpu().numpy()
    sizes = np.stack([_sizes(int(n), how) for n in tokens])
    plan = _plan(tokens, sizes, (tokens > 0) & (special | (fill is not None)))
    ranks = _ranks(orders, batch.maskable)

    def ask(of: Question, kinds: tuple[bool, ...]) -> Floats:
        variants = _variants(plan, tokens, ranks, kinds=kinds, fill=fill)
        found = answers(model, batch, of, variants=variants, tokens=budget)
        return _columns(found.double().cpu().numpy(), plan, len(ranks), n_kinds=len(kinds))

    without, only = ask(question, (_WITHOUT, _ONLY))
    if question.of == "probability" and model.n_classes == 2:
        lead = without - 0.5
    else:
        (lead,) = ask(_Lead(**vars(question)), (_WITHOUT,))
    return Erased(
        whole=without[0, plan.whole],
        empty=without[0, plan.empty],
        tokens=tokens,
        sizes=sizes,
        without=without[:, plan.without],
        only=only[:, plan.only],
        flipped=np.where(np.isnan(lead), np.nan, lead < 0)[:, plan.without],
        decided=lead[0, plan.whole] >= 0,
        n_bins=len(how.fractions),
    )


def random_orders(batch: Batch, question: Question, n: int) -> Float[Tensor, "_ batch token"]:
    """So many random orders of each text, as scores; the same ones whatever batch the text is in."""
    scores = torch.zeros((n, *batch.ids.shape), dtype=torch.float64, device=batch.ids.device)
    for text, own in enumerate(batch.maskable):
        drawn = question.random(batch, text, "erasure").random((n, int(own.sum())))
        scores[:, text, own] = torch.from_numpy(drawn).to(scores)
    return scores


@dataclass(frozen=True)
class _Lead(Question):
    """How far the logit of the class is above that of any other: below 0 the decision is another one."""

    def value(
        self, logits: Float[Tensor, "batch #class"], texts: Tensor | None = None
    ) -> Float[Tensor, "batch"]:
        target = self.target if texts is None else self.target[texts]
        if logits.shape[-1] == 1:
            return torch.where(target == 1, logits[:, 0], -logits[:, 0])
        own = logits.gather(1, target[:, None])[:, 0]
        return own - logits.scatter(1, target[:, None], -torch.inf).amax(-1)


_WITHOUT, _ONLY = False, True


class _Plan(NamedTuple):
    """The pairs of a text and a size 0 < k < n that are asked of every order, each once.

    The answers for one order stand in a row: those of the pairs, then of the whole texts, then of the empty
    ones, of which only the texts `emptied` are asked. The other fields say where in such a row an answer is:
    `without` and `only` (batch, step) for each step, `whole` and `empty` (batch).
    """

    text: Ints
    size: Ints
    emptied: Ints
    without: Ints
    only: Ints
    whole: Ints
    empty: Ints


def _plan(tokens: Ints, sizes: Ints, can_be_empty: NDArray[np.bool_]) -> _Plan:
    n, k = tokens[:, None], sizes
    inner = (k > 0) & (k < n)
    texts = np.broadcast_to(np.arange(len(tokens))[:, None], k.shape)
    pairs, place = np.unique(np.stack([texts[inner], k[inner]]), axis=1, return_inverse=True)
    whole = pairs.shape[1] + np.arange(len(tokens))
    empty = whole + len(tokens)
    without = np.where(k == 0, whole[:, None], empty[:, None])
    only = np.where(k == 0, empty[:, None], whole[:, None])
    without[inner] = only[inner] = place.reshape(-1)
    return _Plan(pairs[0], pairs[1], np.flatnonzero(can_be_empty), without, only, whole, empty)


def _variants(
    plan: _Plan,
    tokens: Ints,
    ranks: Int[Tensor, "_ batch token"],
    *,
    kinds: tuple[bool, ...],
    fill: int | None,
) -> Variants:
    """The whole texts, the empty ones, then by kind and order the pairs of the plan."""
    ends = np.concatenate([np.arange(len(tokens)), plan.emptied])
    erased = np.concatenate([np.zeros(len(tokens), np.int64), tokens[plan.emptied]])
    kind, order, pair = (
        axis.ravel() for axis in np.indices((len(kinds), len(ranks), len(plan.text)), np.int64)
    )

    def column(of_ends: Ints, of_pairs: Ints) -> Tensor:
        return torch.from_numpy(np.concatenate([of_ends, of_pairs])).to(ranks.device)

    text, size = column(ends, plan.text[pair]), column(erased, plan.size[pair])
    which = column(np.zeros_like(ends), order)
    inside = column(np.zeros_like(ends), np.array(kinds, np.int64)[kind]).bool()

    def keep(numbers: Int[Tensor, "example"]) -> Bool[Tensor, "example token"]:
        first = ranks[which[numbers], text[numbers]] < size[numbers, None]
        return first == inside[numbers, None]

    return Variants(text, keep, fill)


def _columns(found: Floats, plan: _Plan, n_orders: int, *, n_kinds: int) -> Floats:
    """The answers by kind and order, in the rows that the plan speaks of; nan for what was not asked."""
    n_texts = len(plan.whole)
    ends, pairs = np.split(found, [n_texts + len(plan.emptied)])
    empty = np.full(n_texts, np.nan)
    empty[plan.emptied] = ends[n_texts:]
    shared = np.broadcast_to(np.concatenate([ends[:n_texts], empty]), (n_kinds, n_orders, 2 * n_texts))
    return np.concatenate([pairs.reshape(n_kinds, n_orders, -1), shared], axis=-1)


def _sizes(n: int, how: Erasing) -> Ints:
    """⌈fraction · n⌉; a product that is an integer but for rounding is that integer."""
    bins = [math.ceil(fraction * n - 1e-9) for fraction in how.fractions]
    curve = [-(-step * n // how.steps) for step in range(how.steps + 1)]
    return np.array([min(1, n), *bins, *curve], np.int64)


def _ranks(orders: Float[Tensor, "_ batch token"], maskable: Bool[Tensor, "batch token"]) -> Tensor:
    """The place of every token in each order; tokens that cannot be erased come after all others."""
    order = orders.masked_fill(orders.isnan(), -torch.inf).argsort(dim=-1, descending=True, stable=True)
    special = (~maskable).to(torch.uint8).expand_as(order).gather(-1, order)
    order = order.gather(-1, special.argsort(dim=-1, stable=True))
    return order.argsort(dim=-1)


def _fill(question: Question, how: Erasing) -> int | None:
    if how.by == "delete":
        return None
    if question.known.mask is None:
        raise UnsupportedError("expected a tokenizer with a mask token, found none; erase by delete")
    return question.known.mask
