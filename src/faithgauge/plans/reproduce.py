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
from faithgauge.data.synthetic import SYNTHETIC
from faithgauge.encode.corpus import open_corpus
from faithgauge.engine.job import Job, key_of
from faithgauge.engine.store import Store
from faithgauge.errors import ConfigError, FaithgaugeError
from faithgauge.jobs import CORPUS
from faithgauge.papers import tidy
from faithgauge.papers.cells import Ours, place
from faithgauge.papers.published import PAPERS, Paper
from faithgauge.papers.recipes import Recipe
from faithgauge.plans.grid import Cell, cells, targets_of
from faithgauge.plans.minutes import minutes
from faithgauge.plans.starts import starts
from faithgauge.plans.study import Study, read
from faithgauge.plans.weights import as_printed, is_whole, its_own, resolved
from faithgauge.registry import unknown

OURS = (
    "data.names",
    "seeds",
    "tests",
    "model.encoder",
    "instances",
    "adversary.starts",
    "adversary.base_seed",
    "roar.fractions",
)
"""Keys of the study that are changed here, and not by the user."""
QUICK = {
    "instances": 100,
    "train.epochs": 2,
    "adversary.epochs": 2,
    "adversary.weights": (0.0, 5e-4, 0.01),  # of those that every table of a sweep prints
}
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
    fractions: tuple[float, ...] = ()
    quick: bool = False
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reproduction:
    """The study that answers a wish, its jobs, and by name why data sets or tests of it are left out."""

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
    parts, lacks = _parts(wish, paper)
    found = [_part(own, paper, recipes) for own, recipes in parts]
    return Reproduction(
        paper,
        found[0].study,
        [cell for one in found for cell in one.cells],
        [job for one in found for job in one.targets],
        {name: why for one in found for name, why in one.left_out.items()} | lacks,
        tuple(recipe for one in found for recipe in one.recipes),
    )


def _parts(wish: Wish, paper: Paper) -> tuple[list[tuple[Wish, tuple[Recipe, ...]]], dict[str, str]]:
    """What is asked for by study file: pretrained encoders have one of their own, where the paper has any.

    With it comes what is left out, and why: the pretrained encoder, if it is not here and nobody asked for it
    by name, and tests that compare more seeds than there are.
    """
    recipes, lacks = _with_enough_seeds(_recipes(wish, paper), wish)
    whole = tuple(name for name in wish.encoders if paper.transformer and is_whole(name))
    usual = tuple(name for name in wish.encoders if name not in whole)
    parts = []
    own = tuple(recipe for recipe in recipes if recipe.study == "study")
    if own and (usual or not wish.encoders):
        parts.append((replace(wish, encoders=usual), own))
    if own := tuple(recipe for recipe in recipes if recipe.study != "study"):
        found = tuple(resolved(name, paper) for name in whole)
        if not wish.encoders:
            try:
                found = (its_own(paper),)
            except ConfigError as error:
                if not parts:
                    raise
                lacks[paper.transformer] = str(error).partition(": ")[2]
        if found:
            changes = tuple(one for one in wish.changes if not one.startswith("vectors."))
            parts.append((replace(wish, encoders=found, changes=changes), own))
    if not parts:
        raise ConfigError(
            f"{paper.key}: expected an encoder of what is asked for, found {', '.join(wish.encoders)}; "
            "leave --encoder or --table out"
        )
    return parts, lacks


def _part(wish: Wish, paper: Paper, recipes: tuple[Recipe, ...]) -> Reproduction:
    """The jobs of one study file."""
    path = _study_file(paper, recipes[0].study)
    own = _written(path)
    recipes, wish = _with_own_problems(recipes, wish)
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
    measuring = ("performance", "uniform_performance")
    metrics = [metric for recipe in found.recipes if recipe.test in measuring for metric in recipe.metrics]
    known = tidy.Known(_classes(found, store), found.paper.names, metrics)
    tests = dict.fromkeys(recipe.test for recipe in found.recipes)
    numbers = [number for test in tests for number in tidy.NUMBERS[test](columns, known)]
    if any("walltime_minutes" in recipe.metrics for recipe in found.recipes):
        numbers += minutes(found.cells, store)
    printed = [as_printed(number, found.paper) for number in numbers]
    # Two tests may tell the same number, such as the F1 of the base model.
    return list({(place(one), one.dataset, one.note): one for one in printed}.values())


