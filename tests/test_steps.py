from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from faithgauge import steps
from faithgauge.config import EncodeConfig
from faithgauge.data.dataset import Dataset
from faithgauge.errors import ConfigError, DataError, FaithgaugeError, UnsupportedError
from faithgauge.explain.asked import named
from faithgauge.explain.given import of_rows
from faithgauge.models.store import Trained
from faithgauge.report.explanation import Explanation
from faithgauge.settings import settings
from faithgauge.train import checkpoint
from faithgauge.train.metrics import METRICS
from faithgauge.types import SPLITS, Example, Split, Task

SMALL = {
    "encoder": "mlp",
    "hidden_size": 8,
    "embed_size": 6,
    "epochs": 2,
    "batch_size": 4,
    "learning_rate": 0.05,
}
CHECKPOINT = checkpoint.FILE
MARKS = ("bad", "good", "odd")
"""Class i is told by the word at i."""


def toy(task: Task = "single", classes: int = 2, *, shuffled: int = 0, **options: Any) -> Dataset:
    """Texts in which one word tells the class, in all splits."""
    names = ("no", "yes", "maybe")[:classes]
    splits: dict[Split, list[Example]] = {}
    for split, size in zip(SPLITS, (18, 9, 6), strict=True):
        splits[split] = [
            Example(
                f"The {MARKS[i % classes]} film, number {i} !",
                i % classes,
                f"{split} {i}",
                None if task == "single" else f"Is it {MARKS[i % classes]} ?",
                candidates=tuple(range(classes)) if task == "cloze" else None,
            )
            for i in range(shuffled, shuffled + size)
        ]
    return Dataset("toy", "", task, names, splits, **options)


def train(dataset: Dataset | None = None, **given: Any) -> Trained:
    """With tiny settings; `out`, `factory` and `on_event` go to the job, the rest are settings."""
    own = {name: given.pop(name) for name in ("out", "factory", "on_event") if name in given}
    return steps.train(settings("toy", **{**SMALL, **given}), dataset or toy(), **own)


def same_weights(one: Trained, two: Trained) -> bool:
    ours, theirs = one.classifier.state_dict(), two.classifier.state_dict()
    return ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def refused(kind: type[FaithgaugeError], dataset: Dataset | None = None, **given: Any) -> str:
    with pytest.raises(kind) as raised:
        train(dataset, **given)
    message = str(raised.value)
    assert "\n" not in message
    return message


@pytest.fixture(scope="module")
def trained() -> Trained:
    """By the loss, because the first epoch that ranks the few texts rightly need not have learnt much."""
    return train(epochs=20, select_by="loss")


@pytest.fixture(scope="module")
def pair() -> Trained:
    return train(toy("pair"))


@pytest.fixture(scope="module")
def two_sided() -> Trained:
    return train(toy("pair"), pair="two_sided", epochs=1)


@pytest.fixture(scope="module")
def cloze() -> Trained:
    return train(toy("cloze", 3))


