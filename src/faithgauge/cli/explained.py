"""Explained texts on the terminal: one in full, of many the strongest tokens of the first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.text import Text

from faithgauge.cli.heatmap import grids, heatmap, legend, short
from faithgauge.cli.output import coloured, out, printable
from faithgauge.report.explanation import Explanation
from faithgauge.report.heatmap import number, strongest

GRID = 40
"""Up to how many tokens explainers are compared token by token; of longer texts the strongest ones are."""
_STRONGEST = 5
_SUMMARISED, _TOKENS = 10, 4


def show(explanation: Explanation) -> None:
    """One text: its heat map, or the scores of several explainers beside each other."""
    names = list(explanation.scores)
    several = len(names) > 1
    if not several or len(explanation.tokens) + len(explanation.pair_tokens) > GRID:
        for name in names:
            _show_text(explanation, name)
    if several:
        _compare(explanation.tokens, explanation.scores)
        if explanation.pair_tokens:
            out.print("second text", style="bold")
            _compare(explanation.pair_tokens, explanation.pair_scores)
    for name, reason in explanation.reasons.items():
        out.print(f"{printable(name)}: {printable(reason)}")
    out.print(f"prediction: {_prediction(explanation, every=True)}")
    for name, target in explanation.targets.items():
        if target != explanation.label:
            out.print(f"{printable(name)} explains {printable(target)}")


def summarise(first: Sequence[Explanation], n: int) -> None:
    """The strongest tokens of the first of n texts."""
    for explanation in first[:_SUMMARISED]:
        out.print(Text.assemble((printable(explanation.id), "bold"), f"  {_prediction(explanation)}"))
        for name, scores in explanation.scores.items():
            own = [*scores, *explanation.pair_scores.get(name, ())]
            tokens = [*explanation.tokens, *explanation.pair_tokens]
            said = explanation.reasons.get(name) or _strongest(tokens, own)
            out.print(f"  {printable(name)}: {printable(said)}")
    if n > _SUMMARISED:
        out.print(
            f"and {n - _SUMMARISED} more texts: --out FILE.jsonl has all scores of all texts", style="dim"
        )


def _show_text(explanation: Explanation, name: str) -> None:
    colour = coloured(out)
    first, second = explanation.scores[name], explanation.pair_scores.get(name, ())
    out.print(printable(name), style="bold")
    top = strongest([*first, *second])
    out.print(heatmap(explanation.text, explanation.spans, first, colour=colour, top=top))
    if explanation.text_pair is not None and second:
        out.print(heatmap(explanation.text_pair, explanation.pair_spans, second, colour=colour, top=top))
    error = f"  error {explanation.errors[name]:.2g}" if name in explanation.errors else ""
    out.print(legend([*first, *second], colour=colour).append(error), style="dim")


def _compare(tokens: Sequence[str], scores: Mapping[str, Sequence[float]]) -> None:
    """Token by token; of a long text those that are among the strongest of an explainer, by their place."""
    if len(tokens) > GRID:
        chosen = sorted({i for own in scores.values() for i in _order(own)[:_STRONGEST]})
        out.print("the strongest tokens, in the order of the text", style="bold")
    else:
        chosen = list(range(len(tokens)))
    colour = coloured(out)
    shown = {name: [own[i] for i in chosen] for name, own in scores.items()}
    for grid in grids([tokens[i] for i in chosen], shown, colour=colour, width=out.width):
        out.print(grid)
    if colour:
        out.print("each column relative to its strongest score", style="dim")


def _strongest(tokens: Sequence[str], scores: Sequence[float]) -> str:
    top, signed = strongest(scores), any(score < 0 for score in scores)
    best = [f"{short(tokens[i])} {number(scores[i], top, signed=signed)}" for i in _order(scores)[:_TOKENS]]
    return " · ".join(best)


def _order(scores: Sequence[float]) -> list[int]:
    """The tokens that have a score, strongest first."""
    return sorted(
        (i for i, score in enumerate(scores) if math.isfinite(score)), key=lambda i: -abs(scores[i])
    )


def _prediction(explanation: Explanation, *, every: bool = False) -> str:
    likely = explanation.probabilities
    if every:
        shares = ", ".join(f"{printable(name)} {p:.3f}" for name, p in likely.items())
        said = f"{printable(explanation.label)}  ({shares})"
    else:
        said = f"{printable(explanation.label)} {likely[explanation.label]:.3f}"
    return said if explanation.gold is None else f"{said}, labelled {printable(explanation.gold)}"
