"""Explained texts as HTML: each token on a colour that says its score, all in one file that loads nothing.

Orange stands for positive scores and blue for negative ones, two hues that every common kind of colour vision
tells apart; the stronger the score, the more of its colour. All that comes from data is escaped. A token's
number appears when a pointer rests on it, and in a list below the text that a keyboard or a finger opens.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from html import escape

from faithgauge.report.explanation import Explanation, Spans

FAINT = 0.05
"""Below this share of the strongest score a token stays plain."""
_LISTED = 200
"""How many tokens of a text are listed with their numbers."""


def shares(scores: Sequence[float], top: float | None = None) -> list[float]:
    """Scores divided by `top`, the largest magnitude of them by default; all zero where that is zero."""
    top = strongest(scores) if top is None else top
    return [score / top if top else 0.0 * score for score in scores]


def strongest(scores: Sequence[float]) -> float:
    return max((abs(score) for score in scores if math.isfinite(score)), default=0.0)


def number(score: float, top: float, *, signed: bool) -> str:
    """A score with as many decimals as three digits of the strongest one, `top`, take."""
    if not math.isfinite(score):
        return "–"
    decimals = 2 - math.floor(math.log10(top)) if top else 0
    form = f".{max(decimals, 0)}f" if decimals <= 7 and top < 1e6 else ".2e"
    written = f"{score:+{form}}" if signed else f"{score:{form}}"
    return (
        written if any(digit in written.partition("e")[0] for digit in "123456789") else written.lstrip("+-")
    )


def page(explanations: Sequence[Explanation], *, title: str, note: str = "") -> str:
    """One self-contained page of these texts."""
    said = f"<p>{_shown(note)}</p>" if note else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_shown(title)}</title>"
        "<style>html{color-scheme:light dark;background:#fff}body{margin:0}"
        "@media(prefers-color-scheme:dark){html{background:#171615}}</style></head>\n"
        f"<body><main>{fragment(explanations, title=title, note=said)}</main></body></html>\n"
    )


def fragment(explanations: Sequence[Explanation], *, title: str = "", note: str = "") -> str:
    """These texts as a part of a page, with their style; `note` is HTML."""
    head = f"<h1>{_shown(title)}</h1>{note}" if title else ""
    texts = "\n".join(map(_article, explanations))
    return f'<div class="faithgauge"><style>{_STYLE}</style>{head}\n{texts}\n</div>'


def _article(explanation: Explanation) -> str:
    likely = ", ".join(f"{_shown(name)} {p:.3f}" for name, p in explanation.probabilities.items())
    gold = "" if explanation.gold is None else f" · labelled <b>{_shown(explanation.gold)}</b>"
    name = f"<h2>{_shown(explanation.id)}</h2>" if explanation.id else ""
    said = f"<p>predicted <b>{_shown(explanation.label)}</b> <small>({likely})</small>{gold}</p>"
    parts = "".join(_explainer(explanation, name) for name in explanation.scores)
    return f'<article>{name}{said}<div class="side">{parts}</div></article>'


def _explainer(explanation: Explanation, name: str) -> str:
    of = explanation.targets.get(name, explanation.label)
    other = "" if of == explanation.label else f" <small>explains {_shown(of)}</small>"
    head = f"<h3>{_shown(name)}{other}</h3>"
    if name in explanation.reasons:
        head += f"<p><small>{_shown(explanation.reasons[name])}</small></p>"
    scores, second = explanation.scores[name], explanation.pair_scores.get(name, ())
    every = [*scores, *second]
    top, signed = strongest(every), any(score < 0 for score in every)
    parts = [_text(explanation.text, explanation.spans, scores, top=top, signed=signed)]
    if explanation.text_pair is not None:
        parts.append(_text(explanation.text_pair, explanation.pair_spans, second, top=top, signed=signed))
    tokens = [*explanation.tokens, *explanation.pair_tokens[: len(second)]]
    error = f" · error {explanation.errors[name]:.2g}" if name in explanation.errors else ""
    return f"<section>{head}{''.join(parts)}{_legend(top, signed, error)}{_list(tokens, every)}</section>"


def _text(text: str, spans: Spans, scores: Sequence[float], *, top: float, signed: bool) -> str:
    """The text with its tokens marked; of tokens that overlap the first is shown, and all are listed."""
    pieces, done = [], 0
    for (start, end), score in sorted(zip(spans, scores, strict=False)):
        if done <= start < end:
            share = score / top if top and math.isfinite(score) else 0.0
            colour = f' class="{_hue(share)}" style="--a:{abs(share):.2f}"' if abs(share) >= FAINT else ""
            shown = number(score, top, signed=signed)
            pieces.append(_shown(text[done:start]))
            pieces.append(f'<span title="{shown}"{colour}>{_shown(text[start:end])}</span>')
            done = end
    return f'<p class="text" dir="auto">{"".join(pieces)}{_shown(text[done:])}</p>'


def _legend(top: float, signed: bool, more: str) -> str:
    steps = range(-4, 5) if signed else range(5)
    bar = "".join(f'<i class="{_hue(step)}" style="--a:{abs(step) / 4}"></i>' for step in steps)
    low, high = number(-top, top, signed=True) if signed else "0", number(top, top, signed=signed)
    return f'<p class="scale"><small>{low} {bar} {high}{more}</small></p>'


def _list(tokens: Sequence[str], scores: Sequence[float]) -> str:
    """The tokens and their numbers, strongest first."""
    top, signed = strongest(scores), any(score < 0 for score in scores)
    order = sorted(
        (i for i, score in enumerate(scores) if math.isfinite(score)), key=lambda i: -abs(scores[i])
    )
    items = "".join(
        f"<li>{number(scores[i], top, signed=signed)} <bdi>{_shown(tokens[i])}</bdi></li>"
        for i in order[:_LISTED]
    )
    left = f"<p><small>{len(order) - _LISTED} weaker ones are left out.</small></p>"
    more = left if len(order) > _LISTED else ""
    return f"<details><summary>numbers, strongest first</summary><ol>{items}</ol>{more}</details>"


def _hue(share: float) -> str:
    return "n" if share < 0 else "p"


def _shown(text: str) -> str:
    return escape(written_out(text))


def written_out(text: str) -> str:
    """With every control character but line break and tab in writing."""
    return "".join(_characters(text))


def _characters(text: str) -> Iterator[str]:
    for one in text:
        hidden = one not in "\n\t" and unicodedata.category(one) in ("Cc", "Cs")
        yield one.encode("unicode_escape", "surrogatepass").decode("ascii") if hidden else one


_STYLE = """
.faithgauge{--page:#fff;--ink:#1c1a18;--soft:#5d5852;--line:#d9d4cd;--p:255 140 20;--n:84 158 255;
 background:var(--page);color:var(--ink);font:16px/1.6 system-ui,sans-serif;max-width:80rem;margin:auto;
 padding:1rem;overflow-wrap:anywhere}
