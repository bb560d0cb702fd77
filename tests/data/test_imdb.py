"""Film reviews: the official folders, Jain & Wallace's split from its file and from keras' word ids."""

from __future__ import annotations

import io
import json
import pickle
import tarfile
from pathlib import Path

import pytest
from sklearn.model_selection import train_test_split

from faithgauge.data.files import Files
from faithgauge.data.imdb import SOURCE, read
from faithgauge.errors import DataError

FOLDERS = ("train/neg", "train/pos", "test/neg", "test/pos")


def reviews(count: int) -> dict[str, str]:
    """Review i of every folder, rated by its label."""
    return {
        f"aclImdb/{folder}/{i}_{9 if folder.endswith('pos') else 2}.txt": f"{folder} review {i}<br />"
        for folder in FOLDERS
        for i in range(count)
    }


def archive(path: Path, members: dict[str, str]) -> None:
    with tarfile.open(path, "w:gz") as tar:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))


def test_the_official_archive_is_read_and_15_percent_of_train_held_out(tmp_path: Path) -> None:
    extra = {"aclImdb/README": "x", "aclImdb/train/unsup/0_0.txt": "x", "aclImdb/train/urls_pos.txt": "x"}
    archive(tmp_path / "aclImdb_v1.tar.gz", reviews(20) | extra)
    found = read(Files(tmp_path), "")
    assert {split: len(part) for split, part in found.splits.items()} == {
        "train": 34,
        "validation": 6,
        "test": 40,
    }
    assert found.notes == ("validation is 15% of train, cut by label with seed 0: 6 of 40",)


def test_text_label_and_id_are_those_of_the_file(tmp_path: Path) -> None:
    archive(tmp_path / "aclImdb_v1.tar.gz", reviews(3))
    example = read(Files(tmp_path), "").splits["test"][4]
    assert (example.text, example.label, example.id) == ("test/pos review 1<br />", 1, "test/pos/1_9")


def test_reviews_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    archive(tmp_path / "aclImdb_v1.tar.gz", dict(reversed(reviews(12).items())))
    ids = [example.id for example in read(Files(tmp_path), "").splits["test"]]
    assert ids[:3] == ["test/neg/0_2", "test/neg/1_2", "test/neg/2_2"]
    assert ids[10:13] == ["test/neg/10_2", "test/neg/11_2", "test/pos/0_9"]


def test_unpacked_reviews_are_read_and_counted_once_beside_their_archive(tmp_path: Path) -> None:
    archive(tmp_path / "aclImdb_v1.tar.gz", reviews(20))
    for name, text in reviews(20).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert len(read(Files(tmp_path), "").splits["test"]) == 40


def test_what_is_not_there_is_missing_by_folder(tmp_path: Path) -> None:
    archive(
        tmp_path / "part.tar.gz", {name: text for name, text in reviews(20).items() if "/test/pos" in name}
    )
    found = read(Files(tmp_path), "")
    assert list(found.splits) == ["test"]
    assert found.missing == (
        "12500 of the 12500 reviews in aclImdb/train/neg",
        "12500 of the 12500 reviews in aclImdb/train/pos",
        "12500 of the 12500 reviews in aclImdb/test/neg",
        "12480 of the 12500 reviews in aclImdb/test/pos",
    )


SPLIT = """path\tlabel\tjw_split\tkeras_len
aclImdb/train/neg/0_2.txt\t0\ttrain\t6
aclImdb/train/pos/0_9.txt\t1\ttrain\t241
aclImdb/train/pos/1_9.txt\t1\tdev\t240
aclImdb/train/neg/1_2.txt\t0\tunused\t700
aclImdb/test/pos/2_9.txt\t1\ttest\t7
aclImdb/test/neg/2_2.txt\t0\ttest\t401
"""


@pytest.mark.parametrize(
    ("variant", "train", "validation", "test"),
    [
        (
            "jain-wallace-2019",
            ["train/neg/0_2", "train/pos/0_9"],
            ["train/pos/1_9"],
            ["test/pos/2_9", "test/neg/2_2"],
        ),
        ("recursive-roar-2022", ["train/pos/0_9"], ["train/pos/1_9"], ["test/pos/2_9", "test/neg/2_2"]),
        ("neely-2022", ["train/neg/0_2"], ["train/pos/1_9"], ["test/pos/2_9"]),
    ],
)
def test_a_split_file_says_which_review_stands_where(
    tmp_path: Path, variant: str, train: list[str], validation: list[str], test: list[str]
) -> None:
    archive(tmp_path / "aclImdb_v1.tar.gz", reviews(3))
    (tmp_path / "jain_wallace_split.tsv").write_text(SPLIT)
    found = read(Files(tmp_path), variant)
    assert {split: [one.id for one in part] for split, part in found.splits.items()} == {
        "train": train,
        "validation": validation,
        "test": test,
    }
    assert found.missing == ()