@pytest.fixture
def no_encode(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise AssertionError("encoded first")

    monkeypatch.setattr(steps, "encode", fail)


# ---- a training and its record


def test_a_word_that_tells_the_class_is_learnt(trained: Trained) -> None:
    assert trained.record["metrics"]["test"]["accuracy"] == 1.0
    assert trained.record["metrics"]["test"]["f1_positive"] == 1.0


def test_the_record_says_all_that_a_number_must_say_of_itself(trained: Trained) -> None:
    record = trained.record
    assert {
        name: record[name] for name in ("dataset", "complete", "missing", "notes", "encoder", "seed")
    } == {
        "dataset": "toy",
        "complete": True,
        "missing": (),
        "notes": (),
        "encoder": "mlp",
        "seed": 0,
    }
    assert (record["selected_on"], record["selected_by"]) == ("validation", "loss")
    assert list(record["metrics"]) == ["train", "validation", "test"]
    assert all(tuple(values) == METRICS for values in record["metrics"].values())
    assert [line["epoch"] for line in record["history"]] == list(range(1, 21))
    assert record["settings"]["epochs"] == 20
    assert record["settings"]["batch_size"] == 4
    assert record["vectors"] == {"vectors": "normal(0, 0.1)", "size": 6, "scale": 0.1, "seed": 0}
    assert record["torch"] == torch.__version__
    assert record["seconds"] > 0


def test_the_epoch_that_is_kept_is_the_first_with_the_best_value(trained: Trained) -> None:
    values = [line["loss"] for line in trained.record["history"]]
    assert trained.record["epoch"] == values.index(min(values)) + 1
    assert trained.record["metrics"]["validation"]["loss"] == min(values)


def test_the_record_counts_the_texts_and_their_words(trained: Trained) -> None:
    """The words are: the, bad, good, film, comma, number, exclamation mark, 18 numbers; 5 ids are special.

    Of the 9 validation texts and the 6 test texts all words are known. A text has 7 words.
    """
    report = trained.record["encoding"]
    assert report["vocabulary"] == len(trained.tokenizer.vocabulary) == 7 + 18 + 5
    assert {split: counts["examples"] for split, counts in report["splits"].items()} == {
        "train": 18,
        "validation": 9,
        "test": 6,
    }
    assert {counts["unknown"] for counts in report["splits"].values()} == {0}
    assert {counts["mean_length"] for counts in report["splits"].values()} == {7}


def test_the_same_seed_ends_with_the_same_weights_and_another_one_does_not() -> None:
    one, two, other = train(), train(), train(seed=1)
    assert same_weights(one, two)
    assert not same_weights(one, other)
    assert one.record["fingerprint"] == two.record["fingerprint"] != other.record["fingerprint"]


def test_a_training_leaves_torchs_own_generator_as_it_was() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    train(epochs=1)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_events_name_every_step_and_close_every_epoch() -> None:
    events: list[Any] = []
    train(on_event=events.append)
    # 18 texts in batches of 4 are 5 steps; after the last of them the epoch is judged.
    assert [(one.epoch, one.step, bool(one.metrics)) for one in events] == [
        (epoch, step, judged)
        for epoch in (1, 2)
        for step, judged in [(1, False), (2, False), (3, False), (4, False), (5, False), (5, True)]
    ]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("task", ["single", "pair", "cloze"])
def test_every_task_is_trained_with_two_classes_and_with_three(task: Task, classes: int) -> None:
    made = train(toy(task, classes), epochs=1)
    assert (made.task, made.classes) == (task, ("no", "yes", "maybe")[:classes])
    measured = made.record["metrics"]["test"]
    assert math.isnan(measured["f1_positive"]) is (classes == 3)
    assert 0 < measured["loss"] < 2


def test_a_split_that_is_not_there_is_not_measured() -> None:
    dataset = toy()
    splits = {split: examples for split, examples in dataset.splits.items() if split != "test"}
    assert list(train(replace(dataset, splits=splits), epochs=1).record["metrics"]) == ["train", "validation"]


def test_partial_and_substituted_data_are_marked() -> None:
    partial = train(toy(missing=("test: 6 of 1,821 examples are there",)), epochs=1).record
    assert (partial["complete"], partial["missing"]) == (False, ("test: 6 of 1,821 examples are there",))
    substituted = train(toy(substituted=True, notes=("other texts stand in",)), epochs=1).record
    assert (substituted["complete"], substituted["missing"]) == (False, ())
    assert substituted["notes"] == ("other texts stand in",)


def test_the_variant_is_part_of_the_name() -> None:
    dataset = replace(toy(), variant="jain-wallace-2019")
    assert train(dataset, epochs=1).record["dataset"] == "toy@jain-wallace-2019"


def test_what_is_said_of_encoding_changes_that_and_keeps_the_rest_of_the_data_sets_own() -> None:
    """min_df 2 of the data set leaves only words of two texts; --max-tokens is none of its business."""
    dataset = toy(encoding=EncodeConfig(words="plain", min_df=2))
    kept = train(dataset, epochs=1, max_tokens=50).tokenizer.vocabulary
    assert "17" not in kept
    assert "film" in kept
    assert "17" in train(dataset, epochs=1, min_df=1).tokenizer.vocabulary


# ---- word vectors


def vectors(folder: Path) -> Path:
    file = folder / "vectors.txt"
    file.write_text("good 1 2 3\nbad -1 -2 -3\nunseen 9 9 9\n")
    return file


def test_vectors_of_a_file_are_used_and_give_the_embedding_its_size(tmp_path: Path) -> None:
    made = train(embeddings=vectors(tmp_path), embed_size=None, epochs=1, learning_rate=1e-9, weight_decay=0)
    weight = made.classifier.embedding.weight  # type: ignore[union-attr]
    vocabulary = made.tokenizer.vocabulary
    assert weight.shape == (len(vocabulary), 3)
    assert weight[vocabulary.index("good")].tolist() == pytest.approx([1, 2, 3], abs=1e-6)  # type: ignore[index]
    assert weight[vocabulary.index("bad")].tolist() == pytest.approx([-1, -2, -3], abs=1e-6)  # type: ignore[index]
    assert made.record["vectors"]["vectors"] == "vectors.txt"
    assert made.record["vectors"]["words_found"] == 2
    assert made.record["vectors"]["tokens_found"] == pytest.approx(1 / 7)  # of a text's words one is a mark


def test_vectors_of_another_size_than_asked_for_are_refused(tmp_path: Path) -> None:
    message = refused(DataError, embeddings=vectors(tmp_path))
    assert "expected vectors of size 6, found 3" in message


def test_without_vectors_and_size_there_are_300_numbers() -> None:
    made = train(embed_size=None, epochs=1)
    assert made.record["vectors"]["size"] == 300


# ---- what is refused, and when


@pytest.mark.usefixtures("no_encode")
@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"encoder": "bilstn"}, "unknown encoder 'bilstn': did you mean 'bilstm'?"),
        ({"attention": "adittive"}, "unknown attention 'adittive': did you mean 'additive'?"),
        ({"distribution": "sparse"}, "unknown distribution 'sparse': did you mean 'sparsemax'?"),
        ({"select_by": "roc"}, "unknown metric 'roc': did you mean 'roc_auc'?"),
    ],
)
def test_an_unknown_name_is_refused_before_anything_is_encoded(given: dict[str, str], error: str) -> None:
    assert refused(ConfigError, **given) == error


