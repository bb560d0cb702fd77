"""The treebank: labels and words of trees, and the lengths that the papers leave out."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from faithgauge.data.dataset import Found
from faithgauge.data.files import Files
from faithgauge.data.sst import SOURCE, read
from faithgauge.errors import DataError


def tree(label: int, *words: str) -> str:
    """A tree that leans to the right, as ``(3 (2 a) (2 (2 b) (2 c)))``."""
    if len(words) == 1:
        return f"({label} {words[0]})"
    return f"({label} (2 {words[0]}) {tree(2, *words[1:])})"


def found(folder: Path, *trees: str, variant: str = "") -> Found:
    (folder / "train.txt").write_text("\n".join(trees) + "\n")
    return read(Files(folder), variant)


def test_the_label_of_the_root_counts_and_neutral_is_left_out(tmp_path: Path) -> None:
    trees = [tree(label, "some", "words") for label in (0, 1, 2, 3, 4)]
    examples = found(tmp_path, *trees).splits["train"]
    assert [(example.id, example.label) for example in examples] == [
        ("train-1", 0),
        ("train-2", 0),
        ("train-4", 1),
        ("train-5", 1),
    ]


def test_the_text_is_the_leaves_with_nothing_unescaped(tmp_path: Path) -> None:
    (example,) = found(tmp_path, "(3 (2 (2 It) (2 's)) (3 (2 -LRB-) (3 (2 and\\/or) (2 -RRB-))))").splits[
        "train"
    ]
    assert example.text == "It 's -LRB- and\\/or -RRB-"


def test_more_than_five_cleaned_words_and_fewer_than_the_longest_are_kept(tmp_path: Path) -> None:
    # Cleaned, "a-b" is two words and "." none: 5, 6, 6, 7 and 8 words.
    trees = [
        tree(3, "a", "b", "c", "d", "e", "."),
        tree(3, "a-b", "c", "d", "e", "f"),
        tree(1, "a", "b", "c", "d", "e", "f"),
        tree(1, "-LRB-", "a", "b", "c", "d", "e", "f", "-RRB-", "g"),
        tree(1, "a", "b", "c", "d", "e", "f", "g", "h"),
    ]
    examples = found(tmp_path, *trees, variant="jain-wallace-2019").splits["train"]
    assert [example.id for example in examples] == ["train-2", "train-3", "train-4"]


def test_the_recursive_roar_filter_counts_leaves(tmp_path: Path) -> None:
    trees = [tree(3, "a", "b", "c", "d", "e", "."), tree(3, "a-b", "c", "d", "e", "f")]
    examples = found(tmp_path, *trees, variant="recursive-roar-2022").splits["train"]
    assert [example.id for example in examples] == ["train-1"]


def test_the_official_zip_and_gzipped_files_are_read(tmp_path: Path) -> None:
    text = tree(4, "fine", ".") + "\n"
    with zipfile.ZipFile(tmp_path / "trainDevTestTrees_PTB.zip", "w") as archive:
        for name in ("train", "dev"):
            archive.writestr(f"trees/{name}.txt", text)
    (tmp_path / "test.txt.gz").write_bytes(gzip.compress(text.encode()))
    got = read(Files(tmp_path), "")
    assert [[one.text for one in part] for part in got.splits.values()] == [["fine ."]] * 3
    assert got.missing == ()


def test_a_file_that_is_not_there_is_missing_and_the_rest_is_read(tmp_path: Path) -> None:
    got = found(tmp_path, tree(3, "a", "b"))
    assert list(got.splits) == ["train"]
    assert got.missing == ("dev.txt, the trees of validation", "test.txt, the trees of test")


@pytest.mark.parametrize("line", ["no tree", "(3 (2 cut) (2 off", "(5 (2 a) (2 b))", "(3 )"])
def test_a_line_that_is_no_tree_is_an_error_with_its_row(tmp_path: Path, line: str) -> None:
    with pytest.raises(DataError, match=r"train\.txt, row 2: expected a tree like"):
        found(tmp_path, tree(3, "a", "b"), line)


def test_every_variant_has_a_filter_and_the_papers_cleaning() -> None:
    assert set(SOURCE.encoding) == {"", *SOURCE.variants}
    assert {SOURCE.encoding[variant].words for variant in SOURCE.variants} == {"jain-wallace-sst"}


def test_jain_wallace_labels_are_those_of_their_table(shared_data: Path) -> None:
    got = read(Files(shared_data / "sst"), "jain-wallace-2019")
    for split, labels in {"train": (3034, 3321), "test": (863, 862)}.items():
        part = got.splits[split]  # type: ignore[index]
        assert tuple(sum(one.label == label for one in part) for label in (0, 1)) == labels
