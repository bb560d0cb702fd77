"""Every setting of a run, as frozen dataclasses with the general defaults.

The papers' own settings are named presets beside the thing they set. A field that changes a number is here;
what does not change one (threads, folders, progress) is an argument where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le

AtLeastOne = Annotated[int, Ge(1)]
NotNegative = Annotated[float, Ge(0)]
NotBelowZero = Annotated[int, Ge(0)]
Positive = Annotated[float, Gt(0)]
Share = Annotated[float, Gt(0), Le(1)]
FromZeroToOne = Annotated[float, Ge(0), Le(1)]


def _later(neutral: Any) -> Any:
    """A field that did not exist from the start: jobs leave it out of their keys while it has this value."""
    return field(default=neutral, metadata={"neutral": neutral})


@dataclass(frozen=True)
class DataConfig:
    """Which labelled texts: a name (``sst``, ``sst@jain-wallace-2019``, ``mock-5``), a file or a folder.

    `text`, `text_pair`, `label` and `split` name columns of a generic file and are guessed where they are
    not given. `seed` is that of a split we make, of synthetic texts, and of a sample: `at_most` so many texts
    of each split, which is then marked as partial. The three after `lexicon` are for ``planted``.
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
    at_most: AtLeastOne | None = None


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

    So many `frozen_layers` of a pretrained transformer, the lowest, keep their weights, and with them its
    embeddings; there is no dropout in what is frozen.
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
    warm_up: FromZeroToOne = _later(0.0)
    frozen_layers: NotBelowZero = _later(0)


Start = Literal["fresh", "base", "negated", "redrawn", "warm"]
"""Where an adversary starts: see `AdversaryConfig`."""


@dataclass(frozen=True)
class AdversaryConfig:
    """How an adversary is trained: to say what its base model says, and to attend to other tokens.

    `divergence`: "jsd" is AtteFa's loss, scaled and without a weight; "kl" that of Wiegreffe & Pinter, whose
    `weight` is their λ. `start` is where its weights come from: drawn anew ("fresh"), those of the base
    ("base"), these with the scores of the attention negated ("negated") or its module drawn anew
    ("redrawn"), or drawn anew and first trained, for `warm_epochs`, to say what the base says while attending
    to all tokens alike ("warm"). Another `draw` draws otherwise; draw 0 of "fresh" has the weights that the
    seed gives any model.
    """

    divergence: Literal["jsd", "kl"] = "jsd"
    weight: NotNegative = 1.0
    start: Start = "fresh"
    draw: NotBelowZero = 0
    warm_epochs: AtLeastOne = 2


_WEIGHTS = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)


@dataclass(frozen=True)
class AdversaryPlan:
    """The adversaries of a study. `weights` are those of the sweep with "kl", `starts` those of AtteFa.

    Weights may be given by data set, ``{sst = [0, 1e-3]}``; one that is not named has those of the default.
    A start is written with the number of its draw where there are several: ``fresh``, ``fresh:1``. With a
    `base_seed` of "own" every seed has a base model of its own, with "first" all adversaries oppose that of
    the first seed. Each is trained for at most `epochs`, ends after `patience` epochs without a better loss
    on `select_on` (by default where its base was selected), and is kept at its best.
    """

    weights: tuple[NotNegative, ...] | Mapping[str, tuple[NotNegative, ...]] = _WEIGHTS
    starts: tuple[str, ...] = ("fresh",)
    base_seed: Literal["own", "first"] = "own"
    epochs: AtLeastOne = 80
    patience: AtLeastOne = 10
    select_on: Literal["validation", "test"] | None = None

    def weights_of(self, dataset: str) -> tuple[float, ...]:
        """The weights of the sweep on a data set, whatever its variant."""
        if not isinstance(self.weights, Mapping):
            return self.weights
        return self.weights.get(dataset.partition("@")[0]) or AdversaryPlan().weights_of(dataset)


@dataclass(frozen=True)
class SearchConfig:
    """How adversarial attention is searched for, with the words of jain-wallace-2019 as defaults.

    `distributions` of them are sought at once, by `steps` of Adam with amsgrad; while they are sought the
    output may move by `limit`, beyond which each pays `weight` times the excess, and gains `diversity` times
    its JSD from each other one. They start from the logarithm of uniform attention plus N(0, `spread`²).
    In print the weight is 500/k and the diversity 1/(k (k − 1)) for k distributions. `over` says what becomes
    of one that ends beyond the ε that is reported: "pull" moves it towards the text's own attention until it
    is within, "discard" leaves it out, as the papers' code does.
    """

    distributions: AtLeastOne = 5
    limit: Positive = 0.01
    weight: NotNegative = 100.0
    diversity: NotNegative = 0.05
    steps: AtLeastOne = 500
    learning_rate: Positive = 0.01
    spread: NotNegative = 3.0
    over: Literal["pull", "discard"] = "pull"


@dataclass(frozen=True)
class AttackPlan(SearchConfig):
    """The attacks of a study on attention: how often it is permuted, which ε are reported, and the search.

    `epsilon` bounds the total variation distance, of two classes |Δp|.
    """

    permutations: AtLeastOne = 100
    epsilon: tuple[NotNegative, ...] = (0.01,)

    def search(self) -> SearchConfig:
        """The part of it that says how is searched."""
        return SearchConfig(**{one.name: getattr(self, one.name) for one in fields(SearchConfig)})


Label = Literal["gold", "predicted"]
"""Which class is explained: the one that is right, or the one that the model says."""


@dataclass(frozen=True)
class RoarPlan:
    """How tokens are removed and models trained again, in the tests of ROAR.

    `fractions` of the tokens of each text are masked, from 0 upwards, or `counts` of them; `rounding` says
    how a fraction becomes a number of tokens. The class that is explained is the one each explainer says, or
    that of `label` for all; of several labels each has its own curves. `null` adds a second random order,
    which must come out as faithful as none. The curves are those of `metric`: by default F1 (macro) for two
    classes, accuracy for more.

    With `warm_start` each model begins as the one before it. With `early_stop_fractions` a chain ends where
    its model is no better on validation than the one with everything masked, by more than so much.
    """

    fractions: tuple[FromZeroToOne, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    counts: tuple[AtLeastOne, ...] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    label: Label | tuple[Label, ...] | None = None
    rounding: Literal["exact", "float32"] = "exact"
    null: bool = True
    metric: str | None = None
    warm_start: bool = False
    early_stop_fractions: NotNegative | None = None

    def labels(self) -> tuple[Label | None, ...]:
        """Those that are explained, each once; None is the one that each explainer says."""
        return tuple(dict.fromkeys(self.label)) if isinstance(self.label, tuple) else (self.label,)
