"""Encoded examples to padded batches, and the order in which training sees them.

A batch holds texts of nearly equal length, so that little of it is padding; which texts of a length meet, and
the order of the batches, are drawn anew for every epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from faithgauge.seeds import generator
from faithgauge.types import Batch, Encoded, Ragged


def collate(
    encoded: Encoded, rows: NDArray[np.int64], *, classes: int = 0, device: torch.device | str = "cpu"
) -> Batch:
    """The batch of these rows, in their order; `classes` is needed where there are candidates."""
    pair = None
    if encoded.pair_ids is not None and encoded.pair_spans is not None:
        pair = _padded(encoded.pair_ids, encoded.pair_spans, rows, device)
    candidates = _candidates(encoded.candidates, rows, classes)
    return replace(
        _padded(encoded.ids, encoded.spans, rows, device),
        labels=torch.from_numpy(encoded.labels[rows]).to(device),
        rows=torch.from_numpy(rows).to(device),
        candidates=None if candidates is None else candidates.to(device),
        pair=pair,
        segments=_segments(encoded.segments, rows, device),
    )


def padded(
    ragged: Ragged, rows: NDArray[np.int64], *, width: int = 0, fill: float = 0.0
) -> NDArray[np.generic]:
    """These rows as (batch, token), `fill` behind the last token of each; at least `width` wide."""
    starts, lengths = ragged.offsets[rows], ragged.offsets[rows + 1] - ragged.offsets[rows]
    steps = np.arange(max(width, int(lengths.max(initial=1))))
    there = steps < lengths[:, None]
    result = np.full(there.shape, fill, ragged.values.dtype)
    result[there] = ragged.values[(starts[:, None] + steps)[there]]
    return result


def unpad(ragged: Ragged, rows: NDArray[np.int64], values: NDArray[np.generic]) -> None:
    """Write what stands in (batch, token) to the places of these rows."""
    starts, lengths = ragged.offsets[rows], ragged.offsets[rows + 1] - ragged.offsets[rows]
    steps = np.arange(values.shape[1])
    there = steps < lengths[:, None]
    ragged.values[(starts[:, None] + steps)[there]] = values[there]


def training_batches(
    lengths: NDArray[np.int64], batch_size: int, *, seed: int, epoch: int
) -> list[NDArray[np.int64]]:
    """The rows of each batch of one epoch: sorted by length, equal lengths and batches in random order."""
    random = generator(seed, "order", epoch)
    shuffled = random.permutation(len(lengths))
    by_length = shuffled[np.argsort(lengths[shuffled], kind="stable")]
    batches = [by_length[i : i + batch_size] for i in range(0, len(by_length), batch_size)]
    return [batches[i] for i in random.permutation(len(batches))]


def parts(
    rows: NDArray[np.int64], lengths: NDArray[np.int64], tokens: int = 65_536
) -> list[NDArray[np.int64]]:
    """The rows as one batch, or as several where one would have more than `tokens` places.

    A single text of thousands of tokens would else pad its whole batch to its length.
    """
    own = lengths[rows]
    if len(rows) * own.max(initial=0) <= tokens:
        return [rows]
    return [rows[some] for some in reading_batches(own, tokens)]


def reading_batches(lengths: NDArray[np.int64], tokens: int = 16_384) -> Iterator[NDArray[np.int64]]:
    """All rows once, shortest first, in batches of at most `tokens` places, padding included."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        # Sorted lengths: a batch of n costs n times the length of its last row.
        widths = lengths[order[start : start + tokens]]
        fitting = np.searchsorted(widths * np.arange(1, len(widths) + 1), tokens, side="right")
        stop = start + max(int(fitting), 1)
        yield order[start:stop]
        start = stop


def _padded(ids: Ragged, spans: Ragged, rows: NDArray[np.int64], device: torch.device | str) -> Batch:
    starts, lengths = ids.offsets[rows], ids.offsets[rows + 1] - ids.offsets[rows]
    steps = np.arange(lengths.max(initial=1))
    valid = steps < lengths[:, None]
    places = (starts[:, None] + steps)[valid]
    padded = np.zeros(valid.shape, np.int64)
    padded[valid] = ids.values[places]
    maskable = np.zeros(valid.shape, bool)
    maskable[valid] = spans.values[places, 0] >= 0
    arrays = (padded, lengths, valid, maskable)
    ids_, lengths_, valid_, maskable_ = (torch.from_numpy(array).to(device) for array in arrays)
    return Batch(ids_, lengths_, valid_, maskable_)


def _segments(
    segments: Ragged | None, rows: NDArray[np.int64], device: torch.device | str
) -> torch.Tensor | None:
    if segments is None:
        return None
    return torch.from_numpy(padded(segments, rows).astype(np.int64)).to(device)


def _candidates(candidates: Ragged | None, rows: NDArray[np.int64], classes: int) -> torch.Tensor | None:
    if candidates is None:
        return None
    allowed = torch.zeros(len(rows), classes, dtype=torch.bool)
    for i, row in enumerate(rows):
        allowed[i, torch.from_numpy(candidates.row(int(row)).astype(np.int64))] = True
    return allowed
