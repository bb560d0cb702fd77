"""Files, folders, saved data sets and the hub, as their users have them."""

from __future__ import annotations

import builtins
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from faithgauge.config import DataConfig
from faithgauge.data.dataset import Dataset
from faithgauge.data.generic import read, read_hub, read_marked, read_texts
from faithgauge.errors import DataError, UnsupportedError
from faithgauge.types import Example

ROWS = [(f"this is text {i}", "good" if i % 2 else "bad") for i in range(20)]


def write_csv(path: Path, rows: list[tuple[str, str]] = ROWS) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text},{label}\n" for text, label in [("text", "label"), *rows]))


def sizes(dataset: Dataset) -> dict[str, int]:
    return {split: len(examples) for split, examples in dataset.splits.items()}


def test_a_file_is_named_as_it_is_called(tmp_path: Path):
    write_csv(tmp_path / "reviews.csv")
    dataset = read(DataConfig(str(tmp_path / "reviews.csv")))
    assert dataset.name == "reviews.csv"
    assert {e.id for examples in dataset.splits.values() for e in examples} == {
        f"reviews.csv:{i}" for i in range(2, 22)
    }


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path):
    with pytest.raises(DataError, match=r"none\.csv: no such file or folder"):
        read(DataConfig(str(tmp_path / "none.csv")))


def test_a_pipe_is_read_as_a_file(tmp_path: Path):
    pipe = tmp_path / "reviews.csv"
    os.mkfifo(pipe)
    text = "".join(f"{text},{label}\n" for text, label in [("text", "label"), *ROWS])
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    assert sum(sizes(read(DataConfig(str(pipe)))).values()) == 20
    writer.join()


def test_a_device_is_refused_in_one_line():
    with pytest.raises(DataError, match=r"^/dev/null: expected a file ending in \.csv"):
        read(DataConfig("/dev/null"))


@pytest.mark.parametrize(
    "names",
    [
        ("train.csv", "validation.csv", "test.csv"),
        ("training.csv", "dev.csv", "test.csv"),
        ("Train.csv", "val.csv", "TEST.csv"),
        ("corpus_1.0_train.csv", "corpus_1.0_valid.csv", "corpus_1.0_test.csv"),
        ("train-00000-of-00001.csv", "validation-00000-of-00001.csv", "test-00000-of-00001.csv"),
    ],
)
def test_the_files_of_a_folder_are_its_splits(tmp_path: Path, names: tuple[str, str, str]):
    folder = tmp_path / "reviews"
    for name, n in zip(names, (10, 6, 4), strict=True):
        write_csv(folder / name, ROWS[:n])
    (folder / "README.txt").write_text("nothing to be read\n")
    (folder / "latest.csv").write_text("not a split\n")
    dataset = read(DataConfig(str(folder)))
    assert (dataset.name, sizes(dataset)) == ("reviews", {"train": 10, "validation": 6, "test": 4})


def test_numbered_files_of_one_split_are_read_in_order(tmp_path: Path):
    write_csv(tmp_path / "train-00001-of-00002.csv", ROWS[4:6])
    write_csv(tmp_path / "train-00000-of-00002.csv", ROWS[:4])
    write_csv(tmp_path / "dev.csv", ROWS[6:8])
    write_csv(tmp_path / "test.csv", ROWS[8:])
    train = read(DataConfig(str(tmp_path))).splits["train"]
    assert [example.text for example in train] == [text for text, _ in ROWS[:6]]


@pytest.mark.parametrize("other", ["training.csv", "train.jsonl", "train-1.csv", "my_train.csv"])
def test_two_files_for_one_split_are_an_error(tmp_path: Path, other: str):
    write_csv(tmp_path / "train.csv")
    (tmp_path / other).write_text(
        '{"text": "a", "label": "good"}\n' if other.endswith("jsonl") else "text,label\na,1\n"
    )
    with pytest.raises(DataError, match=r"beside another train file; remove one of them"):
        read(DataConfig(str(tmp_path)))


def test_a_folder_without_files_for_splits_is_an_error(tmp_path: Path):
    write_csv(tmp_path / "reviews.csv")
    with pytest.raises(
        DataError, match=r"expected files train, validation and test .* give the path of one file"
    ):
        read(DataConfig(str(tmp_path)))


