"""bAbI: stories, questions, supporting facts, the split, and what stands in for a missing file."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from faithgauge.data.babi import BABI_1, BABI_2, BABI_3, CLASSES
from faithgauge.data.dataset import Source
from faithgauge.data.files import Files
from faithgauge.errors import DataError

STORY = """1 Mary got the milk there.
2 John moved to the bedroom.
3 Where is the milk? \tkitchen\t1
4 Mary went to the hallway.
5 Where is the milk? \thallway\t4 1
1 John went to the garden.
2 Where is John? \tgarden\t1
"""


def _tar(folder: Path, **texts: str) -> Files:
    """The official archive; each name is that of a file in it, without ``.txt``."""
    with tarfile.open(folder / "tasks_1-20_v1-2.tar.gz", "w:gz") as archive:
        for name, text in texts.items():
            info = tarfile.TarInfo("tasks_1-20_v1-2/" + name + ".txt")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return Files(folder)


def _task_1(folder: Path, test: str) -> Files:
    return _tar(folder, **{"en-10k/qa1_single-supporting-fact_test": test})


def test_a_question_knows_all_that_was_told_before_it_in_its_story(tmp_path: Path) -> None:
    examples = BABI_1.read(_task_1(tmp_path, STORY), "").splits["test"]
    assert [(example.text, example.text_pair) for example in examples] == [
        ("Mary got the milk there . John moved to the bedroom", "Where is the milk"),
        (
            "Mary got the milk there . John moved to the bedroom . Mary went to the hallway",
            "Where is the milk",
        ),
        ("John went to the garden", "Where is John"),
    ]
    assert [example.id for example in examples] == ["test-3", "test-5", "test-7"]


def test_the_label_is_the_number_of_the_answers_word(tmp_path: Path) -> None:
    examples = BABI_1.read(_task_1(tmp_path, STORY), "").splits["test"]
    assert [CLASSES[example.label] for example in examples] == ["kitchen", "hallway", "garden"]


def test_the_classes_are_the_36_words_of_the_three_tasks_in_order() -> None:
    assert len(CLASSES) == 36
    assert list(CLASSES) == sorted(set(CLASSES))


def test_the_supporting_sentences_are_the_evidence_in_the_order_of_the_text(tmp_path: Path) -> None:
    examples = BABI_1.read(_task_1(tmp_path, STORY), "").splits["test"]
    facts = [[example.text[start:end] for start, end in example.evidence or ()] for example in examples]
    assert facts == [
        ["Mary got the milk there"],
        ["Mary got the milk there", "Mary went to the hallway"],
        ["John went to the garden"],
    ]


def test_fifteen_percent_of_the_training_questions_are_held_out(tmp_path: Path) -> None:
    train = "".join("1 John went to the garden.\n2 Where is John? \tgarden\t1\n" for _ in range(20))
    files = _tar(
        tmp_path,
        **{
            "en-10k/qa2_two-supporting-facts_train": train,
            "en-10k/qa2_two-supporting-facts_test": STORY,
            "en/qa2_two-supporting-facts_train": STORY,
        },
    )
    found = BABI_2.read(files, "")
    assert {split: len(rows) for split, rows in found.splits.items()} == {
        "train": 17,
        "validation": 3,
        "test": 3,
    }
    ids = [example.id for split in ("train", "validation") for example in found.splits[split]]
    assert sorted(ids) == sorted(f"train-{2 * row}" for row in range(1, 21))
    assert (found.missing, found.notes, found.substituted) == ((), (), False)


def test_other_parts_stand_in_for_a_missing_training_file_each_question_once(tmp_path: Path) -> None:
    more = STORY.replace("John", "Daniel")
    files = _tar(
        tmp_path,
        **{
            "en/qa3_three-supporting-facts_train": STORY,
            "en-valid-10k/qa3_valid": STORY + more,
            "en-10k/qa3_three-supporting-facts_test": STORY,
        },
    )
    found = BABI_3.read(files, "")
    assert found.substituted
    assert found.missing == ("train: no file en-10k/qa3_three-supporting-facts_train.txt",)
    assert "6 distinct questions" in found.notes[0]
    ids = [example.id for split in ("train", "validation") for example in found.splits[split]]
    assert sorted(ids) == ["en-3", "en-5", "en-7", "en-valid-10", "en-valid-12", "en-valid-14"]


def test_nothing_stands_in_for_a_missing_test_file(tmp_path: Path) -> None:
    found = BABI_1.read(_tar(tmp_path, README="bAbI"), "")
    assert not found.splits
    assert not found.substituted
    assert found.missing == (
        "train: no file en-10k/qa1_single-supporting-fact_train.txt",
        "test: no file en-10k/qa1_single-supporting-fact_test.txt",
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Mary got the milk there.", r"line 8: expected a number, a blank and a sentence, found 'Mary got"),
        ("3 Mary got the mi", r"line 8: expected a sentence with a full stop, found 'Mary got the mi'"),
        ("3 Where is John? \tgarden", r"line 8: expected question, answer and supporting facts .* 2 columns"),
        ("3 Where is John? \tparis\t1", r"line 8: expected an answer among the words .* found 'paris'"),
        ("3 Where is John? \tgarden\t2", r"line 8: expected the line numbers of earlier .* found '2'"),
        ("3 Where is John? \tgarden\t", r"line 8: expected the line numbers of earlier .* found ''"),
        ("1 Where is John? \tgarden\t1", r"line 8: expected the line numbers of earlier .* found '1'"),
    ],
)
def test_a_damaged_line_is_an_error_with_its_row(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        BABI_1.read(_task_1(tmp_path, STORY + line), "")
    assert "qa1_single-supporting-fact_test.txt" in str(caught.value)


def test_bytes_that_are_not_utf8_are_an_error_with_their_row(tmp_path: Path) -> None:
    (tmp_path / "en-10k").mkdir()
    path = tmp_path / "en-10k" / "qa1_single-supporting-fact_test.txt"
    path.write_bytes(STORY.encode() + b"3 Ren\xe9 went to the garden.\n")
    with pytest.raises(DataError, match=r"line 8: expected utf-8 text, found byte 0xe9"):
        BABI_1.read(Files(tmp_path), "")


@pytest.mark.parametrize("source", [BABI_1, BABI_2], ids=["babi-1", "babi-2"])
def test_tasks_1_and_2_at_hand_have_the_published_sizes(source: Source, shared_data: Path) -> None:
    found = source.read(Files(shared_data / "babi"), "")
    sizes = {split: len(rows) for split, rows in found.splits.items()}
    assert sizes == {"train": 8_500, "validation": 1_500, "test": 1_000}
    assert not found.substituted


def test_as_many_facts_support_an_answer_as_the_task_says(shared_data: Path) -> None:
    for facts, source in ((1, BABI_1), (2, BABI_2), (3, BABI_3)):
        found = source.read(Files(shared_data / "babi"), "")
        assert {len(example.evidence or ()) for example in found.splits["test"]} == {facts}


def test_the_classes_are_exactly_the_words_of_the_training_texts_at_hand(shared_data: Path) -> None:
    words: set[str] = set()
    for source in (BABI_1, BABI_2, BABI_3):
        for example in source.read(Files(shared_data / "babi"), "").splits["train"]:
            words |= set(example.text.split()) | set((example.text_pair or "").split())
    assert words == set(CLASSES)


def test_task_3_at_hand_is_substituted(shared_data: Path) -> None:
    found = BABI_3.read(Files(shared_data / "babi"), "")
    assert {split: len(rows) for split, rows in found.splits.items()} == {
        "train": 1_636,
        "validation": 289,
        "test": 1_000,
    }
    assert found.substituted
    seen = {(e.text, e.text_pair) for split in ("train", "validation") for e in found.splits[split]}
    assert len(seen) == 1_925
    assert not seen & {(e.text, e.text_pair) for e in found.splits["test"]}
