"""CNN question answering: the one-file form, the original files, the sample."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from faithgauge.data.cnn import SOURCE
from faithgauge.data.files import Files
from faithgauge.errors import DataError

STORY = "( @entity3 ) @entity10 met @entity3 in @entity7 , said @entity10 's friend ."
BLOCK = f"@placeholder met @entity3\n@entity10\n{STORY}\n"
QUESTION = (
    f"http://a.b/c.html\n\n{STORY}\n\n@placeholder met @entity3\n\n@entity10\n\n@entity3:Ann\n@entity7:Rome\n"
)


def _tar(folder: Path, name: str, **texts: str) -> Files:
    with tarfile.open(folder / name, "w:gz") as archive:
        for member, text in texts.items():
            info = tarfile.TarInfo(member)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return Files(folder)


def test_a_block_is_question_answer_story(tmp_path: Path) -> None:
    files = _tar(tmp_path, "cnn.tar.gz", **{"cnn/train.txt": f"{BLOCK}\n{BLOCK}", "cnn/dev.txt": BLOCK})
    found = SOURCE.read(files, "")
    first, second = found.splits["train"]
    assert (first.text, first.text_pair) == (STORY, "@placeholder met @entity3")
    assert SOURCE.classes[first.label] == "@entity10"
    assert (first.id, second.id) == ("train-1", "train-5")
    assert len(found.splits["validation"]) == 1
    assert found.missing == ("test: no file test.txt",)


def test_the_candidates_are_the_entities_of_the_story(tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text(BLOCK)
    (example,) = SOURCE.read(Files(tmp_path), "").splits["test"]
    assert example.candidates == (3, 7, 10)
    assert example.label in example.candidates


def test_lines_with_names_after_the_story_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text(f"{BLOCK}@entity3:Ann\n@entity10:Bob\n\n\n{BLOCK}\n")
    assert [example.id for example in SOURCE.read(Files(tmp_path), "").splits["test"]] == ["test-1", "test-8"]


def test_the_original_question_files_give_the_same_examples(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    names = ("validation/b", "training/z", "training/a", "test/c")
    texts = {f"cnn/questions/{name}.question": QUESTION for name in names}
    original = SOURCE.read(_tar(tmp_path / "one", "cnn.tgz", **texts), "").splits
    assert {split: [example.id for example in rows] for split, rows in original.items()} == {
        "train": ["a", "z"],
        "validation": ["b"],
        "test": ["c"],
    }
    (tmp_path / "two" / "test.txt").write_text(BLOCK)
    (same,) = SOURCE.read(Files(tmp_path / "two"), "").splits["test"]
    (other,) = original["test"]
    assert (other.text, other.text_pair, other.label, other.candidates) == (
        same.text,
        same.text_pair,
        same.label,
        same.candidates,
    )


def _sample(meta: str) -> str:
    question = {"id": "a.question", "question": "@placeholder met", "answers": [{"text": "@entity10"}]}
    return json.dumps({"meta": meta, "instances": [{"questions": [question], "support": {"text": STORY}}]})


def test_a_sample_goes_into_the_split_that_its_meta_names(tmp_path: Path) -> None:
    (tmp_path / "cnn_snippet.jtr.json").write_text(_sample("cnn_dev"))
    found = SOURCE.read(Files(tmp_path), "")
    assert [(e.id, e.label, e.candidates) for e in found.splits["validation"]] == [("a", 10, (3, 7, 10))]
    assert found.notes == ("validation: a sample of 1 questions",)
    assert len(found.missing) == 3


def test_a_sample_is_not_read_beside_the_real_data(tmp_path: Path) -> None:
    (tmp_path / "cnn_snippet.jtr.json").write_text(_sample("cnn_dev"))
    (tmp_path / "test.txt").write_text(BLOCK)
    assert list(SOURCE.read(Files(tmp_path), "").splits) == ["test"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"{BLOCK}\n@placeholder met\n@entity3\n",
            r"line 5: expected a question, its answer .* found 2 lines",
        ),
        (BLOCK.replace("\n@entity10\n", "\n@entity4\n"), r"line 1: expected the answer to be an entity"),
        (BLOCK.replace("\n@entity10\n", "\nBob\n"), r"line 1: expected the answer .* found 'Bob'"),
        (BLOCK.replace("@entity7", "@entity1000"), r"line 1: expected entities below @entity1000"),
    ],
)
def test_a_damaged_block_is_an_error_with_its_row(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "train.txt").write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        SOURCE.read(Files(tmp_path), "")
    assert "train.txt" in str(caught.value)


def test_bytes_that_are_not_utf8_are_an_error_with_their_row(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_bytes(BLOCK.encode() + b"\ncaf\xe9 @placeholder\n")
    with pytest.raises(DataError, match=r"train\.txt, line 5: expected utf-8 text, found byte 0xe9"):
        SOURCE.read(Files(tmp_path), "")


def test_a_question_file_without_an_answer_is_an_error(tmp_path: Path) -> None:
    files = _tar(tmp_path, "cnn.tgz", **{"cnn/questions/test/a.question": QUESTION.split("\n\n@entity10")[0]})
    with pytest.raises(DataError, match=r"test/a\.question: expected address, story, .* found 3 parts"):
        SOURCE.read(files, "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_sample("cnn_train")[:-30], r"line 1: expected JSON"),
        ("[]", r"expected a JSON object with a list of instances"),
        (_sample("squad"), r"expected the meta cnn_train, cnn_dev, cnn_test, found 'squad'"),
        ('{"meta": "cnn_train"}', r"expected a JSON object with a list of instances"),
        (_sample("cnn_train").replace("support", "context"), r"instance 1: expected the texts of support"),
        (_sample("cnn_train").replace('"@entity10"', "10"), r"instance 1: expected the texts of support"),
    ],
)
def test_a_damaged_sample_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "cnn_snippet.jtr.json").write_text(text)
    with pytest.raises(DataError, match=message):
        SOURCE.read(Files(tmp_path), "")


def test_the_sample_at_hand_has_five_training_questions(shared_data: Path) -> None:
    found = SOURCE.read(Files(shared_data / "cnn_qa"), "")
    assert {split: len(rows) for split, rows in found.splits.items()} == {"train": 5}
    assert [len(example.candidates or ()) for example in found.splits["train"]] == [34, 19, 21, 22, 18]