@media(prefers-color-scheme:dark){.faithgauge{--page:#171615;--ink:#f1eee9;--soft:#b1aaa1;--line:#45403a;
 --p:166 78 0;--n:20 98 190}}
.faithgauge h1{font-size:1.4rem;line-height:1.25}.faithgauge h2{font-size:1.05rem;margin:0}
.faithgauge h3{font-size:.95rem;margin:0}.faithgauge p{margin:.35rem 0;text-align:start}
.faithgauge small{color:var(--soft);font-weight:normal}
.faithgauge article{border-top:1px solid var(--line);padding:1rem 0}
.faithgauge .side{display:grid;gap:1.25rem 2rem;
 grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr))}
.faithgauge section{min-width:0}.faithgauge .text{white-space:pre-wrap}
.faithgauge .text span{border-radius:.2em;padding:.1em 0}
.faithgauge .p{background:rgb(var(--p)/var(--a))}.faithgauge .n{background:rgb(var(--n)/var(--a))}
.faithgauge .scale i{display:inline-block;width:.8em;height:.8em;vertical-align:-.08em}
.faithgauge summary{cursor:pointer;color:var(--soft);font-size:.85em}
.faithgauge ol{columns:9rem;font-size:.85em;margin:.4rem 0;padding-left:2.6em;
 font-variant-numeric:tabular-nums}
.faithgauge li{break-inside:avoid}
"""
