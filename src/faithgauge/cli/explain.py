"""``faithgauge explain MODEL --text "…"``, or ``MODEL FILE``: what explainers say of each token."""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from faithgauge.cli.counting import counting
from faithgauge.cli.explained import show, summarise
from faithgauge.cli.files import refuse_place, writing
from faithgauge.cli.options import Json, Labels, ModelPlace
from faithgauge.cli.output import emit, err, printable
from faithgauge.config import DataConfig
from faithgauge.errors import ConfigError, DataError
from faithgauge.report.explanation import Explanation, document, rows, write_rows
from faithgauge.report.heatmap import page
from faithgauge.types import Example

if TYPE_CHECKING:
    from faithgauge.explain.asked import Asked
    from faithgauge.explain.merged import Merge

ON_A_PAGE = 100
"""How many texts a page shows at most."""
_TEXTS, _CUT = "texts", "cut after "
SecondText = Annotated[str | None, typer.Option(help="The second text of a pair.", show_default=False)]
Target = Annotated[
    str | None, typer.Option(help="Class to explain: predicted, gold, a name or number.", show_default=False)
]
Merged = Annotated[
    Literal["sum", "max", "first"] | None,
    typer.Option(help="Word pieces to words: sum, strongest or first.", show_default=False),
]
_FILE: dict[str, Any] = {"show_default": False, "rich_help_panel": "Texts of a file"}


