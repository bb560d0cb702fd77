"""What becomes of an output when the tokens that an explanation names are erased: tests without retraining.

If the tokens that come first in an explanation are what the model went by, its output falls when they are
taken out and stays when they alone are left in. Every measure is set beside its mean over random orders of
the same text.

A text with erased tokens is unlike any that the model was trained on, so that a fall may come from the holes
as much as from what stood there; tests that train again are made to avoid this. Random orders leave as many
holes: read the difference from them, not the value. Models differ in what they say of an empty text as well,
so that only the normalised forms may be compared between them.

Tokens go from the highest score to the lowest. A score with a sign is taken with it: what speaks against the
class is not erased first, for its loss would raise the output. Scores without one are taken as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from faithgauge.faithfulness.against import (
    DEFINED,
    NO_SCORE,
    NO_TOKEN,
    NOT_DECIDED,
    NOTHING_LEFT,
    NOTHING_LOST,
    AgainstRandom,
    Floats,
)
from faithgauge.faithfulness.erasing import ERASER, Erased, Erasing, erase, random_orders
from faithgauge.models.budget import TOKENS
from faithgauge.models.question import Question
from faithgauge.types import Batch

LEAST = 0.01
"""An output that falls by less than this when every token is erased is not divided by."""


def erasure(
    model: nn.Module,
    batch: Batch,
    question: Question,
    *,
    scores: Mapping[str, Float[Tensor, "batch token"]],
    how: Erasing = ERASER,
    budget: int = TOKENS,
) -> AgainstRandom:
    """Every measure of this page for several explanations of the same texts, beside random orders of them.

    The random orders of a text are the same for all explanations and, for one seed, in whatever batch the
    text is. Texts with erased tokens are unlike those that the model was trained on: what counts is the
    difference between an explanation and random, text by text.

    Cost: at most 2 · (explanations + random orders) · (bins + steps) texts for each text, in one go.
    """
    given = torch.stack([one.double() for one in scores.values()])
    drawn = random_orders(batch, question, how.orders)
    found = erase(model, batch, question, orders=torch.cat([given, drawn]), how=how, budget=budget)
    lacking = (given.isnan() & batch.maskable).any(-1).cpu().numpy()
    value, random, reason = [], [], []
    for name, measure in MEASURES.items():
        numbers = np.where(found.tokens > 0, measure(found), np.nan)
        random.append(numbers[len(scores) :].mean(0))
        value.append(np.where(lacking, np.nan, numbers[: len(scores)]))
        reason.append(_reason(value[-1], found, lacking, otherwise=_LACKS.get(name, NOTHING_LEFT)))
    return AgainstRandom(tuple(MEASURES), tuple(scores), np.stack(value), np.stack(random), np.stack(reason))


def comprehensiveness(found: Erased) -> Floats:
    """How far the output falls when the first tokens are taken out; higher is more faithful.

    mean over bins of f(x) − f(x without its first k tokens),   k = ⌈fraction · n⌉

    n: the tokens that can be erased; k is an exact integer where fraction · n is one.

    Paper: deyoung2020, comprehensiveness and AOPC; samek2017, AOPC.
    Differs: the sum is divided by the number of bins, as in the code of deyoung2020; the text of the paper
        counts k = 0 as one more. How k is rounded is left open there.
    Range: [−1, 1] for probabilities; 0 for an order that does not matter to the model.
    Cost: a text for each bin and order.
    """
    fall: Floats = np.mean(found.whole[:, None] - found.without[..., found.bins], axis=-1)
    return fall


def sufficiency(found: Erased) -> Floats:
    """How far the output falls when only the first tokens are left; lower is more faithful.

    mean over bins of f(x) − f(only the first k tokens of x),   k = ⌈fraction · n⌉

    Paper: deyoung2020, sufficiency and AOPC.
    Differs: as comprehensiveness.
    Range: [−1, 1] for probabilities.
    Cost: a text for each bin and order.
    """
    fall: Floats = np.mean(found.whole[:, None] - found.only[..., found.bins], axis=-1)
    return fall


def normalised_comprehensiveness(found: Erased) -> Floats:
    """The share of what the output has to lose that it loses with the first tokens; higher is more faithful.

    comprehensiveness / (f(x) − f(x with every token erased))

    Paper: carton2020, normalised comprehensiveness.
    Differs: nothing is cut off at 0, which would turn the noise of a random order into evidence for it. A
        text has no value where its output falls by less than 0.01, or rises, when every token is erased.
    Range: 1 where the first tokens are all that matters; above 1 where others speak against the class.
    Cost: as comprehensiveness, and the empty text.
    """
    return comprehensiveness(found) / _to_lose(found)


def normalised_sufficiency(found: Erased) -> Floats:
    """The share of what the output has to lose that the first tokens alone keep; higher is more faithful.

    1 − sufficiency / (f(x) − f(x with every token erased))

    Unlike sufficiency itself it rises with faithfulness, as in the paper.

    Paper: carton2020, normalised sufficiency.
    Differs: as normalised_comprehensiveness.
    Range: 1 where the first tokens alone do, 0 where they say no more than the empty text.
    Cost: as sufficiency, and the empty text.
    """
    return 1 - sufficiency(found) / _to_lose(found)


def deletion(found: Erased) -> Floats:
    """The mean output while the text is emptied part by part; lower is more faithful.

    area under f(x without its first k tokens) over k / n,   k = ⌈step · n / steps⌉, step = 0 … steps

    The area is that of trapezia between the exact shares k / n: with no more tokens than steps it is exact.

    Paper: petsiuk2018, deletion; samek2017.
    Differs: tokens in place of pixels; a curve of `steps` points, not one for each token.
    Range: that of f.
    Cost: a text for each step and order.
    """
    return _area(found, found.without)


def insertion(found: Erased) -> Floats:
    """The mean output while the empty text is filled part by part; higher is more faithful.

    area under f(only the first k tokens of x) over k / n,   k = ⌈step · n / steps⌉, step = 0 … steps

    Paper: petsiuk2018, insertion.
    Differs: as deletion; what is not yet there is masked or absent, where the paper blurs it.
    Range: that of f.
    Cost: a text for each step and order.
    """
    return _area(found, found.only)


def flip(found: Erased) -> Floats:
    """Whether the model decides otherwise without the one token that comes first; higher is more faithful.

    1 if argmax p(x without its first token) ≠ argmax p(x), else 0

    A text on which the class that is explained is not the model's decision has no value.

    Paper: serrano2019, section 4.
    Differs: the paper sets an attention weight to 0 and keeps the token; here the token is erased.
    Range: 0 or 1.
    Cost: a text for each order.
    """
    return np.where(found.decided, found.flipped[..., 0], np.nan)


def flip_fraction(found: Erased) -> Floats:
    """The smallest share of tokens whose loss changes the decision; lower is more faithful.

    min k / n with argmax p(x without its first k tokens) ≠ argmax p(x)

    k goes over the sizes that are erased anyway: one token, the bins, the steps of the curves. Where none of
    them changes the decision the share is 1. A text on which the class that is explained is not the model's
    decision has no value.

    Paper: serrano2019, section 5.
    Differs: the paper goes one by one; here the share is as coarse as the sizes are.
    Range: (0, 1].
    Cost: a text for each size and order.
    """
    share = found.sizes / np.maximum(found.tokens, 1)[:, None]
    smallest = np.where(found.flipped == 1, share, 1.0).min(-1)
    return np.where(found.decided, smallest, np.nan)


MEASURES: Mapping[str, Callable[[Erased], Floats]] = {
    "comprehensiveness": comprehensiveness,
    "sufficiency": sufficiency,
    "normalised_comprehensiveness": normalised_comprehensiveness,
    "normalised_sufficiency": normalised_sufficiency,
    "deletion": deletion,
    "insertion": insertion,
    "flip": flip,
    "flip_fraction": flip_fraction,
}
"""Each gives (order, batch), nan where it has no value."""

LOWER_IS_BETTER = frozenset({"sufficiency", "deletion", "flip_fraction"})

_LACKS = {
    "normalised_comprehensiveness": NOTHING_LOST,
    "normalised_sufficiency": NOTHING_LOST,
    "flip": NOT_DECIDED,
    "flip_fraction": NOT_DECIDED,
}
"""Why a text may have no value of a measure though the model was asked all there is to ask."""


def _to_lose(found: Erased) -> Floats:
    lost = found.whole - found.empty
    return np.where(lost >= LEAST, lost, np.nan)


def _area(found: Erased, curve: Floats) -> Floats:
    share = found.sizes[:, found.curve] / np.maximum(found.tokens, 1)[:, None]
    height = curve[..., found.curve]
    area: Floats = np.sum(np.diff(share) * (height[..., 1:] + height[..., :-1]) / 2, axis=-1)
    return area


def _reason(value: Floats, found: Erased, lacking: NDArray[np.bool_], *, otherwise: int) -> NDArray[np.int8]:
    """Why there is no number, the most general reason first."""
    undecided = ~found.decided & (otherwise == NOT_DECIDED)
    unknown = np.isnan(found.empty)
    codes = [NO_TOKEN, NO_SCORE, NOT_DECIDED, NOTHING_LEFT]
    why = np.select(
        [np.broadcast_to(found.tokens == 0, lacking.shape), lacking, undecided, unknown], codes, otherwise
    )
    return np.where(np.isnan(value), why, DEFINED).astype(np.int8)
