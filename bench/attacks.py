"""Attacks on attention against the same by decoding from the hidden states, one thread, the same model.

The texts are as many, and as long, as those of the SST test set; encoding them is left out of all times. The
search of the baseline is a loop with autograd over the weights, in as large batches; it runs for some of the
steps, all of which cost the same. The model is not trained: its weights are scaled so that attention is
uneven and moves the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from bench.measure import Row, medians, sst_sized
from faithgauge.attacked import flat
from faithgauge.config import ModelConfig, SearchConfig
from faithgauge.encode.batching import collate, reading_batches
from faithgauge.faithfulness.adversarial import JAIN_WALLACE, adversarial_search
from faithgauge.faithfulness.divergence import jsd
from faithgauge.faithfulness.exact import exact_adversary
from faithgauge.faithfulness.permutation import permutation_tvd
from faithgauge.models.classifier import AttentionClassifier, Shape, build
from faithgauge.models.readout import Readout, readout
from faithgauge.types import Batch, Output, Ragged

TEXTS = 1725
"""Of the binary SST test set, as jain-wallace-2019 keeps it."""
PERMUTATIONS = 100
STEPS = 10
"""Of the baseline's search, whose time is told for the 500 that ours takes."""
LONG = (100, 400)
"""So many texts of so many tokens."""


def rows() -> Iterator[Row]:
    torch.set_num_threads(1)
    encoded, words = sst_sized()
    model = build(ModelConfig(), Shape(words, ("0", "1"), "single"), seed=0).eval()
    model.requires_grad_(False)
    model.decoder.weight *= 100  # outputs that attention moves, as those of a trained model
    model.attention.attn2.weight *= 10  # type: ignore[operator]
    batches = [collate(encoded, some) for some in reading_batches(encoded.ids.lengths()[:TEXTS])]
    found = [Encoded(model, batch) for batch in batches]
    yield from _permutations(found)
    yield from _adversaries(found)


class Encoded:
    """A batch with its states, for the baselines, and its readout, for ours."""

    def __init__(self, model: AttentionClassifier, batch: Batch) -> None:
        self.model, self.batch = model, batch
        with torch.no_grad():
            self.output: Output = model(batch)
        self.readout: Readout = readout(model, batch)

    def likely(self, attention: Tensor) -> Tensor:
        assert self.output.hidden is not None
        return self.model.decode(self.output.hidden, attention, self.batch)[:, 0].sigmoid()

    @property
    def attention(self) -> Tensor:
        assert self.output.attention is not None
        return self.output.attention


def _permutations(found: list[Encoded]) -> Iterator[Row]:
    seconds = medians(
        {
            "ours": lambda: [permutation_tvd(one.readout, permutations=PERMUTATIONS) for one in found],
            "batched": lambda: [decoded(one, batched_order) for one in found],
            "by row": lambda: [decoded(one, order_by_row) for one in found],
        }
    )
    for name, title, goal in (
        ("batched", "batched decoding", 7.0),
        ("by row", "decoding, numpy permutes each row", 18.0),
    ):
        ratio = seconds[name] / seconds["ours"]
        yield Row(f"100 permutations, {title}", ratio, goal, seconds["ours"], seconds[name], "CPU s")
    ours = np.concatenate([permutation_tvd(one.readout, permutations=PERMUTATIONS) for one in found])
    theirs = np.concatenate([decoded(one, batched_order).numpy() for one in found])
    means = float(ours.mean()), float(theirs.mean())
    yield Row("100 permutations, gap of the mean medians", abs(means[0] - means[1]), None, *means, "|Δp|")


def decoded(one: Encoded, permute: Callable[[Tensor, Batch], Tensor]) -> Tensor:
    """Each permutation decoded from the states of the whole batch."""
    with torch.inference_mode():
        own = one.likely(one.attention)
        changes = [(one.likely(permute(one.attention, one.batch)) - own).abs() for _ in range(PERMUTATIONS)]
        return torch.stack(changes).quantile(0.5, dim=0)


