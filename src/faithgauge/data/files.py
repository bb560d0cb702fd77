"""The files of one data set, in whatever form they came: loose, gzipped, xz-compressed, or in archives.

Nothing is ever unpacked to disk. A name is matched by its end, so ``read("train.txt")`` finds
``train.txt.gz`` beside it as well as ``trees/train.txt`` inside ``trainDevTestTrees_PTB.zip``.
"""

from __future__ import annotations

import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TextIO

from faithgauge.errors import DataError

_TAR = re.compile(r"\.(tar|tgz|txz|tbz2|tar\.(gz|xz|bz2))$")
_COMPRESSED = re.compile(r"\.(gz|xz)$")
_DAMAGED = (OSError, EOFError, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile)


class Member(NamedTuple):
    """One file: `name` as it would be without compression, `origin` for messages, and its bytes."""

    name: str
    origin: str
    data: bytes

    def text(self, encoding: str = "utf-8") -> str:
        try:
            return self.data.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            row = self.data[: error.start].count(b"\n") + 1
            raise DataError(
                f"{self.origin}, line {row}: expected {encoding} text, found byte "
                f"0x{self.data[error.start]:02x}; convert the file to {encoding}"
            ) from error

    def lines(self, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
        """Its lines with their numbers, decoded one by one: a large file is never held as text as well."""
        for number, line in enumerate(io.BytesIO(self.data), 1):
            try:
                text = line.decode(encoding)
            except UnicodeDecodeError:
                self.text(encoding)
                raise
            yield number, text.removeprefix("\ufeff" if number == 1 else "").rstrip("\r\n")


class Files:
    """All files below some folders, seen through compression and archives."""

    def __init__(self, *folders: Path) -> None:
        self.folders = folders

    def read(self, *endings: str) -> Member | None:
        """The first file whose path ends with one of `endings` (whole path parts), in the order given."""
        for ending in endings:
            pattern = re.compile(rf"(^|/){re.escape(ending)}$")
            found = next(self.walk(pattern), None)
            if found is not None:
                return found
        return None

    def path(self, *endings: str) -> Path | None:
        """The first loose file whose path ends so, compressed or not, for what is too large to be held."""
        for ending in endings:
            pattern = re.compile(rf"(^|/){re.escape(ending)}$")
            for folder in self.folders:
                for path in sorted(folder.rglob("*")):
                    name = path.relative_to(folder).as_posix()
                    if path.is_file() and pattern.search(_COMPRESSED.sub("", name)):
                        return path
        return None

    def walk(self, pattern: str | re.Pattern[str]) -> Iterator[Member]:
        """Every file whose path matches: loose ones first, then archives, each read from front to back."""
        wanted = re.compile(pattern)
        archives = []
        for folder in self.folders:
            for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
                if not path.is_file():
                    continue
                name = path.relative_to(folder).as_posix()
                if _TAR.search(name) or name.endswith(".zip"):
                    archives.append(path)
                elif wanted.search(_COMPRESSED.sub("", name)):
                    yield Member(_COMPRESSED.sub("", name), str(path), read_bytes(path))
        for path in archives:
            yield from _archive(path, wanted)


def read_bytes(path: Path) -> bytes:
    """A file's content, decompressed if its name says that it is compressed."""
    try:
        if path.suffix == ".gz":
            return gzip.decompress(path.read_bytes())
        if path.suffix == ".xz":
            return lzma.decompress(path.read_bytes())
        return path.read_bytes()
    except _DAMAGED as error:
        raise DataError(_damaged(path, error)) from error


def open_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file of any size, ends of line kept, decompressed on the way."""
    number = 0
    try:
        with _opened(path) as stream:
            for number, line in enumerate(stream, 1):
                yield line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}, after line {number}: expected utf-8 text, found byte "
            f"0x{error.object[error.start]:02x}; convert the file to utf-8"
        ) from error
    except _DAMAGED as error:
        raise DataError(_damaged(path, error)) from error


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")


def _archive(path: Path, wanted: re.Pattern[str]) -> Iterator[Member]:
    members = _zip_members(path, wanted) if path.suffix == ".zip" else _tar_members(path, wanted)
    while True:
        try:
            name, data = next(members)
        except StopIteration:
            return
        except _DAMAGED as error:
            raise DataError(_damaged(path, error)) from error
        yield Member(name, f"{path}!{name}", data)


def _zip_members(path: Path, wanted: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            _refuse_outside(path, info.filename)
            name = _COMPRESSED.sub("", info.filename)
            if not info.is_dir() and wanted.search(name):
                try:
                    data = archive.read(info)
                except RuntimeError as error:  # a password is wanted, or a compression that zipfile lacks
                    raise zipfile.BadZipFile(str(error)) from error
                yield name, _inflate(info.filename, data)


def _tar_members(path: Path, wanted: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for info in archive:
            _refuse_outside(path, info.name)
            name = _COMPRESSED.sub("", info.name)
            if info.isfile() and wanted.search(name):
                stream = archive.extractfile(info)
                if stream is not None:
                    yield name, _inflate(info.name, stream.read())
        # tarfile takes a header that was cut off for the end; a true end is a block of zeros.
        if archive.fileobj is not None and archive.fileobj.tell() - archive.offset != tarfile.BLOCKSIZE:
            raise tarfile.ReadError("it has no end")


def _inflate(name: str, data: bytes) -> bytes:
    if name.endswith(".gz"):
        return gzip.decompress(data)
    return lzma.decompress(data) if name.endswith(".xz") else data


def _refuse_outside(path: Path, name: str) -> None:
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts:
        raise DataError(
            f"{path}: member {name!r} points outside the archive; expected plain relative names; "
            "fetch the archive again from its official address"
        )


def _damaged(path: Path, error: BaseException) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{path}: no such file; correct its name, or put it there"
    if isinstance(error, IsADirectoryError):
        return f"{path}: expected a file, found a folder; name a file in it"
    if isinstance(error, PermissionError):
        return f"{path}: expected a file that may be read ({error.strerror}); change its permissions"
    found = error or type(error).__name__
    return f"{path}: truncated or damaged ({found}); expected a complete file; fetch it again"
