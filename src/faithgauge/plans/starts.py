"""The starts of adversaries by name, in the order in which they are taken."""

from __future__ import annotations

from faithgauge.config import Start
from faithgauge.errors import ConfigError

STARTS: tuple[Start, ...] = ("fresh", "warm", "negated", "base", "redrawn")
"""In the order in which they are taken where several are asked for; the first is the papers' procedure."""


def starts(n: int) -> tuple[str, ...]:
    """The first n ways to start; after all of them the drawn ones again, drawn otherwise."""
    names: list[str] = list(STARTS)
    draw = 1
    while len(names) < n:
        names += [f"{name}:{draw}" for name in ("fresh", "warm", "redrawn")]
        draw += 1
    return tuple(names[:n])


def read_start(text: str) -> tuple[Start, int]:
    """The start that is written so, and the number of its draw."""
    name, colon, draw = text.partition(":")
    known = {one: one for one in STARTS}
    if name not in known or (colon and not draw.isdecimal()):
        raise ConfigError(f"expected a start such as {', '.join(STARTS)} or fresh:1, found {text!r}")
    return known[name], int(draw or 0)