def saved(folder: Path) -> Any:
    datasets = pytest.importorskip("datasets", reason="needs the extra `datasets`")
    datasets.disable_progress_bars()
    names = datasets.ClassLabel(names=["negative", "positive"])
    features = datasets.Features({"sentence": datasets.Value("string"), "label": names})

    def part(labels: list[int]) -> Any:
        texts = [f"this is text {i}" for i in range(len(labels))]
        return datasets.Dataset.from_dict({"sentence": texts, "label": labels}, features=features)

    return datasets.DatasetDict(
        train=part([0, 1] * 5), validation=part([1, 0]), test=part([-1, -1, -1]), unsupervised=part([-1])
    )


def test_a_folder_saved_by_datasets_has_its_splits_and_class_names(tmp_path: Path):
    saved(tmp_path).save_to_disk(tmp_path / "sst2")
    dataset = read(DataConfig(str(tmp_path / "sst2")))
    assert (dataset.name, dataset.classes) == ("sst2", ("negative", "positive"))
    assert sizes(dataset) == {"train": 10, "validation": 2}
    assert dataset.splits["validation"][0] == Example("this is text 0", 1, "validation:1")
    assert dataset.notes == (
        "text from column 'sentence', label from column 'label'",
        "classes as the file numbers them: negative, positive",
        "there is no test split",
        "split 'unsupervised' is left out",
        "3 examples without a label (-1 or '-') are left out",
    )


def test_one_split_saved_by_datasets_is_divided(tmp_path: Path):
    saved(tmp_path)["train"].shuffle(seed=1).save_to_disk(tmp_path / "one")
    dataset = read(DataConfig(str(tmp_path / "one")))
    assert sum(sizes(dataset).values()) == 10
    assert all(int(e.text[-1]) % 2 == e.label for examples in dataset.splits.values() for e in examples)


def test_a_damaged_saved_data_set_is_an_error(tmp_path: Path):
    folder = tmp_path / "sst2"
    saved(tmp_path).save_to_disk(folder)
    next((folder / "train").glob("*.arrow")).write_bytes(b"no arrow")
    with pytest.raises(DataError, match=r"sst2: cannot be read by `datasets`: .*; save it again") as caught:
        read(DataConfig(str(folder)))
    assert "\n" not in str(caught.value)


def test_a_saved_data_set_without_the_library_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": ["train"]}))
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "datasets":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnsupportedError, match=r"pip install 'faithgauge\[datasets\]'"):
        read(DataConfig(str(tmp_path)))


def test_a_hub_name_is_loaded_with_its_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    whole = saved(tmp_path)
    asked = []

    def load_dataset(*names: object) -> Any:
        asked.append(names)
        return whole

    monkeypatch.setattr("datasets.load_dataset", load_dataset)
    dataset = read_hub(DataConfig("nyu-mll/glue:sst2"))
    assert asked == [("nyu-mll/glue", "sst2")]
    assert (dataset.name, sizes(dataset)) == ("nyu-mll/glue:sst2", {"train": 10, "validation": 2})