def command(
    model: ModelPlace,
    file: Annotated[
        Path | None, typer.Argument(help="Texts as CSV, TSV, JSONL or Parquet.", show_default=False)
    ] = None,
    text: Annotated[str | None, typer.Option(help="One text.", show_default=False)] = None,
    text_pair: SecondText = None,
    explainer: Annotated[
        str, typer.Option(help="One or more, with commas (faithgauge list explainers).")
    ] = "attention",
    target: Target = None,
    merge: Merged = None,
    labels: Labels = None,
    seed: Annotated[int, typer.Option(help="Seed of explainers that draw.")] = 0,
    train: Annotated[
        str | None,
        typer.Option(help="The model's training data, if an explainer needs it.", show_default=False),
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(help="Scores from elsewhere: JSONL or Parquet.", show_default=False)
    ] = None,
    place: Annotated[
        Path | None,
        typer.Option("--out", help="Write .json; of a FILE .jsonl, .parquet.", show_default=False),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page to look at.", show_default=False)] = None,
    text_column: Annotated[str | None, typer.Option(help="Column with the text.", **_FILE)] = None,
    pair_column: Annotated[str | None, typer.Option(help="Column with the second text.", **_FILE)] = None,
    label_column: Annotated[str | None, typer.Option(help="Column with the label.", **_FILE)] = None,
    as_json: Json = False,
) -> None:
    """Show which tokens of a text, or of all texts of a file, explainers say a model used.

    An explainer may have options, `lime:samples=200`, and presets, `gradient:recursive-roar-2022`. Of a FILE
    one row for each text and explainer is written to --out; without it the strongest tokens are shown.
    """
    if (file is None) == (text is None):
        there = "neither" if file is None else "both"
        raise ConfigError(f"expected a FILE of texts or one --text, found {there}; give one of them")
    if text is None and text_pair is not None:
        raise ConfigError("expected --text beside --text-pair, found a FILE; give --pair-column instead")
    refuse_place("--out", place, (".json",) if file is None else (".jsonl", ".parquet"))
    refuse_place("--html", html)
    config = DataConfig(str(file), text=text_column, text_pair=pair_column, label=label_column)
    found = _explained(
        (model, labels),
        config if text is None else Example(text, -1, "text 1", text_pair),
        explainer,
        target=target,
        merge=merge,
        scores=scores,
        train=train,
        seed=seed,
    )
    if text is None:
        _hand_out_all(found, model, file, place=place, html=html, as_json=as_json)
    else:
        _hand_out(replace(next(found), id=""), model, place=place, html=html, as_json=as_json)


def _explained(
    model: tuple[str, str | None],
    texts: Example | DataConfig,
    explainer: str,
    *,
    target: str | None,
    merge: Merge | None,
    scores: Path | None,
    train: str | None,
    seed: int,
) -> Iterator[Explanation]:
    """The texts one by one, once all that can be wrong was looked at and all is computed."""
    from faithgauge import steps
    from faithgauge.explain.asked import named
    from faithgauge.explain.given import read_file
    from faithgauge.explain.merged import by_word
    from faithgauge.models.store import open_model

    asked = named(explainer)
    _refuse_what_is_not_there(asked, target, labelled=isinstance(texts, DataConfig), train=train)
    sheet = None if scores is None else read_file(scores)
    trained = open_model(*model)
    if target is not None:
        asked = steps.aimed(trained, asked, target)
    examples = [texts] if isinstance(texts, Example) else _examples(texts, trained.classes)
    known = steps.known_of(trained, None if train is None else steps.training_texts(trained, train), seed)
    with counting("texts") as on_progress:
        found = steps.explain_examples(
            trained, examples, asked, known=known, scores=sheet, on_progress=on_progress
        )
    return found if merge is None else (by_word(one, trained.tokenizer, merge) for one in found)


def _refuse_what_is_not_there(
    asked: Mapping[str, Asked], target: str | None, *, labelled: bool, train: str | None
) -> None:
    """Before a model is opened, the labels and the training split that an explainer needs."""
    for name, one in asked.items():
        if (target or one.target) == "gold" and not labelled:
            raise ConfigError(
                f"{name}: expected a labelled text for target=gold, found a text alone; "
                "give --target predicted, or a class"
            )
        if "train" in one.explainer.needs and train is None:
            raise ConfigError(
                f"{name} needs the training split, found none; give --train with the model's training data"
            )


def _examples(config: DataConfig, classes: Sequence[str]) -> list[Example]:
    from faithgauge.data.generic import read_marked

    try:
        return read_marked(config, classes)
    except (ConfigError, DataError) as error:  # here --text is a text, and columns have options of their own
        ours = {"--text-pair": "--pair-column", "--text": "--text-column", "--label": "--label-column"}
        said = re.sub(rf"({'|'.join(ours)})(?![a-z-])", lambda option: ours[option[0]], str(error))
        raise type(error)(said) from error


def _hand_out(
    found: Explanation, model: str, *, place: Path | None, html: Path | None, as_json: bool
) -> None:
    """One text: on the terminal or as JSON, and in the files that were asked for."""
    first, counts = [found], Counter(_what_lacks(found))
    if place is not None:
        with writing(place) as new:
            new.write_text(json.dumps(document(found), ensure_ascii=False) + "\n", encoding="utf-8")
    _hand_out_page(first, html, f"One text explained by {model}")
    _say(counts)
    if as_json:
        emit(document(found))
    else:
        show(found)


def _hand_out_all(
    found: Iterator[Explanation],
    model: str,
    file: Path | None,
    *,
    place: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """The texts of a file: as rows in a file, as JSON, or of the first the strongest tokens."""
    first: list[Explanation] = []
    counts: Counter[str] = Counter()
    stream = (row for one in _watched(found, first, counts) for row in rows(one))
    table = list(stream) if as_json else stream
    if place is not None:
        with writing(place) as new:
            write_rows(table, new, parquet=place.suffix == ".parquet")
        err.print(printable(f"explanations of {counts[_TEXTS]} texts: {place}"), soft_wrap=True)
    deque(table, maxlen=0)  # what nobody has read is counted still
    n, cut = counts.pop(_TEXTS), sum(counts[what] for what in counts if what.startswith(_CUT))
    _hand_out_page(
        first, html, f"{file} explained by {model}", f"{len(first)} of {n} texts." * (n > len(first))
    )
    _say(counts)
    if as_json:
        emit({"model": model, "file": file, "texts": n, "cut": cut, "explanations": table})
    elif place is None:
        summarise(first, n)


def _watched(
    found: Iterator[Explanation], first: list[Explanation], counts: Counter[str]
) -> Iterator[Explanation]:
    """The same texts; the first of them are kept, and all that they lack is counted."""
    for one in found:
        if len(first) < ON_A_PAGE:
            first.append(one)
        counts.update([_TEXTS, *_what_lacks(one)])
        yield one


def _what_lacks(explanation: Explanation) -> Iterator[str]:
    """What a reader must be told of a text: that it was cut, that an explainer has no scores for it."""
    if explanation.cut:
        yield f"{_CUT}{explanation.cut:,} tokens"
    for name in explanation.reasons:
        yield f"without scores of {name}"


def _say(counts: Counter[str]) -> None:
    for what, n in counts.items():
        err.print(printable(f"{n} of the texts {'is' if n == 1 else 'are'} {what}"), soft_wrap=True)


def _hand_out_page(first: Sequence[Explanation], html: Path | None, title: str, note: str = "") -> None:
    if html is None:
        return
    with writing(html) as new:
        new.write_text(page(first, title=title, note=note), encoding="utf-8")
    err.print(printable(f"page: {html}"), soft_wrap=True)
