"""Randomness that depends on what it is for, and on nothing else.

Every draw comes from a generator derived from a seed and a purpose, such as ``(0, "order", 3)`` for the order
of the batches in the third epoch. The order in which things are computed then changes nothing. Only the
splits of the papers are drawn as the papers drew them.
"""

from __future__ import annotations

import hashlib

import numpy as np


def derive(seed: int, *purpose: str | int) -> int:
    """A 63-bit seed for one purpose."""
    text = "\x1f".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """A numpy generator for one purpose."""
    return np.random.Generator(np.random.PCG64(derive(seed, *purpose)))
