"""Work on many texts in parts that fit into memory.

A part has a bounded number of places; where even that is too much for the machine at hand, it is halved until
it fits. What is computed does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jaxtyping import Int
from torch import Tensor

TOKENS = 24_576
"""How many places a model reads at once, unless told otherwise."""


def in_parts(
    work: Callable[[Int[Tensor, "example"]], None], lengths: Int[Tensor, "example"], *, tokens: int = TOKENS
) -> None:
    """Call `work` with the numbers of texts of these lengths, each once, longest first.

    A part has at most `tokens` places, or one text. `work` may fail for want of memory as long as nothing of
    what it does is done by then: it is called again with half of the numbers.
    """
    for numbers in _parts(lengths, tokens):
        _halving(work, numbers)


def out_of_memory(error: Exception) -> bool:
    text = str(error)
    return isinstance(error, MemoryError) or "out of memory" in text or "can't allocate memory" in text


def _parts(lengths: Int[Tensor, "example"], tokens: int) -> Iterator[Int[Tensor, "example"]]:
    order = lengths.argsort(descending=True, stable=True)
    start = 0
    while start < len(order):
        stop = start + max(tokens // max(int(lengths[order[start]]), 1), 1)
        yield order[start:stop]
        start = stop


def _halving(work: Callable[[Tensor], None], numbers: Int[Tensor, "example"]) -> None:
    try:
        work(numbers)
        return
    except (RuntimeError, MemoryError) as error:
        if len(numbers) == 1 or not out_of_memory(error):
            raise
    for half in numbers.chunk(2):
        _halving(work, half)
