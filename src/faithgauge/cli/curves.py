"""Curves on a terminal: one line of blocks for each, from nothing masked to all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from faithgauge.errors import ConfigError

BLOCKS = "▁▂▃▄▅▆▇█"
GAP = "…"


def drawn(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each curve among rows of numbers that have a fraction, all of one kind to one scale."""
    lines: list[str] = []
    for place in dict.fromkeys(_place(row) for row in rows):
        own = [row for row in rows if _place(row) == place]
        low, high = min(row["ours"] for row in own), max(row["ours"] for row in own)
        names = list(dict.fromkeys(_name(row) for row in own))
        width = max(map(len, names))
        lines.append(f"{' '.join(place)} by the share masked, from {low:.3f} ▁ to {high:.3f} █")
        for name in names:
            curve = sorted((row for row in own if _name(row) == name), key=lambda row: float(row["fraction"]))
            blocks = "".join(_block(row["ours"], low, high) for row in curve)
            lines.append(f"  {name:{width}}  {blocks}  {curve[0]['ours']:.3f} → {curve[-1]['ours']:.3f}")
    return lines


def shares(text: str) -> tuple[float, ...]:
    """Numbers with commas; ``0,0.1,…,1`` goes on in the step of the first two."""
    parts = [part.strip() for part in re.sub(r"\.\.\.", GAP, text).split(",") if part.strip()]
    found: list[float] = []
    try:
        for i, part in enumerate(parts):
            if part == GAP:
                found += _between(found[-2], found[-1], float(parts[i + 1]))
            else:
                found.append(float(part))
    except (ValueError, IndexError):
        raise ConfigError(
            f"--fractions {text}: expected numbers with commas, such as 0,0.5,1 or 0,0.1,…,1"
        ) from None
    return tuple(found)


def _between(first: float, second: float, last: float) -> list[float]:
    """What lies between the second and the last, at the distance of the first two, as short decimals."""
    step = second - first
    n = round((last - second) / step) if step > 0 else 0
    return [round(second + i * step, 10) for i in range(1, n)]


def _block(value: float, low: float, high: float) -> str:
    share = (value - low) / (high - low) if high > low else 0.0
    return BLOCKS[min(int(share * len(BLOCKS)), len(BLOCKS) - 1)]


def _place(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["dataset"].partition("@")[0], row["encoder"], row["metric"]


def _name(row: dict[str, Any]) -> str:
    return " ".join(str(row[key]) for key in ("measure", "masking") if row.get(key))
