"""A study file: strict TOML that says which data sets, models, seeds and tests are to be combined.

    name = "grid"
    seeds = [0, 1, 2]
    tests = ["performance"]

    [data]
    names = ["planted", "mock-2"]

    [model]
    encoder = ["bilstm", "mlp"]

The keys of the tables are the fields of `config`; a list is crossed with every other list. What is misspelt,
of the wrong type, or names something that is not there is an error with its place.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from faithgauge.config import (
    AdversaryPlan,
    AtLeastOne,
    AttackPlan,
    DataConfig,
    EncodeConfig,
    ModelConfig,
    RoarPlan,
    TrainConfig,
    VectorConfig,
)
from faithgauge.errors import ConfigError
from faithgauge.plans.names import (
    Grid,
    find_files,
    refuse_unknown_explainers,
    refuse_unknown_factory,
    refuse_unknown_names,
    refuse_unknown_starts,
    refuse_unknown_steps,
)
from faithgauge.plans.written import Places, read_tables
from faithgauge.settings import PRETRAINED, Settings, checked, preset_for, settings
from faithgauge.types import Split


@dataclass(frozen=True)
class Study:
    """What a study asks for; `settings` are the points of its grid, in the order of the file.

    `splits` are those on which is measured; `explainers` is for tests that explain, `instances` bounds the
    texts of a split that they explain; `adversary` is for tests that train adversaries, `attack` for those
    that attack without training, `roar` for those that mask tokens and train again; `factory` is a model of
    the user's own; `threads` is for each job.
    """

    name: str
    preset: str | None = None
    seeds: tuple[int, ...] = (0,)
    tests: tuple[str, ...] = ("performance",)
    explainers: tuple[str, ...] = ("attention",)
    splits: tuple[Split, ...] = ("test",)
    instances: AtLeastOne | None = None
    factory: str = ""
    threads: AtLeastOne = 1
    adversary: AdversaryPlan = field(default_factory=AdversaryPlan)
    attack: AttackPlan = field(default_factory=AttackPlan)
    roar: RoarPlan = field(default_factory=RoarPlan)
    path: Path = Path()
    settings: tuple[Settings, ...] = field(default=(), repr=False)


KINDS: dict[str, type] = {
    "data": DataConfig,
    "encode": EncodeConfig,
    "model": ModelConfig,
    "vectors": VectorConfig,
    "train": TrainConfig,
}
_FIELD = {("data", "names"): "name", ("data", "data_seed"): "seed"}
"""The field of a key that is not called like it."""
_KEY = {(table, name): key for (table, key), name in _FIELD.items()}
KEYS = {
    table: [
        _KEY.get((table, one.name), one.name)
        for one in fields(kind)
        if (table, one.name) != ("train", "seed")
    ]
    for table, kind in KINDS.items()
}
PLANS: dict[str, type] = {"adversary": AdversaryPlan, "attack": AttackPlan, "roar": RoarPlan}
"""The tables whose lists are not crossed: each test that uses one takes it as a whole."""
KEYS[""] = [one.name for one in fields(Study) if one.name not in (*PLANS, "path", "settings")]
KEYS |= {table: [one.name for one in fields(kind)] for table, kind in PLANS.items()}


def read(path: Path, changes: Sequence[str] = ()) -> Study:
    """The study in a file, after changes such as ``train.epochs=2``.

    Files are looked for from the folder of the study file.
    """
    written, places = read_tables(path, KEYS, changes)
    study = _top(path.stem, {key: value for key, value in written.items() if key not in KINDS}, places)
    grid: Grid = {table: _lists(written.get(table, {}), table, places) for table in KINDS}
    chosen = {"preset": [study.preset] if study.preset else [], "tests": study.tests}
    refuse_unknown_names(chosen, grid, places)
    refuse_unknown_factory(study.factory, places)
    refuse_unknown_explainers(study.explainers, study.factory, places)
    refuse_unknown_starts(study.adversary.starts, places)
    refuse_unknown_steps(study.roar, places)
    cells = _cells(study, find_files(path.absolute().parent, grid, places))
    return replace(study, path=path, settings=tuple(cells))


def _top(name: str, written: Mapping[str, Any], places: Places) -> Study:
    """What stands at the top of the file; one value may stand for a list of one."""
    lists = ("seeds", "tests", "splits", "explainers")
    values: dict[str, Any] = {"name": name} | {
        key: [value] if key in lists and not isinstance(value, list) else value
        for key, value in written.items()
    }
    plans: dict[str, dict[str, Any]] = {table: dict(values.pop(table, {})) for table in PLANS}
    if not isinstance(epsilon := plans["attack"].get("epsilon", []), list):
        plans["attack"]["epsilon"] = [epsilon]
    for table, kind, own in (("", Study, values), *((name, PLANS[name], plans[name]) for name in PLANS)):
        for key, value in own.items():
            if value == [] or (isinstance(value, Mapping) and [] in value.values()):
                raise ConfigError(f"{places.of(table, key)}: expected one value or more, found none")
            _check(kind, table, key, value, places)
    study = checked(Study, values | plans, strict=True)
    if min(study.seeds) < 0:
        raise ConfigError(f"{places.of('', 'seeds')}: expected numbers from 0, found {min(study.seeds)}")
    return study


def _check(kind: type[Any], table: str, key: str, value: Any, places: Places) -> None:
    """Each value is asked for on its own, so that its place can be said."""
    own = _FIELD.get((table, key), key)
    needed = {"name": ""} if kind in (Study, DataConfig) else {}
    try:
        checked(kind, {**needed, own: value}, strict=True)
    except ConfigError as error:
        what = re.sub(rf"^{own}(\.[^:]*)?: ", "", str(error))
        raise ConfigError(f"{places.of(table, key)}: {what}") from error


def _lists(written: Mapping[str, Any], table: str, places: Places) -> dict[str, list[Any]]:
    """Every value as a list of the values to be crossed, each of them checked."""
    if table == "data" and "names" not in written:
        raise ConfigError(f'{places.of("data", "names")}: expected data sets, such as ["planted"]')
    lists = {key: value if isinstance(value, list) else [value] for key, value in written.items()}
    for key, values in lists.items():
        if not values:
            raise ConfigError(f"{places.of(table, key)}: expected one value or more, found none")
        for value in values:
            _check(KINDS[table], table, key, value, places)
    return lists


def _cells(study: Study, grid: Grid) -> list[Settings]:
    """Every combination; each dataclass is made once and shared by the cells that have it."""
    start = settings("", study.preset)
    known: dict[str, list[list[Any]]] = {}
    cells = []
    for data in _crossed(study, grid, "data", {}):
        for part, encoder in _by_family(grid, study.preset, data.name):
            given = preset_for(study.preset, data.name, encoder)
            rest = known.setdefault(
                repr((given, part["model"])),
                [_crossed(study, part, table, given) for table in KINDS if table != "data"],
            )
            cells += [
                replace(start, data=data, encode=encode, model=model, vectors=vectors, train=train)
                for encode, model, vectors, train in itertools.product(*rest)
            ]
    return cells


def _by_family(grid: Grid, preset: str | None, name: str) -> list[tuple[Grid, str]]:
    """The grid with our encoders, then that with pretrained ones, whose training has defaults of its own."""
    usual = preset_for(preset, name).get("encoder", ModelConfig().encoder)
    encoders = grid["model"].get("encoder", [usual])
    whole = [one for one in encoders if one.startswith(PRETRAINED)]
    ours = [one for one in encoders if one not in whole]
    if not whole:
        return [(grid, "")]
    return [
        ({**grid, "model": {**grid["model"], "encoder": some}}, some[0]) for some in (ours, whole) if some
    ]


def _crossed(study: Study, grid: Grid, table: str, given: Mapping[str, Any]) -> list[Any]:
    """Every combination of the values of one table, which stand before those of a preset."""
    lists = dict(grid[table])
    if table == "train":
        lists["seed"] = list(study.seeds)
    base = {key: given[key] for key in KEYS[table] if key in given}
    combined = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    return [_part(KINDS[table], table, base | values) for values in combined]


def _part(kind: type[Any], table: str, values: Mapping[str, Any]) -> Any:
    own = {_FIELD.get((table, key), key): value for key, value in values.items()}
    made = checked(kind, own, strict=True)
    return {key: getattr(made, key) for key in own} if table == "encode" else made