def test_what_the_hub_has_to_say_is_one_line(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("datasets", reason="needs the extra `datasets`")

    def load_dataset(*names: object) -> Any:
        raise ValueError("Config name is missing.\nPlease pick one among: a, b")

    monkeypatch.setattr("datasets.load_dataset", load_dataset)
    with pytest.raises(DataError) as caught:
        read_hub(DataConfig("owner/name"))
    assert str(caught.value) == "owner/name: could not be loaded from the hub: Config name is missing."


def test_the_matched_half_of_a_split_is_taken_and_the_other_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    whole = saved(tmp_path)
    whole["validation_matched"], whole["validation_mismatched"] = whole["validation"], whole.pop("validation")
    monkeypatch.setattr("datasets.load_dataset", lambda *_: whole)
    dataset = read_hub(DataConfig("owner/mnli"))
    assert sizes(dataset) == {"train": 10, "validation": 2}
    assert "split 'validation_mismatched' is left out" in dataset.notes


def test_texts_are_read_without_their_labels(tmp_path: Path):
    (tmp_path / "new.csv").write_text("text\nhello there\ngood bye\n")
    assert read_texts(DataConfig(str(tmp_path / "new.csv"))) == [
        Example("hello there", -1, "new.csv:2"),
        Example("good bye", -1, "new.csv:3"),
    ]


def test_pairs_are_read_without_their_labels(tmp_path: Path):
    (tmp_path / "new.jsonl").write_text('{"premise": "a", "hypothesis": "b"}\n')
    assert read_texts(DataConfig(str(tmp_path / "new.jsonl"))) == [Example("a", -1, "new.jsonl:1", "b")]


@pytest.mark.slow
def test_the_module_loads_no_heavy_library():
    code = (
        "import sys, faithgauge.data.generic, faithgauge.data.synthetic, faithgauge.train.metrics\n"
        "print({'torch', 'pandas', 'pyarrow', 'datasets'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def shared(folder: Path, name: str, **columns: str) -> Dataset:
    path = folder / name
    if not path.exists():
        pytest.skip(f"{name} is not among the real data")
    return read(DataConfig(str(path), **columns))  # type: ignore[arg-type]


def test_a_csv_without_header_is_read(shared_data: Path):
    dataset = shared(shared_data, "imdb/courtofxai_dev.csv.gz")
    assert sizes(dataset) == {"train": 3013, "validation": 646, "test": 645}
    assert dataset.notes[0] == "text from column '0', label from column '1' (no header: numbered from 0)"


def test_a_csv_with_a_split_column_is_read(shared_data: Path):
    dataset = shared(shared_data, "sst/sst_dataset.csv.gz")
    assert sizes(dataset) == {"train": 6920, "validation": 872, "test": 1821}
    assert dataset.notes[0].endswith("split from column 'exp_split'")


def test_a_csv_is_read_by_the_numbers_of_its_columns(shared_data: Path):
    dataset = shared(shared_data, "ag_news/train_prefix.csv.gz", text="2", label="0")
    labels = Counter(example.label for examples in dataset.splits.values() for example in examples)
    assert dataset.classes == ("1", "2", "3", "4")
    assert [labels[i] for i in range(4)] == [2630, 2452, 2594, 2753]


def test_a_folder_of_pairs_is_read(shared_data: Path):
    dataset = shared(shared_data, "snli/derived")
    assert dataset.task == "pair"
    assert dataset.counts()["test"] == {
        "examples": 9824,
        "labels": {"contradiction": 3237, "entailment": 3368, "neutral": 3219},
    }


def test_pairs_separated_by_tabs_are_read(shared_data: Path):
    dataset = shared(shared_data, "quora/dev.txt.gz", text="0", text_pair="1")
    labels = Counter(example.label for examples in dataset.splits.values() for example in examples)
    assert (dataset.task, labels) == ("pair", {0: 5000, 1: 5000})
    assert shared(shared_data, "snli/test.tsv.gz").task == "pair"
    assert shared(shared_data, "mnli/dev_matched.jsonl.gz").classes == (
        "contradiction",
        "entailment",
        "neutral",
    )


def marked(tmp_path: Path, *rows: dict[str, Any], **given: str) -> list[Example]:
    (tmp_path / "new.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return read_marked(DataConfig(str(tmp_path / "new.jsonl"), **given), ("no", "yes"))


def test_texts_are_read_with_the_labels_and_the_evidence_they_have(tmp_path: Path):
    rows = [{"text": "a good one", "label": "yes", "evidence": [[2, 6]]}, {"text": "b", "label": None}]
    assert marked(tmp_path, *rows) == [
        Example("a good one", 1, "new.jsonl:1", evidence=((2, 6),)),
        Example("b", -1, "new.jsonl:2"),
    ]


def test_texts_without_a_column_of_labels_have_none(tmp_path: Path):
    assert [example.label for example in marked(tmp_path, {"text": "a", "note": "yes"})] == [-1]


def test_labels_that_are_no_classes_are_left_aside_or_an_error_if_they_are_named(tmp_path: Path):
    rows = [{"text": "a", "label": "yes"}, {"text": "b", "label": "maybe"}]
    assert [example.label for example in marked(tmp_path, *rows)] == [-1, -1]
    with pytest.raises(DataError, match=r"new\.jsonl, line 2: expected a class of the model \(no, yes\)"):
        marked(tmp_path, *rows, label="label")


def test_numbers_that_a_file_names_are_the_classes_of_these_names(tmp_path: Path):
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["yes", "no"])}
    )
    rows = datasets.Dataset.from_dict({"text": ["a", "b", "c"], "label": [0, 1, -1]}, features=features)
    rows.to_parquet(tmp_path / "new.parquet")
    found = read_marked(DataConfig(str(tmp_path / "new.parquet")), ("no", "yes"))
    assert [example.label for example in found] == [1, 0, -1]
