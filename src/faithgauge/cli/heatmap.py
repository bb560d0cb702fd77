"""A text with one number per token, as a heat map for the terminal.

The stronger the score, the more vivid the background: orange for positive scores, blue for negative ones (two
hues that every common kind of colour vision tells apart), from grey upwards, so that it reads on dark and on
light terminals alike. Where there is no colour the strongest tokens are followed by their number. Several
explainers are compared in a grid: a row for each token, a column for each explainer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from rich.cells import cell_len
from rich.color import Color
from rich.style import Style
from rich.table import Table as Grid
from rich.text import Text

from faithgauge.cli.output import printable, printable_character
from faithgauge.report.heatmap import FAINT, number, shares, strongest

Rgb = tuple[float, float, float]

_GREY: Rgb = (148, 144, 140)
_ORANGE: Rgb = (255, 136, 0)
_BLUE: Rgb = (64, 156, 255)
_NUMBERED = 0.2
"""From this share on a token's number is written where there is no colour."""
_LONGEST, _HEADING = 18, 12
"""Characters of a token in a grid, and of a line of a heading."""


def heatmap(
    text: str,
    spans: Sequence[tuple[int, int]],
    scores: Sequence[float],
    *,
    colour: bool,
    top: float | None = None,
) -> Text:
    """The text with its scores: token i is ``text[spans[i][0]:spans[i][1]]``.

    Scores are relative to the strongest one, or to `top`. A token without a score (nan) or without a place in
    the text (-1, -1) stays plain. Control characters are shown as escapes; nothing in the text is read as
    markup.
    """
    shown = [printable_character(character) for character in text]
    places = [0, *accumulate(len(piece) for piece in shown)]
    tokens = [
        (places[start], places[end], score, share)
        for (start, end), score, share in zip(spans, scores, shares(scores, top), strict=True)
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
    bar = [(" ", style(step)) if abs(step) >= FAINT else (" ", Style()) for step in steps]
    return Text.assemble(f"{low:.2g} ", *bar, f" {top:.2g}")


def grids(
    tokens: Sequence[str], scores: Mapping[str, Sequence[float]], *, colour: bool, width: int
) -> Iterator[Grid]:
    """Each token in a row, each explainer in a column; one grid below the other where they are too wide."""
    words = [short(token) for token in tokens]
    columns = [_column(name, own, colour=colour) for name, own in scores.items()]
    room = width - max(map(cell_len, words), default=0)
    while columns:
        wide = list(accumulate(2 + max(cell_len(line) for line in own[0].split("\n")) for own in columns))
        some = max(sum(one <= room for one in wide), 1)
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        grid.add_column("", no_wrap=True)
        for heading, _ in columns[:some]:
            grid.add_column(Text(heading), justify="right", no_wrap=True, vertical="bottom")
        for word, *cells in zip(words, *(cells for _, cells in columns[:some]), strict=True):
            grid.add_row(Text(word), *cells)
        yield grid
        columns = columns[some:]


def _column(name: str, scores: Sequence[float], *, colour: bool) -> tuple[str, list[Text]]:
    """The heading of an explainer, in lines, and its numbers."""
    top, signed = strongest(scores), any(score < 0 for score in scores)
    written = [number(score, top, signed=signed) for score in scores]
    lines = [""]
    for part in re.findall(r"[^_:=-]*[_:=-]?", printable(name)):
        if lines[-1] and len(lines[-1] + part) > _HEADING:
            lines.append("")
        lines[-1] += part
    width = max(map(len, [*lines, *written]))
    cells = [
        Text(text.rjust(width), style(share) if colour and abs(share) >= FAINT else "")
        for text, share in zip(written, shares(scores), strict=True)
    ]
    return "\n".join(lines), cells


def short(token: str) -> str:
    """A token as it stands in a grid or a list."""
    word = printable(token).replace("\n", " ")
    return word if cell_len(word) <= _LONGEST else f"{word[: _LONGEST - 1]}…"


def style(share: float) -> Style:
    """The colours of a share in [-1, 1]: behind, grey to vivid; in front, black, legible on all of these."""
    hue = _ORANGE if share >= 0 else _BLUE
    mixed = (low + (high - low) * abs(share) for low, high in zip(_GREY, hue, strict=True))
    return Style.from_color(Color.from_rgb(0, 0, 0), Color.from_rgb(*mixed))


def _painted(shown: str, tokens: list[tuple[int, int, float, float]]) -> Text:
    text = Text(shown)
    for start, end, _, share in sorted(tokens, key=lambda token: abs(token[3])):
        if abs(share) >= FAINT:
            text.stylize(style(share), start, end)
    return text


def _numbered(shown: str, tokens: list[tuple[int, int, float, float]], *, signed: bool) -> Text:
    text, done = Text(), 0
    for _, end, score, share in sorted(tokens, key=lambda token: token[1]):
        if abs(share) >= _NUMBERED:
            text.append(shown[done:end]).append(f"[{score:+.2g}]" if signed else f"[{score:.2g}]")
            done = max(done, end)
    return text.append(shown[done:])
