"""Rows and columns of files, sound and damaged."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithgauge.data.columns import NAMES
from faithgauge.data.sheet import Sheet, read_sheet
from faithgauge.errors import DataError


def sheet_of(folder: Path, name: str, content: str | bytes) -> Sheet:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_sheet(path, NAMES)


def columns_of(folder: Path, name: str, content: str | bytes) -> dict[str, list[object]]:
    return {name: list(column) for name, column in sheet_of(folder, name, content).columns.items()}


LABELLED = {"text": ["a b", "c, d"], "label": ["1", "0"]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'text,label\na b,1\n"c, d",0\n'),
        ("a.csv", 'text,label\r\na b,1\r\n"c, d",0\r\n'),
        ("a.csv", '\ufefftext,label\na b,1\n"c, d",0'),
        ("a.csv", "text;label\na b;1\nc, d;0\n"),
        ("a.csv", "text\tlabel\na b\t1\nc, d\t0\n"),
        ("a.csv", "sep=;\r\ntext;label\r\na b;1\r\nc, d;0\r\n"),
        ("a.csv", '\ufeff"sep=;"\ntext;label\na b;1\nc, d;0\n'),
        ("a.csv", 'SEP=,\ntext,label\na b,1\n"c, d",0\n'),
        ("a.csv", "sep=#\ntext#label\na b#1\nc, d#0\n"),
        ("a.txt", "sep=\t\ntext\tlabel\na b\t1\nc, d\t0\n"),
        ("a.CSV", 'text,label\n\na b,1\n"c, d",0\n\n\n'),
        ("a.tsv", "text\tlabel\na b\t1\nc, d\t0\n"),
        ("a.txt", "text\tlabel\na b\t1\nc, d\t0\n"),
    ],
)
def test_delimited_files_of_all_kinds_give_the_same_columns(tmp_path: Path, name: str, content: str):
    assert columns_of(tmp_path, name, content) == LABELLED


@pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("xz", lzma.compress)])
def test_compression_is_seen_through(tmp_path: Path, ending: str, compress: object):
    data = compress(b"text,label\na b,1\n")  # type: ignore[operator]
    assert columns_of(tmp_path, f"a.csv.{ending}", data) == {"text": ["a b"], "label": ["1"]}


def test_a_row_has_the_number_of_the_line_on_which_it_starts(tmp_path: Path):
    sheet = sheet_of(tmp_path, "a.csv", 'text,label\n"two\nlines",1\n\nb,0\n')
    assert list(sheet.rows) == [2, 5]
    assert sheet.place(1) == f"{tmp_path}/a.csv, line 5"


def test_the_line_that_names_the_separator_is_counted(tmp_path: Path):
    assert list(sheet_of(tmp_path, "a.csv", "sep=;\ntext;label\na;1\nb;0\n").rows) == [3, 4]
    with pytest.raises(DataError, match=r"a\.csv, line 4: expected 2 fields as before, found 1"):
        sheet_of(tmp_path, "a.csv", "sep=;\ntext;label\na;1\nb\n")


def test_the_separator_that_is_named_goes_before_those_that_would_fit(tmp_path: Path):
    found = columns_of(tmp_path, "a.csv", 'sep=;\na,text;label\nb,c;"1"\nd,e;2\n')
    assert found == {"a,text": ["b,c", "d,e"], "label": ["1", "2"]}


def test_a_text_that_begins_like_the_name_of_a_separator_is_a_text(tmp_path: Path):
    found = columns_of(tmp_path, "a.csv", "text,label\nsep=;,1\n")
    assert found == {"text": ["sep=;"], "label": ["1"]}


def test_quotes_may_be_escaped_instead_of_doubled(tmp_path: Path):
    found = columns_of(tmp_path, "a.csv", 'text,label\n"say \\"no\\", twice",1\n')
    assert found["text"] == ['say "no", twice']


def test_a_backslash_is_a_backslash_where_quotes_are_doubled(tmp_path: Path):
    assert columns_of(tmp_path, "a.csv", 'text,label\n"a\\b ""c""",1\n')["text"] == ['a\\b "c"']


