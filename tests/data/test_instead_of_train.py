"""Data sets whose training part is not at hand: their validation part stands for it, and it is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import faithgauge
from faithgauge.errors import DataError


@pytest.fixture
def quora(tmp_path: Path) -> Path:
    folder = tmp_path / "quora"
    folder.mkdir()
    for part, n in (("dev", 20), ("test", 4)):
        rows = (f"{part} {i} ?\tother {i} ?\t{i % 2}\n" for i in range(n))
        (folder / f"{part}.txt").write_text("".join(rows))
    return tmp_path


def test_the_validation_part_of_quora_is_divided_by_label(quora: Path) -> None:
    found = faithgauge.load("quora@dev", data_dir=quora)
    assert {split: len(examples) for split, examples in found.splits.items()} == {
        "train": 17,  # 85 % of 20
        "validation": 3,
        "test": 4,
    }
    assert sum(example.label for example in found.splits["train"]) in (8, 9)
    assert (found.substituted, found.complete) == (True, False)
    assert found.notes[-1] == (
        "the validation part of Wang et al. stands for train and validation: validation is 15% of it, cut by "
        "label with seed 0: 3 of 20"
    )


def test_who_asks_for_the_training_part_is_told_of_it(quora: Path) -> None:
    with pytest.raises(DataError, match=r"found validation, test; quora@dev trains on its validation part"):
        faithgauge.train(faithgauge.load("quora", data_dir=quora), encoder="mlp")


def test_mnli_is_tested_on_xnli(tmp_path: Path) -> None:
    (tmp_path / "mnli").mkdir()
    labels = ("neutral", "entailment")
    rows = [
        {"gold_label": labels[i % 2], "sentence1": f"a {i}", "sentence2": f"b {i}", "pairID": str(i)}
        for i in range(20)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "mnli" / "dev_matched.jsonl").write_text(text)
    found = faithgauge.load("mnli@dev", data_dir=tmp_path)
    sizes = {split: len(examples) for split, examples in found.splits.items()}
    assert sizes == {"train": 17, "validation": 3}
    assert found.substituted
    assert any("test" in reason for reason in found.missing)