def batched_order(attention: Tensor, batch: Batch) -> Tensor:
    """All rows at once: each token gets the weight of the one that is at its place in a random order."""
    keys = torch.rand(attention.shape)
    order = keys.masked_fill(~batch.maskable, 2).argsort(-1)
    places = (~batch.maskable).to(torch.uint8).argsort(dim=-1, stable=True)
    return torch.empty_like(attention).scatter_(1, places, attention.gather(1, order))


def order_by_row(attention: Tensor, batch: Batch) -> Tensor:
    weights = attention.numpy()
    result = np.zeros_like(weights)
    for text, length in enumerate(batch.lengths.tolist()):
        result[text, 1 : length - 1] = np.random.permutation(weights[text, 1 : length - 1])
    return torch.from_numpy(result)


def _adversaries(found: list[Encoded]) -> Iterator[Row]:
    short = SearchConfig(**{**vars(JAIN_WALLACE), "steps": STEPS})
    own, values = _all(found)
    random = np.random.default_rng(0)
    offsets = np.arange(LONG[0] + 1) * LONG[1]
    long = Ragged(random.dirichlet([0.5] * LONG[1], LONG[0]).ravel(), offsets)
    logits = Ragged(2 * random.normal(size=offsets[-1]), offsets)
    seconds = medians(
        {
            "search": lambda: [adversarial_search(one.readout, JAIN_WALLACE) for one in found],
            "loop": lambda: [plain_search(one, short) for one in found],
            "exact": lambda: exact_adversary(own, values, epsilon=0.01),
            "long": lambda: exact_adversary(long, logits, epsilon=0.01),
        }
    )
    search, loop = seconds["search"], seconds["loop"] * JAIN_WALLACE.steps / STEPS
    yield Row("adversarial search, decoding every step", loop / search, 15.0, search, loop, "CPU s")
    yield Row(
        "exact adversary, that decoding search",
        loop / seconds["exact"],
        1000.0,
        seconds["exact"],
        loop,
        "CPU s",
    )
    # The search costs the same for every token.
    share = loop * LONG[0] * LONG[1] / sum(one.attention.numel() for one in found)
    title = f"exact adversary, {LONG[0]} texts of {LONG[1]} tokens, the search of as many"
    yield Row(title, share / seconds["long"], None, seconds["long"], share, "CPU s")


def plain_search(one: Encoded, how: SearchConfig) -> Tensor:
    """The paper's loop: decode, take the loss, let autograd find its gradient."""
    k = how.distributions
    n, width = one.attention.shape
    hidden = one.output.hidden
    assert hidden is not None
    own = one.attention[:, None]
    with torch.no_grad():
        likely = one.likely(one.attention)[:, None]
    scores = torch.nn.Parameter(torch.randn(n, k, width) * how.spread)
    adam = torch.optim.Adam([scores], lr=how.learning_rate, amsgrad=True)
    for _ in range(how.steps):
        attention = scores.masked_fill(~one.batch.maskable[:, None], -torch.inf).softmax(-1)
        moved = (one.model.decoder(attention @ hidden)[..., 0].sigmoid() - likely).abs()
        among = jsd(attention[:, :, None], attention[:, None]).sum((1, 2)) / k**2
        loss = (how.weight * (moved - how.limit).relu() - jsd(attention, own)).sum(1) - among
        adam.zero_grad()
        loss.sum().backward()
        adam.step()
    return scores


def _all(found: list[Encoded]) -> tuple[Ragged, Ragged]:
    """The attention and the values of all texts."""
    parts = [flat(one.readout) for one in found]
    joined = []
    for ragged in zip(*parts, strict=True):
        lengths = np.concatenate([one.lengths() for one in ragged])
        values = np.concatenate([one.values for one in ragged])
        joined.append(Ragged(values, np.concatenate([[0], lengths.cumsum()])))
    return joined[0], joined[1]