@pytest.mark.usefixtures("no_encode")
def test_a_missing_file_of_vectors_is_refused_before_anything_is_encoded(tmp_path: Path) -> None:
    file = tmp_path / "glove.txt"
    assert refused(DataError, embeddings=file) == (
        f"{file}: no such file; expected word vectors (.txt, .vec or .bin, or these as .gz)"
    )
    assert refused(DataError, embeddings=tmp_path).startswith(f"{tmp_path}: a folder, no file; expected word")


@pytest.mark.usefixtures("no_encode")
@pytest.mark.parametrize(
    ("absent", "error"),
    [
        ("train", "toy: expected a train split, found validation, test; there is nothing to train on"),
        ("validation", "toy: expected a validation split, found train, test; choose another --select-on"),
        (
            "validation test",
            "toy: expected a validation split, found train; with train alone there is no split to select the "
            "epoch on",
        ),
    ],
)
def test_a_split_that_is_needed_is_missed_before_anything_is_encoded(absent: str, error: str) -> None:
    dataset = toy()
    splits = {split: examples for split, examples in dataset.splits.items() if split not in absent}
    assert refused(DataError, replace(dataset, splits=splits)) == error
    partial = replace(dataset, splits=splits, missing=("train: no file a.txt", "test: no file b.txt"))
    assert refused(DataError, partial) == f"{error}; train: no file a.txt; test: no file b.txt"
    assert refused(DataError, replace(dataset, splits=splits, notes=("as it is",))) == f"{error}; as it is"


def test_selecting_on_test_needs_no_validation() -> None:
    dataset = toy()
    splits = {split: examples for split, examples in dataset.splits.items() if split != "validation"}
    made = train(replace(dataset, splits=splits), select_on="test", epochs=1)
    assert made.record["selected_on"] == "test"


def test_a_single_class_is_refused() -> None:
    assert refused(DataError, toy(classes=1)) == "toy: expected two classes or more, found 'no'"


