"""The jobs that every plan begins with: the encoded data and the training that settings describe.

Every file that they read is hashed here, so that what they are known by is what it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from faithgauge.config import DataConfig, ModelConfig
from faithgauge.engine.job import File, Job
from faithgauge.jobs import Prepare, Train
from faithgauge.settings import PRETRAINED, Settings


def prepare(config: DataConfig, encode: Mapping[str, Any]) -> Prepare:
    """The job that reads and encodes what `config` names, with every file it reads hashed."""
    from faithgauge.data.load import find_folders, public_name
    from faithgauge.data.synthetic import SYNTHETIC

    default = DataConfig(config.name)
    names = [item.name for item in fields(DataConfig) if item.name not in ("name", "data_dir", "lexicon")]
    options = {key: getattr(config, key) for key in names if getattr(config, key) != getattr(default, key)}
    encode = {key: File.of(value) if isinstance(value, Path) else value for key, value in encode.items()}
    job = Prepare(
        config.name, options=options, encode=encode, data_dir=config.data_dir, lexicon=config.lexicon
    )
    if config.lexicon is not None:
        return replace(job, files=_files(config.lexicon))
    public = public_name(config.name)
    if public is not None:
        folders = find_folders(public[0], config.data_dir)
        return replace(job, files=tuple(file for folder in folders for file in _files(folder)))
    path = Path(config.name).expanduser()
    if config.name not in SYNTHETIC and path.exists():
        return replace(job, name=path.name, files=_files(path), place=path.resolve())
    return job


def training(data: Job, chosen: Settings, factory: str = "") -> Train:
    """The job that trains what `chosen` says on some prepared or masked data."""
    file = chosen.vectors.embeddings
    embeddings = None if file is None else File.of(file.expanduser())
    vectors = chosen.vectors
    made = Train(
        data, chosen.model, chosen.train, embeddings, vectors.embedding_scale, factory, vectors.word2vec
    )
    return with_model(made, chosen.model)


def with_model(job: Train, model: ModelConfig) -> Train:
    """The same training of another model; one with a pretrained encoder is known by its name and files."""
    if not model.encoder.startswith(PRETRAINED):
        return replace(job, model=model, pretrained=(), place=None)
    from faithgauge.models import pretrained

    place = pretrained.find(model.encoder)
    files = tuple(File.of(path) for path in pretrained.files(place))
    model = replace(model, encoder=pretrained.name_of(model.encoder))
    return replace(job, model=model, pretrained=files, place=place.absolute())


def _files(place: Path) -> tuple[File, ...]:
    """The file, or all files of the folder, in the order of their names."""
    found = [place] if place.is_file() else sorted(place.rglob("*"))
    return tuple(File.of(path) for path in found if path.is_file())
