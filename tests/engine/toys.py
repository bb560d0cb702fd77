"""Jobs that take no time and whose results are known, for the tests of the engine."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from faithgauge.engine.job import File, Here, Job, apart
from faithgauge.errors import DataError


def add_line(file: Path, line: str) -> None:
    """One write with O_APPEND, so that lines of several processes do not mix."""
    number = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(number, f"{line}\n".encode())
    os.close(number)


@dataclass(frozen=True, eq=False)
class Sum(Job):
    """Its number and the values of its inputs, added; `log` gets a line each time this is computed."""

    number: int
    inputs: tuple[Job, ...] = ()
    size: int = 0
    pause: float = apart(0.0)
    log: Path | None = apart(None)

    def run(self, here: Here) -> None:
        if self.log is not None:
            add_line(self.log, f"{self.number} {os.getpid()}")
        folders = [here.path(one) for one in self.inputs]
        total = self.number + sum(value_in(folder) for folder in folders)
        (here.folder / "more").mkdir()
        with (here.folder / "more" / "bytes.bin").open("wb") as file:
            for _ in range(4):
                file.write(bytes([total % 251]) * (self.size // 4))
                file.flush()
                time.sleep(self.pause / 4)
        (here.folder / "value.json").write_text(json.dumps({"value": total}))


@dataclass(frozen=True, eq=False)
class Threads(Job):
    """How many threads it may use, and what OpenMP was told."""

    name: str = ""

    def run(self, here: Here) -> None:
        told = [os.environ.get("OMP_NUM_THREADS"), os.environ.get("OMP_WAIT_POLICY")]
        (here.folder / "threads.json").write_text(json.dumps([here.threads, *told]))


@dataclass(frozen=True, eq=False)
class Steps(Job):
    """Counts to `steps`, and goes on where it was interrupted."""

    steps: int
    pause: float = apart(0.0)
    log: Path | None = apart(None)

    def run(self, here: Here) -> None:
        here.partial.mkdir(parents=True, exist_ok=True)
        checkpoint = here.partial / "step"
        done = int(checkpoint.read_text()) if checkpoint.exists() else 0
        for step in range(done + 1, self.steps + 1):
            time.sleep(self.pause)
            if self.log is not None:
                add_line(self.log, str(step))
            new = checkpoint.with_name("step.new")
            new.write_text(str(step))
            new.replace(checkpoint)
        (here.folder / "value.json").write_text(json.dumps({"value": self.steps}))


@dataclass(frozen=True, eq=False)
class Broken(Job):
    """Prints, and raises what is asked for."""

    raises: str = "ValueError"
    inputs: tuple[Job, ...] = ()
    log: Path | None = apart(None)

    def run(self, here: Here) -> None:
        if self.log is not None:
            add_line(self.log, "broken")
        print("this was printed")
        if self.raises == "exit":
            sys.exit(3)
        if self.raises == "DataError":
            raise DataError("rows.csv, row 3: expected a label, found none; add one")
        raise ValueError("two\nlines")


@dataclass(frozen=True, eq=False)
class Mortal(Job):
    """Kills its own worker the first `times` times."""

    times: int
    log: Path = apart(Path())
    child: bool = apart(False)

    def run(self, here: Here) -> None:
        add_line(self.log, "tried")
        (here.folder / "half").write_text("half a result")
        if len(self.log.read_text().split()) <= self.times:
            if self.child and os.fork() == 0:
                time.sleep(2)
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
        (here.folder / "half").unlink()
        (here.folder / "value.json").write_text('{"value": 1}')


@dataclass(frozen=True, eq=False)
class Reads(Job):
    """The length of a file."""

    file: File

    def run(self, here: Here) -> None:
        (here.folder / "value.json").write_text(json.dumps({"value": self.file.path.stat().st_size}))


def value_in(folder: Path) -> int:
    return int(json.loads((folder / "value.json").read_text())["value"])


def artefacts(root: Path) -> dict[str, bytes]:
    """Every byte of every result, provenance apart."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted((root / "jobs").rglob("*"))
        if path.is_file() and path.name not in ("provenance.json", "log.txt")
    }


def leftovers(root: Path) -> list[str]:
    return [
        path.relative_to(root).as_posix()
        for name in ("tmp", "claims", "partial", "failed")
        for path in (root / name).iterdir()
    ]


def layers(
    depth: int, width: int, *, size: int = 0, pause: float = 0.0, log: Path | None = None
) -> list[Job]:
    """A graph in which every job needs two of the layer before; returns the last layer."""
    above: list[Job] = []
    for layer in range(depth):
        above = [
            Sum(
                100 * layer + i,
                tuple(above[j % width] for j in (i, i + 1)) if above else (),
                size,
                pause,
                log,
            )
            for i in range(width)
        ]
    return above


def lines(file: Path) -> list[str]:
    return file.read_text().split("\n")[:-1] if file.exists() else []
