"""ERASER's movie reviews: ranges of tokens become ranges of characters, whatever form the files come in."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from faithgauge.data.files import Files
from faithgauge.data.movies import SOURCE, read
from faithgauge.encode.corpus import encode
from faithgauge.errors import DataError
from faithgauge.types import SPLITS

TEXT = "a dull film .\nbut the  music was fine .\n"


def review(*ranges: tuple[int, int], name: str = "negR_000.txt", label: str = "NEG") -> str:
    """A line of the benchmark, every range in a group of its own."""
    evidences = [[{"docid": name, "start_token": start, "end_token": end}] for start, end in ranges]
    return json.dumps({"annotation_id": name, "classification": label, "evidences": evidences})


def write(folder: Path, *lines: str, name: str = "train.jsonl", text: str = TEXT) -> Files:
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "negR_000.txt").write_text(text)
    (folder / name).write_text("\n".join(lines) + "\n")
    return Files(folder)


def marked(example: Any) -> list[str]:
    return [example.text[start:end] for start, end in example.evidence]


def test_evidence_is_the_characters_from_the_first_to_the_last_token(tmp_path: Path) -> None:
    (example,) = read(write(tmp_path, review((5, 8), (1, 2))), "").splits["train"]
    assert (example.text, example.label, example.id) == (TEXT, 0, "negR_000")
    assert example.evidence == ((2, 6), (18, 32))
    assert marked(example) == ["dull", "the  music was"]


def test_a_group_of_several_ranges_is_several_ranges(tmp_path: Path) -> None:
    line = json.loads(review((1, 2), (8, 9)))
    line["evidences"] = [[range_ for group in line["evidences"] for range_ in group]]
    (example,) = read(write(tmp_path, json.dumps(line)), "").splits["train"]
    assert marked(example) == ["dull", "fine"]


def test_ranges_that_are_empty_or_stand_twice_add_nothing(tmp_path: Path) -> None:
    (example,) = read(write(tmp_path, review((1, 2), (3, 3), (1, 2))), "").splits["train"]
    assert marked(example) == ["dull"]


def test_a_review_without_evidence_has_none_that_is_known(tmp_path: Path) -> None:
    (example,) = read(write(tmp_path, review()), "").splits["train"]
    assert example.evidence == ()


def test_the_flags_of_encoded_tokens_are_those_of_the_ranges(tmp_path: Path) -> None:
    folder = tmp_path / "movies"
    folder.mkdir()
    write(folder, review((1, 2), (5, 7)), review(name="posR_000.txt", label="POS"))
    (folder / "docs" / "posR_000.txt").write_text("fine .")
    from faithgauge.api import load

    encoded = encode(load("movies", data_dir=tmp_path), SOURCE.encoding[""]).splits["train"]
    assert encoded.evidence is not None
    flags = encoded.evidence.row(0)[encoded.spans.row(0)[:, 0] >= 0]
    assert flags.nonzero()[0].tolist() == [1, 5, 6]


def test_the_archive_of_the_benchmark_and_compressed_files_are_read(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "movies.tar.gz", "w:gz") as archive:
        for name, text in {
            "docs/negR_000.txt": TEXT,
            "docs/._negR_000.txt": "\0",
            "val.jsonl": review(),
        }.items():
            info = tarfile.TarInfo(f"movies/{name}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    (tmp_path / "test.jsonl.gz").write_bytes(gzip.compress(review((0, 1)).encode()))
    found = read(Files(tmp_path), "")
    assert {split: len(rows) for split, rows in found.splits.items()} == {"validation": 1, "test": 1}
    assert found.missing == ("train: no file train.jsonl",)


def test_a_review_whose_text_is_not_there_is_missing(tmp_path: Path) -> None:
    lines = (review(), review(name="posR_000.txt", label="POS"), review(name="posR_001.txt", label="POS"))
    found = read(write(tmp_path, *lines), "")
    assert [example.id for example in found.splits["train"]] == ["negR_000"]
    assert "train: docs/ lacks the texts of 2 reviews" in found.missing


@pytest.mark.parametrize("line", ["{", "[]", '{"annotation_id": "a"}', review(label="BAD"), '"text"'])
def test_a_line_that_is_no_review_is_an_error_with_its_place(tmp_path: Path, line: str) -> None:
    with pytest.raises(DataError, match=r"train\.jsonl, line 2: expected a review with annotation_id"):
        read(write(tmp_path, review(), line), "")


def test_evidence_beyond_the_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 1: expected evidence within the 10 tokens .* tokens 9 to 11"):
        read(write(tmp_path, review((9, 11))), "")


def test_the_benchmark_is_complete_and_every_range_is_the_text_that_it_quotes(shared_data: Path) -> None:
    files = Files(shared_data / "eraser_movies")
    found = read(files, "")
    assert found.missing == ()
    assert {split: len(found.splits[split]) for split in SPLITS} == SOURCE.sizes[""]
    assert [sum(one.label for one in found.splits[split]) for split in SPLITS] == [800, 100, 99]
    quoted = 0
    for split, name in {"train": "train.jsonl", "validation": "val.jsonl", "test": "test.jsonl"}.items():
        member = files.read(name)
        assert member is not None
        for (_, line), example in zip(member.lines(), found.splits[split], strict=True):  # type: ignore[index]
            spans = [span for group in json.loads(line)["evidences"] for span in group]
            ours = {" ".join(text.split()) for text in marked(example)}
            assert {span["text"] for span in spans if span["text"]} == ours
            quoted += len(spans)
    assert quoted == 17_462
