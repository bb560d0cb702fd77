from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from fakes import classifier

from faithgauge.cli import output
from faithgauge.cli.main import run
from faithgauge.encode.tokenizer import WordTokenizer
from faithgauge.models.store import Trained, save

WORDS = WordTokenizer.of("plain", ["bad", "film", "good", "the"])
PROMISES = ["forward", "padding", "embedding", "attention", "decode", "linear", "entry", "two_sided"]
MODULE = '''
import torch
from torch import nn
from faithgauge.types import Output


class Bag(nn.Module):
    """The sum of a number per word; no capabilities."""

    capabilities = frozenset()

    def __init__(self, shape):
        super().__init__()
        self.n_classes = len(shape.classes)
        numbers = torch.arange(shape.vocabulary * self.n_classes) / 1000
        self.weight = nn.Parameter(numbers.view(-1, self.n_classes))

    def forward(self, batch, attention=None):
        return Output((self.weight[batch.ids] * batch.valid[..., None]).sum(1))


class Leaky(Bag):
    """Padding counts, and so does a capability that nobody knows."""

    capabilities = frozenset({"[red]heads"})

    def forward(self, batch, attention=None):
        return Output(self.weight[batch.ids + 1].sum(1))


class Broken(Bag):
    def forward(self, batch, attention=None):
        raise ValueError("not today")


def ready():
    import faithgauge
    return faithgauge.load_model("model")


def number(shape):
    return 3
'''


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output.out, "width", 120)
    Path("module_of_a_user_of_check.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "module_of_a_user_of_check", raising=False)
    model = classifier("bilstm", vocabulary=len(WORDS.vocabulary))
    save(Trained(model, WORDS, ("no", "yes")), Path("model"))
    return "module_of_a_user_of_check"


def test_a_trained_model_is_listed_promise_by_promise(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check-model", "model"]) == 0
    out, err = capsys.readouterr()
    found = [line.split()[:2] for line in out.splitlines()]
    assert found == [[promise, "missing" if promise == "two_sided" else "ok"] for promise in PROMISES]
    assert out.splitlines()[0].split(None, 2)[2].strip() == "logits (3, 1)"
    assert err == ""


def test_json_has_a_finding_per_promise(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check-model", "model", "--json"]) == 0
    out, err = capsys.readouterr()
    assert (out.count("\n"), err) == (1, "")
    found = json.loads(out)
    assert list(found) == ["model", "ok", "findings"]
    assert (found["model"], found["ok"]) == ("model", True)
    assert [list(finding) for finding in found["findings"]] == [["promise", "status", "detail"]] * 8
    assert [finding["promise"] for finding in found["findings"]] == PROMISES


def test_what_is_missing_is_no_error(own: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check-model", f"{own}:Bag"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["ok", "ok", *["missing"] * 6]
    assert lines[3].rstrip() == (
        "attention  missing  not among its capabilities; every test of attention needs it"
    )


def test_what_is_wrong_is_exit_code_2_and_one_line_names_it(
    own: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check-model", f"{own}:Leaky"]) == 2
    out, err = capsys.readouterr()
    lines = {line.split()[0]: line.split()[1] for line in out.splitlines()}
    assert (lines["forward"], lines["padding"], lines["capabilities"]) == ("ok", "wrong", "wrong")
    assert "unknown: [red]heads" in out
    assert err == f"error: {own}:Leaky: padding, capabilities not as the Classifier protocol says\n"


def test_with_json_what_is_wrong_is_in_the_document_and_exit_code_2(
    own: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check-model", f"{own}:Broken", "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "model": f"{own}:Broken",
        "ok": False,
        "findings": [{"promise": "forward", "status": "wrong", "detail": "raised ValueError: not today"}],
    }
    assert err == ""


@pytest.mark.parametrize("task", ["single", "pair", "cloze"])
@pytest.mark.parametrize("classes", [2, 3])
def test_classes_and_task_are_those_of_the_function(
    own: str, task: str, classes: int, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["check-model", f"{own}:Bag", "--task", task, "--classes", str(classes), "--json"]
    assert run(arguments) == 0
    assert json.loads(capsys.readouterr().out)["findings"][0]["detail"] == f"logits (3, {classes})"


def test_a_function_that_gives_a_trained_model_is_checked_as_that(
    own: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check-model", f"{own}:ready", "--classes", "5"]) == 0
    assert "logits (3, 1)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere", "nowhere: expected a folder that `faithgauge train` wrote, found no model.json in it"),
        ("{0}:number", "{0}:number: expected it to return a torch module, found int"),
        ("{0}:Bog", "module '{0}' has no 'Bog'"),
        ("gone_away:Bag", "cannot import 'gone_away' of 'gone_away:Bag': No module named 'gone_away'"),
    ],
)
def test_what_is_no_model_is_one_line(
    own: str, place: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check-model", place.format(own)]) == 2
    assert capsys.readouterr() == ("", f"error: {message.format(own)}\n")
    assert run(["check-model", place.format(own), "--json"]) == 2
    assert json.loads(capsys.readouterr().out) == {"error": message.format(own)}


def test_one_class_is_refused(own: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check-model", f"{own}:Bag", "--classes", "1"]) == 2
    assert "--classes" in capsys.readouterr().err
