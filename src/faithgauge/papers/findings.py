"""What a paper claims, each claim with a judge that says of our numbers whether it holds for them.

A judge is put together from the few pieces below: which numbers it looks at (`select`), and what must be
true of each of them (`each`), of pairs of them (`above`) or of a mean (`mean_gap`). The numbers themselves
decide, not their intervals; the evidence gives both. A claim about all data sets is judged on those that
are there, at least one, and the evidence names them. Where a paper says "modest" or "about", the limit is
ours, and stands in the claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from faithgauge.papers.cells import PAIR, Ours, plain_keys

Rows = Sequence[Ours]
SHOWN = 6
"""How many numbers the evidence quotes, exceptions first."""


@dataclass(frozen=True)
class Verdict:
    """What the numbers say of a claim."""

    verdict: Literal["holds", "fails", "untested"]
    evidence: str


@dataclass(frozen=True)
class Finding:
    """One claim in a sentence of our own, which numbers it needs, and its judge."""

    name: str
    claim: str
    needs: str
    judge: Callable[[Rows], Verdict]


@dataclass(frozen=True)
class Check:
    """One thing that must be true for a claim to hold, with the numbers it was seen from."""

    ok: bool
    says: str
    rows: tuple[Ours, ...]


Select = Callable[[Rows], list[Ours]]
Judge = Callable[[Rows], Verdict]


def select(
    metric: str,
    *,
    encoder: str | None = None,
    keys: Mapping[str, str] | None = None,
    free: Iterable[str] = (),
    datasets: Iterable[str] | None = None,
) -> Select:
    """Numbers of a metric whose keys are exactly `keys`; the `free` ones may be anything, or absent."""
    wanted, among = plain_keys(keys or {}), None if datasets is None else frozenset(datasets)
    ignored = frozenset(free)

    def fits(row: Ours) -> bool:
        own = {name: value for name, value in plain_keys(row.keys).items() if name not in ignored}
        return (
            row.metric == metric
            and encoder in (None, row.encoder)
            and (among is None or row.base in among)
            and own == wanted
            and math.isfinite(row.value)
        )

    return lambda ours: [row for row in ours if fits(row)]


def by_class(rows: Select) -> Select:
    """Of a data set and encoder the numbers of each class; that of all texts where there are no others."""

    def chosen(ours: Rows) -> list[Ours]:
        found = rows(ours)
        apart = {(row.base, row.encoder) for row in found if "class" in row.keys}
        return [row for row in found if "class" in row.keys or (row.base, row.encoder) not in apart]

    return chosen


def verdict(checks: Sequence[Check], *, needed: float = 1.0) -> Verdict:
    """Holds when all checks are true, or more than the share that is `needed`; untested without any."""
    if not checks:
        return Verdict("untested", "no numbers that it could be judged by")
    hits = sum(check.ok for check in checks)
    rows = [row for check in checks for row in check.rows if row.base]
    marks = {row.base: row.mark for row in rows if row.marked}
    names = (
        f"{name} ({marks[name]})" if name in marks else name for name in dict.fromkeys(r.base for r in rows)
    )
    quoted = [check.says for check in sorted(checks, key=lambda check: check.ok)]
    rest = f"; and {len(quoted) - SHOWN} more" if len(quoted) > SHOWN else ""
    where = f" on {', '.join(names)}" if rows else ""
    return Verdict(
        "holds" if hits == len(checks) or hits > needed * len(checks) else "fails",
        f"true in {hits} of {len(checks)}{where}: {'; '.join(quoted[:SHOWN])}{rest}",
    )


def each(rows: Select, test: Callable[[float], bool], *, needed: float = 1.0) -> Judge:
    """The test is true of every number. The evidence quotes the least and the greatest first."""

    def judge(ours: Rows) -> Verdict:
        ordered = sorted(rows(ours), key=lambda row: row.value)
        ends = [ordered[-(i + 1) // 2] if i % 2 else ordered[i // 2] for i in range(len(ordered))]
        return verdict([Check(test(row.value), show(row), (row,)) for row in ends], needed=needed)

    return judge


def at_most(limit: float) -> Callable[[float], bool]:
    return lambda value: value <= limit


def over(limit: float) -> Callable[[float], bool]:
    return lambda value: value > limit


def above(
    upper: Select, lower: Select, *, by: float = 0.0, match: Callable[[Ours], object] | None = None
) -> Judge:
    """Each of the upper numbers exceeds the lower one that goes with it by more than `by`.

    Numbers go together that have the same data set, class and seed, or the same `match`.
    """

    def judge(ours: Rows) -> Verdict:
        found = pairs(upper(ours), lower(ours), match=match)
        closest_first = sorted(found, key=lambda pair: pair[0].value - pair[1].value)
        return verdict([higher(a, b, by=by) for a, b in closest_first])

    return judge


def all_above(upper: Select, lower: Select) -> Judge:
    """Each of the upper numbers exceeds the highest of the lower ones."""

    def judge(ours: Rows) -> Verdict:
        top = max(lower(ours), key=lambda row: row.value, default=None)
        return verdict([higher(row, top) for row in upper(ours) if top is not None])

    return judge


def mean_gap(upper: Select, lower: Select, *, over: float) -> Judge:
    """The mean over data sets of (upper − lower), each first averaged over its rows, is more than `over`."""

    def judge(ours: Rows) -> Verdict:
        found = pairs(upper(ours), lower(ours))
        if not found:
            return verdict([])
        gaps = {a.base: [x.value - y.value for x, y in found if x.base == a.base] for a, _ in found}
        mean = fmean(fmean(values) for values in gaps.values())
        quoted = "; ".join(f"{show(a)} and {show(b)}" for a, b in found[:SHOWN])
        rows = tuple(row for pair in found for row in pair)
        return verdict([Check(mean > over, f"mean difference {mean:.4g}, from {quoted}", rows)])

    return judge


def both(*judges: Judge) -> Judge:
    """Every part that can be tested holds."""

    def judge(ours: Rows) -> Verdict:
        parts = [part for part in (judge(ours) for judge in judges) if part.verdict != "untested"]
        if not parts:
            return verdict([])
        fails = any(part.verdict == "fails" for part in parts)
        return Verdict("fails" if fails else "holds", "; ".join(part.evidence for part in parts))

    return judge


def higher(a: Ours, b: Ours, *, by: float = 0.0) -> Check:
    """Whether the first exceeds the second by more than `by`."""
    return Check(a.value - b.value > by, f"{show(a)} against {show(b)}", (a, b))


def pairs(
    upper: Rows, lower: Rows, *, match: Callable[[Ours], object] | None = None
) -> list[tuple[Ours, Ours]]:
    """The rows that go together, in the order of the first."""
    of = match or (lambda row: (row.base, row.keys.get("class"), row.keys.get("seed")))
    other = {of(row): row for row in lower}
    return [(row, other[of(row)]) for row in upper if of(row) in other]


def show(row: Ours) -> str:
    """One number with its place and its interval, and a mark where data or weights are not the paper's."""
    keys = plain_keys(row.keys)
    pair = [f"{keys.pop(PAIR[0])}–{keys.pop(PAIR[1])}"] if set(PAIR) <= set(keys) else []
    named = [row.base, row.encoder, *pair, *(f"{name} {value}" for name, value in keys.items())]
    interval = f" [{row.low:.4g}, {row.high:.4g}]" if row.low is not None and row.high is not None else ""
    mark = f" ({row.note})" if row.marked else ""
    return f"{' '.join(word for word in named if word)} {row.metric} {row.value:.4g}{interval}{mark}"
