"""Every setting of a run, as frozen dataclasses with the general defaults.

The papers' own settings are named presets beside the thing they set. A field that changes a number is here;
what does not change one (threads, folders, progress) is an argument where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le

AtLeastOne = Annotated[int, Ge(1)]
NotNegative = Annotated[float, Ge(0)]
NotBelowZero = Annotated[int, Ge(0)]
Positive = Annotated[float, Gt(0)]
Share = Annotated[float, Gt(0), Le(1)]
FromZeroToOne = Annotated[float, Ge(0), Le(1)]


@dataclass(frozen=True)
class DataConfig:
    """Which labelled texts: a name (``sst``, ``sst@jain-wallace-2019``, ``mock-5``), a file or a folder.

    `text`, `text_pair`, `label` and `split` name columns of a generic file and are guessed where they are
    not given. `seed` is that of a split we make and of synthetic texts. The last three are for ``planted``.
    """

    name: str
    data_dir: Path | None = None
    text: str | None = None
    text_pair: str | None = None
    label: str | None = None
    split: str | None = None
    seed: int = 0
    lexicon: Path | None = None
    evidence: AtLeastOne = 3
    position: Literal["start", "middle", "end", "scattered"] = "scattered"
    strength: Share = 1.0


@dataclass(frozen=True)
class EncodeConfig:
    """How text becomes ids: a preset for words, or a tokenizer file of the `tokenizers` library.

    A word enters the vocabulary when at least `min_df` training texts hold it. A text of more than
    `max_tokens` is an error, or is cut where `too_long` says so.
    """

    words: str = "plain"
    tokenizer: Path | None = None
    min_df: AtLeastOne = 1
    max_tokens: AtLeastOne = 20_000
    too_long: Literal["error", "cut"] = "error"


@dataclass(frozen=True)
class ModelConfig:
    """An attention classifier: what encodes, what attends, and how the weighted states become classes.

    Sizes left at None: `embed_size` is that of the word vectors, 300 where they are drawn; `hidden_size` is
    the encoder's own default (its table entry); `attention_size` is half of the encoder's output. `pair` says
    how a second text takes part: as the query of the attention ("queried", Jain & Wallace), or encoded and
    attended like the first ("two_sided", Neely et al.).
    """

    encoder: str = "bilstm"
    attention: str = "additive"
    distribution: str = "softmax"
    temperature: Positive = 1.0
    embed_size: AtLeastOne | None = None
    hidden_size: AtLeastOne | None = None
    attention_size: AtLeastOne | None = None
    pair: Literal["queried", "two_sided"] = "queried"


@dataclass(frozen=True)
class VectorConfig:
    """Word vectors at the start of a training: read from `embeddings`, the rest drawn.

    `word2vec` trains them first, on the training texts (CBOW, window 10; attefa does so for MIMIC).
    What is drawn is normal with mean 0 and standard deviation `embedding_scale`; 0.1 is the general default,
    1 that of the papers, and the results depend on it.
    """

    embeddings: Path | None = None
    embedding_scale: Positive = 0.1
    word2vec: bool = False


@dataclass(frozen=True)
class TrainConfig:
    """One training. `select_on` is the split whose `select_by` chooses the epoch that is kept.

    `class_weights`: "positive" weighs the positives of a binary task by negatives/positives and leaves any
    other task alone (Jain & Wallace), "balanced" weighs each class by the inverse of its frequency.
    `decay_attention` says whether weight decay touches the attention module. `patience` ends a training after
    that many epochs without a better value. `clip` bounds the norm of the gradient.
    """

    epochs: AtLeastOne = 8
    batch_size: AtLeastOne = 32
    learning_rate: Positive = 1e-3
    weight_decay: NotNegative = 1e-5
    decay_attention: bool = False
    amsgrad: bool = True
    clip: Positive | None = None
    patience: AtLeastOne | None = None
    loss: Literal["mean", "sum"] = "mean"
    class_weights: Literal["none", "positive", "balanced"] = "none"
    select_on: Literal["validation", "test"] = "validation"
    select_by: str = "roc_auc"
    seed: int = 0


Start = Literal["fresh", "base", "negated", "redrawn", "warm"]
"""Where an adversary starts: see `AdversaryConfig`."""


@dataclass(frozen=True)
class AdversaryConfig:
    """How an adversary is trained: to say what its base model says, and to attend to other tokens.

    `divergence`: "jsd" is AtteFa's loss, scaled and without a weight; "kl" that of Wiegreffe & Pinter, whose
    `weight` is their λ. `start` is where its weights come from: drawn anew ("fresh"), those of the base
    ("base"), these with the scores of the attention negated ("negated") or its module drawn anew
    ("redrawn"), or drawn anew and first trained, for `warm_epochs`, to attend to what the base attends to
    least ("warm"). Another `draw` draws otherwise; draw 0 of "fresh" has the weights that the seed gives any
    model.
    """

    divergence: Literal["jsd", "kl"] = "jsd"
    weight: NotNegative = 1.0
    start: Start = "fresh"
    draw: NotBelowZero = 0
    warm_epochs: AtLeastOne = 2


@dataclass(frozen=True)
class AdversaryPlan:
    """The adversaries of a study. `weights` are those of the sweep with "kl", `starts` those of AtteFa.

    A start is written with the number of its draw where there are several: ``fresh``, ``fresh:1``. With a
    `base_seed` of "own" every seed has a base model of its own, with "first" all adversaries oppose that of
    the first seed. Each is trained for at most `epochs`, ends after `patience` epochs without a better loss
    on `select_on` (by default where its base was selected), and is kept at its best.
    """

    weights: tuple[NotNegative, ...] = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
    starts: tuple[str, ...] = ("fresh",)
    base_seed: Literal["own", "first"] = "own"
    epochs: AtLeastOne = 80
    patience: AtLeastOne = 10
    select_on: Literal["validation", "test"] | None = None


@dataclass(frozen=True)
class RoarPlan:
    """How tokens are removed and models trained again, in the tests of ROAR.

    `fractions` of the tokens of each text are masked, from 0 upwards, or `counts` of them; `rounding` says
    how a fraction becomes a number of tokens. The class that is explained is the one each explainer says, or
    that of `label` for all. `null` adds a second random order, which must come out as faithful as none. The
    curves are those of `metric`: by default F1 (macro) for two classes, accuracy for more.

    With `warm_start` each model begins as the one before it. With `early_stop_fractions` a chain ends where
    its model is no better on validation than the one with everything masked, by more than so much.
    """

    fractions: tuple[FromZeroToOne, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    counts: tuple[AtLeastOne, ...] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    label: Literal["gold", "predicted"] | None = None
    rounding: Literal["exact", "float32"] = "exact"
    null: bool = True
    metric: str | None = None
    warm_start: bool = False
    early_stop_fractions: NotNegative | None = None
