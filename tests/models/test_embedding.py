from __future__ import annotations

import torch
from fakes import noise
from torch import nn

from faithgauge.models.embedding import Embedding, rows_of


def table(words: int = 6, size: int = 2) -> Embedding:
    """Word i has the vector (10 i, 10 i + 1)."""
    embedding = Embedding(words, size)
    with torch.no_grad():
        embedding.weight.copy_(10.0 * torch.arange(words)[:, None] + torch.arange(size))
    return embedding


def test_a_vector_is_given_once_and_its_places_point_to_it() -> None:
    rows = table()(torch.tensor([[4, 1, 4], [1, 0, 0]]))
    assert rows.vectors.tolist() == [[0, 1], [10, 11], [40, 41]]
    assert rows.places.tolist() == [[2, 1, 2], [1, 0, 0]]
    assert rows.spread()[0].tolist() == [[40, 41], [10, 11], [40, 41]]


def test_vectors_given_place_by_place_spread_to_themselves() -> None:
    embedded = noise(3, 4, 2)
    assert torch.equal(rows_of(embedded).spread(), embedded)


def test_the_gradient_of_a_word_is_the_sum_over_its_places() -> None:
    embedding = table()
    upstream = torch.tensor([[[1.0, 2], [3, 4], [5, 6]]])
    embedding(torch.tensor([[4, 1, 4]])).spread().backward(upstream)
    assert embedding.weight.grad is not None
    assert embedding.weight.grad.tolist() == [[0, 0], [3, 4], [0, 0], [0, 0], [6, 8], [0, 0]]


def test_gradients_add_up_like_those_of_torch() -> None:
    ours, theirs = table(), nn.Embedding(6, 2)
    theirs.weight.data.copy_(ours.weight.data)
    for ids in ([[4, 1, 4]], [[1, 1, 0]], [[5, 4, 2]]):
        for vectors in (ours(torch.tensor(ids)).spread(), theirs(torch.tensor(ids))):
            vectors.square().sum().backward()
    assert torch.equal(ours.weight.grad, theirs.weight.grad)


def test_clearing_sets_every_written_row_to_zero_and_keeps_the_memory() -> None:
    embedding = table()
    for ids in ([[4, 1]], [[2, 2]]):
        embedding(torch.tensor(ids)).spread().sum().backward()
    gradient = embedding.weight.grad
    embedding.clear_grad()
    assert embedding.weight.grad is gradient
    assert gradient.count_nonzero() == 0


def test_what_was_not_written_since_the_last_clearing_is_not_touched() -> None:
    embedding = table()
    embedding(torch.tensor([[4]])).spread().sum().backward()
    embedding.clear_grad()
    embedding(torch.tensor([[1]])).spread().sum().backward()
    assert embedding.weight.grad[:, 0].tolist() == [0, 1, 0, 0, 0, 0]


def test_clearing_before_any_gradient_does_nothing() -> None:
    embedding = table()
    embedding.clear_grad()
    assert embedding.weight.grad is None


def test_a_gradient_that_was_taken_away_is_begun_anew() -> None:
    embedding = table()
    embedding(torch.tensor([[4]])).spread().sum().backward()
    embedding.zero_grad()
    embedding.clear_grad()
    embedding(torch.tensor([[1]])).spread().sum().backward()
    assert embedding.weight.grad[:, 0].tolist() == [0, 1, 0, 0, 0, 0]


def test_frozen_vectors_get_no_gradient() -> None:
    embedding = table().requires_grad_(False)
    scale = torch.ones(2, requires_grad=True)
    (embedding(torch.tensor([[4, 1]])).spread() * scale).sum().backward()
    assert embedding.weight.grad is None
    assert scale.grad is not None
    assert scale.grad.tolist() == [50, 52]


def test_nothing_is_remembered_of_a_step_that_was_cleared() -> None:
    embedding = table()
    for _ in range(3):
        embedding(torch.tensor([[4, 1]])).spread().sum().backward()
        embedding.clear_grad()
    assert embedding._written == []
