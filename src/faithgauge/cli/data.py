"""``faithgauge data``: which data sets there are, what they hold, whether they are all there.

    list   info NAME   fetch NAME   check NAME   preview NAME

All but `fetch` also take files and folders of one's own and the synthetic data sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from faithgauge.cli.options import DataDir, Json, takes_data
from faithgauge.cli.output import emit, err, out, printable
from faithgauge.config import DataConfig

if TYPE_CHECKING:
    from faithgauge.data.dataset import Dataset, Source
    from faithgauge.types import Example

app = typer.Typer(help="Data sets: list, inspect, download and check them.", no_args_is_help=True)
_MOST_COLUMNS = 4


@app.command("list")
def list_(data_dir: DataDir = None, as_json: Json = False) -> None:
    """List the data sets that are known by name."""
    from faithgauge.data.load import find_folders
    from faithgauge.data.synthetic import SYNTHETIC
    from faithgauge.data.table import DATASETS

    rows = [
        {
            "name": name,
            "here": bool(find_folders(source, data_dir)),
            "task": source.task,
            "variants": list(source.variants),
            "summary": source.summary,
        }
        for name, source in DATASETS.items()
    ]
    if as_json:
        emit({"datasets": rows, "synthetic": list(SYNTHETIC)})
        return
    grid = _grid("name", "here", "what it is")
    for row in rows:
        grid.add_row(str(row["name"]), "yes" if row["here"] else "-", printable(str(row["summary"])))
    out.print(grid)
    _sentences("synthetic", [" ".join(SYNTHETIC)])


@app.command()
@takes_data
def info(config: DataConfig, as_json: Json = False) -> None:
    """Say what a data set is: its classes, variants, home, licence and files."""
    from faithgauge.data.load import find_folders, load, public_name

    public = public_name(config.name)
    if public is None:
        document = _of_dataset(load(config))
    else:
        document = _of_source(public[0], list(map(str, find_folders(public[0], config.data_dir))))
    if as_json:
        emit(document)
        return
    grid = Grid.grid(padding=(0, 2))
    grid.add_column()
    grid.add_column(overflow="fold")
    for key, value in document.items():
        if value:
            grid.add_row(Text(key, "bold"), printable(_readable(value)))
    out.print(grid)


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A public data set.", show_default=False)],
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Download a public data set from its official address."""
    from rich.progress import Progress

    from faithgauge.data.fetch import fetch as download
    from faithgauge.data.load import public_name
    from faithgauge.data.table import DATASETS

    public = public_name(name)
    source = DATASETS[name] if public is None else public[0]
    with Progress(console=err, transient=True, disable=not err.is_terminal) as progress:
        tasks = {one.file: progress.add_task(one.file, total=None) for one in source.downloads}
        paths = download(
            source,
            data_dir,
            report=lambda line: err.print(printable(line), soft_wrap=True),
            progress=lambda file, there, size: progress.update(tasks[file], completed=there, total=size),
        )
    if as_json:
        emit({"dataset": source.name, "files": [str(path) for path in paths]})
    elif source.access:
        _sentences("then", [source.access])


@app.command()
@takes_data
def check(config: DataConfig, as_json: Json = False) -> None:
    """Count a data set and compare it with its complete data and with the papers."""
    from faithgauge.data.check import check as examine

    document = examine(config)
    if as_json:
        emit(document)
        return
    verdict = "complete" if document["ok"] else "substituted" if document["substituted"] else "incomplete"
    name = "@".join(filter(None, (document["dataset"], document["variant"])))
    style = "bold green" if document["ok"] else "bold yellow"
    out.print(Text(printable(name), "bold").append(": ", "bold").append(verdict, style))
    if document["splits"]:
        out.print(_counts(document["splits"]))
    for key in ("missing", "differences", "notes"):
        _sentences(key, document[key])


@app.command()
@takes_data
def preview(
    config: DataConfig,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="Examples of each split.")] = 3,
    as_json: Json = False,
) -> None:
    """Show a few examples of each split."""
    from faithgauge.data.load import load

    dataset = load(config)
    shown = {split: _spread(examples, count) for split, examples in dataset.splits.items()}
    if as_json:
        splits = {split: [_as_json(one, dataset) for one in examples] for split, examples in shown.items()}
        emit(
            {
                "dataset": dataset.name,
                "variant": dataset.variant,
                "classes": dataset.classes,
                "splits": splits,
            }
        )
        return
    for split, examples in shown.items():
        out.print(Text(f"{split}, {len(dataset.splits[split])} examples", "bold"))
        for example in examples:
            _print_example(example, dataset)


def _of_source(source: Source, found: Sequence[str]) -> dict[str, Any]:
    return {
        "dataset": source.name,
        "summary": source.summary,
        "task": source.task,
        "classes": list(source.classes),
        "variants": dict(source.variants),
        "sizes": {variant or "official": dict(sizes) for variant, sizes in source.sizes.items()},
        "home": source.home,
        "licence": source.licence,
        "files": {one.file: one.url for one in source.downloads},
        "access": source.access,
        "found": list(found),
    }


def _of_dataset(dataset: Dataset) -> dict[str, Any]:
    return {
        "dataset": dataset.full_name,
        "task": dataset.task,
        "classes": list(dataset.classes),
        "sizes": {split: len(examples) for split, examples in dataset.splits.items()},
        "notes": list(dataset.notes),
    }


def _readable(value: object) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_inline(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ("\n" if any(" " in str(item) for item in value) else ", ").join(map(str, value))
    return str(value)


def _inline(value: object) -> str:
    return ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, Mapping) else str(value)


def _grid(*headers: str) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for header in headers:
        grid.add_column(header, no_wrap=header in ("name", "here"))
    return grid


def _counts(splits: Mapping[str, Mapping[str, Any]]) -> Grid:
    """Numbers by split and, where there are few classes, by class."""
    labels = list(next(iter(splits.values()))["labels"])
    if len(labels) > _MOST_COLUMNS:
        out.print(f"{len(labels)} classes")
        labels = []
    grid = Grid(box=None, padding=(0, 2, 0, 0), show_edge=False)
    grid.add_column("")
    for header in ("examples", *labels):
        grid.add_column(printable(header), justify="right", overflow="fold")
    for split, counts in splits.items():
        grid.add_row(split, str(counts["examples"]), *(str(counts["labels"][label]) for label in labels))
    return grid


def _sentences(heading: str, sentences: Iterable[str]) -> None:
    lines = [Padding(Text(printable(sentence)), (0, 0, 0, 2)) for sentence in sentences]
    if lines:
        out.print(Text(heading, "bold"))
        out.print(*lines, sep="")


def _spread(examples: Sequence[Example], count: int) -> list[Example]:
    """From the whole length of the split, because many files stand in the order of their labels."""
    n = min(count, len(examples))
    return [examples[i * len(examples) // n] for i in range(n)]


def _as_json(example: Example, dataset: Dataset) -> dict[str, Any]:
    pair = {} if example.text_pair is None else {"text_pair": example.text_pair}
    return {"id": example.id, "text": example.text, **pair, "label": dataset.classes[example.label]}


def _print_example(example: Example, dataset: Dataset) -> None:
    label = Text(f"  {printable(dataset.classes[example.label])}: ", "cyan")
    for i, text in enumerate((example.text, example.text_pair)):
        if text is not None:
            line = (
                (label if i == 0 else Text("    | ")).copy().append(printable(" ".join(text[:2000].split())))
            )
            line.truncate(out.width, overflow="ellipsis")
            out.print(line, no_wrap=True)
