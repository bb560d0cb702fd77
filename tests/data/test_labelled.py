"""From rows to labelled texts."""

from __future__ import annotations

import math

import pytest

from faithgauge.config import DataConfig
from faithgauge.data.dataset import Dataset
from faithgauge.data.labelled import Part, dataset
from faithgauge.data.sheet import Sheet
from faithgauge.errors import ConfigError, DataError
from faithgauge.types import Example

CONFIG = DataConfig("a.csv")


def sheet(origin: str = "data/a.csv", **columns: list[object]) -> Sheet:
    rows = range(2, len(next(iter(columns.values()))) + 2)
    return Sheet(origin, columns, rows)


def texts(n: int) -> list[object]:
    return [f"this is text {i}" for i in range(n)]


def made(*parts: Part, config: DataConfig = CONFIG) -> Dataset:
    return dataset("a.csv", parts, config)


def all_of(found: Dataset) -> list[Example]:
    examples = [example for split in found.splits.values() for example in split]
    return sorted(examples, key=lambda example: int(example.id.rpartition(":")[2]))


def refused(*parts: Part, config: DataConfig = CONFIG) -> str:
    with pytest.raises((DataError, ConfigError)) as caught:
        made(*parts, config=config)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_example_is_named_by_its_file_and_line():
    found = made((None, sheet(text=texts(3), label=["b", "a", "b"])))
    assert all_of(found) == [
        Example("this is text 0", 1, "a.csv:2"),
        Example("this is text 1", 0, "a.csv:3"),
        Example("this is text 2", 1, "a.csv:4"),
    ]
    assert (found.name, found.variant, found.task, found.classes) == ("a.csv", "", "single", ("a", "b"))


def test_a_second_text_makes_pairs():
    found = made((None, sheet(premise=["a", "b"], hypothesis=["c", "d"], label=[0, 1])))
    assert found.task == "pair"
    assert [(e.text, e.text_pair) for e in all_of(found)] == [("a", "c"), ("b", "d")]


def test_the_notes_say_what_was_taken_for_what():
    found = made((None, sheet(review=texts(20), sentiment=["positive", "negative"] * 10)))
    assert found.notes == (
        "text from column 'review', label from column 'sentiment'",
        "classes from the negative to the positive: negative, positive",
        "no split was given: 70/15/15 % by label with seed 0, train/validation/test 14/3/3",
    )


def test_the_seed_is_that_of_our_split():
    part = (None, sheet(text=texts(40), label=[0, 1] * 20))
    splits = [made(part, config=DataConfig("a.csv", seed=seed)).splits for seed in (0, 0, 1)]
    assert splits[0] == splits[1] != splits[2]


def test_a_split_column_is_followed_to_the_row():
    names: list[object] = ["train", "Dev", "test", "training", "valid", "testing"]
    found = made((None, sheet(text=texts(6), label=[0, 1, 0, 1, 0, 1], split=names)))
    rows = {split: [example.id for example in examples] for split, examples in found.splits.items()}
    assert rows == {
        "train": ["a.csv:2", "a.csv:5"],
        "validation": ["a.csv:3", "a.csv:6"],
        "test": ["a.csv:4", "a.csv:7"],
    }


def test_validation_is_cut_from_train_where_only_a_test_split_is_given():
    names: list[object] = ["train"] * 40 + ["test"] * 10
    found = made((None, sheet(text=texts(50), label=[0, 1] * 25, split=names)))
    assert {split: len(examples) for split, examples in found.splits.items()} == {
        "train": 34,
        "validation": 6,
        "test": 10,
    }
    assert found.notes[-1] == "validation is 15% of train, cut by label with seed 0: 6 of 40"


def test_only_train_is_as_no_split_at_all():
    found = made(("train", sheet(text=texts(20), label=[0, 1] * 10)))
    assert {split: len(examples) for split, examples in found.splits.items()} == {
        "train": 14,
        "validation": 3,
        "test": 3,
    }


def test_no_test_split_is_made_where_validation_is_given():
    parts = [(name, sheet(text=texts(4), label=[0, 1, 0, 1])) for name in ("train", "validation")]
    found = made(*parts)  # type: ignore[arg-type]
    assert list(found.splits) == ["train", "validation"]
    assert found.notes[-1] == "there is no test split"


def test_the_classes_are_those_of_all_sheets_together():
    train = sheet(text=texts(2), label=["1", "2"])
    test = sheet("data/test.csv", text=texts(2), label=["1.0", "10.0"])
    assert made(("test", test), ("train", train)).classes == ("1", "2", "10")


def test_sheets_of_one_split_are_joined():
    parts = [sheet(f"train-{i}.csv", text=texts(2), label=[0, 1]) for i in range(2)]
    other = sheet("test.csv", text=texts(2), label=[0, 1])
    more = sheet("validation.csv", text=texts(2), label=[0, 1])
    found = made(("train", parts[0]), ("validation", more), ("train", parts[1]), ("test", other))
    assert [e.id for e in found.splits["train"]] == [
        "train-0.csv:2",
        "train-0.csv:3",
        "train-1.csv:2",
        "train-1.csv:3",
    ]


