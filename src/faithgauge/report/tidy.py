"""From result rows to the small tables that are charted, printed and exported, each a list of plain rows.

Means are over texts and seeds. Their intervals draw both again, texts alone where there are fewer than three
seeds (`stats.interval`); of numbers that are one a seed it is Student's. Nothing is left out silently: a
table says how many values were there, how many were not, and the most frequent reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithgauge.report.attention_bins import by_attention, shapes
from faithgauge.report.audit import Audit
from faithgauge.report.means import ESTIMATE, PLACE, Row, by_seed, by_text, number, place_of, variants
from faithgauge.report.rows import NOTHING, WORDS, Rows

Tables = Mapping[str, Sequence[Row]]

RANDOM_ORDER = "random order"
LOWER_IS_BETTER = frozenset({"sufficiency", "deletion", "flip_fraction"})


@dataclass(frozen=True)
class Tidy:
    """A kind of table: what it holds, its columns, and how its rows are made."""

    title: str
    columns: tuple[str, ...]
    rows: Callable[[Audit], Iterable[Row]]


def made(audit: Audit) -> dict[str, list[Row]]:
    """Every table of an audit that has rows; explainers stand in the order of their verdicts."""
    order = {name: place for place, name in enumerate(audit.explainers)}

    def rank(row: Row) -> tuple[int, int]:
        first, second = (order.get(str(row.get(name)), len(order)) for name in ("explainer", "versus"))
        return first, second

    found = {}
    for name, entry in TABLES.items():
        rows = [{column: row.get(column) for column in entry.columns} for row in entry.rows(audit)]
        if rows:
            found[name] = sorted(rows, key=rank)
    return found


def tests(audit: Audit) -> Iterator[Row]:
    """Every test of every verdict, then those of the model."""
    for verdict in audit.verdicts:
        own = {"explainer": verdict.get("explainer"), "verdict": verdict.get("verdict")}
        for test in verdict.get("tests") or [{}]:
            yield {**test, **own}
    for test in audit.list("model_tests"):
        yield {**test, "explainer": None}


def performance(audit: Audit) -> Iterator[Row]:
    """The metrics of the model itself, by split."""
    yield from by_seed(_alone(audit, guided=False), "distribution", "measure")


def guides(audit: Audit) -> Iterator[Row]:
    """How well a model reads that sees one token at a time, under several guides."""
    yield from by_seed(_alone(audit, guided=True), "guide", "guided_by", "measure")


def erasure(audit: Audit) -> Iterator[Row]:
    """How far each explainer is from a random order of the same texts, over all classes and in each.

    In `advantage` more is better for every measure.
    """
    rows = _rows(audit, lambda rows: rows.of("versus", RANDOM_ORDER) & ~_evidence(rows))
    for row in by_text(rows, "explainer", "measure", "erased_by", classes=True):
        lower = row["measure"] in LOWER_IS_BETTER
        low, high = ("high", "low") if lower else ("low", "high")
        ends = {"advantage": row["value"], "advantage_low": row[low], "advantage_high": row[high]}
        yield row | {name: -x if lower and x is not None else x for name, x in ends.items()}


def evidence(audit: Audit) -> Iterator[Row]:
    """How well each explainer finds evidence that is known, and what a random order would reach."""
    rows = _rows(audit, lambda rows: _evidence(rows))
    apart = {_key(row): row["value"] for row in by_text(_versus(rows, RANDOM_ORDER), "explainer", "measure")}
    for row in by_text(_versus(rows, None), "explainer", "measure"):
        difference = apart.get(_key(row))
        yield row | {"random": None if difference is None else row["value"] - difference}


def agreement(audit: Audit) -> Iterator[Row]:
    """How far every two explainers agree, and each with itself when the model is trained again.

    Beside Kendall's τ stands its floor, what scores in random order reach.
    """
    rows = _rows(audit, lambda rows: ~rows.of("versus", None, RANDOM_ORDER) & ~rows.of("explainer", None))
    floors: dict[tuple[Any, ...], Row] = {}
    pairs = ("explainer", "versus", "measure")
    for row in by_seed(_texts(rows, there=False), *pairs):
        measure, _, end = str(row["measure"]).partition("_floor")
        own = floors.setdefault((*place_of(row), row["explainer"], row["versus"], measure), {})
        own[f"floor{end}"] = row["value"]
    for row in by_text(_texts(rows), *pairs, classes=True):
        key = (*place_of(row), row["explainer"], row["versus"], row["measure"])
        yield row | floors.get(key, {})


def distances(audit: Audit) -> Iterator[Row]:
    """How far outputs (TVD) and attention (JSD) of other models are from the base, a mean over texts each."""
    rows = _rows(audit, lambda rows: rows.of("measure", "output_distance", "attention_jsd"))
    found: dict[tuple[Any, ...], Row] = {}
    for where, group in rows.groups(*PLACE, "against", "lambda", "start", "base_seed", "seed", "measure"):
        measure = where.pop("measure")
        own = found.setdefault(tuple(where.values()), where)
        known = group.value[~np.isnan(group.value)]
        own["tvd" if measure == "output_distance" else "jsd"] = float(known.mean()) if len(known) else None
        own["n"] = len(known) if group.words("example")[0] is not None else None
    for row in found.values():
        seed = row["seed"]
        yield row | {"seed": None if seed == -1 else int(seed)}


def attefa(audit: Audit) -> Iterator[Row]:
    """AtteFa of every seed and start, and of the best start with its cap."""
    names = ("attefa", "attefa_best", "attefa_cold", "attefa_cap", "attefa_adjusted", "attefa_cold_adjusted")
    rows = _rows(audit, lambda rows: rows.of("measure", *names))
    for where, group in rows.groups(*PLACE, "measure", "start", "base_seed", "seed"):
        seed = None if where["seed"] == -1 else int(where["seed"])
        yield where | {"seed": seed, "value": number(group.value[-1]), "reason": group.words("reason")[-1]}


def roar(audit: Audit) -> Iterator[Row]:
    """The metric of models trained again without the tokens that each explainer puts first.

    What all curves have in common, such as how models were trained, is no part of the name of a variant.
    """
    rows = _rows(audit, lambda rows: ~np.isnan(rows.fraction))
    settled = {"attention", "distribution", "selected_on", "vectors", "setting", "seeds"}
    keys = [
        name for name, codes in rows.codes.items() if name not in (*WORDS, *settled) and len(set(codes)) > 1
    ]
    for variant, some in variants(rows, *keys):
        for row in by_seed(some, "explainer", "measure", "fraction"):
            yield {"variant": variant or None} | row


def gaps(audit: Audit) -> Iterator[Row]:
    """How much better the model does than one with uniform attention, with its interval."""
    rows = _rows(audit, lambda rows: rows.of("example", None) & np.isnan(rows.fraction))
    for where, group in rows.groups(*PLACE, "distribution", "measure"):
        measure, found, end = str(where["measure"]).partition("_gap")
        if found and not end:
            ends = {
                side: _first(rows, {**where, "measure": f"{measure}_gap_{side}"}) for side in ("low", "high")
            }
            yield where | {"measure": measure, "value": number(group.value[0]), **ends}


def texts(audit: Audit) -> Iterator[Row]:
    """What is known of every text that is shown."""
    for one in audit.instances:
        numbers = one.get("numbers") or {}
        wrong = one.get("gold") is not None and one.get("gold") != one.get("label")
        own = {name: number(numbers.get(name)) for name in ("disagreement", "jsd", "confidence")}
        gold = one.get("gold")
        yield {"id": one.get("id"), "label": one.get("label"), "gold": gold, "wrong": wrong, **own}


def _rows(audit: Audit, chosen: Callable[[Rows], Any]) -> Rows:
    rows = NOTHING if audit.rows is None else audit.rows
    return rows.where(chosen(rows))


def _evidence(rows: Rows) -> Any:
    names = [name for name in rows.names["measure"] if str(name).startswith("evidence_")]
    return rows.of("measure", *names)


def _versus(rows: Rows, word: str | None) -> Rows:
    return rows.where(rows.of("versus", word))


def _texts(rows: Rows, *, there: bool = True) -> Rows:
    """The rows that are about one text, or those that are not."""
    return rows.where(rows.of("example", None) != there)


def _alone(audit: Audit, *, guided: bool) -> Rows:
    """The rows of metrics: about a model and nothing else."""

    def chosen(rows: Rows) -> Any:
        plain = np.isnan(rows.fraction)
        for column in ("explainer", "versus", "example", "against", "start"):
            plain &= rows.of(column, None)
        return plain & (rows.of("guide", None) != guided)

    return _rows(audit, chosen)


def _apart(rows: Rows) -> Any:
    """The rows that may have a largest weight beside them: about one text, no explainer, one other model."""
    return ~rows.of("example", None) & rows.of("explainer", None)


def _first(rows: Rows, where: Mapping[str, Any]) -> float | None:
    chosen = np.ones(len(rows), bool)
    for column, word in where.items():
        chosen &= rows.of(column, word)
    values = rows.value[chosen]
    return number(values[0]) if len(values) else None


def _key(row: Row) -> tuple[Any, ...]:
    return (*place_of(row), row["explainer"], row["measure"], row["class"])


TABLES: Mapping[str, Tidy] = {
    "verdicts": Tidy(
        "Verdicts and their tests",
        ("explainer", "verdict", "test", "measure", "value", "low", "high", "baseline", "n", "seeds"),
        tests,
    ),
    "performance": Tidy("The model itself", (*PLACE, "distribution", "measure", *ESTIMATE), performance),
    "erasure": Tidy(
        "Erasure, as the difference from a random order",
        (
            *(*PLACE, "explainer", "measure", "erased_by", "class", *ESTIMATE),
            *("advantage", "advantage_low", "advantage_high"),
        ),
        erasure,
    ),
    "roar": Tidy(
        "Trained again without the tokens that an explainer puts first",
        (*PLACE, "variant", "explainer", "measure", "fraction", *ESTIMATE),
        roar,
    ),
    "evidence": Tidy(
        "Known evidence found",
        (*PLACE, "explainer", "measure", *ESTIMATE, "random"),
        evidence,
    ),
    "agreement": Tidy(
        "Agreement of explainers",
        (*PLACE, "explainer", "versus", "measure", "class", *ESTIMATE, "floor", "floor_low", "floor_high"),
        agreement,
    ),
    "gaps": Tidy(
        "How much better than with uniform attention", (*PLACE, "measure", "value", "low", "high"), gaps
    ),
    "guides": Tidy(
        "Attention as a guide for a model that sees one token at a time",
        (*PLACE, "guide", "guided_by", "measure", *ESTIMATE),
        guides,
    ),
    "distances": Tidy(
        "How far other models are from the base",
        (*PLACE, "against", "lambda", "start", "base_seed", "seed", "tvd", "jsd", "n"),
        distances,
    ),
    "attefa": Tidy("AtteFa", (*PLACE, "measure", "start", "base_seed", "seed", "value", "reason"), attefa),
    "by_attention": Tidy(
        "By the largest attention weight of a text",
        (*PLACE, "comparison", "measure", "bin", "n", "q05", "q25", "median", "q75", "q95", "missing"),
        lambda audit: by_attention(_rows(audit, _apart)),
    ),
    "attention_shapes": Tidy(
        "The same as densities",
        (*PLACE, "comparison", "measure", "bin", "at", "density"),
        lambda audit: shapes(_rows(audit, _apart)),
    ),
    "texts": Tidy(
        "The texts that are shown",
        ("id", "label", "gold", "wrong", "disagreement", "jsd", "confidence"),
        texts,
    ),
}
"""By name, in the order in which they are told; a test that is added later adds its own here."""
