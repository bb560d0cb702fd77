"""The attention of all heads in random order: the permutation test of one attention, asked of a transformer.

A transformer has a distribution of attention for each token, head and layer, and what it attends to in one
layer makes the states of the next. So it is said which layers are permuted, and no state is kept: the model
runs anew with the attention that it is given.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from faithgauge.faithfulness.divergence import tvd
from faithgauge.faithfulness.permutation import PERMUTATIONS, moved
from faithgauge.models.classifier import probabilities
from faithgauge.models.rolled import READ, Heads
from faithgauge.seeds import derive
from faithgauge.types import Batch

Floats = NDArray[np.float64]
Layers = Literal["last", "all"]
AT_ONCE = 1 << 24
"""Numbers of permuted attention that are held together: 64 MB."""


def permutation_tvd_heads(
    model: nn.Module, text: Batch, layers: Layers, *, permutations: int = PERMUTATIONS, seed: int = 0
) -> float:
    """How far the output of a text is from that under its own attention in random order, in the median.

    median_p TVD(ŷ(A_π(p)), ŷ(A)) with (A_π)_lhij = A_lhiπ(j)

    A: the attention of layer l and head h that token i pays to token j, ŷ: the probabilities of the classes,
    π(p): the p-th random order of the maskable tokens. What is paid to special tokens stays theirs.

    A text has one order at a time, which all rows, heads and layers share. Heads that looked at the same
    token still do, so that it is asked whether it matters which tokens are attended to, and not whether heads
    agree; and the result does not hang on the number of heads. The orders are those of a model with one
    attention under the same seed.

    Permuted is the `last` layer, whose first row is what the classifier reads: there the states that are
    weighed stay, as in algorithm 2; or `all` layers are, where those above weigh other states than before by
    the weights that they had. A pair in one row is one text here.

    Paper: jain-wallace-2019, section 4.2.1 and algorithm 2.
    Differs: the paper has one attention over the tokens of a text.
    Range: [0, 1]; nan of a text without maskable tokens.
    Cost: a forward pass for each permutation.
    """
    if not bool(text.maskable.any()):
        return float("nan")
    own = attention_of(model, text)
    stream = np.array([derive(seed, "permutation", "first", _row(text))], np.uint64)
    tokens = torch.arange(text.ids.shape[1], device=text.ids.device)[None]
    sources = moved(tokens, text.maskable, stream, permutations=permutations)[0]
    with torch.no_grad():
        base = _likely(model, text, own)
        apart = [tvd(_likely(model, text, some), base) for some in _permuted(own, sources, layers)]
    return float(np.median(torch.cat(apart).double().cpu().numpy()))


def attention_of(model: nn.Module, text: Batch) -> Heads:
    """The attention of every layer and head."""
    own: Any = model
    with torch.no_grad():
        return torch.stack(list(own.heads(text).attentions), 1)


def equal(own: Heads, text: Batch, layers: Layers, *, same: float) -> bool:
    """Whether every row gives all maskable tokens the same, up to a share `same` of the most."""
    rows = _concerned(own, layers)[0][..., text.valid[0], :][..., text.maskable[0]]
    return bool((rows.amax(-1) - rows.amin(-1) <= same * rows.amax(-1)).all())


def most(own: Heads, text: Batch) -> float:
    """The most that the classifier's token pays to a maskable one in the last layer, in the mean of heads."""
    paid = own[0, -1, :, READ].mean(0)[text.maskable[0]]
    return float(paid.max()) if len(paid) else float("nan")


def _concerned(own: Heads, layers: Layers) -> Heads:
    return own if layers == "all" else own[:, -1:]


def _permuted(own: Heads, sources: Int[Tensor, "step token"], layers: Layers) -> Any:
    """The attention under some permutations at a time, each as a text of a batch."""
    for some in torch.split(sources, max(AT_ONCE // own.numel(), 1)):
        given = own.expand(len(some), *own.shape[1:]).clone()
        part = _concerned(given, layers)
        order = some[:, None, None, None].expand_as(part)
        part.copy_(part.gather(-1, order))
        yield given


def _likely(model: nn.Module, text: Batch, given: Heads) -> Float[Tensor, "step class"]:
    found: Tensor = probabilities(model(_repeated(text, len(given)), given).logits)
    return found


def _repeated(text: Batch, times: int) -> Batch:
    parts = ("ids", "lengths", "valid", "maskable", "segments", "candidates")
    own = {name: getattr(text, name) for name in parts}
    more = {name: one.expand(times, *one.shape[1:]) for name, one in own.items() if one is not None}
    return replace(text, labels=None, rows=None, **more)


def _row(text: Batch) -> int:
    return 0 if text.rows is None else int(text.rows[0])
