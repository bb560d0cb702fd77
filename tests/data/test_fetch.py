"""Downloads from a server of our own on 127.0.0.1: cut connections, wrong checksums, no network."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import platformdirs
import pytest

from faithgauge.data.dataset import Download, Found, Source
from faithgauge.data.fetch import fetch
from faithgauge.errors import DataError

BODY = bytes(range(256)) * 4000
MD5 = f"md5:{hashlib.md5(BODY).hexdigest()}"
SHA256 = f"sha256:{hashlib.sha256(BODY).hexdigest()}"


@dataclass
class Server:
    """What it is asked, and how it behaves: `cuts` are the bytes after which it hangs up, one per request."""

    url: str = ""
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    ranges: bool = True
    chunked: bool = False


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            state.asked.append((self.path, wanted))
            if self.path != "/file.bin":
                self.send_error(404, "Not Found")
                return
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and state.ranges else 0
            if start >= len(BODY):
                self.send_error(416, "Range Not Satisfiable")
                return
            self.send_response(206 if start else 200)
            rest = BODY[start:]
            if state.chunked:
                self.send_header("Transfer-Encoding", "chunked")
                rest = f"{len(rest):x}\r\n".encode() + rest + b"\r\n0\r\n\r\n"
            else:
                self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest[: state.cuts.pop(0)] if state.cuts else rest)
            self.wfile.flush()
            self.close_connection = True

        def log_message(self, *arguments: object) -> None: ...

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_address[1]}"
    yield state
    http.shutdown()
    thread.join()
    http.server_close()


def source(server: Server, checksum: str = SHA256, file: str = "file.bin") -> Source:
    return Source(
        name="toy",
        task="single",
        classes=("no", "yes"),
        summary="",
        home="",
        licence="",
        read=lambda *_: Found({}),
        sizes={},
        downloads=(Download(f"{server.url}/{file}", file, checksum),),
        folders=("toys",),
    )


def fetched(source: Source, folder: Path) -> list[str]:
    lines: list[str] = []
    fetch(source, folder, report=lines.append)
    return lines


@pytest.mark.parametrize("checksum", [SHA256, MD5])
def test_a_file_comes_into_the_folder_of_its_data_set(server: Server, tmp_path: Path, checksum: str) -> None:
    lines = fetched(source(server, checksum), tmp_path / "data")
    assert (tmp_path / "data" / "toy" / "file.bin").read_bytes() == BODY
    assert lines == [f"{tmp_path / 'data' / 'toy' / 'file.bin'}: fetched, {checksum} as expected"]
    assert [path.name for path in (tmp_path / "data" / "toy").iterdir()] == ["file.bin"]


def test_without_a_known_checksum_the_sha256_is_told(server: Server, tmp_path: Path) -> None:
    (line,) = fetched(source(server, ""), tmp_path)
    assert line.endswith(f"fetched, no official checksum is known; what came has {SHA256}")


def test_what_is_there_and_right_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    fetched(source(server), tmp_path)
    (line,) = fetched(source(server), tmp_path)
    assert line.endswith("already there")
    assert len(server.asked) == 1


def test_what_is_there_and_wrong_is_replaced(server: Server, tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "file.bin").write_bytes(b"half")
    fetched(source(server), tmp_path)
    assert (tmp_path / "toy" / "file.bin").read_bytes() == BODY


def test_an_existing_folder_of_another_name_is_used(server: Server, tmp_path: Path) -> None:
    (tmp_path / "toys").mkdir()
    fetched(source(server), tmp_path)
    assert (tmp_path / "toys" / "file.bin").exists()


def test_without_a_folder_given_the_cache_is_used(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FAITHGAUGE_DATA", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_: tmp_path / "cache")
    fetch(source(server), None, report=lambda _: None)
    assert (tmp_path / "cache" / "data" / "toy" / "file.bin").exists()


@pytest.mark.parametrize("chunked", [False, True])
def test_a_cut_connection_is_taken_up_where_it_broke(server: Server, tmp_path: Path, chunked: bool) -> None:
    server.cuts, server.chunked = [300_000, 200_000], chunked
    fetched(source(server), tmp_path)
    assert (tmp_path / "toy" / "file.bin").read_bytes() == BODY
    asked = [wanted for _, wanted in server.asked]
    assert asked[0] is None
    if not chunked:
        assert asked[1:] == ["bytes=300000-", "bytes=500000-"]


def test_the_next_run_takes_up_what_the_last_one_left(server: Server, tmp_path: Path) -> None:
    server.cuts = [100_000, 100_000, 100_000]
    with pytest.raises(DataError, match="the connection broke"):
        fetched(source(server), tmp_path)
    assert not (tmp_path / "toy" / "file.bin").exists()
    assert (tmp_path / "toy" / "file.bin.part").stat().st_size == 300_000
    fetched(source(server), tmp_path)
    assert server.asked[-1] == ("/file.bin", "bytes=300000-")
    assert (tmp_path / "toy" / "file.bin").read_bytes() == BODY


def test_a_server_that_knows_no_ranges_is_asked_for_all_of_it(server: Server, tmp_path: Path) -> None:
    server.cuts, server.ranges = [300_000], False
    fetched(source(server), tmp_path)
    assert (tmp_path / "toy" / "file.bin").read_bytes() == BODY


def test_a_part_that_is_whole_already_is_only_renamed(server: Server, tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "file.bin.part").write_bytes(BODY)
    fetched(source(server), tmp_path)
    assert (tmp_path / "toy" / "file.bin").read_bytes() == BODY


def test_a_part_that_is_too_long_is_begun_anew(server: Server, tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "file.bin.part").write_bytes(BODY + b"!")
    fetched(source(server), tmp_path)
    assert (tmp_path / "toy" / "file.bin").read_bytes() == BODY


def test_without_a_checksum_an_old_part_is_not_trusted(server: Server, tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "file.bin.part").write_bytes(b"of an older version")
    fetched(source(server, ""), tmp_path)
    assert server.asked == [("/file.bin", None)]
    assert (tmp_path / "toy" / "file.bin").read_bytes() == BODY


def test_a_wrong_checksum_leaves_no_file_and_keeps_the_one_that_is_there(
    server: Server, tmp_path: Path
) -> None:
    wrong = "sha256:" + "0" * 64
    with pytest.raises(DataError) as caught:
        fetched(source(server, wrong), tmp_path)
    assert f"its checksum is {SHA256}, expected {wrong}" in str(caught.value)
    assert list((tmp_path / "toy").iterdir()) == []
    (tmp_path / "toy" / "file.bin").write_bytes(b"somebody's own")
    with pytest.raises(DataError):
        fetched(source(server, wrong), tmp_path)
    assert [path.read_bytes() for path in (tmp_path / "toy").iterdir()] == [b"somebody's own"]


def test_a_file_that_is_not_there_says_what_to_put_where(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        fetched(source(server, file="gone.zip"), tmp_path)
    assert str(caught.value) == (
        f"cannot fetch gone.zip from {server.url}/gone.zip: HTTP 404 Not Found; "
        f"try again, or download it by hand and put it into {tmp_path / 'toy'}"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://name.invalid"])
def test_without_a_network_it_says_what_to_put_where(tmp_path: Path, url: str) -> None:
    with pytest.raises(DataError, match=rf"cannot fetch file\.bin from {url}/file\.bin: .*by hand"):
        fetched(source(Server(url=url)), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_only_addresses_of_the_web_are_opened(tmp_path: Path) -> None:
    (tmp_path / "file.bin").write_bytes(BODY)
    with pytest.raises(DataError, match="expected an address that begins with http"):
        fetched(source(Server(url=f"file://{tmp_path}")), tmp_path / "data")


def test_a_folder_that_may_not_be_written_is_one_line(server: Server, tmp_path: Path) -> None:
    (tmp_path / "toy").write_text("a file where the folder should be")
    with pytest.raises(DataError, match=r"cannot fetch file\.bin .*toy"):
        fetched(source(server), tmp_path)


def test_a_set_that_cannot_be_downloaded_says_how_to_ask(server: Server, tmp_path: Path) -> None:
    asked_for = replace(source(server), downloads=(), access="ask the authors")
    with pytest.raises(DataError, match="toy cannot be downloaded: ask the authors"):
        fetched(asked_for, tmp_path)


def test_progress_is_told_the_bytes_and_of_how_many(server: Server, tmp_path: Path) -> None:
    server.cuts = [300_000]
    told: list[tuple[str, int, int | None]] = []
    fetch(source(server), tmp_path, report=lambda _: None, progress=lambda *step: told.append(step))
    assert told[-1] == ("file.bin", len(BODY), len(BODY))
    assert ("file.bin", 300_000, len(BODY)) in told
