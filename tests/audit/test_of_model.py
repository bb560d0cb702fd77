"""A model in memory is audited like its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tiny

import faithgauge
from faithgauge.errors import ConfigError

TEXTS = ["a good film", "a bad film", "the plot was unlikely", "the film played"] * 8
LABELS = [1, 0] * 16


@pytest.fixture
def bert(tmp_path: Path) -> tuple[Any, Any]:
    from transformers import PreTrainedTokenizerFast

    file = tiny.tokenizer_file(tmp_path)
    return tiny.network("bert"), PreTrainedTokenizerFast(tokenizer_file=str(file), pad_token="[PAD]")


def asked(audit: faithgauge.Audit, tmp_path: Path, **more: Any) -> faithgauge.Verdicts:
    few = {"explainers": ["random", "rollout"], "tests": "erasure", "store": tmp_path / "store"}
    return audit.run(TEXTS, more.pop("labels", LABELS), out=tmp_path / "out", **few, **more)


def test_a_model_with_its_tokenizer_is_audited_and_shown_by_words(
    bert: tuple[Any, Any], tmp_path: Path
) -> None:
    found = asked(faithgauge.Audit(*bert), tmp_path)
    assert list(found.verdicts) == ["random", "rollout"]
    assert found.document["failures"] == []
    assert found.document["title"] == "Audit of BertForSequenceClassification"
    assert found.document["about"]["data"]["splits"] == {"test": 32}
    told = [json.loads(line) for line in (tmp_path / "out" / "instances.jsonl").read_text().splitlines()]
    third = next(one for one in told if one["text"] == TEXTS[2])
    assert third["tokens"] == ["the", "plot", "was", "unlikely"]
    assert len(third["explanations"]["rollout"]) == 4


def test_a_folder_and_names_of_classes_say_the_same(bert: tuple[Any, Any], tmp_path: Path) -> None:
    found = asked(faithgauge.Audit(*bert), tmp_path)
    folder = tiny.folder_of(tmp_path / "model", "bert")
    names = [f"LABEL_{label}" for label in LABELS]
    same = asked(faithgauge.Audit(folder), tmp_path, labels=names)
    assert same.verdicts == found.verdicts


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (LABELS[:3], "expected as many labels as texts, found 3 and 32"),
        (
            [2, *LABELS[1:]],
            r"label 0: expected a class of the model \(LABEL_0, LABEL_1\) or its number, found 2",
        ),
    ],
)
def test_labels_that_do_not_fit_are_refused(
    bert: tuple[Any, Any], tmp_path: Path, labels: list[int], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        asked(faithgauge.Audit(*bert), tmp_path, labels=labels)


def test_what_is_no_model_or_has_no_tokenizer_is_refused(bert: tuple[Any, Any], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected the fast tokenizer of the model, found none"):
        asked(faithgauge.Audit(bert[0]), tmp_path)
    with pytest.raises(ConfigError, match=r"expected a model of the transformers library.*found int"):
        asked(faithgauge.Audit(3), tmp_path)
