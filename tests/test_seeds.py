from __future__ import annotations

import hashlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.seeds import derive, drawn, generator

KNOWN = 7969273670047146399
"""Written down once: another value would change every result."""


def test_a_seed_is_the_first_eight_bytes_of_a_hash_halved() -> None:
    digest = hashlib.sha256(b"0\x1forder\x1f3").digest()
    expected = sum(byte << (8 * i) for i, byte in enumerate(digest[:8])) // 2
    assert derive(0, "order", 3) == expected == KNOWN


def test_a_generator_draws_what_it_has_always_drawn() -> None:
    assert generator(0, "order", 3).integers(0, 1000, 4).tolist() == [878, 266, 688, 289]


def test_the_borders_between_the_parts_of_a_purpose_count() -> None:
    assert derive(0, "a", "bc") != derive(0, "ab", "c")
    assert derive(1, "2") != derive(12)


def test_another_seed_or_purpose_is_another_seed() -> None:
    found = {
        derive(seed, purpose, i) for seed in range(5) for purpose in ("order", "noise") for i in range(5)
    }
    assert len(found) == 50


@given(st.integers(), st.lists(st.text("aé 1") | st.integers(), max_size=3))
def test_torch_and_numpy_take_every_derived_seed(seed: int, purpose: list[str | int]) -> None:
    assert 0 <= derive(seed, *purpose) < 2**63


def test_many_streams_are_drawn_at_once_as_splitmix64_draws_them() -> None:
    """The first three numbers of its seed 0, and the third of two seeds at once."""
    streams, numbers = np.array([0, 5], np.uint64), np.arange(3, dtype=np.uint64)
    both = drawn(streams, numbers)
    assert both[0].tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert both.shape == (2, 3)
    assert drawn(streams, numbers[2:].reshape(1, 1)).tolist() == both[:, 2:, None].tolist()
