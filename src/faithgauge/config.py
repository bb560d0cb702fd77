"""Every setting of a run, as frozen dataclasses with the general defaults.

The papers' own settings are named presets beside the thing they set. A field that changes a number is here;
what does not change one (threads, folders, progress) is an argument where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le

AtLeastOne = Annotated[int, Ge(1)]
NotNegative = Annotated[float, Ge(0)]
NotBelowZero = Annotated[int, Ge(0)]
Positive = Annotated[float, Gt(0)]
Share = Annotated[float, Gt(0), Le(1)]
Part = Annotated[float, Ge(0), Le(1)]


def _later(neutral: Any) -> Any:
    """A field that did not exist from the start: jobs leave it out of their keys while it has this value."""
    return field(default=neutral, metadata={"neutral": neutral})


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
    `max_tokens` is an error, or is cut where `too_long` says so. A pair is `joined` in one row, with the
    separators of the tokenizer, for a pretrained model.
    """

    words: str = "plain"
    tokenizer: Path | None = None
    min_df: AtLeastOne = 1
    max_tokens: AtLeastOne = 20_000
    too_long: Literal["error", "cut"] = "error"
    joined: bool = False


@dataclass(frozen=True)
class ModelConfig:
    """An attention classifier: what encodes, what attends, and how the weighted states become classes.

    Sizes left at None: `embed_size` is that of the word vectors, 300 where they are drawn; `hidden_size` is
    the encoder's own default (its table entry); `attention_size` is half of the encoder's output. `pair` says
    how a second text takes part: as the query of the attention ("queried", Jain & Wallace), or encoded and
    attended like the first ("two_sided", Neely et al.).

    The encoder ``hf:PLACE`` is a whole pretrained transformer with a new head; PLACE is a folder or a name on
    the hub. Of the rest only `distribution` is asked, which is then that of every head.
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

    `optimiser`: "adam" couples weight decay to the gradient, "adamw" does not, and spares biases and norms;
    `beta2` is the decay of its second moments. With the `schedule` "linear" the rate falls to 0 over all
    steps, and rises from 0 over the share `warm_up` of them first.
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
    optimiser: Literal["adam", "adamw"] = _later("adam")
    beta2: Share = _later(0.999)
    schedule: Literal["constant", "linear"] = _later("constant")
    warm_up: Part = _later(0.0)


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
