"""The arguments and options that several commands share, each declared once.

`takes_data` gives a command everything that names a data set; the command itself sees one `DataConfig`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from faithgauge.config import DataConfig

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        help="Folder of the data sets; else FAITHGAUGE_DATA, then the cache.",
        show_default=False,
    ),
]
MaybeName = Annotated[
    str, typer.Argument(metavar="[DATA]", help="A data set, a file or a folder.", show_default=False)
]
DatasetName = Annotated[
    str, typer.Argument(metavar="NAME", help="A data set, a file or a folder.", show_default=False)
]


def _column(option: str, what: str) -> Any:
    return typer.Option(option, help=f"Column with {what}.", show_default=False, rich_help_panel="Own files")


TextColumn = Annotated[str | None, _column("--text", "the text")]
PairColumn = Annotated[str | None, _column("--text-pair", "the second text of a pair")]
LabelColumn = Annotated[str | None, _column("--label", "the label")]
SplitColumn = Annotated[str | None, _column("--split", "train, validation or test")]
DataSeed = Annotated[int, typer.Option("--data-seed", help="Seed of a split we make and of synthetic texts.")]
Lexicon = Annotated[
    Path | None,
    typer.Option(
        "--lexicon",
        help="Folder with positive.txt and negative.txt for mock-*.",
        show_default=False,
        rich_help_panel="Synthetic data",
    ),
]
Threads = Annotated[int, typer.Option("--threads", min=1, help="Threads of one training.")]
_PLANTED: dict[str, Any] = {"rich_help_panel": "Synthetic data"}
Evidence = Annotated[int, typer.Option("--evidence", help="planted: evidence tokens in a text.", **_PLANTED)]
Position = Annotated[
    Literal["start", "middle", "end", "scattered"],
    typer.Option("--position", help="planted: where the evidence stands.", **_PLANTED),
]
Strength = Annotated[float, typer.Option("--strength", help="planted: how sure the evidence is.", **_PLANTED)]

AtMost = Annotated[
    int | None,
    typer.Option(
        "--at-most",
        min=1,
        help="So many texts of each split, drawn by label; results are marked.",
        show_default=False,
    ),
]


def takes_data(
    command: Callable[..., None], *more: inspect.Parameter, needed: bool = True
) -> Callable[..., None]:
    """The command with the options of a data set in place of its first parameter, which is a `DataConfig`.

    `more` are options that the command takes by name without declaring them. Where data are not `needed` the
    name is empty if none is given.
    """
    ours = dict(inspect.signature(_config, eval_str=True).parameters)
    if not needed:
        ours["name"] = ours["name"].replace(default="", annotation=MaybeName)
    _, *rest = inspect.signature(command, eval_str=True).parameters.values()
    own = [one for one in (*rest, *more) if one.kind is not inspect.Parameter.VAR_KEYWORD]
    parameters = [*ours.values(), *own]

    @wraps(command)
    def whole(**values: Any) -> None:
        config = _config(**{name: values.pop(name) for name in ours})
        command(config, **values)

    signature = inspect.Signature([one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters])
    whole.__signature__ = signature  # type: ignore[attr-defined]
    whole.__annotations__ = {one.name: one.annotation for one in parameters}
    del whole.__wrapped__
    return whole


def _config(
    name: DatasetName,
    data_dir: DataDir = None,
    text: TextColumn = None,
    text_pair: PairColumn = None,
    label: LabelColumn = None,
    split: SplitColumn = None,
    data_seed: DataSeed = 0,
    lexicon: Lexicon = None,
    evidence: Evidence = 3,
    position: Position = "scattered",
    strength: Strength = 1.0,
    at_most: AtMost = None,
) -> DataConfig:
    return DataConfig(
        name=name,
        data_dir=data_dir,
        text=text,
        text_pair=text_pair,
        label=label,
        split=split,
        seed=data_seed,
        lexicon=lexicon,
        evidence=evidence,
        position=position,
        strength=strength,
        at_most=at_most,
    )


ModelPlace = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A folder of `faithgauge train` or of transformers, or package.module:function.",
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option("--labels", help="Names of the model's classes: negative=0,positive=1.", show_default=False),
]