@pytest.mark.usefixtures("no_encode")
@pytest.mark.parametrize("below", ["", "/deeper/model"])
def test_a_file_in_the_place_of_the_folder_is_refused_before_anything_is_encoded(
    tmp_path: Path, below: str
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    out = Path(f"{file}{below}")
    assert refused(ConfigError, out=out) == (
        f"{out}: expected a folder to write to, found {file}; choose another --out"
    )
    assert file.read_text() == "mine"


# ---- the folder


def test_a_finished_training_leaves_a_model_and_no_checkpoint(tmp_path: Path) -> None:
    train(out=tmp_path / "a" / "model")
    assert sorted(path.name for path in (tmp_path / "a" / "model").iterdir()) == [
        "model.json",
        "model.safetensors",
        "tokenizer.json",
    ]


def test_there_is_a_checkpoint_while_it_trains(tmp_path: Path) -> None:
    seen: list[bool] = []
    train(out=tmp_path, on_event=lambda _: seen.append((tmp_path / CHECKPOINT).exists()))
    assert seen == [False] * 6 + [True] * 6


def test_a_second_call_reads_the_stored_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = train(out=tmp_path)
    monkeypatch.setattr(steps, "fit", None)  # a call would be an error
    second = train(out=tmp_path)
    assert same_weights(first, second)
    assert second.folder == tmp_path
    assert second.record["metrics"] == first.record["metrics"]


@pytest.mark.parametrize(
    "other",
    [
        {"epochs": 3},
        {"seed": 1},
        {"encoder": "average"},
        {"embedding_scale": 0.2},
        {"distribution": "sparsemax"},
    ],
)
def test_a_folder_with_a_model_of_other_settings_is_refused(tmp_path: Path, other: dict[str, Any]) -> None:
    train(out=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert refused(ConfigError, out=tmp_path, **other) == (
        f"{tmp_path}: holds a model of another training; choose another --out, or delete this folder"
    )
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_with_a_model_of_other_texts_is_refused(tmp_path: Path) -> None:
    train(out=tmp_path)
    assert "another training" in refused(ConfigError, toy(shuffled=1), out=tmp_path)


def test_a_folder_with_a_model_of_other_words_in_the_same_places_is_refused(tmp_path: Path) -> None:
    """Ids, lengths and so weights are the same; what the model makes of a text is not."""
    train(out=tmp_path)
    splits = {
        split: [replace(one, text=one.text.replace("good", "gold")) for one in examples]
        for split, examples in toy().splits.items()
    }
    assert "another training" in refused(ConfigError, replace(toy(), splits=splits), out=tmp_path)


def test_a_folder_with_a_model_of_other_classes_is_refused(tmp_path: Path) -> None:
    train(out=tmp_path)
    assert "another training" in refused(ConfigError, replace(toy(), classes=("low", "high")), out=tmp_path)


def test_a_training_that_was_killed_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    def kill(event: Any) -> None:
        if (event.epoch, event.step) == (2, 2):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(out=tmp_path, on_event=kill)
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT]
    steps: list[tuple[int, int]] = []
    resumed = train(out=tmp_path, on_event=lambda event: steps.append((event.epoch, event.step)))
    assert steps[0] == (2, 1)
    assert same_weights(resumed, train())
    assert not (tmp_path / CHECKPOINT).exists()


def test_a_training_that_was_killed_is_not_gone_on_with_under_other_settings(tmp_path: Path) -> None:
    def kill(event: Any) -> None:
        if event.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(out=tmp_path, on_event=kill)
    assert "other settings or data" in refused(DataError, out=tmp_path, learning_rate=0.01)


def test_a_checkpoint_that_a_kill_left_beside_the_model_goes_with_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "remove", lambda _: None)
        train(out=tmp_path)
    assert (tmp_path / CHECKPOINT).exists()
    train(out=tmp_path)
    assert not (tmp_path / CHECKPOINT).exists()


# ---- a model of the user's own

