from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pandas
import pytest
from fakes import classifier, set_weights

import faithgauge
from faithgauge.cli.main import run
from faithgauge.encode.tokenizer import WordTokenizer
from faithgauge.models.store import Trained, save
from faithgauge.types import Task

WORDS = WordTokenizer.of("plain", ["bad", "film", "good", "the"])
TEXTS = ["the good film", 'bad, "bad" film', "the film\nwas good"]


def stored(task: Task = "single", classes: tuple[str, ...] = ("no", "yes")) -> str:
    model = classifier(task=task, classes=len(classes), vocabulary=len(WORDS.vocabulary), seed=1)
    save(Trained(model, WORDS, classes, task), Path(task))
    return task


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, columns: dict[str, list[Any]]) -> str:
    frame = pandas.DataFrame(columns)
    if name.endswith(".csv"):
        frame.to_csv(name, index=False)
    elif name.endswith(".jsonl"):
        frame.to_json(name, orient="records", lines=True)
    else:
        frame.to_parquet(name)
    return name


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def probabilities(model: str, texts: list[str], pairs: list[str] | None = None) -> list[list[str]]:
    return [[f"{p:.6f}" for p in row] for row in faithgauge.predict(model, texts, pairs).tolist()]


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["predict", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err.removeprefix("error: ").removesuffix("\n")


@pytest.mark.parametrize("name", ["reviews.csv", "reviews.jsonl", "reviews.parquet"])
def test_every_text_of_a_file_is_a_row_in_its_order(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", stored(), write(name, {"text": TEXTS})]) == 0
    out, err = capsys.readouterr()
    header, *rows = table(out)
    assert header == ["id", "label", "p_no", "p_yes"]
    expected = probabilities("single", TEXTS)
    assert [row[2:] for row in rows] == expected
    assert [row[1] for row in rows] == ["yes" if yes > no else "no" for no, yes in expected]
    assert all(row[0].startswith(f"{name}:") for row in rows)
    assert len({row[0] for row in rows}) == 3
    assert err == ""


def test_the_id_of_a_row_of_csv_is_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The first line is the header; the third text has a line break in it."""
    assert run(["predict", stored(), write("reviews.csv", {"text": [TEXTS[2], *TEXTS]})]) == 0
    _, *rows = table(capsys.readouterr().out)
    assert [row[0] for row in rows] == ["reviews.csv:2", "reviews.csv:4", "reviews.csv:5", "reviews.csv:6"]


def test_labels_in_the_file_are_not_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    file = write("reviews.csv", {"label": ["yes", "", "?"], "text": TEXTS})
    assert run(["predict", stored(), file]) == 0
    assert len(table(capsys.readouterr().out)) == 4


def test_the_column_of_the_text_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    file = write("reviews.csv", {"text": ["the bad one"] * 3, "words": TEXTS})
    assert run(["predict", stored(), file, "--text", "words"]) == 0
    _, *rows = table(capsys.readouterr().out)
    assert [row[2:] for row in rows] == probabilities("single", TEXTS)


def test_with_out_the_table_is_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    file = write("reviews.csv", {"text": TEXTS})
    assert run(["predict", stored(), file]) == 0
    printed = capsys.readouterr().out
    assert run(["predict", "single", file, "--out", "found.csv"]) == 0
    assert capsys.readouterr() == ("", "3 predictions: found.csv\n")
    assert Path("found.csv").read_text() == printed
    assert sorted(path.name for path in Path().iterdir()) == ["found.csv", "reviews.csv", "single"]


def test_json_has_a_document_per_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", stored(), write("reviews.csv", {"text": TEXTS}), "--json"]) == 0
    out, err = capsys.readouterr()
    assert (out.count("\n"), err) == (1, "")
    found = json.loads(out)
    assert list(found) == ["model", "file", "cut", "predictions"]
    assert (found["model"], found["file"], found["cut"]) == ("single", "reviews.csv", 0)
    assert [list(one) for one in found["predictions"]] == [["id", "label", "probabilities"]] * 3
    likely = faithgauge.predict("single", TEXTS).tolist()
    assert [one["probabilities"] for one in found["predictions"]] == [
        dict(zip(("no", "yes"), row, strict=True)) for row in likely
    ]


def test_with_json_the_file_is_written_and_the_document_printed(capsys: pytest.CaptureFixture[str]) -> None:
    file = write("reviews.csv", {"text": TEXTS})
    assert run(["predict", stored(), file]) == 0
    printed = capsys.readouterr().out
    assert run(["predict", "single", file, "--json", "--out", "found.csv"]) == 0
    out, err = capsys.readouterr()
    assert Path("found.csv").read_text() == printed
    assert [one["id"] for one in json.loads(out)["predictions"]] == [row[0] for row in table(printed)[1:]]
    assert err == "3 predictions: found.csv\n"


def test_texts_that_were_cut_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """20,000 tokens are read at most, the begin and the end token among them."""
    whole, longer = " ".join(["good"] * 19_998), " ".join(["good"] * 19_999)
    file = write("reviews.csv", {"text": [whole, longer, "the film"]})
    assert run(["predict", stored(), file, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["cut"] == 1
    assert err == "1 of 3 texts are longer than 20,000 tokens and were cut\n"


def test_a_pair_whose_second_text_was_cut_is_counted_once(capsys: pytest.CaptureFixture[str]) -> None:
    longer = " ".join(["good"] * 19_999)
    file = write("pairs.csv", {"premise": ["good", longer], "hypothesis": [longer, longer]})
    assert run(["predict", stored("pair"), file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cut"] == 2


def test_three_classes_have_three_columns_and_names_are_quoted_where_they_must(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = stored(classes=("no, never", 'the "yes"', "maybe"))
    assert run(["predict", model, write("reviews.csv", {"text": TEXTS})]) == 0
    header, *rows = table(capsys.readouterr().out)
    assert header == ["id", "label", "p_no, never", 'p_the "yes"', "p_maybe"]
    assert all(sum(map(float, row[2:])) == pytest.approx(1, abs=2e-6) for row in rows)


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.jsonl", "pairs.parquet"])
def test_pairs_are_read_from_two_columns(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(name, {"premise": TEXTS, "hypothesis": TEXTS[::-1]})
    assert run(["predict", stored("pair"), file]) == 0
    _, *rows = table(capsys.readouterr().out)
    assert [row[2:] for row in rows] == probabilities("pair", TEXTS, TEXTS[::-1])


def test_the_columns_of_a_pair_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    file = write("pairs.csv", {"one": TEXTS, "other": TEXTS[::-1]})
    assert run(["predict", stored("pair"), file, "--text", "other", "--text-pair", "one"]) == 0
    _, *rows = table(capsys.readouterr().out)
    assert [row[2:] for row in rows] == probabilities("pair", TEXTS[::-1], TEXTS)


def test_the_label_is_the_most_probable_class(capsys: pytest.CaptureFixture[str]) -> None:
    model = classifier(vocabulary=len(WORDS.vocabulary))
    for bias, label in ((50.0, "yes"), (-50.0, "no")):
        set_weights(model, decoder__bias=[bias])
        save(Trained(model, WORDS, ("no", "yes")), Path(label))
        assert run(["predict", label, write("reviews.csv", {"text": TEXTS})]) == 0
        assert [row[1] for row in table(capsys.readouterr().out)[1:]] == [label] * 3


# ---- what is refused


def test_a_column_that_is_not_there_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    file = write("reviews.csv", {"review": TEXTS})
    assert error(capsys, stored(), file, "--text", "revue") == (
        "reviews.csv: no column 'revue' for the text: did you mean 'review'?"
    )


def test_a_file_without_texts_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    message = error(capsys, stored(), write("numbers.jsonl", {"a": [1, 2], "b": [3, 4]}))
    assert message == "numbers.jsonl: no column of texts among 'a', 'b'; give --text"


def test_single_texts_for_a_model_of_pairs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    file = write("reviews.csv", {"text": TEXTS})
    assert error(capsys, stored("pair"), file) == (
        "a model for pair tasks was given one text; expected two texts"
    )


def test_pairs_for_a_model_of_single_texts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    file = write("pairs.csv", {"premise": TEXTS, "hypothesis": TEXTS})
    assert error(capsys, stored(), file) == "a model for single tasks was given two texts; expected one text"


def test_an_empty_text_is_named_by_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("reviews.csv").write_text("text,label\nthe film,yes\n ,no\n")
    assert error(capsys, stored(), "reviews.csv") == (
        "reviews.csv, line 3: expected a text in column 'text', found an empty one; "
        "fill it in or remove the line"
    )


def test_a_text_without_a_word_is_named_by_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    Path("reviews.csv").write_text("text\nthe film\n\u200b\n")
    assert "text 2: expected at least one token" in error(capsys, stored(), "reviews.csv")


def test_a_file_without_rows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("reviews.csv").write_text("text\n")
    assert error(capsys, stored(), "reviews.csv").startswith("reviews.csv: expected ")


def test_a_file_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert error(capsys, stored(), "reviews.csv") == (
        "reviews.csv: no such file; correct its name, or put it there"
    )


def test_a_folder_that_is_no_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    file = write("reviews.csv", {"text": TEXTS})
    assert error(capsys, "nowhere", file) == (
        "nowhere: expected a folder that `faithgauge train` wrote, found no model.json in it"
    )


@pytest.mark.parametrize("target", ["nowhere/found.csv", "single"])
def test_a_place_that_cannot_be_written_is_refused(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = write("reviews.csv", {"text": TEXTS})
    assert error(capsys, stored(), file, "--out", target) == (
        f"--out {target}: expected a file in a folder that is there; choose another place"
    )
