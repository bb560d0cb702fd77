"""Discharge summaries, from small files in the layout of MIMIC-III with nobody's text in them."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from sklearn.model_selection import train_test_split

from faithgauge.data.dataset import Found
from faithgauge.data.files import Files
from faithgauge.data.mimic import ANEMIA, DIABETES, _tokens
from faithgauge.errors import DataError

NOTES = [
    "ROW_ID",
    "SUBJECT_ID",
    "HADM_ID",
    "CHARTDATE",
    "CHARTTIME",
    "STORETIME",
    "CATEGORY",
    "DESCRIPTION",
    "CGID",
    "ISERROR",
    "TEXT",
]
CODES = ["ROW_ID", "SUBJECT_ID", "HADM_ID", "SEQ_NUM", "ICD9_CODE"]


def table(folder: Path, name: str, header: list[str], rows: list[dict[str, object]]) -> None:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, header, restval="", quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    writer.writerows({"ROW_ID": i, **row} for i, row in enumerate(rows))
    (folder / name).write_bytes(gzip.compress(stream.getvalue().encode()))


def note(stay: int, text: str, **more: object) -> dict[str, object]:
    fixed = {"CATEGORY": "Discharge summary", "DESCRIPTION": "Report", "CHARTDATE": "2150-01-01"}
    return {"SUBJECT_ID": stay // 10, "HADM_ID": stay, "TEXT": text, **fixed, **more}


def code(stay: int, icd9: str) -> dict[str, object]:
    return {"SUBJECT_ID": stay // 10, "HADM_ID": stay, "SEQ_NUM": 1, "ICD9_CODE": icd9}


def mimic(folder: Path, notes: list[dict[str, object]], codes: list[dict[str, object]]) -> Path:
    table(folder, "NOTEEVENTS.csv.gz", NOTES, notes)
    table(folder, "DIAGNOSES_ICD.csv.gz", CODES, codes)
    return folder


def lists(folder: Path, **stays: list[int]) -> None:
    for name in ("train", "dev", "test"):
        (folder / f"{name}_50_hadm_ids.csv").write_text("".join(f"{stay}\n" for stay in stays.get(name, [])))


def diabetes(folder: Path, variant: str = "") -> Found:
    return DIABETES.read(Files(folder), variant)


def texts(found: Found) -> dict[str, list[str]]:
    return {split: [one.text for one in part] for split, part in found.splits.items()}


def test_diabetes_is_250_00_on_the_listed_admissions(tmp_path: Path) -> None:
    stays = [10, 20, 30, 40, 50]
    mimic(
        tmp_path,
        [note(stay, f"summary {stay}") for stay in stays],
        [
            code(10, "25000"),
            code(10, "4019"),
            code(20, "25001"),
            code(30, "4019"),
            code(30, "25000"),
            code(40, "1"),
            code(50, "25000"),
        ],
    )
    lists(tmp_path, train=[20, 10], dev=[30], test=[40])
    found = diabetes(tmp_path)
    assert {split: [(one.id, one.label) for one in part] for split, part in found.splits.items()} == {
        "train": [("1-10", 1), ("2-20", 0)],
        "validation": [("3-30", 1)],
        "test": [("4-40", 0)],
    }
    assert found.missing == ()


def test_reports_come_before_addenda_by_date_and_errors_and_other_notes_not_at_all(tmp_path: Path) -> None:
    notes = [
        note(10, "addendum", DESCRIPTION="Addendum", CHARTDATE="2150-01-01"),
        note(10, "second\nreport, \"quoted\"", CHARTDATE="2150-01-03"),
        note(10, "first report", CHARTDATE="2150-01-02"),
        note(10, "wrong", ISERROR="1"),
        note(10, "x-ray", CATEGORY="Radiology"),
        note(10, "nobody's", HADM_ID=""),
    ]  # fmt: skip
    mimic(tmp_path, notes, [code(10, "25000")])
    lists(tmp_path, train=[10])
    assert texts(diabetes(tmp_path))["train"] == ['first report second\nreport, "quoted" addendum']


def test_an_admission_without_codes_or_summary_is_missing(tmp_path: Path) -> None:
    mimic(tmp_path, [note(10, "a"), note(20, "b")], [code(10, "25000"), code(30, "1"), code(20, "")])
    lists(tmp_path, train=[10, 20, 30])
    found = diabetes(tmp_path)
    assert texts(found)["train"] == ["a"]
    assert found.missing == ("2 admissions that the lists name",)


def test_what_is_not_there_is_missing_by_name(tmp_path: Path) -> None:
    assert diabetes(tmp_path).missing == (
        "NOTEEVENTS.csv.gz of MIMIC-III",
        "DIAGNOSES_ICD.csv.gz of MIMIC-III",
        "train_50_hadm_ids.csv",
        "dev_50_hadm_ids.csv",
        "test_50_hadm_ids.csv",
    )
    assert ANEMIA.read(Files(tmp_path), "").missing == diabetes(tmp_path).missing[:2]


def anemic(folder: Path) -> tuple[list[int], list[int]]:
    """30 acute and 20 chronic admissions in mixed order, one of both kinds and one of neither."""
    acute, chronic = list(range(10, 310, 10)), list(range(15, 215, 10))
    codes = [code(stay, "2851") for stay in acute] + [code(stay, f"2852{stay % 3}") for stay in chronic]
    codes += [code(1000, "2851"), code(1000, "28521"), code(2000, "2859"), code(acute[0], "4019")]
    mimic(folder, [note(stay, f"summary {stay}") for stay in [*acute, *chronic, 1000, 2000]], codes)
    return acute, chronic


def test_anemia_is_acute_or_chronic_but_not_both_and_split_by_their_random_states(tmp_path: Path) -> None:
    acute, chronic = anemic(tmp_path)
    in_order = [*chronic, *acute]
    labels = [0] * 20 + [1] * 30
    rest, test, rest_labels, _ = train_test_split(
        in_order, labels, stratify=labels, test_size=0.2, random_state=12939
    )
    train, dev = train_test_split(rest, stratify=rest_labels, test_size=0.15, random_state=13448)
    found = ANEMIA.read(Files(tmp_path), "")
    assert {split: {int(one.id.split("-")[1]) for one in part} for split, part in found.splits.items()} == {
        "train": set(train),
        "validation": set(dev),
        "test": set(test),
    }
    for part in found.splits.values():
        assert all(
            ANEMIA.classes[one.label] == ("acute" if int(one.id.split("-")[1]) in acute else "chronic")
            for one in part
        )


def test_the_bounds_of_length_are_said(tmp_path: Path) -> None:
    mimic(
        tmp_path,
        [note(10, "word " * 6), note(20, "word " * 7), note(30, "word " * 3999), note(40, "word " * 4000)],
        [code(stay, "25000") for stay in (10, 20, 30, 40)],
    )
    lists(tmp_path, train=[10, 20, 30, 40])
    found = diabetes(tmp_path, "jain-wallace-2019")
    assert [len(text.split()) for text in texts(found)["train"]] == [7, 3999]
    assert found.notes == ("texts of 7 to 3999 tokens, counted by a rule near to spaCy's",)
    assert len(diabetes(tmp_path, "attefa").splits["train"]) == 4


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("seen by [**First Name8 (NamePattern2) 123**] today", "seen by DE today"),
        ("------ plan: ***", "- plan : *"),
        ("dose 2.5 mg/dl, 10:30", "dose 2.5 mg/dl , 10:30"),
    ],
)
def test_de_identified_spans_are_one_token_and_repeated_signs_another(text: str, tokens: str) -> None:
    assert _tokens(text) == len(tokens.split())


def test_their_processed_file_is_read_where_it_is(tmp_path: Path) -> None:
    rows = [f"summary {i},{i % 2},{split}" for split in ("train", "dev", "test") for i in range(4)]
    (tmp_path / "diabetes_dataset.csv").write_text("\n".join(["text,label,exp_split", *rows]) + "\n")
    found = diabetes(tmp_path)
    assert {split: len(part) for split, part in found.splits.items()} == {
        "train": 4,
        "validation": 4,
        "test": 4,
    }


def test_too_few_summaries_to_split_are_missing(tmp_path: Path) -> None:
    mimic(tmp_path, [note(10, "a")], [code(10, "2851")])
    found = ANEMIA.read(Files(tmp_path), "")
    assert (found.splits, found.missing) == ({}, ("discharge summaries with the codes 285.1 and 285.2",))


def test_missing_columns_are_named(tmp_path: Path) -> None:
    mimic(tmp_path, [note(10, "a")], [])
    table(tmp_path, "DIAGNOSES_ICD.csv.gz", ["ROW_ID", "SUBJECT_ID"], [{"SUBJECT_ID": 1}])
    with pytest.raises(DataError, match=r"DIAGNOSES_ICD\.csv\.gz: expected the columns SUBJECT_ID, HADM_ID"):
        ANEMIA.read(Files(tmp_path), "")


@pytest.mark.parametrize(
    ("row", "expected"), [('1,"x",10,1,"2851"', "found invalid literal"), ("1,2", "5 columns, found 2")]
)
def test_a_bad_row_is_an_error_with_its_line(tmp_path: Path, row: str, expected: str) -> None:
    mimic(tmp_path, [note(10, "a")], [])
    (tmp_path / "DIAGNOSES_ICD.csv.gz").write_bytes(gzip.compress(f"{','.join(CODES)}\n{row}\n".encode()))
    with pytest.raises(DataError, match=rf"DIAGNOSES_ICD\.csv\.gz, line 2: expected .*{expected}"):
        ANEMIA.read(Files(tmp_path), "")


def test_a_truncated_table_is_one_line(tmp_path: Path) -> None:
    anemic(tmp_path)
    notes = tmp_path / "NOTEEVENTS.csv.gz"
    notes.write_bytes(notes.read_bytes()[:200])
    with pytest.raises(DataError, match=r"NOTEEVENTS\.csv\.gz: truncated or damaged"):
        ANEMIA.read(Files(tmp_path), "")
