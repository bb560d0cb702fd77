from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from fakes import classifier, set_weights
from rich.console import Console
from torch import nn

from faithgauge.cli import output
from faithgauge.cli.main import run
from faithgauge.encode.tokenizer import WordTokenizer
from faithgauge.explain.table import EXPLAINERS
from faithgauge.models.store import Trained, save
from faithgauge.types import Batch, Importance, Task

WORDS = WordTokenizer.of("plain", ["bad", "film", "good", "the"])


def stored(task: Task = "single") -> str:
    """Every word has the same attention; 'good' is 2 and all other words 0: p(yes) = σ(2 · share of good)."""
    model = classifier("average", task=task, vocabulary=len(WORDS.vocabulary), embed_size=1, hidden_size=1)
    weights: dict[str, Any] = {"embedding__weight": torch.zeros(len(WORDS.vocabulary), 1)}
    weights["embedding__weight"][WORDS.index["good"]] = 2
    if task == "single":
        weights |= {"encoder__layer__weight": [[1.0]], "encoder__layer__bias": [0.0]}
        weights |= {"attention__attn2__weight": [[0.0]], "decoder__weight": [[1.0]], "decoder__bias": [0.0]}
    set_weights(model, **weights)
    save(Trained(model, WORDS, ("no", "yes"), task), Path(task))
    return task


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output.out, "width", 100)


def rising(model: nn.Module, batch: Batch) -> Importance:
    """-1 for the first word, 0 for the second … and no score for the last."""
    scores = torch.arange(batch.ids.shape[1]).expand(batch.ids.shape) - 2.0
    last = batch.maskable.cumsum(-1) == batch.maskable.sum(-1, keepdim=True)
    return Importance(scores.masked_fill(last | ~batch.maskable, torch.nan), signed=True)


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> None:
    entries: dict[str, Callable[..., Importance] | str] = EXPLAINERS._entries
    monkeypatch.setitem(entries, "rising", rising)


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["explain", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.removeprefix("error: ").removesuffix("\n")


def test_a_text_is_printed_with_its_numbers_where_there_is_no_colour(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A third of 2 is σ(0.667) = 0.661."""
    assert run(["explain", stored(), "--text", "The GOOD film"]) == 0
    assert capsys.readouterr() == (
        "attention\n"
        "The[0.33] GOOD[0.33] film[0.33]\n"
        "numbers: scores of at least 20% of the largest, 0.33\n"
        "prediction: yes  (no 0.339, yes 0.661)\n",
        "",
    )


def test_blanks_and_unknown_words_stay_as_they_were_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", stored(), "--text", "  a   Zebra\n[bold]good[/bold]"]) == 0
    text = capsys.readouterr().out.removeprefix("attention\n")
    assert text.startswith("  a[")
    assert "]   Zebra[" in text
    plain = re.sub(r"\[0\.\d+\]", "", text)
    assert plain.startswith("  a   Zebra\n[bold]good[/bold]\n")


@pytest.mark.usefixtures("second")
def test_explainers_stand_one_below_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", stored(), "--text", "the good film the", "--explainer", "rising, attention"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "rising"
    assert lines[1] == "the[-1] good film[+1] the"
    assert lines[3:5] == ["attention", "the[0.25] good[0.25] film[0.25] the[0.25]"]
    assert lines[6].startswith("prediction: yes ")


def test_json_has_the_keys_that_are_promised(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", stored(), "--text", "The GOOD film", "--json"]) == 0
    out, err = capsys.readouterr()
    assert (out.count("\n"), err) == (1, "")
    found = json.loads(out)
    assert found == {
        "tokens": ["The", "GOOD", "film"],
        "spans": [[0, 3], [4, 8], [9, 13]],
        "label": "yes",
        "probabilities": {"no": pytest.approx(0.339244, abs=1e-6), "yes": pytest.approx(0.660756, abs=1e-6)},
        "explanations": {"attention": [pytest.approx(1 / 3, abs=1e-6)] * 3},
    }


@pytest.mark.usefixtures("second")
def test_a_token_without_a_score_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", stored(), "--text", "the good film", "--explainer", "rising", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["explanations"] == {"rising": [-1.0, 0.0, None]}


def test_of_a_pair_the_first_text_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", stored("pair"), "--text", "the film", "--text-pair", "good ?", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tokens"] == ["the", "film"]
    assert math.fsum(found["explanations"]["attention"]) == pytest.approx(1)


def test_an_escape_sequence_in_the_text_does_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["explain", stored(), "--text", "good \x1b[31mfilm"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_on_a_terminal_with_colours_the_text_has_no_numbers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Console(
        force_terminal=True, color_system="truecolor", width=100, highlight=False, no_color=False
    )
    monkeypatch.setattr(sys.modules["faithgauge.cli.explain"], "out", terminal)
    assert run(["explain", stored(), "--text", "The GOOD film"]) == 0
    out = capsys.readouterr().out
    assert "\x1b[" in out
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out).splitlines()
    assert plain[:2] == ["attention", "The GOOD film"]
    assert plain[-1] == "prediction: yes  (no 0.339, yes 0.661)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--text", ""], "text 1: expected words, found an empty text; leave it out"),
        (
            ["--text", "good", "--text-pair", "bad"],
            "a model for single tasks was given two texts; expected one text",
        ),
        (
            ["--text", "good", "--explainer", "atention"],
            "unknown explainer 'atention': did you mean 'attention'?",
        ),
    ],
)
def test_what_is_wrong_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert error(capsys, stored(), *arguments) == message


def test_one_text_for_a_model_of_pairs_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert error(capsys, stored("pair"), "--text", "good") == (
        "a model for pair tasks was given one text; expected two texts"
    )


def test_a_model_of_a_newer_version_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    facts = Path(stored()) / "model.json"
    facts.write_text(facts.read_text().replace('"format": 1', '"format": 2'))
    assert error(capsys, "single", "--text", "good").startswith(
        "single/model.json: expected a model of format 1 or older, found 2; update faithgauge"
    )


def test_a_missing_text_is_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--text" in error(capsys, stored())
