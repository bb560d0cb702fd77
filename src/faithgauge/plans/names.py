"""The names and files of a study: whether they are there, asked before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from faithgauge.errors import ConfigError, DataError, FaithgaugeError
from faithgauge.plans.written import Places
from faithgauge.registry import Table, locate, unknown
from faithgauge.settings import PRETRAINED

NAMED = {
    ("", "preset"): "faithgauge.settings:PRESETS",
    ("", "tests"): "faithgauge.plans.grid:TESTS",
    ("encode", "words"): "faithgauge.encode.words:WORDS",
    ("model", "encoder"): "faithgauge.models.encoders:ENCODERS",
    ("model", "attention"): "faithgauge.models.attention:ATTENTIONS",
    ("model", "distribution"): "faithgauge.models.attention:DISTRIBUTIONS",
    ("train", "select_by"): "faithgauge.train.metrics:METRICS",
}
"""The keys whose values are names, and the table of these names."""
FILES = (("data", "data_dir"), ("data", "lexicon"), ("encode", "tokenizer"), ("vectors", "embeddings"))


Grid = dict[str, dict[str, list[Any]]]
"""By table and key the values to be crossed."""


def refuse_unknown_names(top: Mapping[str, Sequence[str]], grid: Grid, places: Places) -> None:
    """Ask every table for the names that the study has; `top` are those at the top of the file."""
    for (table, key), place in NAMED.items():
        names = grid[table].get(key, []) if table else top[key]
        known = cast("Iterable[str]", locate(place)) if names else ()
        noun = known.noun if isinstance(known, Table) else key
        for name in names:
            if key == "encoder" and name.startswith(PRETRAINED):
                continue
            if name not in known:
                raise ConfigError(f"{places.of(table, key)}: {unknown(noun, name, known)}")


def refuse_unknown_factory(factory: str, places: Places) -> None:
    """A model of the user's own must be importable where the study is planned."""
    try:
        if factory:
            locate(factory)
    except FaithgaugeError as error:
        raise type(error)(f"{places.of('', 'factory')}: {error}") from error


def refuse_unknown_explainers(explainers: Iterable[str], factory: str, places: Places) -> None:
    """Names, options and presets of explainers, and what they need of a model of the user's own."""
    from faithgauge.explain.asked import asked

    try:
        wanted = [asked(text) for text in explainers]
        if factory:
            from faithgauge.explain.split import refuse_what_lacks
            from faithgauge.models.classifier import Shape
            from faithgauge.models.question import Known
            from faithgauge.models.store import make

            model = make(factory, Shape(8, ("0", "1"), "single"))
            for one in wanted:
                refuse_what_lacks(model, one, known=Known(mask=0))
    except FaithgaugeError as error:
        raise type(error)(f"{places.of('', 'explainers')}: {error}") from error


def refuse_unknown_starts(starts: Iterable[str], places: Places) -> None:
    """Where adversaries may start, with the number of their draw."""
    from faithgauge.plans.starts import read_start

    for start in starts:
        try:
            read_start(start)
        except FaithgaugeError as error:
            raise type(error)(f"{places.of('adversary', 'starts')}: {error}") from error


def find_files(folder: Path, grid: Grid, places: Places) -> Grid:
    """The grid with its files found from the folder of the study; one that is not there is an error."""
    found = {table: dict(lists) for table, lists in grid.items()}
    for table, key in FILES:
        for i, value in enumerate(found[table].get(key, [])):
            path = folder / Path(value).expanduser()
            if not path.exists():
                raise DataError(f"{places.of(table, key)}: expected a file or folder, {path} is not there")
            found[table][key] = [*found[table][key][:i], str(path), *found[table][key][i + 1 :]]
    found["model"]["encoder"] = [
        _own_encoder(name, folder, places.of("model", "encoder")) for name in grid["model"].get("encoder", [])
    ]
    if not found["model"]["encoder"]:
        del found["model"]["encoder"]
    data_dirs = found["data"].get("data_dir", [None])
    place = places.of("data", "names")
    found["data"]["names"] = [
        _own_file(name, folder, place) if _is_own(name, data_dirs, place) else name
        for name in grid["data"]["names"]
    ]
    return found


def _is_own(name: str, data_dirs: list[str | None], place: str) -> bool:
    """Whether it is no data set that is known by name; one that is known must be here."""
    from faithgauge.data.load import find_folders, not_found, public_name
    from faithgauge.data.synthetic import SYNTHETIC

    try:
        public = public_name(name)
        for data_dir in data_dirs:
            where = Path(data_dir) if data_dir else None
            if public is not None and not find_folders(public[0], where):
                raise DataError(not_found(public[0], where))
    except FaithgaugeError as error:
        raise type(error)(f"{place}: {error}") from error
    return public is None and name not in SYNTHETIC


def _own_encoder(name: str, folder: Path, place: str) -> str:
    """A pretrained encoder with its path, where it is a folder from that of the study."""
    if not name.startswith(PRETRAINED):
        return name
    from faithgauge.models.pretrained import find

    own = folder / Path(name.removeprefix(PRETRAINED)).expanduser()
    name = f"{PRETRAINED}{own}" if own.exists() else name
    try:
        find(name)
    except FaithgaugeError as error:
        raise type(error)(f"{place}: {error}") from error
    return name


def _own_file(name: str, folder: Path, place: str) -> str:
    """The path of a file or folder beside the study; or a name on the hub."""
    from faithgauge.data.synthetic import SYNTHETIC
    from faithgauge.data.table import DATASETS

    path = folder / Path(name).expanduser()
    if path.exists():
        return str(path)
    if path.suffix or name.startswith((".", "/", "~")):
        raise DataError(f"{place}: expected labelled texts or a data set's name, {path} is not there")
    if "/" in name:
        return name
    raise ConfigError(f"{place}: {unknown('data set', name, [*DATASETS, *SYNTHETIC])}")
