"""Files seen through compression and archives, and what is said of damaged ones."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest

from faithgauge.data.files import Files, Member, open_lines, read_bytes
from faithgauge.errors import DataError


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tarred(path: Path, members: dict[str, bytes], mode: str = "w:xz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize(
    "form", ["loose", "gz", "xz", "zip", "tar.gz", "tar.xz", "tgz", "gz in zip", "gz in tar"]
)
def test_a_file_is_found_in_whatever_form_it_came(tmp_path: Path, form: str) -> None:
    text = b"one\ntwo\n"
    match form:
        case "loose":
            (tmp_path / "train.txt").write_bytes(text)
        case "gz":
            (tmp_path / "train.txt.gz").write_bytes(gzip.compress(text))
        case "xz":
            (tmp_path / "train.txt.xz").write_bytes(lzma.compress(text))
        case "zip":
            zipped(tmp_path / "all.zip", {"trees/train.txt": text})
        case "tar.gz" | "tgz":
            tarred(tmp_path / f"all.{form}", {"trees/train.txt": text}, "w:gz")
        case "tar.xz":
            tarred(tmp_path / "all.tar.xz", {"trees/train.txt": text})
        case "gz in zip":
            zipped(tmp_path / "all.zip", {"train.txt.gz": gzip.compress(text)})
        case "gz in tar":
            tarred(tmp_path / "all.tar.xz", {"train.txt.gz": gzip.compress(text)})
    member = Files(tmp_path).read("train.txt")
    assert member is not None
    assert member.text() == "one\ntwo\n"
    assert member.name.endswith("train.txt")


def test_a_name_is_matched_by_whole_path_parts(tmp_path: Path) -> None:
    (tmp_path / "my_train.txt").write_text("no")
    assert Files(tmp_path).read("train.txt") is None


def test_the_first_ending_that_is_there_wins(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "c.txt").write_text("c")
    member = Files(tmp_path).read("a.txt", "c.txt", "b.txt")
    assert member is not None
    assert member.text() == "c"


def test_loose_files_come_before_archives_and_in_order_of_name(tmp_path: Path) -> None:
    zipped(tmp_path / "a.zip", {"z.txt": b"in archive"})
    (tmp_path / "y.txt").write_text("2")
    (tmp_path / "x.txt").write_text("1")
    assert [member.text() for member in Files(tmp_path).walk(r"\.txt$")] == ["1", "2", "in archive"]


def test_several_folders_are_searched_and_one_that_is_not_there_is_empty(tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "x.txt").write_text("found")
    member = Files(tmp_path / "one", tmp_path / "two").read("x.txt")
    assert member is not None
    assert member.text() == "found"


def test_a_walk_reads_an_archive_only_as_far_as_it_is_asked(tmp_path: Path) -> None:
    path = tarred(tmp_path / "all.tar", {f"{i}.txt": b"x" * 600 for i in range(50)}, "w")
    path.write_bytes(path.read_bytes()[:20_000])
    members = Files(tmp_path).walk(r"\.txt$")
    assert next(members).name == "0.txt"
    with pytest.raises(DataError, match=r"all\.tar: truncated or damaged"):
        list(members)


@pytest.mark.parametrize("length", [1536, 1536 + 100])
def test_a_tar_that_was_cut_between_or_in_its_headers_is_damaged(tmp_path: Path, length: int) -> None:
    path = tarred(tmp_path / "all.tar", {"0.txt": b"x" * 600, "1.txt": b"y" * 600}, "w")
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(DataError, match=r"all\.tar: truncated or damaged \(it has no end\)"):
        list(Files(tmp_path).walk(r"\.txt$"))


@pytest.mark.parametrize("name", ["../evil.txt", "/etc/evil.txt", "a/../../evil.txt", "a\\..\\..\\evil.txt"])
@pytest.mark.parametrize("form", ["zip", "tar"])
def test_a_member_that_points_outside_is_refused(tmp_path: Path, form: str, name: str) -> None:
    path = tmp_path / f"all.{form}"
    zipped(path, {name: b"x"}) if form == "zip" else tarred(path, {name: b"x"}, "w")
    with pytest.raises(DataError, match="points outside the archive"):
        Files(tmp_path).read("evil.txt")


def test_a_link_in_an_archive_is_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "all.tar", "w") as archive:
        info = tarfile.TarInfo("train.txt")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    assert Files(tmp_path).read("train.txt") is None


@pytest.mark.parametrize("form", ["gz", "xz", "zip", "tar.gz", "tar.xz"])
def test_a_truncated_file_is_one_line_that_names_it(tmp_path: Path, form: str) -> None:
    text = b"".join(f"{i * 7919}\n".encode() for i in range(20_000))
    path = tmp_path / f"train.txt.{form}"
    match form:
        case "gz":
            path.write_bytes(gzip.compress(text))
        case "xz":
            path.write_bytes(lzma.compress(text))
        case "zip":
            zipped(path, {"train.txt": text})
        case _:
            tarred(path, {"train.txt": text}, f"w:{form[4:]}")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(DataError) as caught:
        Files(tmp_path).read("train.txt")
    assert str(caught.value).startswith(f"{path}: truncated or damaged")
    assert "\n" not in str(caught.value)


def test_an_encrypted_zip_is_said_to_be_unreadable(tmp_path: Path) -> None:
    path = zipped(tmp_path / "all.zip", {"train.txt": b"x"})
    data = bytearray(path.read_bytes())
    # Bit 0 of the flags, in the local header and in the central directory.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"all\.zip: truncated or damaged"):
        Files(tmp_path).read("train.txt")


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_bytes(b"good\nb\xffd\n")
    member = Files(tmp_path).read("train.txt")
    assert member is not None
    with pytest.raises(DataError, match=r"train\.txt, line 2: expected utf-8 text, found byte 0xff"):
        member.text()
    with pytest.raises(DataError, match="line 2"):
        list(member.lines())


def test_a_byte_order_mark_is_no_text() -> None:
    member = Member("a", "a", "\ufeffa\r\nb".encode())
    assert member.text() == "a\r\nb"
    assert list(member.lines()) == [(1, "a"), (2, "b")]


def test_a_large_file_is_read_line_by_line_with_its_ends(tmp_path: Path) -> None:
    for name, data in {"a.csv": b"x\r\ny\n", "b.csv.gz": gzip.compress(b"x\r\ny\n")}.items():
        (tmp_path / name).write_bytes(data)
        assert list(open_lines(tmp_path / name)) == ["x\r\n", "y\n"]


def test_a_large_file_that_ends_early_or_is_no_text_is_an_error_with_its_line(tmp_path: Path) -> None:
    text = b"".join(f"{i * 7919}\n".encode() for i in range(20_000))
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(gzip.compress(text)[:20_000])
    with pytest.raises(DataError, match=r"cut\.csv\.gz: truncated or damaged"):
        list(open_lines(cut))
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"good\nb\xffd\n")
    with pytest.raises(DataError, match=r"bad\.csv, after line \d: expected utf-8 text, found byte 0xff"):
        list(open_lines(bad))


def test_the_path_of_a_loose_file_is_found_through_its_compression(tmp_path: Path) -> None:
    (tmp_path / "1.4").mkdir()
    (tmp_path / "1.4" / "NOTES.csv.gz").write_bytes(b"")
    assert Files(tmp_path).path("NOTES.csv") == tmp_path / "1.4" / "NOTES.csv.gz"
    assert Files(tmp_path).path("CODES.csv") is None


def test_a_file_that_is_not_there_is_one_line() -> None:
    with pytest.raises(DataError) as caught:
        read_bytes(Path("nowhere"))
    assert str(caught.value) == "nowhere: no such file; correct its name, or put it there"


def test_a_folder_in_the_place_of_a_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_bytes(tmp_path)
    assert str(caught.value) == f"{tmp_path}: expected a file, found a folder; name a file in it"


def test_a_file_that_may_not_be_read_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The superuser may read every file, so the refusal is played."""

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(DataError) as caught:
        read_bytes(Path("mine.csv"))
    assert str(caught.value) == (
        "mine.csv: expected a file that may be read (Permission denied); change its permissions"
    )
