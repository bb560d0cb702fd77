"""The half of the recipe that fine-tunes: what it trains, and its numbers beside the paper's RoBERTa."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny

from faithgauge.engine.inline import Inline
from faithgauge.engine.run import run
from faithgauge.engine.store import Store
from faithgauge.papers.compare import compare
from faithgauge.papers.published import published
from faithgauge.plans.reproduce import Reproduction, Wish, ours, reproduction
from faithgauge.settings import preset_for

PAPER = "recursive-roar-2022"


@pytest.fixture(autouse=True)
def little_at_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FAITHGAUGE_DATA", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))


def asked(tmp_path: Path, dataset: str = "planted", *changes: str) -> Reproduction:
    encoder = f"hf:{tiny.folder_of(tmp_path / 'small', 'roberta')}"
    wish = Wish(
        PAPER, datasets=(dataset,), encoders=(encoder,), seeds=1, fractions=(0, 0.5, 1), changes=changes
    )
    return reproduction(wish)


def a_little_of_sst(folder: Path) -> None:
    folder.mkdir()
    for name, n in (("train", 24), ("dev", 8), ("test", 8)):
        words = [
            ("the film was a good play" if i % 2 else "the film was a bad play").split() for i in range(n)
        ]
        texts = [[*own, *["."] * (1 + i % 5)] for i, own in enumerate(words)]
        texts.append(["the"] * 14)  # the longest sentence is left out
        lines = []
        for i, text in enumerate(texts):
            tree = f"(2 {text[-1]})"
            for word in reversed(text[1:-1]):
                tree = f"(2 (2 {word}) {tree})"
            lines.append(f"({4 if i % 2 else 0} (2 {text[0]}) {tree})")
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")


def test_the_settings_are_those_of_table_5(tmp_path: Path) -> None:
    (cell,) = asked(tmp_path).cells
    train = cell.model.train
    assert (train.optimiser, train.learning_rate, train.beta2, train.weight_decay) == (
        "adamw",
        2e-5,
        0.98,
        0.01,
    )
    assert (train.schedule, train.warm_up, train.batch_size, train.epochs) == ("linear", 0.06, 16, 3)
    assert (cell.data.encode["too_long"], cell.data.encode["joined"]) == ("cut", True)
    assert cell.study.explainers == tuple(
        f"{name}:recursive-roar-2022" for name in ("gradient", "input_x_gradient", "integrated_gradient")
    )
    assert cell.study.tests == ("performance", "recursive_roar", "sparsity")


def test_it_is_trained_on_babi_for_eight_epochs() -> None:
    assert preset_for(PAPER, "babi-1", "hf:roberta-base")["epochs"] == 8


def test_numbers_of_other_weights_stand_beside_those_of_roberta_and_say_so(tmp_path: Path) -> None:
    a_little_of_sst(tmp_path / "sst")
    found, store = asked(tmp_path, "sst", "train.epochs=1"), Store(tmp_path / "store")
    assert {node.reason for node in run(list(found.targets), store, Inline()).values()} == {""}
    numbers = ours(found, store)
    cells = [one for table in ("1", "2", "3") for one in published(PAPER, table) if one.dataset == "sst"]
    rows = [
        row for row in compare(cells, numbers) if row["published"] is not None and row["ours"] is not None
    ]
    places = {(row["table"], row["encoder"], row.get("measure"), row["metric"]) for row in rows}
    assert places == {
        ("1", "roberta", None, "f1_macro"),
        ("3", "roberta", None, "f1_macro"),
        *(
            ("2", "roberta", name, "faithfulness")
            for name in ("gradient", "input_x_gradient", "integrated_gradient")
        ),
    }
    assert {row["note"].removesuffix("; mean over 5 seeds") for row in rows} <= {
        "partial data; substituted weights: small",
        "partial data; substituted weights: small; the same as table 1",
    }


def test_a_problem_of_the_papers_own_needs_no_encoder() -> None:
    found = reproduction(Wish(PAPER, datasets=("roar-synthetic",), seeds=1))
    assert [type(job).__name__ for job in found.targets] == ["Synthetic"]
    assert found.left_out == {}