def test_quotes_of_a_tab_separated_file_are_taken_off_where_they_enclose(tmp_path: Path):
    assert columns_of(tmp_path, "a.tsv", 'text\tlabel\n"a ""b"""\t1\n')["text"] == ['a "b"']


def test_quotes_of_a_tab_separated_file_that_do_not_enclose_are_part_of_the_text(tmp_path: Path):
    found = columns_of(tmp_path, "a.tsv", 'text\tlabel\n"no" he said\t1\n"all"\t0\n"\t1\n')
    assert found["text"] == ['"no" he said', '"all"', '"']


def test_a_document_of_five_megabytes_is_one_field(tmp_path: Path):
    before = csv.field_size_limit()
    long = "word " * 1_000_000
    assert columns_of(tmp_path, "a.csv", f'text,label\n"{long}",1\n')["text"] == [long]
    assert csv.field_size_limit() == before


@given(
    st.lists(
        st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["a", "b"])), min_size=1
    )
)
@settings(max_examples=50)
def test_what_the_csv_module_writes_is_read_again(rows: list[tuple[str, str]]):
    import tempfile

    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([("text", "label"), *rows])
    with tempfile.TemporaryDirectory() as folder:
        found = sheet_of(Path(folder), "a.csv", out.getvalue())
    assert list(zip(found.columns["text"], found.columns["label"], strict=True)) == rows


def test_a_first_line_whose_label_comes_again_is_not_a_header(tmp_path: Path):
    sheet = sheet_of(tmp_path, "a.csv", "a fine film,good\na poor film,bad\nanother,good\n")
    assert not sheet.header
    assert {name: list(column) for name, column in sheet.columns.items()} == {
        "0": ["a fine film", "a poor film", "another"],
        "1": ["good", "bad", "good"],
    }
    assert list(sheet.rows) == [1, 2, 3]


def test_a_first_line_with_a_number_is_not_a_header(tmp_path: Path):
    assert not sheet_of(tmp_path, "a.csv", "a fine film,1\na poor film,0\n").header


def test_unusual_names_that_do_not_come_again_are_a_header(tmp_path: Path):
    assert list(sheet_of(tmp_path, "a.csv", "what,mood\na fine film,good\n").columns) == ["what", "mood"]


def test_a_header_is_known_by_its_names_though_one_comes_again(tmp_path: Path):
    assert sheet_of(tmp_path, "a.csv", "text,label\nlabel,1\ntext,0\n").header


def test_a_column_without_a_name_goes_by_its_number(tmp_path: Path):
    assert list(sheet_of(tmp_path, "a.csv", ",text,label\n0,a,1\n").columns) == ["0", "text", "label"]


def test_one_column_with_a_usual_name_is_enough(tmp_path: Path):
    assert columns_of(tmp_path, "a.csv", "text\na b\nc d\n") == {"text": ["a b", "c d"]}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"text": "a", "label": 1}\n\n{"label": 0, "more": [1]}\n'),
        ("a.json", '{"text": "a", "label": 1}\n{"label": 0, "more": [1]}'),
        ("a.json", '[{"text": "a", "label": 1}, {"label": 0, "more": [1]}]'),
    ],
)
def test_objects_give_columns_of_all_their_keys(tmp_path: Path, name: str, content: str):
    assert columns_of(tmp_path, name, content) == {"text": ["a", None], "label": [1, 0], "more": [None, [1]]}


def test_a_line_separator_inside_a_json_string_does_not_end_the_line(tmp_path: Path):
    content = json.dumps({"text": "a\u2028b\x85c", "label": 1}, ensure_ascii=False) + "\n"
    assert columns_of(tmp_path, "a.jsonl", content)["text"] == ["a\u2028b\x85c"]


def parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


