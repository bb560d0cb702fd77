"""The facts that travel through the whole program, in the order in which they arise.

    text → Example → Encoded → Batch → Output → Importance
                                    ↳ Said, of a whole split

Only names and shapes stand here; what is done with them is written where it is done. Axis names in shapes:
batch token vocab embed hidden class head layer step example seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

Split = Literal["train", "validation", "test"]
Task = Literal["single", "pair", "cloze"]

SPLITS: tuple[Split, ...] = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled text, or one pair of texts, as it stands in its data set.

    `evidence` are the character ranges of `text` that are known to decide the label. `candidates` are the
    classes among which a cloze question chooses. The second text of a pair is the question of a cloze task.
    """

    text: str
    label: int
    id: str
    text_pair: str | None = None
    evidence: tuple[tuple[int, int], ...] | None = None
    candidates: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths without padding: row i is ``values[offsets[i]:offsets[i + 1]]``."""

    values: NDArray[np.generic]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, i: int) -> NDArray[np.generic]:
        return self.values[self.offsets[i] : self.offsets[i + 1]]

    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)


@dataclass(frozen=True)
class Encoded:
    """One split of a data set as token ids, at rest on disk (memory-mapped) or in memory.

    `ids` holds int32; `spans` (token, 2) the characters of the text each token was read from, (-1, -1) for a
    token that has none, which is what makes it special. `evidence` is a flag for every token of `ids`. Of a
    pair in one row `segments` says which of its texts (0, 1) a token belongs to, and `pair_texts` has the
    second ones; of a pair in two rows the second has `pair_ids` and `pair_spans`.
    """

    ids: Ragged
    spans: Ragged
    labels: NDArray[np.int64]
    texts: Ragged
    pair_ids: Ragged | None = None
    pair_spans: Ragged | None = None
    pair_texts: Ragged | None = None
    evidence: Ragged | None = None
    candidates: Ragged | None = None
    segments: Ragged | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def text(self, i: int) -> str:
        return bytes(self.texts.row(i)).decode()

    def text_pair(self, i: int) -> str | None:
        return None if self.pair_texts is None else bytes(self.pair_texts.row(i)).decode()


@dataclass(frozen=True)
class Batch:
    """Some examples, padded on the right to the longest.

    ids          (batch, token)
    lengths      (batch)
    valid        (batch, token)   a real token, not padding
    maskable     (batch, token)   real and not special: what is attended to, explained and masked
    labels       (batch)
    rows         (batch)          which examples of the split these are
    candidates   (batch, class)   the classes a cloze question may be answered with
    pair                          the second text of each pair, as a batch of its own
    segments     (batch, token)   where both texts of a pair are one row: which one a token belongs to
    """

    ids: Tensor
    lengths: Tensor
    valid: Tensor
    maskable: Tensor
    labels: Tensor | None = None
    rows: Tensor | None = None
    candidates: Tensor | None = None
    pair: Batch | None = None
    segments: Tensor | None = None

    def __len__(self) -> int:
        return int(self.ids.shape[0])


@dataclass(frozen=True)
class Output:
    """What a classifier says of a batch.

    logits       (batch, class), or (batch, 1) for one sigmoid output
    attention    (batch, token), 0 outside `maskable`; None where the model has no attention
    hidden       (batch, token, hidden); None where the model does not show its states
    pair                         attention and states of the second text of a two-sided model
    """

    logits: Tensor
    attention: Tensor | None = None
    hidden: Tensor | None = None
    pair: Output | None = None


@dataclass(frozen=True)
class Said:
    """What a model says of every text of a split, at rest.

    probability  (example, class)
    attention    one weight for every id of the split, 0 for what is special; None: no attention
    pair         the same of the second texts of a two-sided model
    """

    probability: NDArray[np.float32]
    attention: Ragged | None = None
    pair: Ragged | None = None

    def __len__(self) -> int:
        return len(self.probability)


@dataclass(frozen=True)
class Importance:
    """One number per token: (batch, token), nan outside `maskable`.

    error        (batch)   what the scores of a text lack of what the method says they sum to
    pair                   the scores of the second texts, where both are attended to
    """

    scores: Tensor
    signed: bool
    error: Tensor | None = None
    pair: Importance | None = None


@runtime_checkable
class Classifier(Protocol):
    """What a model must offer; `capabilities` names what it offers beyond `forward`.

    embedding   `embed` and `forward_embedded`
    attention   `forward` and `forward_embedded` take `attention` and return the one they used
    decode      `decode` computes the logits from hidden states and attention
    linear      `decode` is affine in (attention · hidden), so a projection can be shared
    entry       `enter` is the affine map that is applied to every word vector first, wherever it stands;
                `forward_entered(rows, batch, attention, beside=…)` goes on from its results, with what
                `beside(batch)` made of the second texts (see `models.classifier`)
    two_sided   both texts of a pair are attended to; `swapped()` is the model with the two exchanged
    heads       `heads(batch, embedded=None)` shows the attention of every head (see `models.transformer`)
    """

    n_classes: int
    capabilities: frozenset[str]

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Output: ...

    def embed(self, batch: Batch) -> Tensor: ...

    def forward_embedded(self, embedded: Tensor, batch: Batch, attention: Tensor | None = None) -> Output: ...

    def decode(self, hidden: Tensor, attention: Tensor, batch: Batch) -> Tensor: ...
