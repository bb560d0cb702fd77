"""Downloading public data sets: the only code that opens the network.

A file comes from its official address into ``NAME.part`` and is renamed when it is complete and its checksum
is right, so that what bears its own name is whole. A connection that breaks is taken up where it broke, in
the same run or in the next one.
"""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from faithgauge.data.dataset import Download, Source
from faithgauge.data.load import data_folders
from faithgauge.errors import DataError
from faithgauge.version import __version__

_ATTEMPTS = 3
_TIMEOUT = 30
_CHUNK = 1 << 20
Report = Callable[[str], None]
Progress = Callable[[str, int, int | None], None]


def fetch(
    source: Source, data_dir: Path | None, *, report: Report, progress: Progress = lambda *_: None
) -> list[Path]:
    """The files of a data set that can be had freely, each in its folder; `report` hears one line on each.

    `progress` is told the name of the file, the bytes that are there, and of how many if that is known.
    """
    if not source.downloads:
        raise DataError(f"{source.name} cannot be downloaded: {source.access}")
    place = data_dir or data_folders(None)[0]
    named = [place / name for name in (source.name, *source.folders)]
    folder = next((folder for folder in named if folder.is_dir()), named[0])
    return [_file(download, folder, report, progress) for download in source.downloads]


def _file(download: Download, folder: Path, report: Report, progress: Progress) -> Path:
    path, part = folder / download.file, folder / f"{download.file}.part"
    try:
        if path.exists() and _right(path, download.checksum):
            report(f"{path}: already there")
            return path
        for attempt in range(1, _ATTEMPTS + 1):
            if _receive(download, part, progress):
                break
            if attempt == _ATTEMPTS:
                raise DataError(_by_hand(download, folder, "the connection broke"))
        if not _right(part, download.checksum):
            found = _digest(part, download.checksum.partition(":")[0])
            part.unlink()
            raise DataError(
                _by_hand(download, folder, f"its checksum is {found}, expected {download.checksum}")
            )
        part.replace(path)
    except urllib.error.HTTPError as error:
        error.close()
        raise DataError(_by_hand(download, folder, f"HTTP {error.code} {error.reason}")) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise DataError(_by_hand(download, folder, str(reason) or type(error).__name__)) from error
    report(_arrived(path, download))
    return path


def _receive(download: Download, part: Path, progress: Progress) -> bool:
    """Fetches what is not there yet; false where the connection broke before the end.

    Without a checksum a part of an older version could not be told, so then the file is begun anew.
    """
    if not download.checksum:
        part.unlink(missing_ok=True)
    there = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(_http(download.url), headers={"User-Agent": f"faithgauge/{__version__}"})
    if there:
        request.add_header("Range", f"bytes={there}-")
    try:
        answer = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE or not there:
            raise
        error.close()
        # Nothing is left to send: either the part is the whole file, or it is not of this file.
        if not _right(part, download.checksum):
            part.unlink()
            return False
        return True
    with answer:
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab" if answer.status == http.client.PARTIAL_CONTENT else "wb") as stream:
            length = answer.headers.get("Content-Length")
            start = stream.tell()
            end = start + int(length) if length else None
            whole = _copy(answer, stream.write, lambda n: progress(download.file, start + n, end))
            return whole and (end is None or stream.tell() == end)


def _copy(
    answer: http.client.HTTPResponse, write: Callable[[bytes], int], progress: Callable[[int], None]
) -> bool:
    received = 0
    try:
        while chunk := answer.read(_CHUNK):
            received += write(chunk)
            progress(received)
    except (http.client.IncompleteRead, ConnectionError, TimeoutError):
        return False
    return True


def _http(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("expected an address that begins with http:// or https://")
    return url


def _digest(path: Path, algorithm: str) -> str:
    with path.open("rb") as stream:
        return f"{algorithm}:{hashlib.file_digest(stream, algorithm).hexdigest()}"


def _right(path: Path, checksum: str) -> bool:
    return not checksum or _digest(path, checksum.partition(":")[0]) == checksum.lower()


def _arrived(path: Path, download: Download) -> str:
    if download.checksum:
        return f"{path}: fetched, {download.checksum} as expected"
    return f"{path}: fetched, no official checksum is known; what came has {_digest(path, 'sha256')}"


def _by_hand(download: Download, folder: Path, why: str) -> str:
    return (
        f"cannot fetch {download.file} from {download.url}: {' '.join(why.split())}; "
        f"try again, or download it by hand and put it into {folder}"
    )