def test_parquet_gives_strings_numbers_and_categories(tmp_path: Path):
    table = pa.table(
        {
            "text": ["a", "b"],
            "stars": [1.0, 2.0],
            "mood": pa.array(["x", "y"]).dictionary_encode(),
            "when": pa.array([0, 1], pa.timestamp("s")),
        }
    )
    sheet = sheet_of(tmp_path, "a.parquet", parquet(table))
    assert {name: list(column) for name, column in sheet.columns.items()} == {
        "text": ["a", "b"],
        "stars": [1.0, 2.0],
        "mood": ["x", "y"],
    }
    assert sheet.place(0) == f"{tmp_path}/a.parquet, row 1"


def test_parquet_of_the_datasets_library_names_its_classes(tmp_path: Path):
    features = {"label": {"names": ["bad", "good"], "_type": "ClassLabel"}, "text": {"_type": "Value"}}
    stated = {"huggingface": json.dumps({"info": {"features": features}})}
    table = pa.table({"text": ["a"], "label": [1]}).replace_schema_metadata(stated)
    assert sheet_of(tmp_path, "a.parquet", parquet(table)).class_names == {"label": ("bad", "good")}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "a.csv: the file is empty; expected labelled texts"),
        ("a.csv", " \n\n", "a.csv: the file is empty; expected labelled texts"),
        ("a.csv", "text,label\n", "a.csv: expected labelled texts, found no rows"),
        ("a.csv", "sep=;\n", "a.csv: expected labelled texts, found no rows"),
        ("a.csv", "\ufeff", "a.csv: expected labelled texts, found no rows"),
        (
            "a.csv",
            "text,label\na,1\nb\n",
            "a.csv, line 3: expected 2 fields as before, found 1; quote a field",
        ),
        (
            "a.csv",
            "text,label\na,b,1\n",
            "a.csv, line 2: expected 2 fields as before, found 3; quote a field",
        ),
        (
            "a.csv",
            'text,label\nx,0\n"a,1\nb,0\n',
            "a.csv, line 3: unexpected end of data; close quoted fields",
        ),
        ("a.csv", 'text,label\n"a "b" c",1\n', "a.csv, line 2: ',' expected after '\"'; close quoted fields"),
        (
            "a.csv",
            "some words\nmore words\n",
            "a.csv: expected columns of texts and labels, found one column",
        ),
        ("a.csv", "text,label,text\na,1,b\n", "a.csv, line 1: column 'text' stands there twice; rename one"),
        (
            "a.csv",
            b"text,label\na,1\ncaf\xe9,0\n",
            "a.csv, line 3: expected utf-8 text, found byte 0xe9; convert",
        ),
        ("a.tsv", "text\tlabel\na\t1\tx\n", "a.tsv, line 2: expected 2 fields as before, found 3"),
        (
            "a.jsonl",
            '{"text": "a"}\n{"text": "b"\n',
            "a.jsonl, line 2: expected one JSON object on each line, found",
        ),
        ("a.jsonl", '{"text": "a"}\n["b"]\n', "a.jsonl, line 2: expected an object {…}, found \"['b']\""),
        ("a.jsonl", "[" * 100_000, "a.jsonl, line 1: expected one JSON object on each line"),
        (
            "a.jsonl",
            b'{"text": "a"}\n{"text": "\xff"}',
            "a.jsonl, line 2: expected utf-8 text, found byte 0xff",
        ),
        ("a.json", '[{"text": "a"},\n{"text" "b"}]', "a.json, line 2: expected a list of objects"),
        ("a.json", '[{"text": "a"}, 3]', "a.json, row 2: expected an object {…}, found '3'"),
        ("a.json", "[]", "a.json: expected labelled texts, found no rows"),
        ("a.parquet", b"PAR1 and no more", "a.parquet: expected a complete Parquet file"),
        ("a.csv.gz", gzip.compress(b"text,label\n" * 99, mtime=0)[:-9], "a.csv.gz: truncated or damaged"),
        ("a.docx", b"PK", "a.docx: expected a file ending in .csv"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line_with_its_place(
    tmp_path: Path, name: str, content: str | bytes, message: str
):
    with pytest.raises(DataError) as caught:
        sheet_of(tmp_path, name, content)
    assert str(caught.value).startswith(f"{tmp_path}/{message}")
    assert "\n" not in str(caught.value)
