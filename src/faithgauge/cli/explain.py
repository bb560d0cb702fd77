"""``faithgauge explain MODEL --text "…"``: a text with what an explainer says of each token."""

from __future__ import annotations

from typing import Annotated

import typer

from faithgauge.cli.heatmap import heatmap, legend
from faithgauge.cli.options import Json, ModelPlace
from faithgauge.cli.output import coloured, emit, out, printable


def command(
    model: ModelPlace,
    text: Annotated[str, typer.Option(help="The text.", show_default=False)],
    text_pair: Annotated[
        str | None, typer.Option(help="The second text of a pair.", show_default=False)
    ] = None,
    explainer: Annotated[
        str, typer.Option(help="One or more, with commas (faithgauge list explainers).")
    ] = "attention",
    as_json: Json = False,
) -> None:
    """Show what a model makes of a text, and which tokens an explainer says it used."""
    import faithgauge

    names = [name.strip() for name in explainer.split(",")]
    found = faithgauge.explain(model, text, text_pair, explainers=names)
    if as_json:
        emit(
            {
                "tokens": found.tokens,
                "spans": found.spans,
                "label": found.label,
                "probabilities": found.probabilities,
                "explanations": found.scores,
            }
        )
        return
    colour = coloured(out)
    for name, scores in found.scores.items():
        out.print(name, style="bold")
        out.print(heatmap(text, found.spans, scores, colour=colour))
        out.print(legend(scores, colour=colour), style="dim")
    shares = ", ".join(f"{printable(label)} {p:.3f}" for label, p in found.probabilities.items())
    out.print(f"prediction: {printable(found.label)}  ({shares})")
