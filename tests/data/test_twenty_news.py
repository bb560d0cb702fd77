"""Newsgroups: what is stripped from a post, and Jain & Wallace's split against scikit-learn's own loader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_files
from sklearn.datasets._twenty_newsgroups import (
    strip_newsgroup_footer,
    strip_newsgroup_header,
    strip_newsgroup_quoting,
)
from sklearn.model_selection import train_test_split

from faithgauge.data import twenty_news
from faithgauge.data.dataset import Found
from faithgauge.data.files import Files

GROUPS = [
    *("alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware"),
    *("comp.sys.mac.hardware", "comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles"),
    *("rec.sport.baseball", "rec.sport.hockey", "sci.crypt", "sci.electronics", "sci.med", "sci.space"),
    *("soc.religion.christian", "talk.politics.guns", "talk.politics.mideast", "talk.politics.misc"),
    "talk.religion.misc",
]
POST = "From: a@b.c\nSubject: x\n\nIn article <1> a@b.c wrote:\n> quoted\nA post number {} on it.\n\n--\nMe\n"


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All twenty groups with a few posts each; some posts hold nothing but a quotation."""
    sizes = {"train": [12 + i % 5 for i in range(20)], "test": [9 + i % 4 for i in range(20)]}
    monkeypatch.setattr(twenty_news, "_GROUPS", sizes)
    for part, counts in sizes.items():
        for group, count in zip(GROUPS, counts, strict=True):
            folder = tmp_path / f"20news-bydate-{part}" / group
            folder.mkdir(parents=True)
            for i in range(count):
                text = "Head: x\n\n> only quoted\n" if i % 6 == 5 else POST.format(i)
                (folder / str(9995 + i)).write_text(text, encoding="latin-1")
    return tmp_path


def read(folder: Path, variant: str = "") -> Found:
    return twenty_news.read(Files(folder), variant)


def ids(found: Found) -> dict[str, list[str]]:
    return {split: [one.id for one in part] for split, part in found.splits.items()}


POSTS = [
    POST.format(1),
    "no empty line, so all of it is header",
    "Head: x\n\nOnly a body\nin two lines\n",
    "Head: x\n\nBody\n\n   ---  \nFooter\n\n\n",
    "Head: x\n\n\n\n----\nBody after a rule in the first line\n",
    "Head: x\n\nBody with -- inside\n> quoted\n| quoted too\nA said: so\nIn article 3\n  In article 4\n",
    "Head: x\r\n\r\nno empty line of line feeds only",
    "",
]


@pytest.mark.parametrize("post", POSTS)
def test_a_post_is_stripped_as_scikit_learn_does(post: str) -> None:
    expected = strip_newsgroup_quoting(strip_newsgroup_footer(strip_newsgroup_header(post)))
    assert twenty_news._stripped(post) == expected


def test_header_footer_and_quotation_are_taken_off() -> None:
    assert twenty_news._stripped(POST.format(7)) == "A post number 7 on it.\n"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("three small words", "three small words"),
        ("It's two-fold, isn't it", "it ' s two fold is n ' t it"),
        ("0-3 in 1993, 3.5 each", "qqq qqq in qqq qqq each"),
        ("gonna win.", "gon na win ."),
        ("", ""),
    ],
)
def test_tokens_are_counted_as_their_cleaning_leaves_them(text: str, tokens: str) -> None:
    assert twenty_news._tokens(text) == len(tokens.split())


def test_the_split_by_date_holds_out_validation_and_leaves_out_what_is_empty(small: Path) -> None:
    found = read(small)
    # Train has 16 + 12 posts, test 10 + 11; each sixth one is empty.
    assert {split: len(part) for split, part in found.splits.items()} == {
        "test": 19,
        "train": 20,
        "validation": 4,
    }
    assert found.notes == (
        "6 documents that are empty are left out",
        "validation is 15% of train, cut by label with seed 0: 4 of 24",
    )


def test_their_split_is_the_one_scikit_learn_makes_of_all_twenty_groups(small: Path) -> None:
    names, targets = [], []
    for part in ("train", "test"):
        loaded = load_files(small / f"20news-bydate-{part}", encoding="latin-1")
        names += [
            f"{part}/{Path(name).parent.name.split('.')[-1]}/{Path(name).name}" for name in loaded.filenames
        ]
        targets += list(loaded.target)
        assert loaded.target_names == GROUPS
    order = np.arange(len(names))
    np.random.RandomState(42).shuffle(order)
    in_order = [i for target in (9, 10) for i in order if targets[i] == target]
    in_order = [i for i in in_order if int(names[i].rpartition("/")[2]) % 6 != (9995 + 5) % 6]
    labels = [int(targets[i] == 10) for i in in_order]
    rest, test, rest_labels, _ = train_test_split(
        [names[i] for i in in_order], labels, stratify=labels, test_size=0.2, random_state=13478
    )
    train, dev = train_test_split(rest, stratify=rest_labels, test_size=0.2, random_state=13478)
    found = read(small, "attefa")
    assert ids(found) == {"train": train, "validation": dev, "test": test}
    assert not found.substituted


def test_the_two_groups_alone_are_enough_for_their_split(small: Path) -> None:
    whole = ids(read(small, "attefa"))
    for part in ("train", "test"):
        for group in GROUPS:
            if "sport" not in group:
                folder = small / f"20news-bydate-{part}" / group
                for post in folder.iterdir():
                    post.unlink()
    assert ids(read(small, "attefa")) == whole


def test_their_filter_keeps_7_to_499_tokens(small: Path) -> None:
    folder = small / "20news-bydate-test" / "rec.sport.hockey"
    lengths = {"9995": 6, "9996": 7, "9997": 499, "9998": 500}
    for name, count in lengths.items():
        (folder / name).write_text("Head: x\n\n" + " ".join(["word"] * count))
    kept = {name for part in ids(read(small, "jain-wallace-2019")).values() for name in part}
    assert {name for name in lengths if f"test/hockey/{name}" in kept} == {"9996", "9997"}


def test_with_a_post_missing_the_split_is_marked_as_substituted(small: Path) -> None:
    (small / "20news-bydate-train" / "rec.sport.hockey" / "9995").unlink()
    found = read(small, "attefa")
    assert found.missing == ("1 of the 12 documents in 20news-bydate-train/rec.sport.hockey",)
    assert found.substituted
    assert "not Jain & Wallace's but one like it" in found.notes[0]


def test_without_any_post_there_is_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "attefa").splits == {}
    assert len(read(tmp_path).missing) == 4


def test_posts_are_latin_1(small: Path) -> None:
    folder = small / "20news-bydate-test" / "rec.sport.hockey"
    (folder / "9995").write_bytes(b"Head: x\n\nMontr\xe9al won\n")
    assert "Montréal won\n" in [one.text for one in read(small).splits["test"]]


def test_the_real_split_has_their_filtered_test_labels(shared_data: Path) -> None:
    part = read(shared_data / "20news", "jain-wallace-2019").splits["test"]
    assert [sum(one.label == label for one in part) for label in (0, 1)] == [179, 178]
