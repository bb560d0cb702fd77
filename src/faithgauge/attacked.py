"""Rows of attacks on attention that train nothing: permuted, adversarial by search, adversarial exactly.

The arithmetic is that of `faithfulness`; here it gets its coordinates. Beside each number of a text stands
its largest attention, against which the papers plot it. Of a model that attends to both texts of a pair each
is attacked with the other as it is; the rows of the second ones say so in their setting.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from faithgauge.config import SearchConfig
from faithgauge.encode.batching import collate, reading_batches, unpad
from faithgauge.encode.corpus import Corpus
from faithgauge.explain.split import frozen
from faithgauge.faithfulness.adversarial import adversarial_search, epsilon_max_jsd
from faithgauge.faithfulness.exact import Furthest, exact_adversary
from faithgauge.faithfulness.permutation import permutation_tvd
from faithgauge.measured import Measured, Part
from faithgauge.models.readout import Readout, readouts
from faithgauge.models.store import Trained
from faithgauge.train.predict import device_of
from faithgauge.types import Ragged, Split

Floats = NDArray[np.float64]
Place = tuple[str, float | None]
"""A measure, and the ε that it is of."""

FEWEST = 3
"""Tokens of a text. Fewer leave attention hardly anywhere to go: one token has all of it, and of two there is
one other order. Their rows have no number, and a reason."""
FEW = ("no token", "one token", "two tokens")
EQUAL = "equal attention: every order of it is the same"
SAME = 1e-6
"""Weights that differ by no more than this share of the largest are equal."""
NOT_LINEAR = "the decoder is not linear: there is a lower bound only"
MANY_CLASSES = "more than two classes: there are bounds only"


@dataclass(frozen=True)
class Attacked:
    """What an attack found for the texts of a batch.

    `values` has by measure and ε one number for each text, `reasons` why there is none of all, or of those
    that are nan. `adversary` (batch, token) is the attention that goes with the first ε.
    """

    values: Mapping[Place, Floats]
    reasons: Mapping[Place, str] = field(default_factory=dict)
    adversary: Tensor | None = None


Attack = Callable[[Readout], Attacked]


@dataclass
class Side:
    """The numbers of all first texts, or of all second ones, as they come in."""

    tokens: NDArray[np.int64]
    values: dict[Place, Floats] = field(default_factory=dict)
    reasons: dict[Place, str] = field(default_factory=dict)
    adversary: Ragged | None = None


def attack(
    of: Measured,
    rows: NDArray[np.int64],
    how: Attack,
    *,
    setting: Mapping[str, Any],
    folder: Path | None = None,
    on_progress: Callable[[float, float], None] = lambda _done, _total: None,
) -> Iterator[Part]:
    """What an attack on the attention of some texts finds; the adversarial attention goes to `folder`."""
    sides: dict[str, Side] = {}
    model, done = of.trained.classifier, 0
    with frozen(model):
        for some in reading_batches(of.encoded.ids.lengths()[rows]):
            classes = len(of.trained.classes)
            batch = collate(of.encoded, rows[some], classes=classes, device=device_of(model))
            for readout in readouts(model, batch):
                side = sides.setdefault(readout.side, Side(np.zeros(len(rows), np.int64)))
                _enter(side, how(readout), readout, some=some, of=of, rows=rows)
            done += len(some)
            on_progress(done, len(rows))
    for name, side in sides.items():
        if folder is not None and side.adversary is not None:
            file = "adversarial" if name == "first" else "adversarial-pair"
            np.save(folder / f"{file}-{of.split}.npy", side.adversary.values)
        own = setting if name == "first" else {**setting, "side": name}
        yield from parts_of(of, rows, side, setting=own)


def measured_of(trained: Trained, corpus: Corpus, split: Split) -> Measured:
    """The model on a split; where it does worse than a guess, every row says so."""
    of = Measured.of(trained, corpus, split)
    labels, encoded = np.asarray(of.encoded.labels), of.encoded
    chance = 1 / len(trained.classes)
    if encoded.candidates is not None:
        chance = float((1 / np.maximum(encoded.candidates.lengths(), 1)).mean())
    if len(labels) and labels.min() >= 0 and (of.predicted == labels).mean() < chance:
        return Measured(
            of.trained, of.encoded, of.split, _with(of.about, {"below_chance": True}), of.predicted
        )
    return of


def permuting(permutations: int, seed: int) -> Attack:
    """The median change of the output by attention in random order."""

    def work(readout: Readout) -> Attacked:
        value = permutation_tvd(readout, permutations=permutations, seed=seed)
        value[_equal(readout)] = np.nan
        place = ("permutation_tvd", None)
        return Attacked({place: value}, {place: EQUAL})

    return work


def searching(how: SearchConfig, epsilon: Sequence[float], seed: int) -> Attack:
    """The ε-max JSD that a search finds, for each ε."""

    def work(readout: Readout) -> Attacked:
        found = adversarial_search(readout, how, seed=seed)
        reached = [epsilon_max_jsd(found, one) for one in epsilon]
        values: dict[Place, Floats] = {
            ("epsilon_max_jsd", e): _numpy(far) for e, (far, _) in zip(epsilon, reached, strict=True)
        }
        return Attacked(values, adversary=reached[0][1])

    return work


def exactly(how: SearchConfig, epsilon: Sequence[float], seed: int) -> Attack:
    """The ε-max JSD itself, for each ε, and whether any other attention is allowed; else its bounds.

    With a linear decoder and more than two classes it is bounded from above by slabs and from below by a
    search; with any other decoder from below alone.
    """

    def work(readout: Readout) -> Attacked:
        if readout.values is None or readout.values.shape[-1] > 2:
            return _bounded(readout, how, epsilon, seed=seed)
        found = {e: exact_adversary(*flat(readout), epsilon=e) for e in epsilon}
        values: dict[Place, Floats] = {}
        for e, one in found.items():
            values["epsilon_max_jsd", e] = one.jsd
            values["only_own_attention", e] = np.where(np.isnan(one.jsd), np.nan, one.alone)
        return Attacked(values, adversary=_spread(found[epsilon[0]], readout))

    return work


def _bounded(readout: Readout, how: SearchConfig, epsilon: Sequence[float], *, seed: int) -> Attacked:
    lower = searching(how, epsilon, seed)(readout)
    none = np.full(len(readout.attention), np.nan)
    linear = readout.values is not None
    values: dict[Place, Floats] = {}
    reasons: dict[Place, str] = {}
    for e in epsilon:
        values["epsilon_max_jsd", e] = none
        values["epsilon_max_jsd_lower", e] = lower.values["epsilon_max_jsd", e]
        upper = exact_adversary(*flat(readout), epsilon=e).jsd if linear else none
        values["epsilon_max_jsd_upper", e] = upper
        reasons["epsilon_max_jsd", e] = MANY_CLASSES if linear else NOT_LINEAR
        reasons["epsilon_max_jsd_upper", e] = NOT_LINEAR
    return Attacked(values, reasons, lower.adversary)


def flat(readout: Readout) -> tuple[Ragged, Ragged]:
    """The attention and the values of the maskable tokens alone."""
    assert readout.values is not None
    maskable = readout.maskable.cpu().numpy()
    offsets = np.concatenate([[0], maskable.sum(1).cumsum()]).astype(np.int64)
    attention, values = (
        part.double().cpu().numpy()[maskable] for part in (readout.attention, readout.values)
    )
    return Ragged(attention, offsets), Ragged(values, offsets)


def _spread(found: Furthest, readout: Readout) -> Tensor:
    """The adversarial attention back at the places of its tokens."""
    own, _ = flat(readout)
    result = readout.attention.new_zeros(readout.attention.shape)
    result[readout.maskable] = result.new_tensor(found.attention(own).values)
    return result


def _equal(readout: Readout) -> NDArray[np.bool_]:
    own = readout.attention
    most = own.amax(-1)
    least = own.masked_fill(~readout.maskable, np.inf).amin(-1)
    found: NDArray[np.bool_] = (most - least <= SAME * most).cpu().numpy()
    return found


def _enter(
    side: Side,
    found: Attacked,
    readout: Readout,
    *,
    some: NDArray[np.int64],
    of: Measured,
    rows: NDArray[np.int64],
) -> None:
    side.tokens[some] = readout.maskable.sum(-1).cpu().numpy()
    values = {**found.values, ("max_attention", None): _numpy(readout.attention.amax(-1))}
    for place, value in values.items():
        side.values.setdefault(place, np.full(len(side.tokens), np.nan))[some] = value
    side.reasons.update(found.reasons)
    ids = of.encoded.ids if readout.side == "first" else of.encoded.pair_ids
    if found.adversary is not None and ids is not None:
        if side.adversary is None:
            side.adversary = Ragged(np.full(len(ids.values), np.nan, np.float32), ids.offsets)
        unpad(side.adversary, rows[some], found.adversary.cpu().numpy())


def parts_of(
    of: Measured, rows: NDArray[np.int64], side: Side, *, setting: Mapping[str, Any]
) -> Iterator[Part]:
    """The rows of all texts; a number that there is not has its reason."""
    for (measure, epsilon), value in side.values.items():
        fewest = 1 if measure == "max_attention" else FEWEST
        few = side.tokens < fewest
        value = np.where(few, np.nan, value)
        rest = side.reasons.get((measure, epsilon), "the model's output is not a number")
        reasons = [
            None if not nan else FEW[n] if n < fewest else rest
            for n, nan in zip(side.tokens, np.isnan(value), strict=True)
        ]
        more = setting if epsilon is None else {**setting, "epsilon": epsilon}
        yield _with(of.about, more) | {"measure": measure} | of.by_text(rows, value, reasons)


def _with(about: Part, more: Mapping[str, Any]) -> Part:
    """The coordinates with more in their setting."""
    setting = {**json.loads(about["setting"]), **more}
    return about | {"setting": json.dumps(setting, sort_keys=True, separators=(",", ":"))}


def _numpy(values: Tensor) -> Floats:
    found: Floats = values.double().cpu().numpy()
    return found


def changed(how: SearchConfig) -> dict[str, Any]:
    """What of a search is not the general default, as it stands in the setting of its rows."""
    usual = asdict(SearchConfig())
    return {name: value for name, value in asdict(how).items() if value != usual[name]}
