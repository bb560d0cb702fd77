"""What a job is, and the key under which its result is stored.

A job is a frozen dataclass that derives from `Job`; its fields are the science, and a field that is another
job is an input, so the dependency graph is the object itself. The key is a hash of kind, version and fields,
inputs replaced by their keys: computed once per object, without recursion, however long a chain of jobs is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Protocol


@dataclass(frozen=True, eq=False)
class Job:
    """One computation. `version` is raised when its numbers change.

    A field that is added later is declared with ``later(value)``: it stays out of the key while it has that
    value, so that what is stored already keeps its key.
    """

    version: ClassVar[int] = 1

    def run(self, here: Here) -> None:
        """Compute and write the result into ``here.folder``; `here` also gives the folders of the inputs."""
        raise TypeError(f"{type(self).__name__} cannot compute into {here.folder}: it has no run()")


class Here(Protocol):
    """What a job sees of the place where it runs."""

    folder: Path
    partial: Path
    threads: int

    def path(self, job: Job | Reference) -> Path:
        """The folder of an input's result, checked against its checksums."""

    def progress(self, done: float, total: float, text: str = "") -> None:
        """Tell how far the job is."""


@dataclass(frozen=True)
class Reference:
    """An input as it travels to a worker: where its result is stored."""

    key: str


@dataclass(frozen=True)
class File:
    """A file outside the store: known by its content, found by its path."""

    path: Path
    sha256: str

    @classmethod
    def of(cls, path: Path) -> File:
        with path.open("rb") as stream:
            return cls(path.resolve(), hashlib.file_digest(stream, "sha256").hexdigest())


def later(neutral: Any) -> Any:
    """The default of a field that did not exist from the start."""
    return field(default=neutral, metadata={"neutral": neutral})


def apart(default: Any) -> Any:
    """The default of a field that says where something is, or how it is shown, and stays out of the key."""
    return field(default=default, metadata={"apart": True})


def key_of(job: Job) -> str:
    """The sha256 of the job's kind, version and fields, as 64 hexadecimal digits."""
    stack = [] if "_key" in job.__dict__ else [job]
    while stack:
        # What has a key is not gone into again, or a chain would cost the square of its length.
        without = [one for one in inputs_of(stack[-1]) if "_key" not in one.__dict__]
        stack.extend(without)
        if not without:
            text = json.dumps(facts(stack[-1]), sort_keys=True, separators=(",", ":"), allow_nan=False)
            object.__setattr__(stack.pop(), "_key", hashlib.sha256(text.encode()).hexdigest())
    return str(job.__dict__["_key"])


def facts(job: Job) -> dict[str, Any]:
    """Kind, version and fields in the types of JSON; an input is the key it was given before."""
    return {"kind": type(job).__name__, "version": job.version, "fields": _fields(job)}


def inputs_of(job: Job) -> list[Job]:
    """The jobs among the fields, also those inside tuples and mappings."""
    return [one for one in _leaves([getattr(job, item.name) for item in fields(job)]) if isinstance(one, Job)]


def files_of(job: Job) -> list[File]:
    """The files among the fields, found as the inputs are."""
    return [
        one for one in _leaves([getattr(job, item.name) for item in fields(job)]) if isinstance(one, File)
    ]


def in_order(targets: list[Job]) -> list[Job]:
    """The targets and all they depend on, each once and after its inputs."""
    ordered: list[Job] = []
    seen: set[int] = set()
    stack: list[tuple[Job, bool]] = [(job, False) for job in reversed(targets)]
    while stack:
        job, opened = stack.pop()
        if opened:
            ordered.append(job)
        elif id(job) not in seen:
            seen.add(id(job))
            stack.append((job, True))
            stack.extend((one, False) for one in reversed(inputs_of(job)))
    return ordered


def for_travel(job: Job) -> Job:
    """The job with its inputs replaced by references: small, however much it depends on."""
    return replace(job, **{item.name: _referred(getattr(job, item.name)) for item in fields(job)})


def _fields(value: Any) -> dict[str, Any]:
    return {
        item.name: _plain(getattr(value, item.name))
        for item in fields(value)
        if "apart" not in item.metadata
        and ("neutral" not in item.metadata or getattr(value, item.name) != item.metadata["neutral"])
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Job | Reference):
        return {"job": value.key if isinstance(value, Reference) else value.__dict__["_key"]}
    if isinstance(value, File):
        return {"file": value.sha256}
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a job's field cannot be a {type(value).__name__}: {value!r:.80}")


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple | Mapping):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(item)
    else:
        yield value


def _referred(value: Any) -> Any:
    if isinstance(value, Job):
        return Reference(key_of(value))
    if type(value) in (list, tuple):
        return type(value)(_referred(item) for item in value)
    if isinstance(value, Mapping):
        return {name: _referred(item) for name, item in value.items()}
    return value