MODULE = """
import torch
from torch import nn
from faithgauge.types import Output


class Bag(nn.Module):
    capabilities = frozenset()

    def __init__(self, shape):
        super().__init__()
        self.n_classes = len(shape.classes)
        self.weight = nn.Parameter(torch.randn(shape.vocabulary, self.n_classes))

    def forward(self, batch, attention=None):
        return Output((self.weight[batch.ids] * batch.valid[..., None]).sum(1))


def linear(shape):
    return nn.Linear(2, 2)


def ready():
    from faithgauge import load_model
    return load_model("nowhere")


number = 3
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = "module_of_a_user_of_jobs"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, name, raising=False)
    return name


def test_a_model_of_the_users_own_is_trained_and_measured(own: str, tmp_path: Path) -> None:
    given = {"factory": f"{own}:Bag", "epochs": 20, "select_by": "loss"}
    made = train(out=tmp_path / "model", **given)
    assert made.record["encoder"] == f"{own}:Bag"
    assert made.record["vectors"] == {}
    assert made.record["metrics"]["test"]["accuracy"] == 1.0
    assert same_weights(made, train(**given))


@pytest.mark.parametrize(
    ("attribute", "kind", "error"),
    [
        (
            "linear",
            UnsupportedError,
            "{0}:linear: expected a model with n_classes 2, found none; "
            "faithgauge check-model says what else it lacks",
        ),
        ("number", ConfigError, "{0}:number: expected a function of a Shape, found int"),
        ("Bog", ConfigError, "module '{0}' has no 'Bog'"),
    ],
)
def test_what_makes_no_model_is_refused(
    own: str, attribute: str, kind: type[FaithgaugeError], error: str
) -> None:
    assert refused(kind, factory=f"{own}:{attribute}") == error.format(own)


def test_a_model_without_attention_predicts_and_refuses_to_explain(own: str) -> None:
    made = train(factory=f"{own}:Bag", epochs=1)
    assert steps.predict_texts(made, ["The good film"]).shape == (1, 2)
    with pytest.raises(UnsupportedError, match="attention needs a model with attention"):
        explained(made, "The good film")


# ---- new texts


def explained(trained: Trained, *texts: str, by: str = "attention") -> Explanation:
    return steps.explain_text(trained, *texts, asked=named(by))


def test_the_words_of_the_classes_decide_new_texts(trained: Trained) -> None:
    likely = steps.predict_texts(trained, ["A bad thing", "A good thing", "bad"])
    assert likely.shape == (3, 2)
    assert likely.argmax(-1).tolist() == [0, 1, 0]
    assert likely.sum(-1) == pytest.approx([1, 1, 1])


def test_a_text_is_predicted_alike_alone_and_beside_others(trained: Trained) -> None:
    texts = ["good", "The bad film , number 3 ! " * 9, "The good one"]
    together = steps.predict_texts(trained, texts)
    alone = np.concatenate([steps.predict_texts(trained, [text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-6


def test_no_texts_have_no_predictions(trained: Trained) -> None:
    assert steps.predict_texts(trained, []).shape == (0, 2)


def test_tokens_are_the_text_between_their_spans(trained: Trained) -> None:
    text = "  The GOOD film,\tnumber 3!"
    found = explained(trained, text)
    assert found.tokens == tuple(text[start:end] for start, end in found.spans)
    assert [token.lower() for token in found.tokens if token.isalnum()] == [
        "the",
        "good",
        "film",
        "number",
        "3",
    ]
    assert found.text == text
    assert found.text_pair is None


def test_an_explanation_has_a_score_per_token_and_none_for_special_ones(trained: Trained) -> None:
    found = explained(trained, "The good film")
    assert found.tokens == ("The", "good", "film")
    encoded = steps.read_texts(trained, ["The good film"]).splits["test"]
    assert len(encoded.ids.row(0)) == 5  # with begin and end
    (scores,) = found.scores.values()
    assert len(scores) == 3
    assert sum(scores) == pytest.approx(1)
    assert list(found.scores) == ["attention"]


def test_the_label_is_the_most_probable_one_and_probabilities_stand_by_name(trained: Trained) -> None:
    found = explained(trained, "The good film")
    assert found.label == "yes"
    assert list(found.probabilities) == ["no", "yes"]
    predicted = steps.predict_texts(trained, ["The good film"])[0]
    assert list(found.probabilities.values()) == pytest.approx(predicted.tolist())


def test_a_text_beyond_20000_tokens_is_cut(trained: Trained) -> None:
    found = explained(trained, "film " * 25_000)
    # Two of the 20,000 are the special ones.
    assert len(found.tokens) == 19_998
    assert found.spans[-1] == (5 * 19_997, 5 * 19_997 + 4)


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_an_empty_text_is_an_error_with_its_number(trained: Trained, text: str) -> None:
    with pytest.raises(DataError) as raised:
        steps.predict_texts(trained, ["fine", text])
    assert str(raised.value) == "text 2: expected words, found an empty text; leave it out"


def test_a_text_without_a_token_is_an_error_with_its_number(trained: Trained) -> None:
    with pytest.raises(DataError, match="text 2: expected at least one token, found none"):
        steps.predict_texts(trained, ["fine", "\u200b"])


def test_one_text_for_a_model_of_pairs_is_refused(pair: Trained) -> None:
    with pytest.raises(ConfigError) as raised:
        explained(pair, "The good film")
    assert str(raised.value) == "a model for pair tasks was given one text; expected two texts"


def test_two_texts_for_a_model_of_single_ones_are_refused(trained: Trained) -> None:
    with pytest.raises(ConfigError) as raised:
        explained(trained, "The good film", "Is it good ?")
    assert str(raised.value) == "a model for single tasks was given two texts; expected one text"


def test_one_text_for_a_cloze_model_is_refused(cloze: Trained) -> None:
    with pytest.raises(ConfigError) as raised:
        steps.predict_texts(cloze, ["The good film"])
    assert (
        str(raised.value) == "a model for cloze tasks was given one text; expected a passage and a question"
    )


def test_every_first_text_needs_its_second(pair: Trained) -> None:
    with pytest.raises(ConfigError) as raised:
        steps.predict_texts(pair, ["a", "b", "c"], ["d", "e"])
    assert str(raised.value) == "expected a second text for each of 3 texts, found 2"


def test_of_a_pair_the_first_text_is_explained(pair: Trained) -> None:
    found = explained(pair, "The good film", "Is it good ?")
    assert found.tokens == ("The", "good", "film")
    assert found.text_pair == "Is it good ?"


def test_a_new_cloze_question_may_be_answered_with_any_class(cloze: Trained) -> None:
    likely = steps.predict_texts(cloze, ["The good film"], ["Is it good ?"])
    assert likely.shape == (1, 3)
    assert (likely > 0).all()


def test_both_texts_of_a_two_sided_pair_are_explained(two_sided: Trained) -> None:
    found = explained(two_sided, "The good film", "Is it good ?", by="attention,random")
    assert found.pair_tokens == ("Is", "it", "good", "?")
    assert [len(one) for one in found.pair_scores.values()] == [4, 4]
    assert sum(found.scores["attention"]) == pytest.approx(1)
    assert sum(found.pair_scores["attention"]) == pytest.approx(1)


def test_of_each_explainer_the_class_that_it_explains_is_named(trained: Trained) -> None:
    found = explained(trained, "The good film", by="random,random:target=0:draw=2")
    assert found.label == "yes"
    assert found.targets == {"random": "yes", "random:draw=2:target=0": "no"}


@pytest.mark.parametrize(
    ("target", "number"), [("no", 0), ("1", 1), ("predicted", "predicted"), ("gold", "gold")]
)
def test_a_class_is_aimed_at_by_name_or_number_and_the_names_of_explainers_stay(
    trained: Trained, target: str, number: int | str
) -> None:
    found = steps.aimed(trained, named("random,gradient:recursive-roar-2022"), target)
    assert list(found) == ["random", "gradient:recursive-roar-2022"]
    assert [one.target for one in found.values()] == [number, number]


def test_an_unknown_class_is_answered_with_the_nearest(trained: Trained) -> None:
    with pytest.raises(ConfigError) as raised:
        steps.aimed(trained, named("random"), "yess")
    assert str(raised.value) == "unknown class 'yess': did you mean 'yes'?"


def test_the_gold_class_is_explained_where_there_is_one(trained: Trained) -> None:
    texts = [Example("The good film", label, str(label)) for label in (0, 1)]
    found = list(steps.explain_examples(trained, texts, named("leave_one_out:target=gold")))
    assert [one.gold for one in found] == ["no", "yes"]
    assert [one.targets["leave_one_out:target=gold"] for one in found] == ["no", "yes"]
    # p(no) = 1 - p(yes): what speaks for one class speaks as much against the other
    for one, other in zip(*(one.scores["leave_one_out:target=gold"] for one in found), strict=True):
        assert one == pytest.approx(-other, abs=1e-6)


def test_without_labels_there_is_no_gold_class(trained: Trained) -> None:
    with pytest.raises(ConfigError, match="expected labelled texts for target=gold"):
        explained(trained, "The good film", by="random:target=gold")


def test_each_text_of_many_is_explained_as_it_is_alone(trained: Trained) -> None:
    texts = ["good", "The bad film , number 3 ! " * 3, "The good one"]
    together = steps.explain_examples(trained, steps.new_examples(texts), named("attention,leave_one_out"))
    for text, one in zip(texts, together, strict=True):
        alone = explained(trained, text, by="attention,leave_one_out")
        assert one.tokens == alone.tokens
        for name, scores in one.scores.items():
            assert scores == pytest.approx(alone.scores[name], abs=1e-5)


def test_the_seed_decides_what_is_drawn(trained: Trained) -> None:
    texts = steps.new_examples(["The good film"])
    scores = [
        next(
            steps.explain_examples(trained, texts, named("random"), known=steps.known_of(trained, seed=seed))
        )
        for seed in (0, 0, 1)
    ]
    assert scores[0] == scores[1] != scores[2]


def test_progress_is_told_by_explainer(trained: Trained) -> None:
    told: list[tuple[str, float, float]] = []
    texts = steps.new_examples(["good", "bad"])
    steps.explain_examples(
        trained, texts, named("random,attention"), on_progress=lambda *one: told.append(one)
    )
    assert told == [("random", 2, 2), ("attention", 2, 2)]


def test_scores_from_elsewhere_stand_beside_ours_under_another_name(trained: Trained) -> None:
    texts = steps.new_examples(["The good film"])
    sheet = of_rows([{"text": "The good film", "mine": [1, 2, 3]}])
    (found,) = steps.explain_examples(trained, texts, named("attention"), scores=sheet)
    assert list(found.scores) == ["attention", "mine"]
    assert found.scores["mine"] == (1, 2, 3)
    taken = of_rows([{"text": "The good film", "attention": [1, 2, 3]}])
    with pytest.raises(ConfigError, match="than for ours, found 'attention' twice; rename"):
        steps.explain_examples(trained, texts, named("attention"), scores=taken)


def test_the_training_split_of_a_models_data_is_read_in_its_ids(trained: Trained, tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    file.write_text("text,label\n" + "".join(f"a good film {i},{['no', 'yes'][i % 2]}\n" for i in range(20)))
    encoded = steps.training_texts(trained, str(file))
    assert len(encoded) == 14
    assert trained.tokenizer.index["good"] in encoded.ids.row(0)
    file.write_text(file.read_text().replace(",no", ",maybe"))
    with pytest.raises(DataError, match="expected the classes of the model, no, yes, found maybe, yes"):
        steps.training_texts(trained, str(file))


# ---- sub-words


@pytest.fixture(scope="module")
def subwords(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """WordPiece with [CLS] and [SEP] around a text."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [*special, "the", "good", "bad", "film", "##s", ",", "number", "!", "is", "it", "?"]
    numbers = [*map(str, range(10)), *(f"##{i}" for i in range(10))]
    vocabulary = {word: i for i, word in enumerate([*words, *numbers])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.add_special_tokens(special)
    file = tmp_path_factory.mktemp("subwords") / "tokenizer.json"
    tokenizer.save(str(file))
    return file


def test_sub_words_are_trained_on_stored_read_and_explained(subwords: Path, tmp_path: Path) -> None:
    made = train(tokenizer=subwords, epochs=20, select_by="loss", out=tmp_path)
    assert made.record["metrics"]["test"]["accuracy"] == 1.0
    found = explained(made, "The good FILMS")
    assert found.tokens == ("The", "good", "FILM", "S")
    assert found.spans == ((0, 3), (4, 8), (9, 13), (13, 14))
    assert sum(found.scores["attention"]) == pytest.approx(1)
    assert found.label == "yes"


def test_a_second_call_with_sub_words_reads_the_stored_model(
    subwords: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = train(tokenizer=subwords, epochs=1, out=tmp_path)
    monkeypatch.setattr(steps, "fit", None)
    assert same_weights(first, train(tokenizer=subwords, epochs=1, out=tmp_path))


def test_vectors_of_words_do_not_fit_sub_words(subwords: Path, tmp_path: Path) -> None:
    message = refused(UnsupportedError, tokenizer=subwords, embeddings=vectors(tmp_path), embed_size=None)
    assert message == "vectors are of words, and this tokenizer has parts of words: leave them out"


def test_word_vectors_are_trained_first_where_that_is_asked() -> None:
    found = train(word2vec=True)
    assert found.record["vectors"]["vectors"].startswith("word2vec(toy, window 10")
    assert found.record["vectors"]["words_found"] == found.record["vectors"]["words"]


def test_word_vectors_from_two_places_are_refused(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("good 1 2\n")
    with pytest.raises(ConfigError, match="expected --embeddings or --word2vec, found both"):
        train(word2vec=True, embeddings=tmp_path / "v.txt")
