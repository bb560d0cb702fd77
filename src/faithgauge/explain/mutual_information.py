"""Mutual information: what the presence of a word tells of the label of a training text."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from faithgauge.errors import UnsupportedError
from faithgauge.models.question import Question
from faithgauge.types import Batch, Encoded, Importance


def mutual_information(model: nn.Module, batch: Batch, question: Question) -> Importance:  # noqa: ARG001
    """The mutual information of the presence of a word in a training text and the label of that text.

    score_t = Σ_{z, y} p(z, y) ln (p(z, y) / (p(z) p(y))).

    z says whether the word of token t is in the text, y is the label; p are shares of the training texts. The
    score of a word is the same everywhere, 0 if no training text has it. Of pairs, the first texts are read.

    Paper: recursive-roar-2022, code (it is not in the paper).
    Differs: the paper's code takes each label against all others, weighs these by the shares of the labels,
        counts in bits, and adds one more text of each label that has every word. With two labels the first
        of these changes nothing.
    Range: [0, ln 2].
    Cost: one pass over the training texts for all texts together.
    """
    train = question.known.train
    if train is None:
        raise UnsupportedError("mutual information needs the training split; choose another explainer")
    table = question.known.once("mutual information", lambda: torch.from_numpy(by_word(train)))
    ids = batch.ids.cpu()
    scores = torch.where(ids < len(table), table[ids.clamp(max=len(table) - 1)], 0).float()
    return Importance(scores.to(batch.ids.device).masked_fill(~batch.maskable, torch.nan), signed=False)


def by_word(train: Encoded) -> NDArray[np.float64]:
    """The mutual information of each id that a text has, as far as the largest of them."""
    labels = np.asarray(train.labels)
    ids = np.asarray(train.ids.values, np.int64)
    words, classes = int(ids.max(initial=0)) + 1, int(labels.max(initial=0)) + 1
    text = np.repeat(np.arange(len(train)), train.ids.lengths())
    seen = np.unique(text * words + ids)  # a word counts once for each text
    present = np.bincount((seen % words) * classes + labels[seen // words], minlength=words * classes)
    texts = np.bincount(labels, minlength=classes)
    joint = np.stack([present.reshape(words, classes), texts - present.reshape(words, classes)], 1)
    shares = joint / max(len(train), 1)
    apart = shares.sum(2, keepdims=True) * (texts / max(len(train), 1))
    logs = np.log(np.divide(shares, apart, out=np.ones_like(shares), where=shares > 0))
    information: NDArray[np.float64] = (shares * logs).sum((1, 2))
    return information
