"""How many threads the numerical libraries of a new process start, and that idle ones do not spin."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


def variables(threads: int) -> dict[str, str]:
    """A process that uses more than one thread must not wait passively: that is slower than one thread."""
    return {"OMP_NUM_THREADS": str(threads)} | ({"OMP_WAIT_POLICY": "PASSIVE"} if threads == 1 else {})


@contextlib.contextmanager
def environment(threads: int) -> Iterator[None]:
    """What is started inside has these variables: OpenMP reads them once, when it is loaded."""
    before = {name: os.environ.get(name) for name in variables(threads)}
    os.environ.update(variables(threads))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