def test_reviews_that_only_the_split_file_knows_are_missing(tmp_path: Path) -> None:
    archive(tmp_path / "aclImdb_v1.tar.gz", reviews(2))
    (tmp_path / "jain_wallace_split.tsv").write_text(SPLIT)
    assert read(Files(tmp_path), "jain-wallace-2019").missing == (
        "2 reviews that jain_wallace_split.tsv names",
    )


@pytest.mark.parametrize(
    "row",
    [
        "reviews/1.txt\t0\ttrain\t6",
        "aclImdb/train/neg/0_2.txt\t0\tfold1\t6",
        "aclImdb/train/neg/0_2.txt\t0\ttrain",
    ],
)
def test_a_bad_row_of_the_split_file_is_an_error_with_its_place(tmp_path: Path, row: str) -> None:
    archive(tmp_path / "aclImdb_v1.tar.gz", reviews(2))
    (tmp_path / "jain_wallace_split.tsv").write_text(SPLIT.splitlines()[0] + f"\n{row}\n")
    with pytest.raises(DataError, match=r"jain_wallace_split\.tsv, row 2: expected path, label"):
        read(Files(tmp_path), "jain-wallace-2019")


def test_without_split_and_word_ids_the_variant_says_what_it_needs(tmp_path: Path) -> None:
    archive(tmp_path / "aclImdb_v1.tar.gz", reviews(2))
    assert read(Files(tmp_path), "jain-wallace-2019").missing == (
        "jain_wallace_split.tsv beside the reviews, or imdb_full.pkl and imdb_word_index.json",
    )


def keras(folder: Path, lengths: list[int]) -> None:
    """Review i is its length times the word "w{i}"; protocol 2 is what Python 2 wrote."""
    part = ([[i + 1] * n for i, n in enumerate(lengths)], [i % 2 for i in range(len(lengths))])
    (folder / "imdb_full.pkl").write_bytes(pickle.dumps((part, part), protocol=2))
    words = {f"w{i}": i + 1 for i in range(len(lengths))}
    (folder / "imdb_word_index.json").write_text(json.dumps(words))


def test_from_word_ids_the_split_is_drawn_by_their_random_state(tmp_path: Path) -> None:
    lengths = [400, *([5] * 20), 399, 1000]
    keras(tmp_path, lengths)
    short = [i for i, n in enumerate(lengths) if n < 400]
    train, dev = train_test_split(short, train_size=0.8, random_state=1378)
    test, _ = train_test_split(short, train_size=0.2, random_state=1378)
    found = read(Files(tmp_path), "jain-wallace-2019")
    assert {split: [one.id for one in part] for split, part in found.splits.items()} == {
        "train": [f"train/{i}" for i in train],
        "validation": [f"train/{i}" for i in dev],
        "test": [f"test/{i}" for i in test],
    }
    example = found.splits["test"][0]
    assert (example.text, example.label) == (" ".join([f"w{test[0]}"] * lengths[test[0]]), test[0] % 2)
    assert found.notes == ("the texts are keras' tokens joined by blanks",)


def test_a_pickle_that_asks_for_code_is_refused_and_runs_none(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path(tmp_path / "ran").write_text, ("x",))

    keras(tmp_path, [5])
    (tmp_path / "imdb_full.pkl").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(
        DataError, match=r"imdb_full\.pkl: expected lists of word ids and labels, nothing else"
    ):
        read(Files(tmp_path), "jain-wallace-2019")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "content", [b"", b"no pickle", pickle.dumps([1, 2, 3]), pickle.dumps((([], [1]), ([], [])))]
)
def test_a_damaged_pickle_is_one_line(tmp_path: Path, content: bytes) -> None:
    keras(tmp_path, [5])
    (tmp_path / "imdb_full.pkl").write_bytes(content)
    with pytest.raises(DataError, match=r"imdb_full\.pkl: expected lists"):
        read(Files(tmp_path), "jain-wallace-2019")


def test_every_variant_is_encoded_as_keras_tokens() -> None:
    assert {SOURCE.encoding[variant].words for variant in SOURCE.variants} == {"keras"}
    assert {encoding.min_df for encoding in SOURCE.encoding.values()} == {10}
