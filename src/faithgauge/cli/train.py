"""``faithgauge train DATASET``: a classifier from labelled texts.

The options that set a number are made from the fields of `config`, so that a new field is an option at once.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer
from rich.table import Table as Grid

from faithgauge.cli.options import Json, Threads, takes_data
from faithgauge.cli.output import emit, err, out, printable
from faithgauge.cli.progress import training_progress
from faithgauge.cli.studies import StoreFolder, store_at
from faithgauge.config import DataConfig, EncodeConfig, ModelConfig, TrainConfig, VectorConfig

HELP = {
    "words": "How a text is cut into words (faithgauge list words).",
    "tokenizer": "A tokenizer.json of the tokenizers library, instead of words.",
    "min_df": "A word must stand in this many training texts.",
    "max_tokens": "The longest text that is taken.",
    "too_long": "What to do with a longer one.",
    "joined": "A pair in one row, as a pretrained model reads it.",
    "encoder": "See: faithgauge list encoders; or hf:PLACE.",
    "attention": "See: faithgauge list attentions.",
    "distribution": "See: faithgauge list distributions.",
    "temperature": "Divides the scores before they become a distribution.",
    "embed_size": "Size of the word vectors; that of --embeddings, else 300.",
    "hidden_size": "Size of the encoder; its own default.",
    "attention_size": "Size of additive attention; half of the encoder's output.",
    "pair": "How the second text takes part.",
    "embeddings": "File of word vectors: .txt, .vec, .bin, also .gz or .xz.",
    "embedding_scale": "Standard deviation of vectors that are drawn.",
    "word2vec": "Train them on the training texts first (extra gensim).",
    "epochs": "How often every text is seen.",
    "batch_size": "Texts per step.",
    "learning_rate": "Of Adam.",
    "weight_decay": "Of Adam, coupled to the gradient.",
    "decay_attention": "Let it touch the attention module.",
    "amsgrad": "The AMSGrad form of Adam.",
    "clip": "Bound on the norm of the gradient; none.",
    "patience": "Stop after this many epochs without a better value; never.",
    "loss": "How the losses of a batch are put together.",
    "class_weights": "Weigh the classes in the loss.",
    "select_on": "The split that chooses the epoch.",
    "select_by": "The metric that chooses the epoch (faithgauge list metrics).",
    "seed": "Of the weights and of the order of the texts.",
    "optimiser": "Of hf:PLACE adamw.",
    "beta2": "Decay of second moments; of hf:PLACE 0.98.",
    "schedule": "Of the rate; of hf:PLACE linear.",
    "warm_up": "Share of steps in which it rises; of hf:PLACE 0.06.",
    "frozen_layers": "Of hf:PLACE so many keep their weights, the lowest, and its embeddings.",
}
SHOWN = ("f1_positive", "f1_macro", "accuracy", "roc_auc", "calibration_error")
PANELS: dict[str, type] = {
    "Texts to ids, where not as the data set has it": EncodeConfig,
    "Model": ModelConfig,
    "Word vectors": VectorConfig,
    "Training": TrainConfig,
}


def options() -> list[inspect.Parameter]:
    """One option per field of each panel; None stands for not given."""
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[_optional(hint), _option(field.name, field.default, hint, panel)],
        )
        for panel, kind in PANELS.items()
        for field, hint in zip(fields(kind), get_type_hints(kind).values(), strict=True)
    ]


def _option(name: str, default: object, hint: object, panel: str) -> Any:
    """The default stands in the help: to typer it is None, so that a preset can come before it."""
    word = "--" + name.replace("_", "-")
    declared = f"{word}/--no-{word[2:]}" if hint is bool else word
    shown = ("yes" if default else "no") if isinstance(default, bool) else default
    # What is not given of the first panel is the data set's own choice, not the general default.
    known = f" \\[{shown}]" if shown is not None and panel != next(iter(PANELS)) else ""
    return typer.Option(declared, help=HELP[name] + known, show_default=False, rich_help_panel=panel)


def _optional(hint: Any) -> Any:
    if get_origin(hint) in (Union, UnionType):
        hint = next(kind for kind in get_args(hint) if kind is not type(None))
    return Union[hint, None]  # noqa: UP007 the hint is a value here


def _command(
    config: DataConfig,
    preset: Annotated[
        str | None, typer.Option(help="Start from a paper's settings, such as jain-wallace-2019.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="A model of your own: package.module:function of a Shape.", show_default=False)
    ] = "",
    folder: Annotated[
        Path | None, typer.Option("--out", help="Folder of the model.", show_default=False)
    ] = None,
    store: StoreFolder = None,
    threads: Threads = 1,
    as_json: Json = False,
    **given: Any,
) -> None:
    """Train a classifier on a data set, a file or a folder of labelled texts.

    The training is stored: asked for again it is only copied to --out, and one that was killed goes on where
    it stood.
    """
    from faithgauge import jobs, steps
    from faithgauge.encode.corpus import open_corpus
    from faithgauge.engine.alone import compute
    from faithgauge.models.pretrained import completed, name_of
    from faithgauge.models.store import is_model
    from faithgauge.plans import inputs
    from faithgauge.settings import settings

    chosen = replace(settings(config.name, preset, **given), data=config)
    steps.refuse_unknown_names(chosen, model)
    chosen = completed(chosen)
    place = store_at(store)
    data = inputs.prepare(config, chosen.encode)
    corpus = open_corpus(compute(data, place, threads=threads) / jobs.CORPUS)
    if folder is None:
        encoder = chosen.model.encoder
        short = name_of(encoder).rpartition("/")[2].replace(":", "-") if ":" in encoder else encoder
        parts = (Path(config.name).stem, short, str(chosen.train.seed))
        folder = Path("runs") / "-".join(parts)
    if not as_json:
        for note in (*corpus.missing, *corpus.notes):
            err.print(printable(note), soft_wrap=not err.is_terminal)
    steps.refuse_what_cannot_be(chosen, corpus, folder)
    if is_model(folder):
        record = steps.done_before(folder, chosen, corpus, factory=model).record
    else:
        with training_progress(chosen.train.select_on, chosen.train.select_by) as on_event:
            heard = jobs.LISTENER.set(on_event)
            try:
                result = compute(inputs.training(data, chosen, model), place, threads=threads)
            finally:
                jobs.LISTENER.reset(heard)
        record = _export(result, folder)
    if as_json:
        emit(_document(folder, record))
    else:
        _print(folder, record)


def _export(result: Path, folder: Path) -> Mapping[str, Any]:
    """Write the stored model to a folder of the user's, with the time that its training took."""
    from faithgauge.engine.store import PROVENANCE, read_json
    from faithgauge.jobs import MODEL
    from faithgauge.models.store import load, save

    trained = load(result / MODEL)
    record = {**trained.record, "seconds": read_json(result / PROVENANCE)["seconds"]}
    save(replace(trained, record=record), folder)
    return record


def _document(folder: Path, record: Mapping[str, Any]) -> dict[str, Any]:
    names = ("dataset", "encoder", "seed", "epoch", "selected_on", "metrics", "seconds", "complete")
    rest = ("selected_by", "missing", "notes", "vectors", "encoding")
    return {"model": folder, **{name: record[name] for name in (*names, *rest)}}


def _print(folder: Path, record: Mapping[str, Any]) -> None:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("")
    measured = record["metrics"].values()
    shown = [name for name in SHOWN if any(_defined(values[name]) for values in measured)]
    for name in shown:
        grid.add_column(name, justify="right")
    for split, values in record["metrics"].items():
        grid.add_row(split, *(f"{values[name]:.3f}" if _defined(values[name]) else "–" for name in shown))
    out.print(grid)
    partial = (
        "" if record["complete"] else "  Partial or substituted data: not comparable with published numbers."
    )
    out.print(
        f"Epoch {record['epoch']}, selected by {record['selected_by']} on {record['selected_on']}.{partial}"
    )
    out.print(f"Word vectors: {record['vectors'].get('vectors', 'of your own model')}.")
    out.print(f"Model: {folder}", soft_wrap=True)


def _defined(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


command = takes_data(_command, *options())
