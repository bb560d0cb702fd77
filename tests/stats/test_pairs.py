"""Counting pairs of tokens in many rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from fakes import ragged
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.stats.pairs import count, inversions
from faithgauge.stats.rows import paired

SCORES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40)


def slow(row: list[tuple[int, int]]) -> list[int]:
    """Pairs in opposite order, tied in both, tied in the first, tied in the second."""
    opposite = both = first = second = 0
    for (a, b), (c, d) in combinations(row, 2):
        opposite += (a - c) * (b - d) < 0
        both += a == c and b == d
        first += a == c
        second += b == d
    return [opposite, both, first, second]


def test_pairs_by_hand() -> None:
    # Pairs of (1, 3), (2, 1), (2, 2), (3, 2): opposite 01, 02, 03; tied in the first 12; in the second 23.
    found = count(paired(ragged([[1, 2, 2, 3]], float), ragged([[3, 1, 2, 2]], float)))
    assert found.discordant.tolist() == [3]
    assert found.tied_both.tolist() == [0]
    assert found.ties_first.tolist() == [[1, 0, 18]]
    assert found.ties_second.tolist() == [[1, 0, 18]]
    assert found.difference().tolist() == [-2]


def test_three_equal_scores_are_three_tied_pairs() -> None:
    found = count(paired(ragged([[5, 5, 5, 1]], float), ragged([[5, 5, 5, 1]], float)))
    assert found.ties_first.tolist() == [[3, 6, 66]]
    assert found.tied_both.tolist() == [3]
    assert found.difference().tolist() == [3]


@given(st.lists(SCORES, max_size=6))
def test_every_count_is_that_of_looking_at_each_pair(texts: list[list[tuple[int, int]]]) -> None:
    first, second = (ragged([[token[side] for token in row] for row in texts], float) for side in (0, 1))
    found = count(paired(first, second))
    for i, row in enumerate(texts):
        counts = [found.discordant[i], found.tied_both[i], found.ties_first[i, 0], found.ties_second[i, 0]]
        assert counts == slow(row)


@given(st.integers(2, 12), st.integers(0, 10**6))
def test_inversions_are_the_pairs_out_of_order(side: int, seed: int) -> None:
    permutation = np.random.default_rng(seed).permuted(np.tile(np.arange(side**2), (3, 1)), axis=1)
    expected = [sum(a > b for a, b in combinations(row, 2)) for row in permutation.tolist()]
    assert inversions(permutation.astype(np.int16)).tolist() == expected


def test_a_row_of_over_32768_tokens_is_counted_in_wider_integers() -> None:
    n = 40_000
    found = count(paired(ragged([range(n)], float), ragged([range(n, 0, -1)], float)))
    assert found.discordant.tolist() == [n * (n - 1) // 2]
