"""The three lines of Python that the README shows, on files small enough for a test."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import torch

import faithgauge
from faithgauge import ConfigError, DataError, Dataset, Example, Trained

SMALL = {
    "encoder": "mlp",
    "hidden_size": 8,
    "embed_size": 6,
    "epochs": 12,
    "batch_size": 4,
    "learning_rate": 0.05,
}
TOY = Dataset(
    "toy",
    "",
    "single",
    ("no", "yes"),
    {
        "train": [Example(f"a {'good' if i % 2 else 'bad'} film {i}", i % 2, str(i)) for i in range(12)],
        "validation": [Example(f"a {'good' if i % 2 else 'bad'} book {i}", i % 2, str(i)) for i in range(6)],
    },
)


@pytest.fixture(scope="module")
def trained() -> Trained:
    return faithgauge.train(TOY, select_by="loss", **SMALL)


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    file = tmp_path / "reviews.csv"
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(["review", "stars"])
        writer.writerows(
            (f"a {'good' if i % 2 else 'bad'} film {i}", "yes" if i % 2 else "no") for i in range(30)
        )
    return file


def test_train_predict_and_explain_are_a_line_each(trained: Trained) -> None:
    assert faithgauge.predict(trained, ["good", "bad"]).argmax(-1).tolist() == [1, 0]
    found = faithgauge.explain(trained, "a good film")
    assert dict(zip(found.tokens, found.scores["attention"], strict=True)).keys() == {"a", "good", "film"}
    assert found.label == "yes"


def test_a_file_is_loaded_and_trained_on_by_its_path(reviews: Path) -> None:
    dataset = faithgauge.load(reviews, label="stars")
    assert (dataset.name, dataset.classes) == ("reviews.csv", ("no", "yes"))
    made = faithgauge.train(str(reviews), label="stars", text="review", **SMALL)
    assert made.record["dataset"] == "reviews.csv"


def test_the_seed_of_load_is_that_of_the_split(reviews: Path) -> None:
    def validation(seed: int | None) -> list[str]:
        return [example.id for example in faithgauge.load(reviews, seed=seed).splits["validation"]]

    assert validation(None) == validation(0) != validation(1)


def test_the_two_seeds_of_train_are_two(reviews: Path) -> None:
    one, other, third = (
        faithgauge.train(reviews, **{**SMALL, "epochs": 1}, **seeds)
        for seeds in ({"data_seed": 0, "seed": 4}, {"data_seed": 1, "seed": 4}, {"data_seed": 0, "seed": 5})
    )
    assert [made.record["seed"] for made in (one, other, third)] == [4, 4, 5]
    assert one.tokenizer.vocabulary == third.tokenizer.vocabulary != other.tokenizer.vocabulary
    assert one.record["fingerprint"] != third.record["fingerprint"]


def test_a_model_is_used_by_its_folder(trained: Trained, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    made = faithgauge.train(TOY, out=str(folder), select_by="loss", **SMALL)
    again = faithgauge.load_model(folder)
    assert torch.equal(
        again.classifier.get_parameter("decoder.weight"), made.classifier.get_parameter("decoder.weight")
    )
    for place in (folder, str(folder), again, trained):
        assert faithgauge.predict(place, ["good"]).tolist() == faithgauge.predict(made, ["good"]).tolist()
        assert (
            faithgauge.explain(place, "good").probabilities == faithgauge.explain(made, "good").probabilities
        )


def test_a_preset_comes_before_what_is_given() -> None:
    made = faithgauge.train(
        TOY, preset="recursive-roar-2022", **{**SMALL, "epochs": 1, "embedding_scale": 0.3}
    )
    assert made.record["settings"]["select_by"] == "roc_auc"
    assert made.record["settings"]["epochs"] == 1
    assert made.record["vectors"]["scale"] == 0.3


def test_events_reach_the_caller() -> None:
    epochs = []
    faithgauge.train(TOY, on_event=lambda event: epochs.append(event.epoch), **{**SMALL, "epochs": 2})
    assert sorted(set(epochs)) == [1, 2]


def test_an_unknown_option_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as raised:
        faithgauge.train(TOY, epoch=3)
    assert str(raised.value) == "unknown setting 'epoch': did you mean 'epochs'?"


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"data_seed": 1}, "'data_seed': did you mean 'seed'?"),
        ({"epochs": 3}, "'epochs': known are data_dir, text,"),
    ],
)
def test_an_option_that_load_does_not_take_is_refused(options: dict[str, Any], hint: str) -> None:
    with pytest.raises(ConfigError) as raised:
        faithgauge.load("planted", **options)
    assert str(raised.value).startswith(f"unknown option of load {hint}")


def test_one_text_in_the_place_of_a_list_is_refused(trained: Trained) -> None:
    for texts, pairs in (("good", None), (["good"], "bad")):
        with pytest.raises(ConfigError) as raised:
            faithgauge.predict(trained, texts, pairs)
        assert str(raised.value) == "expected a list of texts, found one text; put it into a list: [text]"


def test_one_explainer_is_named_by_a_word_or_in_a_list(trained: Trained) -> None:
    one, listed = (faithgauge.explain(trained, "good", explainers=x) for x in ("attention", ["attention"]))
    assert one == listed
    assert list(one.scores) == ["attention"]


def test_a_class_is_explained_by_its_name_or_number(trained: Trained) -> None:
    for target in ("no", 0):
        found = faithgauge.explain(trained, "good film", explainers="leave_one_out", target=target)
        assert found.targets == {"leave_one_out": "no"}
    with pytest.raises(ConfigError, match="unknown class 'nay'"):
        faithgauge.explain(trained, "good", target="nay")


def test_the_seed_of_explain_is_that_of_what_is_drawn(trained: Trained) -> None:
    one, again, other = (
        faithgauge.explain(trained, "good film", explainers="random", seed=seed).scores for seed in (0, 0, 1)
    )
    assert one == again != other


def test_scores_from_elsewhere_are_read_onto_the_tokens_of_the_model(
    trained: Trained, tmp_path: Path
) -> None:
    rows = [{"text": "a good film", "scores": [1, 2, 3]}, {"text": "bad", "scores": [1, 2]}]
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    for given, name in ((file, "mine"), (str(file), "mine"), (rows, "scores")):
        first, second = faithgauge.read_scores(given, trained, ["a good film", "bad"])
        assert first.scores == {name: (1, 2, 3)}
        assert first.reasons == {}
        assert second.reasons[name].endswith(" 2: expected 1 tokens, found 2")
    with pytest.raises(ConfigError, match="expected a list of texts, found one text"):
        faithgauge.read_scores(rows, trained, "a good film")


def test_a_name_of_nothing_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as raised:
        faithgauge.load("mock_5")
    assert str(raised.value) == "unknown data set 'mock_5': did you mean 'mock-5'?"


def test_a_folder_that_holds_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a folder that `faithgauge train` wrote"):
        faithgauge.predict(tmp_path, ["good"])


@pytest.mark.slow
def test_the_lines_of_the_readme_run() -> None:
    made = faithgauge.train("planted", encoder="bilstm", epochs=3)
    explanation = faithgauge.explain(made, "The soup was wonderful and the waiter kind.")
    assert made.record["metrics"]["test"]["accuracy"] > 0.9
    assert explanation.label == "positive"
    assert explanation.tokens == ("The", "soup", "was", "wonderful", "and", "the", "waiter", "kind", ".")
    assert sum(explanation.scores["attention"]) == pytest.approx(1, abs=1e-5)