def test_pairs_on_which_the_annotators_did_not_agree_are_left_out_and_counted():
    found = made((None, sheet(premise=texts(4), hypothesis=texts(4), gold_label=["a", "-", "b", "-"])))
    assert found.classes == ("a", "b")
    assert [e.id for e in all_of(found)] == ["a.csv:2", "a.csv:4"]
    assert found.notes[-1] == "2 examples without a label (-1 or '-') are left out"


def test_a_minus_in_any_other_column_is_a_class():
    assert made((None, sheet(text=texts(4), label=["+", "-", "+", "-"]))).classes == ("-", "+")


def test_stated_class_names_keep_their_numbers_and_minus_one_is_no_label():
    stated = Sheet(
        "a", {"text": texts(3), "label": [1, -1, 0]}, range(1, 4), "row", class_names={"label": ("z", "a")}
    )
    found = made((None, stated))
    assert found.classes == ("z", "a")
    assert [(e.id, e.label) for e in all_of(found)] == [("a:1", 1), ("a:3", 0)]


def test_evidence_is_kept_where_it_is_given():
    ranges: list[object] = [[[0, 4], [8, 12]], None, []]
    found = made((None, sheet(text=texts(3), label=[0, 1, 0], evidence=ranges)))
    assert [e.evidence for e in all_of(found)] == [((0, 4), (8, 12)), None, ()]


@pytest.mark.parametrize("bad", [[[0, 15]], [[3, 3]], [[-1, 2]], [[0]], [[0, True]], "0-3", [4]])
def test_evidence_outside_its_text_is_an_error(bad: object):
    message = refused((None, sheet(text=texts(2), label=[0, 1], evidence=[[[0, 1]], bad])))
    assert message.startswith(
        "data/a.csv, line 3: expected evidence as [[start, end], …] within 0 to 14, found "
    )


@pytest.mark.parametrize("text", ["", "  \n", None, math.nan])
def test_an_empty_text_is_an_error_with_its_line(text: object):
    assert refused((None, sheet(text=["good enough", text], label=[0, 1]))) == (
        "data/a.csv, line 3: expected a text in column 'text', found an empty one; "
        "fill it in or remove the line"
    )


def test_an_empty_second_text_is_an_error_too():
    assert "expected a text in column 'hypothesis'" in refused(
        (None, sheet(premise=["a", "b"], hypothesis=["c", ""], label=[0, 1]))
    )


def test_a_number_is_no_text():
    assert "line 3: expected a text in column 'text', found 5;" in refused(
        (None, sheet(text=["a", 5], label=[0, 1]))
    )


def test_half_a_surrogate_pair_is_an_error_here_and_not_when_it_is_written():
    assert "line 3: expected Unicode text in column 'text', found half a character (\\ud800)" in refused(
        (None, sheet(text=["a", "b \ud800"], label=[0, 1]))
    )


@pytest.mark.parametrize("label", [None, "", "nan", math.nan, ["a"], {"a": 1}])
def test_a_label_that_is_missing_or_not_one_value_is_an_error_with_its_line(label: object):
    assert refused((None, sheet(text=texts(3), label=["a", "b", label]))).startswith(
        f"data/a.csv, line 4: expected a label in column 'label', found {label!r}; fill it in"
    )


def test_one_class_is_an_error():
    assert refused((None, sheet(text=texts(3), label=["a"] * 3))) == (
        "data/a.csv: column 'label' holds one class only, 'a'; expected two or more; "
        "give the column of the labels with --label"
    )


@pytest.mark.parametrize(("rows", "different"), [(20, 20), (20, 11), (3000, 1001)])
def test_a_column_with_too_many_values_is_not_the_label(rows: int, different: int):
    labels: list[object] = [f"c{i % different}" for i in range(rows)]
    assert refused((None, sheet(text=texts(rows), label=labels))) == (
        f"data/a.csv: column 'label' holds {different} different values in {rows} rows; expected classes; "
        "give the column of the labels with --label"
    )


def test_a_class_number_that_is_not_stated_is_an_error():
    stated = Sheet(
        "a", {"text": texts(2), "label": [0, 2]}, range(1, 3), "row", class_names={"label": ("z", "a")}
    )
    assert refused((None, stated)).startswith(
        "a, row 2: expected a class number below 2 in column 'label', found 2"
    )


def test_an_unknown_split_is_an_error_with_its_line():
    names: list[object] = ["train", "test", "tset"]
    assert refused((None, sheet(text=texts(3), label=[0, 1, 0], split=names))).startswith(
        "data/a.csv, line 4: expected train, validation or test in column 'split', found 'tset'; correct it"
    )


def test_a_column_that_one_file_lacks_is_an_error():
    test = sheet("data/test.csv", text=texts(2), id=[0, 1])
    assert refused(("train", sheet(text=texts(2), label=[0, 1])), ("test", test)) == (
        "data/test.csv: expected a column 'label' (label), found 'text', 'id'; rename it"
    )


def test_a_split_column_for_files_that_are_splits_is_an_error():
    part = sheet(text=texts(2), label=[0, 1], split=["train", "test"])
    assert "the files are the splits here" in refused(("train", part), config=DataConfig("a", split="split"))
