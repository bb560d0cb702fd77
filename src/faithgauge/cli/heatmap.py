"""A text with one number per token, as a heat map for the terminal.

The stronger the score, the more vivid the background: orange for positive scores, blue for negative ones (two
hues that every common kind of colour vision tells apart), from grey upwards, so that it reads on dark and on
light terminals alike. Where there is no colour the strongest tokens are followed by their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from rich.color import Color
from rich.style import Style
from rich.text import Text

from faithgauge.cli.output import printable_character

Rgb = tuple[float, float, float]

_GREY: Rgb = (148, 144, 140)
_ORANGE: Rgb = (255, 136, 0)
_BLUE: Rgb = (64, 156, 255)
_FAINT = 0.05
"""Below this share of the strongest score a token stays plain."""
_NUMBERED = 0.2
"""From this share on a token's number is written where there is no colour."""


def heatmap(text: str, spans: Sequence[tuple[int, int]], scores: Sequence[float], *, colour: bool) -> Text:
    """The text with its scores: token i is ``text[spans[i][0]:spans[i][1]]``.

    Scores are relative to the strongest one. A token without a score (nan) or without a place in the text
    (-1, -1) stays plain. Control characters are shown as escapes; nothing in the text is read as markup.
    """
    shown = [printable_character(character) for character in text]
    places = [0, *accumulate(len(piece) for piece in shown)]
    shares = _shares(scores)
    tokens = [
        (places[start], places[end], score, share)
        for (start, end), score, share in zip(spans, scores, shares, strict=True)
        if 0 <= start < end and math.isfinite(share)
    ]
    if colour:
        return _painted("".join(shown), tokens)
    signed = any(score < 0 for *_, score, _ in tokens)
    return _numbered("".join(shown), tokens, signed=signed)


def legend(scores: Sequence[float], *, colour: bool) -> Text:
    """What the colours mean: the scale from the weakest to the strongest score, with its numbers."""
    finite = [score for score in scores if math.isfinite(score)]
    top = max((abs(score) for score in finite), default=0.0)
    low = -top if any(score < 0 for score in finite) else 0.0
    if not colour:
        return Text(f"numbers: scores of at least {_NUMBERED:.0%} of the largest, {top:.2g}")
    steps = [low / top + (1 - low / top) * i / 8 for i in range(9)] if top else []
    bar = [(" ", style(step)) if abs(step) >= _FAINT else (" ", Style()) for step in steps]
    return Text.assemble(f"{low:.2g} ", *bar, f" {top:.2g}")


def style(share: float) -> Style:
    """The colours of a share in [-1, 1]: behind, grey to vivid; in front, black, legible on all of these."""
    hue = _ORANGE if share >= 0 else _BLUE
    mixed = (low + (high - low) * abs(share) for low, high in zip(_GREY, hue, strict=True))
    return Style.from_color(Color.from_rgb(0, 0, 0), Color.from_rgb(*mixed))


def _shares(scores: Sequence[float]) -> list[float]:
    """Scores divided by the largest magnitude; all zero where that is zero."""
    top = max((abs(score) for score in scores if math.isfinite(score)), default=0.0)
    return [score / top if top else 0.0 * score for score in scores]


def _painted(shown: str, tokens: list[tuple[int, int, float, float]]) -> Text:
    text = Text(shown)
    for start, end, _, share in sorted(tokens, key=lambda token: abs(token[3])):
        if abs(share) >= _FAINT:
            text.stylize(style(share), start, end)
    return text


def _numbered(shown: str, tokens: list[tuple[int, int, float, float]], *, signed: bool) -> Text:
    text, done = Text(), 0
    for _, end, score, share in sorted(tokens, key=lambda token: token[1]):
        if abs(share) >= _NUMBERED:
            text.append(shown[done:end]).append(f"[{score:+.2g}]" if signed else f"[{score:.2g}]")
            done = max(done, end)
    return text.append(shown[done:])
