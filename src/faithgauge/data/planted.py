"""Reviews put together from templates, in which the words that decide the label are planted and known.

An explanation can be held against them: an oracle that points at the planted words must win, its reverse
must lose. All other words are drawn before the label and know nothing of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from faithgauge.config import DataConfig
from faithgauge.data.dataset import Dataset
from faithgauge.data.mock import CLASSES, balanced, check_seed, word_list
from faithgauge.errors import ConfigError
from faithgauge.seeds import generator
from faithgauge.types import SPLITS, Example, Split

SIZES: dict[Split, int] = {"train": 2000, "validation": 500, "test": 500}
POSITIONS = ("start", "middle", "end", "scattered")
FEWEST, MOST = 2, 4
"""Sentences of a text that say nothing of its label."""

FRAMES = (
    ("The ", " was ", "."),
    ("I found the ", " ", "."),
    ("The ", " seemed ", " to us."),
    ("We all called the ", " ", "."),
    ("In short, the ", " was ", "."),
    ("To me the ", " was ", " that day."),
)


@dataclass(frozen=True)
class Kind:
    """One kind of thing that is reviewed: what of it can be judged, and the sentences that do not judge.

    A sentence is its fixed parts and the choices between them, in turn, beginning with a fixed part.
    """

    aspects: tuple[str, ...]
    sentences: tuple[tuple[tuple[str, ...], ...], ...]


def planted(config: DataConfig) -> Dataset:
    """2,000/500/500 distinct reviews, half of them positive, with `evidence` = n planted words each.

    A text is 2 to 4 neutral sentences about a restaurant, a film, a hotel or a phone, and n short ones, each
    with one planted word. Each planted word on its own takes the polarity of the label with probability
    q = (1 + s) / 2, where s is the `strength`, and the other polarity otherwise: at s = 1 the evidence always
    decides the label, and s → 0 leaves nothing to learn. Nothing else depends on the label; the best possible
    accuracy is `bayes_accuracy`. The planted sentences stand at the `position`: before the neutral ones
    (start), after them (end), after the first half of them, rounded down (middle), or anywhere (scattered).
    The evidence of an example is the character ranges of its planted words, whichever polarity they have.
    What is not as usual stands in the name of the data, as in planted@evidence=1,strength=0.8.
    """
    _check(config)
    fillers = _fillers(sum(SIZES.values()), generator(config.seed, "planted", "filler"))
    rng = generator(config.seed, "planted", "evidence")
    splits: dict[Split, list[Example]] = {}
    for split in SPLITS:
        part, fillers = fillers[: SIZES[split]], fillers[SIZES[split] :]
        splits[split] = _examples(part, split, config, rng)
    best = bayes_accuracy(config.evidence, config.strength)
    notes = (
        f"generated with seed {config.seed}; planted words in each text: {config.evidence}, "
        f"{config.position}, of strength {config.strength:g}; the best possible accuracy is {best:.4g}",
    )
    return Dataset("planted", _unusual(config), "single", CLASSES, splits, notes=notes)


def bayes_accuracy(evidence: int, strength: float) -> float:
    """The expected accuracy of the best possible classifier of planted texts, which goes with the majority.

    P(K > n/2) + P(K = n/2) / 2,   K ~ Binomial(n, (1 + s) / 2)

    n: `evidence`, s: `strength`. All planted words weigh the same, so the class that more of them speak for
    is the more probable one, and a tie tells nothing.
    """
    q = (1 + strength) / 2
    chance = [math.comb(evidence, k) * q**k * (1 - q) ** (evidence - k) for k in range(evidence + 1)]
    tie = chance[evidence // 2] / 2 if evidence % 2 == 0 else 0.0
    return math.fsum([*chance[evidence // 2 + 1 :], tie])


def _unusual(config: DataConfig) -> str:
    """What is planted otherwise than by default: without it, rows of such data could not be told apart."""
    usual = DataConfig("planted")
    values = {name: getattr(config, name) for name in ("evidence", "position", "strength")}
    return ",".join(f"{name}={value}" for name, value in values.items() if value != getattr(usual, name))


def _check(config: DataConfig) -> None:
    check_seed(config.seed)
    if config.evidence < 1:
        raise ConfigError(f"evidence {config.evidence}: expected the number of planted words, 1 or more")
    if not 0 < config.strength <= 1:
        raise ConfigError(f"strength {config.strength}: expected a number above 0 and at most 1")
    if config.position not in POSITIONS:
        raise ConfigError(f"position {config.position!r}: expected one of {', '.join(POSITIONS)}")


def _fillers(n: int, rng: np.random.Generator) -> list[tuple[Kind, tuple[str, ...]]]:
    """The neutral sentences of n texts, no two of which have the same."""
    kinds = _kinds()
    drawn: dict[tuple[str, ...], Kind] = {}
    while len(drawn) < n:
        which = rng.integers(0, len(kinds), size=n).tolist()
        counts = rng.integers(FEWEST, MOST + 1, size=n).tolist()
        order = rng.random((n, max(len(kind.sentences) for kind in kinds))).argsort(axis=1)
        choices = rng.random((n, MOST, max(len(s) for kind in kinds for s in kind.sentences)))
        for i in range(n):
            kind = kinds[which[i]]
            possible = [k for k in order[i].tolist() if k < len(kind.sentences)]
            sentences = [kind.sentences[k] for k in possible[: counts[i]]]
            drawn.setdefault(tuple(map(_filled, sentences, choices[i].tolist())), kind)
    return [(kind, sentences) for sentences, kind in list(drawn.items())[:n]]


def _filled(sentence: Sequence[tuple[str, ...]], choices: Sequence[float]) -> str:
    return "".join(part[int(x * len(part))] for part, x in zip(sentence, choices, strict=False))


def _examples(
    fillers: list[tuple[Kind, tuple[str, ...]]], split: Split, config: DataConfig, rng: np.random.Generator
) -> list[Example]:
    n, k = len(fillers), config.evidence
    labels = balanced(n, rng)
    agree = rng.random((n, k)) < (1 + config.strength) / 2
    polarity = np.where(agree, labels[:, None], 1 - labels[:, None]).tolist()
    draws = rng.random((n, k, 2)).tolist()
    aspects = rng.random((n, max(len(kind.aspects) for kind, _ in fillers))).argsort(axis=1).tolist()
    places = rng.random((n, MOST + k))
    words = [word_list(f"planted-{name}") for name in CLASSES]
    examples = []
    for i, (kind, filler) in enumerate(fillers):
        names = [kind.aspects[a] for a in aspects[i] if a < len(kind.aspects)]
        planted = [_planted(names[j % len(names)], words[polarity[i][j]], *draws[i][j]) for j in range(k)]
        order = _order(config.position, len(filler), k, places[i])
        text, evidence = _joined(filler, planted, order)
        examples.append(Example(text, int(labels[i]), f"{split}:{i}", evidence=evidence))
    return examples


def _planted(aspect: str, words: Sequence[str], frame: float, word: float) -> tuple[str, str, str]:
    """One sentence with its planted word: what stands before the word, the word, what stands after it."""
    start, verb, end = FRAMES[int(frame * len(FRAMES))]
    return f"{start}{aspect}{verb}", words[int(word * len(words))], end


def _order(position: str, fillers: int, planted: int, draws: NDArray[np.float64]) -> list[bool]:
    """For each sentence of a text, whether it is a planted one."""
    if position == "scattered":
        return [place < planted for place in draws[: fillers + planted].argsort().tolist()]
    before = {"start": 0, "middle": fillers // 2, "end": fillers}[position]
    return [False] * before + [True] * planted + [False] * (fillers - before)


def _joined(
    fillers: Sequence[str], planted: Sequence[tuple[str, str, str]], order: Sequence[bool]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    text, spans = "", []
    neutral, evidence = iter(fillers), iter(planted)
    for is_planted in order:
        text += " " if text else ""
        if not is_planted:
            text += next(neutral)
            continue
        before, word, after = next(evidence)
        spans.append((len(text) + len(before), len(text) + len(before) + len(word)))
        text += before + word + after
    return text, tuple(spans)


def _kinds() -> list[Kind]:
    """The kinds of ``words/reviews.txt``: a heading, the aspects, then one sentence a line."""
    text = (resources.files("faithgauge.data") / "words" / "reviews.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith(";")]
    starts = [i for i, line in enumerate(lines) if line.startswith("# ")]
    blocks = [lines[i + 1 : j] for i, j in zip(starts, [*starts[1:], len(lines)], strict=True)]
    return [Kind(tuple(block[0].split("|")), tuple(map(_template, block[1:]))) for block in blocks]


def _template(line: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(part.split("|")) for part in re.split(r"[{}]", line))
