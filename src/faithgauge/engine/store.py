"""Results on disk, each under the key of its job: complete and checked, or not there.

    store.json                 the format
    jobs/ab/abcd…/             one result: its files, job.json (facts and checksums), provenance.json
    failed/abcd…/              why a job failed: failure.json, log.txt
    partial/abcd…/             where an interrupted job may go on
    tmp/abcd…/                 a result that is being computed
    claims/abcd…, abcd….work   locks: which coordinator sees to it, which worker computes it

A result is computed in ``tmp``, gets ``job.json`` last, and is put in its place by one rename: the commit.
The lock on a claim is the kernel's (`flock`) and ends with the process that holds it, however that ends;
there are no process ids and no clocks. Many coordinators, on many machines of one file system, may share a
store.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from faithgauge.errors import DataError, JobError

FORMAT = 1
FACTS, PROVENANCE, FAILURE, LOG = "job.json", "provenance.json", "failure.json", "log.txt"
APART = {PROVENANCE, LOG}
"""What differs between two runs of one job, and is no part of its result."""


class Store:
    """A folder of results; making one writes nothing, so that a store that is only read may be read-only."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        marker = self.root / "store.json"
        found = read_json(marker).get("format") if marker.is_file() else FORMAT
        if found != FORMAT:
            raise DataError(
                f"{self.root}: expected a store of format {FORMAT}, found {found}; update faithgauge, or "
                "choose another folder with --store"
            )

    def prepare(self) -> None:
        """Make the folder a store, if it is not one yet."""
        for name in ("jobs", "failed", "partial", "tmp", "claims"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        with self.claim("store", wait=True) or contextlib.nullcontext():
            if not (self.root / "store.json").exists():
                write_json(self.root / "store.json", {"format": FORMAT})

    def place(self, key: str) -> Path:
        return self.root / "jobs" / key[:2] / key

    def partial(self, key: str) -> Path:
        return self.root / "partial" / key

    def has(self, key: str) -> bool:
        return os.path.exists(f"{self.root}/jobs/{key[:2]}/{key}/{FACTS}")  # noqa: PTH110 ten times faster

    def facts(self, key: str) -> dict[str, Any]:
        return read_json(self.place(key) / FACTS)

    def keys(self) -> Iterator[str]:
        """Of all results."""
        yield from (facts.parent.name for facts in sorted((self.root / "jobs").glob(f"*/*/{FACTS}")))

    def checked(self, key: str) -> Path:
        """The folder of a result, every file of which has the checksum it was stored with.

        A result that was cut or edited is taken out, so that the next run computes it anew.
        """
        damaged = self._damaged(key)
        if not damaged:
            return self.place(key)
        end = "is taken out; run again"
        try:
            # Under the lock, and after a second look: somebody may have put a good one there meanwhile.
            with self.claim(f"{key}.work") or contextlib.nullcontext() as claim:
                if claim is not None and self._damaged(key):
                    self.discard(key)
        except OSError as error:
            end = f"cannot be taken out ({error.strerror}); delete its folder and run again"
        raise JobError(f"the stored result {self.place(key)} was damaged or deleted ({damaged}) and {end}")

    @contextlib.contextmanager
    def computing(self, key: str) -> Iterator[Path]:
        """A new folder for a result, for who holds the worker's lock; what an earlier attempt left goes."""
        folder = self.root / "tmp" / key
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def commit(self, key: str, folder: Path, facts: Mapping[str, Any]) -> None:
        """Make the folder the result of `key`."""
        named = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in APART)
        files = {path.relative_to(folder).as_posix(): _sha256(path) for path in named}
        write_json(folder / FACTS, {**facts, "files": files})
        place = self.place(key)
        place.parent.mkdir(exist_ok=True)
        if not self.has(key):
            shutil.rmtree(place, ignore_errors=True)
            folder.rename(place)
        shutil.rmtree(self.partial(key), ignore_errors=True)
        self.forget(key)

    def fail(self, key: str, reason: str, log: str) -> Path:
        """Keep why a job failed; returns the file of its log."""
        folder = self.root / "failed" / key
        folder.mkdir(parents=True, exist_ok=True)
        (folder / LOG).write_text(log, encoding="utf-8")
        write_json(folder / FAILURE, {"reason": reason})
        return folder / LOG

    def failure(self, key: str) -> tuple[str, Path] | None:
        """The reason and the log of a job that failed and was not stored since."""
        folder = self.root / "failed" / key
        if self.has(key) or not (folder / FAILURE).exists():
            return None
        return str(read_json(folder / FAILURE)["reason"]), folder / LOG

    def forget(self, key: str) -> None:
        """Forget that a job failed."""
        shutil.rmtree(self.root / "failed" / key, ignore_errors=True)

    def discard(self, key: str) -> None:
        """Take a result out, for who holds the worker's lock; by one rename: nobody sees half of it."""
        if self.place(key).exists():
            with self.computing(key) as folder:
                self.place(key).rename(folder / "discarded")

    def sweep(self) -> None:
        """Remove what killed runs left behind: attempts that nobody works on, and locks that nobody holds."""
        for path in [*(self.root / "tmp").iterdir(), *(self.root / "partial").iterdir()]:
            with self.claim(f"{path.name}.work") or contextlib.nullcontext() as claim:
                if claim is not None and (path.parent.name == "tmp" or self.has(path.name)):
                    shutil.rmtree(path, ignore_errors=True)
        for path in (self.root / "claims").iterdir():
            with self.claim(path.name) or contextlib.nullcontext():
                pass

    def claim(self, key: str, *, wait: bool = False) -> Claim | None:
        """The right to compute `key`, or None while somebody else has it (`wait`: until nobody has)."""
        path = self.root / "claims" / key
        how = fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)
        while True:
            file = path.open("ab", buffering=0)
            try:
                fcntl.flock(file, how)
                # Whoever had it may have removed the file we opened: then the lock is on nothing.
                if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    return Claim(path, file)
            except BlockingIOError:
                file.close()
                return None
            except FileNotFoundError:
                pass
            file.close()

    def _damaged(self, key: str) -> str:
        """The first file of a result that is not what was stored; empty where all are."""
        try:
            for name, sha256 in self.facts(key)["files"].items():
                if _sha256(self.place(key) / name) != sha256:
                    return str(name)
        except OSError as error:
            return Path(error.filename).name
        except (DataError, LookupError, AttributeError):
            return FACTS
        return ""


class Claim(contextlib.AbstractContextManager["Claim"]):
    """A lock that is held; it goes with `release`, or with the process."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path, self._file = path, file

    def __exit__(self, *_: object) -> None:
        self.path.unlink(missing_ok=True)
        self._file.close()

    release = __exit__


def read_json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{path}: expected a JSON object, found a damaged file ({error})") from error


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """All or nothing."""
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    new.replace(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
