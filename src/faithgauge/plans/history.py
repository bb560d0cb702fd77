"""What the store tells of a job that is not in it: how long such jobs took, and how it differs from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from faithgauge.engine.job import facts
from faithgauge.engine.run import Graph
from faithgauge.engine.store import PROVENANCE, Store, read_json
from faithgauge.errors import DataError
from faithgauge.plans.state import flattened

ALIKE = {"name", "files", "encoder", "factory", "explainer"}
"""Fields in which jobs must agree before the time of one says anything of the other."""
MASK, OF_MASK = "Mask", "explanation"
"""The kind of job that changes which words a text has and not how many, and what it goes by: no time hangs on
either."""
DEPTH = 3
"""How many inputs of inputs are compared field by field; what lies further off only by its key."""


@dataclass(frozen=True)
class Cost:
    """Seconds and bytes, as those of the most similar stored jobs; `fields` is how many fields differ."""

    seconds: float
    memory: int
    fields: int


@dataclass
class History:
    """The stored jobs by kind, read once."""

    store: Store
    nodes: Graph
    _facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    _kinds: dict[str, list[str]] = field(default_factory=dict)
    _groups: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    _costs: dict[tuple[str, str], Cost | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key in self.store.keys():  # noqa: SIM118 a store is no mapping
            try:
                self._facts[key] = self.store.facts(key)
            except DataError:
                continue  # it is reported when it is used
            self._kinds.setdefault(self._facts[key]["kind"], []).append(key)

    def cost(self, key: str) -> Cost | None:
        """The median time and the largest memory of the stored jobs that differ least.

        Seeds do not count, nor what is masked of the texts; one on other texts, or with another encoder or
        explainer, tells nothing.
        """
        kind = type(self.nodes[key].job).__name__
        own = self._leaves(key, DEPTH, plainly=True)
        known = (kind, _text(own))
        if known not in self._costs:
            self._costs[known] = self._cost(kind, own)
        return self._costs[known]

    def likeness(self, key: str) -> str:
        """Equal for jobs of which one may tell the cost of the other."""
        return type(self.nodes[key].job).__name__ + _text(_must(self._leaves(key, DEPTH, plainly=True)))

    def difference(self, key: str) -> tuple[str, dict[str, tuple[Any, Any]]] | None:
        """The nearest stored job of this kind, and by field its value and ours where they differ."""
        kind = type(self.nodes[key].job).__name__
        own = self._leaves(key, DEPTH)
        others = {other: _unlike(self._leaves(other, DEPTH), own) for other in self._kinds.get(kind, [])}
        nearest = min(others, key=lambda other: len(others[other]), default=None)
        return None if nearest is None else (nearest, others[nearest])

    def _cost(self, kind: str, own: Mapping[str, Any]) -> Cost | None:
        groups = self._grouped(kind)
        leaves = {text: self._leaves(keys[0], DEPTH, plainly=True) for text, keys in groups.items()}
        must = _must(own)
        unlike = {text: len(_unlike(theirs, own)) for text, theirs in leaves.items() if _must(theirs) == must}
        least = min(unlike.values(), default=0)
        alike = [key for text, n in unlike.items() if n == least for key in groups[text]]
        spent = [one for key in alike if (one := self._spent(key)) is not None]
        if not spent:
            return None
        return Cost(median(seconds for seconds, _ in spent), max(memory for _, memory in spent), least)

    def _spent(self, key: str) -> tuple[float, int] | None:
        """Seconds and bytes of one stored job; None where its provenance is damaged.

        Seconds are those of a machine with nothing else to do: on the clock, or of the processor where these
        are fewer, as other work took it away.
        """
        try:
            told = read_json(self.store.place(key) / PROVENANCE)
            seconds = min(float(told["seconds"]), float(told.get("cpu_seconds", told["seconds"])))
            return seconds, int(told["peak_memory"])
        except (DataError, KeyError, ValueError, TypeError):
            return None

    def _grouped(self, kind: str) -> dict[str, list[str]]:
        """The stored jobs of a kind, those together that differ in nothing but seeds."""
        if kind not in self._groups:
            groups: dict[str, list[str]] = {}
            for key in self._kinds.get(kind, []):
                groups.setdefault(_text(self._leaves(key, DEPTH, plainly=True)), []).append(key)
            self._groups[kind] = groups
        return self._groups[kind]

    def _leaves(self, key: str, depth: int, *, plainly: bool = False) -> dict[str, Any]:
        """All fields of a job, and those of its inputs under theirs; `plainly`, those that cost time."""
        found: dict[str, Any] = {}
        own = self._own(key)
        if own is None:
            return {"": key}
        for path, value in flattened(own["fields"]).items():
            if isinstance(value, dict) and "job" in value and depth:
                if plainly and own["kind"] == MASK and path == OF_MASK:
                    continue
                input_ = self._unmasked(value["job"]) if plainly else value["job"]
                below = self._leaves(input_, depth - 1, plainly=plainly)
                found |= {f"{path}.{name}".rstrip("."): item for name, item in below.items()}
            elif not plainly or path.rpartition(".")[2] != "seed":
                found[path] = value
        return found | {"version": own["version"]}

    def _unmasked(self, key: str) -> str:
        """The data of which masked ones were made, through however many steps."""
        while (own := self._own(key)) is not None and own["kind"] == MASK:
            key = own["fields"]["data"]["job"]
        return key

    def _own(self, key: str) -> dict[str, Any] | None:
        if key not in self._facts and key in self.nodes:
            self._facts[key] = facts(self.nodes[key].job)
        return self._facts.get(key)


def _must(leaves: Mapping[str, Any]) -> dict[str, Any]:
    return {path: value for path, value in leaves.items() if not ALIKE.isdisjoint(path.split("."))}


def _unlike(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    paths = dict.fromkeys((*ours, *theirs))
    return {path: (theirs.get(path), ours.get(path)) for path in paths if theirs.get(path) != ours.get(path)}


def _text(leaves: Mapping[str, Any]) -> str:
    return repr(sorted(leaves.items(), key=lambda item: item[0]))
