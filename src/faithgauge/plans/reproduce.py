"""A paper's experiments as a study: its own study file, cut down to what is asked for and what is at hand.

The rows of the study become numbers like those in print (`papers.tidy`), which stand beside the published
ones (`papers.compare`).
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from faithgauge import papers, results
from faithgauge.config import DataConfig
from faithgauge.data.load import find_folders, load, public_name
from faithgauge.encode.corpus import open_corpus
from faithgauge.engine.job import Job, key_of
from faithgauge.engine.store import Store
from faithgauge.errors import ConfigError, FaithgaugeError
from faithgauge.jobs import CORPUS
from faithgauge.papers import tidy
from faithgauge.papers.cells import Ours
from faithgauge.papers.published import PAPERS, Paper
from faithgauge.papers.recipes import Recipe
from faithgauge.plans.grid import Cell, cells, targets_of
from faithgauge.plans.starts import starts
from faithgauge.plans.study import Study, read
from faithgauge.registry import unknown

OURS = (
    "data.names",
    "seeds",
    "tests",
    "model.encoder",
    "instances",
    "adversary.starts",
    "adversary.base_seed",
)
"""Keys of the study that are changed here, and not by the user."""
QUICK = {"instances": 100, "train.epochs": 2}
"""What `quick` changes beside leaving one seed: enough to see that it runs, too little to compare."""


@dataclass(frozen=True)
class Wish:
    """What of a paper is asked for; what is left empty is the recipe's own. `changes` are as for a study.

    With several `starts` of adversaries each seed has a base model of its own.
    """

    paper: str
    tables: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    encoders: tuple[str, ...] = ()
    seeds: int | None = None
    starts: int | None = None
    instances: int | None = None
    quick: bool = False
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reproduction:
    """The study that answers a wish, its jobs, and by name why data sets of the recipe are left out."""

    paper: Paper
    study: Study
    cells: list[Cell]
    targets: list[Job]
    left_out: dict[str, str]
    recipes: tuple[Recipe, ...]


def reproduction(wish: Wish) -> Reproduction:
    """The study of a paper as it is asked for; what is unknown, or asked for and not there, is an error."""
    paper = PAPERS[wish.paper]
    path = _study_file(paper)
    if not path.is_file():
        raise ConfigError(
            f"{paper.key}: there is no recipe yet; faithgauge reproduce --list says what there is"
        )
    recipes = _recipes(wish, paper)
    own = _written(path)
    names, left_out = _names(wish, own["data"]["names"])
    try:
        study = replace(read(path, _changes(wish, own, names, recipes=recipes)), name=paper.key)
    except FaithgaugeError as error:  # of what we changed the user knows by another name
        raise type(error)(re.sub(rf"^--set ({'|'.join(OURS)}): ", "", str(error))) from error
    points = cells(study)
    return Reproduction(paper, study, points, targets_of(study, points), left_out, recipes)


def ours(found: Reproduction, store: Store) -> list[Ours]:
    """The numbers of the jobs that are stored, each of the kind that the paper prints."""
    table = results.stored(found.targets, store)
    columns = {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}
    metrics = [
        metric for recipe in found.recipes if recipe.test == "performance" for metric in recipe.metrics
    ]
    known = tidy.Known(_classes(found, store), found.paper.names, metrics)
    tests = dict.fromkeys(recipe.test for recipe in found.recipes)
    numbers: list[Ours] = []
    for test in tests:  # two tests may tell the same number, such as the F1 of the base model
        numbers += [number for number in tidy.NUMBERS[test](columns, known) if number not in numbers]
    return numbers


def there(names: Iterable[str]) -> set[str]:
    """The data sets of these papers' recipes that can be trained and tested on here; without variants."""
    recipes = [_study_file(PAPERS[name]) for name in names]
    wanted = {one for path in recipes if path.is_file() for one in _written(path)["data"]["names"]}
    return {name.partition("@")[0] for name in sorted(wanted) if not _lack(name)}


def _study_file(paper: Paper) -> Path:
    return Path(papers.__file__).parent / paper.key.replace("-", "_") / "study.toml"


def _written(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _recipes(wish: Wish, paper: Paper) -> tuple[Recipe, ...]:
    """Those of the tables, figures and tests that are asked for; of all, where none is."""
    known = {
        "table": {recipe.table for recipe in paper.recipes if recipe.table},
        "figure": {figure for recipe in paper.recipes for figure in recipe.figures},
        "test": {recipe.test for recipe in paper.recipes},
    }
    asked = {"table": wish.tables, "figure": wish.figures, "test": wish.tests}
    for noun, names in asked.items():
        for name in names:
            if name not in known[noun]:
                raise ConfigError(
                    f"{paper.key}: {unknown(f'{noun} with a recipe', name, sorted(known[noun]))}"
                )
    chosen = [
        recipe
        for recipe in paper.recipes
        if not any(asked.values())
        or recipe.table in wish.tables
        or set(recipe.figures) & set(wish.figures)
        or recipe.test in wish.tests
    ]
    return tuple(chosen)


def _names(wish: Wish, recipe: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The data sets: those asked for in the variant of the recipe, else those of it that are at hand."""
    if wish.datasets:
        variants = {name.partition("@")[0]: name for name in recipe}
        return [variants.get(name, name) for name in wish.datasets], {}
    lacks = {name: _lack(name) for name in recipe}
    there = [name for name in recipe if not lacks[name]]
    if not there:
        raise ConfigError(
            f"{wish.paper}: none of its data sets is at hand; faithgauge data list says where they are sought"
        )
    return there, {name: lack for name, lack in lacks.items() if lack}


def _lack(name: str) -> str:
    public = public_name(name)
    if public is None:
        return ""
    if not find_folders(public[0], None):
        return "not at hand"
    try:
        splits = load(DataConfig(name)).splits
    except FaithgaugeError as error:
        return str(error)
    missing = [split for split in ("train", "validation", "test") if not splits.get(split)]
    return f"no {' and no '.join(missing)} split at hand" if missing else ""


def _changes(
    wish: Wish, own: Mapping[str, Any], names: Sequence[str], *, recipes: Sequence[Recipe]
) -> list[str]:
    """What is asked for as changes of the study file; what is given last stands."""
    seeds = list(own["seeds"])
    wanted = wish.seeds or (1 if wish.quick else len(seeds))
    seeds += [seed for seed in range(wanted) if seed not in seeds]
    changes: dict[str, Any] = {
        "data.names": [*names],
        "seeds": seeds[:wanted],
        "tests": [*dict.fromkeys(recipe.test for recipe in recipes)],
        **(QUICK if wish.quick else {}),
    }
    encoders = wish.encoders or {name for recipe in recipes for name in recipe.encoders}
    if encoders:
        order = own["model"]["encoder"]
        changes["model.encoder"] = sorted(encoders, key=lambda name: (name not in order, name))
    if wish.instances:
        changes["instances"] = wish.instances
    if wish.starts:
        changes["adversary.starts"] = starts(wish.starts)
    if (wish.starts or 1) > 1:  # the honest procedure: see `AdversaryPlan`
        changes["adversary.base_seed"] = "own"
    return [*(f"{key}={json.dumps(value)}" for key, value in changes.items()), *wish.changes]


def _classes(found: Reproduction, store: Store) -> dict[str, tuple[str, ...]]:
    """By full name the classes of each data set that is encoded, in order."""
    known = {}
    for cell in found.cells:
        if store.has(key_of(cell.data)):
            corpus = open_corpus(store.place(key_of(cell.data)) / CORPUS)
            known[corpus.full_name] = corpus.classes
    return known
