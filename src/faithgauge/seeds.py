"""Randomness that depends on what it is for, and on nothing else.

Every draw comes from a generator derived from a seed and a purpose, such as ``(0, "order", 3)`` for the order
of the batches in the third epoch. The order in which things are computed then changes nothing. Only the
splits of the papers are drawn as the papers drew them.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray


def derive(seed: int, *purpose: str | int) -> int:
    """A 63-bit seed for one purpose."""
    text = "\x1f".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """A numpy generator for one purpose."""
    return np.random.Generator(np.random.PCG64(derive(seed, *purpose)))


def drawn(
    streams: NDArray[np.uint64], numbers: NDArray[np.uint64], *, out: NDArray[np.uint64] | None = None
) -> NDArray[np.uint64]:
    """Random 64-bit numbers of many streams at once: of stream s the n-th is mix(s + (n + 1) γ).

    That is SplitMix64, for where a generator for each of thousands of texts would cost more than what is
    computed with it. The result is (streams, *numbers).
    """
    found = np.empty((len(streams), *numbers.shape), np.uint64) if out is None else out
    shifted: NDArray[np.uint64] = np.empty_like(found)
    np.add(streams.reshape(-1, *[1] * numbers.ndim), (numbers + np.uint64(1)) * _GAMMA, out=found)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        np.right_shift(found, np.uint64(shift), out=shifted)
        np.bitwise_xor(found, shifted, out=found)
        np.multiply(found, np.uint64(factor), out=found)
    np.right_shift(found, np.uint64(31), out=shifted)
    np.bitwise_xor(found, shifted, out=found)
    return found


_GAMMA = np.uint64(0x9E3779B97F4A7C15)
