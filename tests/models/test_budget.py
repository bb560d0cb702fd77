from __future__ import annotations

from itertools import chain

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from faithgauge.models.budget import in_parts


def parts_of(lengths: list[int], tokens: int) -> list[list[int]]:
    found: list[list[int]] = []
    in_parts(
        lambda numbers: found.append(numbers.tolist()), torch.tensor(lengths, dtype=torch.long), tokens=tokens
    )
    return found


def test_a_part_has_the_longest_that_are_left_and_no_more_places_than_allowed() -> None:
    assert parts_of([3, 5, 4, 1], tokens=10) == [[1, 2], [0, 3]]


def test_what_is_longer_than_the_budget_is_a_part_of_its_own() -> None:
    assert parts_of([30, 2, 40], tokens=10) == [[2], [0], [1]]


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 100))
def test_everything_is_done_once(lengths: list[int], tokens: int) -> None:
    assert sorted(chain.from_iterable(parts_of(lengths, tokens))) == list(range(len(lengths)))


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
        RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
        MemoryError(),
    ],
    ids=["cpu", "cuda", "python"],
)
def test_a_part_that_does_not_fit_is_halved_until_it_does(error: Exception) -> None:
    done: list[list[int]] = []

    def work(numbers: Tensor) -> None:
        if len(numbers) > 2:
            raise error
        done.append(numbers.tolist())

    in_parts(work, torch.ones(7, dtype=torch.long), tokens=100)
    assert done == [[0, 1], [2, 3], [4, 5], [6]]


def test_where_one_does_not_fit_that_is_the_error() -> None:
    def work(numbers: Tensor) -> None:
        raise MemoryError("no room for one")

    with pytest.raises(MemoryError, match="no room for one"):
        in_parts(work, torch.ones(3, dtype=torch.long))


def test_another_error_is_not_taken_for_want_of_memory() -> None:
    tried: list[int] = []

    def work(numbers: Tensor) -> None:
        tried.append(len(numbers))
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes do not match"):
        in_parts(work, torch.ones(4, dtype=torch.long))
    assert tried == [4]