def there(names: Iterable[str]) -> set[str]:
    """The data sets of these papers' recipes that can be trained and tested on here; without variants."""
    recipes = [_study_file(PAPERS[name]) for name in names]
    wanted = {one for path in recipes if path.is_file() for one in _written(path)["data"]["names"]}
    return {name.partition("@")[0] for name in sorted(wanted) if not _lack(name)}


def _study_file(paper: Paper, name: str = "study") -> Path:
    return Path(papers.__file__).parent / paper.key.replace("-", "_") / f"{name}.toml"


def _written(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _recipes(wish: Wish, paper: Paper) -> tuple[Recipe, ...]:
    """Those of the tables, figures and tests that are asked for; of all, where none is."""
    known = {
        "table": {recipe.table for recipe in paper.recipes if recipe.table},
        "figure": {figure for recipe in paper.recipes for figure in recipe.figures},
        "test": {recipe.test for recipe in paper.recipes},
    }
    aliases = {recipe.alias: recipe.test for recipe in paper.recipes if recipe.alias}
    tests = tuple(aliases.get(name, name) for name in wish.tests)
    asked = {"table": wish.tables, "figure": wish.figures, "test": tests}
    for noun, names in asked.items():
        for name in names:
            if name not in known[noun]:
                raise ConfigError(
                    f"{paper.key}: {unknown(f'{noun} with a recipe', name, sorted(known[noun]))}"
                )
    chosen = [
        recipe
        for recipe in paper.recipes
        if (not any(asked.values()) and not recipe.asked)
        or recipe.table in wish.tables
        or set(recipe.figures) & set(wish.figures)
        or recipe.test in tests
    ]
    return tuple(chosen)


def _with_enough_seeds(recipes: tuple[Recipe, ...], wish: Wish) -> tuple[tuple[Recipe, ...], dict[str, str]]:
    """Without those that compare more seeds than are asked for, unless they are asked for by name."""
    seeds = wish.seeds or (1 if wish.quick else None)
    if seeds is None or wish.tables or wish.figures or wish.tests:
        return recipes, {}
    lacks = {
        recipe.test: f"it compares {recipe.seeds} seeds or more, found {seeds}; give --seeds {recipe.seeds}"
        for recipe in recipes
        if recipe.seeds > seeds
    }
    return tuple(recipe for recipe in recipes if recipe.test not in lacks), lacks


def _with_own_problems(recipes: tuple[Recipe, ...], wish: Wish) -> tuple[tuple[Recipe, ...], Wish]:
    """Of recipes that bring a problem of their own those that are asked for; it is no data set of the study.

    Where nothing else is asked for, any data set stands in the study, and nothing of it is computed.
    """
    brought = {recipe.brings for recipe in recipes if recipe.brings}
    if not wish.datasets:
        return recipes, wish
    own = tuple(name for name in wish.datasets if name not in brought)
    chosen = tuple(
        recipe for recipe in recipes if (recipe.brings in wish.datasets if recipe.brings else bool(own))
    )
    return chosen, replace(wish, datasets=own or ("planted",))


def _names(wish: Wish, recipe: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The data sets: those asked for in the variant of the recipe, else those of it that are at hand."""
    if wish.datasets:
        variants = {name.partition("@")[0]: name for name in recipe}
        return [variants.get(name) or _from_here(name) for name in wish.datasets], {}
    lacks = {name: _lack(name) for name in recipe}
    there = [name for name in recipe if not lacks[name]]
    if not there:
        raise ConfigError(
            f"{wish.paper}: none of its data sets is at hand; faithgauge data list says where they are sought"
        )
    return there, {name: lack for name, lack in lacks.items() if lack}


def _from_here(name: str) -> str:
    """A file or folder with its path; a study would look for it beside its own file."""
    path = Path(name).expanduser()
    known = public_name(name) is not None or name in SYNTHETIC
    return name if known or not path.exists() else str(path.absolute())


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
    if wish.fractions:
        changes["roar.fractions"] = wish.fractions
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
