"""``faithgauge predict MODEL FILE``: label and probabilities of every text of a file, as CSV or JSON."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from faithgauge.cli.options import Json, ModelPlace, PairColumn, TextColumn
from faithgauge.cli.output import emit, err
from faithgauge.config import DataConfig


def command(
    model: ModelPlace,
    file: Annotated[Path, typer.Argument(help="CSV, TSV, JSONL or Parquet.", show_default=False)],
    text: TextColumn = None,
    text_pair: PairColumn = None,
    target: Annotated[
        Path | None, typer.Option("--out", help="Write a CSV file instead.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Predict the label of every text of a file: one CSV row each, in the order of the file."""
    import faithgauge
    from faithgauge.data.generic import read_texts

    trained = faithgauge.load_model(model)
    examples = read_texts(DataConfig(str(file), text=text, text_pair=text_pair))
    pairs = [example.text_pair for example in examples if example.text_pair is not None]
    found = faithgauge.predict(trained, [example.text for example in examples], pairs or None)
    labels = [trained.classes[best] for best in found.argmax(-1)]
    ids = [example.id for example in examples]
    if as_json:
        rows = zip(ids, labels, found.tolist(), strict=True)
        emit(
            {
                "model": model,
                "predictions": [
                    {
                        "id": i,
                        "label": label,
                        "probabilities": dict(zip(trained.classes, likely, strict=True)),
                    }
                    for i, label, likely in rows
                ],
            }
        )
        return
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["id", "label", *(f"p_{name}" for name in trained.classes)])
    for i, label, likely in zip(ids, labels, found.tolist(), strict=True):
        writer.writerow([i, label, *(f"{p:.6f}" for p in likely)])
    if target is None:
        sys.stdout.write(table.getvalue())
    else:
        new = target.with_name(target.name + ".new")
        new.write_text(table.getvalue(), encoding="utf-8")
        new.replace(target)
        err.print(f"{len(ids)} predictions: {target}", soft_wrap=True)
