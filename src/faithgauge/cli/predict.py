"""``faithgauge predict MODEL FILE``: label and probabilities of every text of a file, as CSV or JSON."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from faithgauge.cli.options import Json, Labels, ModelPlace, PairColumn, TextColumn
from faithgauge.cli.output import emit, err
from faithgauge.config import DataConfig, EncodeConfig
from faithgauge.errors import ConfigError


def command(
    model: ModelPlace,
    file: Annotated[Path, typer.Argument(help="CSV, TSV, JSONL or Parquet.", show_default=False)],
    text: TextColumn = None,
    text_pair: PairColumn = None,
    labels: Labels = None,
    target: Annotated[
        Path | None, typer.Option("--out", help="Write a CSV file, also with --json.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Predict the label of every text of a file: one CSV row each, in the order of the file."""
    from faithgauge.data.generic import read_texts
    from faithgauge.models.store import open_model
    from faithgauge.steps import read_texts as read
    from faithgauge.train.predict import predict

    if target is not None and (target.is_dir() or not target.parent.is_dir()):
        raise ConfigError(f"--out {target}: expected a file in a folder that is there; choose another place")
    trained = open_model(model, labels)
    examples = read_texts(DataConfig(str(file), text=text, text_pair=text_pair))
    pairs = [example.text_pair for example in examples if example.text_pair is not None]
    corpus = read(trained, [example.text for example in examples], pairs or None)
    encoded = corpus.splits["test"]
    if cut := corpus.report["splits"]["test"].get("cut", 0):
        longest = getattr(trained.tokenizer, "longest", None) or EncodeConfig().max_tokens
        limit = f"{min(longest, EncodeConfig().max_tokens):,} tokens"
        err.print(f"{cut} of {len(examples)} texts are longer than {limit} and were cut", soft_wrap=True)
    found = predict(trained.classifier, encoded)
    rows = [
        (example.id, trained.classes[best], likely)
        for example, best, likely in zip(examples, found.argmax(-1), found.tolist(), strict=True)
    ]
    if target is not None:
        _write(target, _table(trained.classes, rows))
        err.print(f"{len(rows)} predictions: {target}", soft_wrap=True)
    if as_json:
        predictions = [
            {"id": i, "label": label, "probabilities": dict(zip(trained.classes, likely, strict=True))}
            for i, label, likely in rows
        ]
        emit({"model": model, "file": file, "cut": cut, "predictions": predictions})
    elif target is None:
        sys.stdout.write(_table(trained.classes, rows))


def _table(classes: Sequence[str], rows: Sequence[tuple[str, str, Sequence[float]]]) -> str:
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["id", "label", *(f"p_{name}" for name in classes)])
    for i, label, likely in rows:
        writer.writerow([i, label, *(f"{p:.6f}" for p in likely)])
    return table.getvalue()


def _write(target: Path, text: str) -> None:
    new = target.with_name(target.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.replace(target)
