"""Which column is what."""

from __future__ import annotations

import pytest

from faithgauge.config import DataConfig
from faithgauge.data.columns import Columns, choose, choose_marked
from faithgauge.data.sheet import Sheet
from faithgauge.errors import ConfigError, DataError


def sheet(header: bool = True, **columns: list[object]) -> Sheet:
    named = {name.removeprefix("c"): column for name, column in columns.items()} if not header else columns
    return Sheet("a.csv", named, range(1, len(next(iter(columns.values()))) + 1), header=header)


def chosen(found: Sheet, **given: str) -> Columns:
    return choose(found, DataConfig("a.csv", **given))  # type: ignore[arg-type]


LONG: list[object] = [
    "what a long day it was",
    "no day was ever longer",
    "this one was short",
    "so was the last",
]
LONGER: list[object] = [f"{text}, and it was followed by another" for text in LONG]
FEW: list[object] = ["x", "y", "x", "y"]
ALSO_FEW: list[object] = ["1", "2", "2", "1"]
MANY: list[object] = ["p", "q", "r", "s"]


def test_usual_names_are_known_in_any_case():
    assert chosen(sheet(ID=MANY, Review=LONG, Sentiment=FEW)) == Columns("Review", None, "Sentiment")


def test_a_usual_name_counts_more_than_a_longer_text():
    assert chosen(sheet(text=LONG, remarks=LONGER, label=FEW)).text == "text"


def test_a_pair_is_known_by_its_two_names():
    found = chosen(sheet(premise=LONG, hypothesis=LONGER, text=LONG, gold_label=FEW))
    assert found == Columns("premise", "hypothesis", "gold_label")


def test_a_text_that_is_given_alone_is_not_made_a_pair():
    assert chosen(sheet(premise=LONG, hypothesis=LONGER, label=FEW), text="hypothesis").text_pair is None


def test_the_first_of_a_pair_is_found_for_the_second_that_is_given():
    assert chosen(sheet(question1=LONG, question2=LONG, label=FEW), text_pair="question2").text == "question1"


def test_a_split_column_is_one_whose_values_name_splits():
    names: list[object] = ["train", "dev", "test", "train"]
    assert chosen(sheet(text=LONG, label=FEW, exp_split=names)).split == "exp_split"


def test_the_fold_of_a_cross_validation_is_no_split():
    assert chosen(sheet(text=LONG, label=FEW, fold=["0", "1", "2", "3"])).split is None


def test_without_usual_names_the_longest_column_is_the_text_and_the_one_with_few_values_the_label():
    assert chosen(sheet(number=MANY, remark=LONG, essay=LONGER, mood=FEW)) == Columns("essay", None, "mood")


def test_two_columns_that_could_be_the_label_are_an_error():
    with pytest.raises(DataError, match="columns 'mood', 'place' could each be it; give --label, one of"):
        chosen(sheet(essay=LONG, mood=FEW, place=ALSO_FEW))


def test_two_columns_with_equal_labels_are_one():
    assert chosen(sheet(essay=LONG, mood=FEW, again=list(FEW))).label == "mood"


def test_no_column_of_labels_is_an_error():
    with pytest.raises(
        DataError, match="expected a column of labels, no column has few values; give --label"
    ):
        chosen(sheet(essay=LONG, number=MANY))


def test_no_column_of_texts_is_an_error():
    with pytest.raises(DataError, match="no column of texts among 'number', 'label'; give --text"):
        chosen(sheet(number=[1, 2, 3, 4], label=FEW))


def test_without_a_header_one_text_and_one_label_are_safe():
    assert chosen(sheet(header=False, c0=LONG, c1=FEW)) == Columns("0", None, "1")


def test_without_a_header_two_texts_are_not():
    with pytest.raises(
        DataError, match="columns '0', '1' all look like texts and there is no header; give --text"
    ):
        chosen(sheet(header=False, c0=LONG, c1=LONGER, c2=FEW))


def test_columns_are_given_by_number():
    found = chosen(
        sheet(header=False, c0=FEW, c1=LONG, c2=LONGER, c3=ALSO_FEW), text="2", text_pair="1", label="0"
    )
    assert found == Columns("2", "1", "0")


def test_a_name_that_is_a_number_comes_before_a_place():
    assert chosen(Sheet("a.csv", {"1": LONG, "0": FEW}, range(4)), text="1", label="0").text == "1"


def test_a_column_is_given_in_any_case():
    assert chosen(sheet(Body=LONG, Mood=FEW), text="body", label="mood") == Columns("Body", None, "Mood")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text": "revieww"}, "a.csv: no column 'revieww' for the text: did you mean 'review'?"),
        ({"label": "zz"}, "a.csv: no column 'zz' for the label: the columns are 'review', 'label'"),
        ({"split": "7"}, "a.csv: no column '7' for the split: the columns are 'review', 'label'"),
        ({"text": "label", "label": "label"}, "a.csv: column 'label' cannot be both text and label"),
    ],
)
def test_a_wrong_column_is_an_error_with_the_nearest_name(given: dict[str, str], message: str):
    with pytest.raises(ConfigError) as caught:
        chosen(sheet(review=LONG, label=FEW), **given)
    assert str(caught.value).startswith(message)


def test_evidence_is_a_column_of_that_name_with_ranges():
    ranges: list[object] = [None, [], [[0, 2]], [[1, 3], [4, 5]]]
    assert chosen(sheet(text=LONG, label=FEW, evidence=ranges)).evidence == "evidence"


@pytest.mark.parametrize("value", ["0-2", [[[1, 2, "page"]]], ["a sentence"], [[0.5, 1.5]]])
def test_evidence_of_another_kind_is_left_aside(value: object):
    assert chosen(sheet(text=LONG, label=FEW, evidence=[value] * 4)).evidence is None


def test_texts_need_no_labels():
    found = sheet(review=LONG, sentiment=FEW)
    assert choose_marked(found, DataConfig("a.csv")) == Columns("review", None, "sentiment")
    assert choose_marked(sheet(review=LONG, c=FEW), DataConfig("a.csv")) == Columns("review", None, "")
    assert choose_marked(sheet(review=LONG, c=FEW), DataConfig("a.csv", label="c")).label == "c"


def test_one_column_is_not_both_text_and_label():
    with pytest.raises(ConfigError, match="cannot be both"):
        choose_marked(sheet(review=LONG), DataConfig("a.csv", text="review", label="review"))
