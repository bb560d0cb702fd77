from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet
import pytest
import torch
from fakes import classifier, set_weights
from rich.console import Console
from torch import nn

from faithgauge.cli import explained, output
from faithgauge.cli.main import run
from faithgauge.encode.tokenizer import WordTokenizer
from faithgauge.explain.table import EXPLAINERS, Explainer
from faithgauge.models.question import Question
from faithgauge.models.store import Trained, save
from faithgauge.types import Batch, Importance, Task

WORDS = WordTokenizer.of("plain", ["bad", "film", "good", "the"])


def stored(task: Task = "single", **config: Any) -> str:
    """Every word has the same attention; 'good' is 2 and all other words 0: p(yes) = σ(2 · share of good)."""
    model = classifier(
        "average", task=task, vocabulary=len(WORDS.vocabulary), embed_size=1, hidden_size=1, **config
    )
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


def rising(model: nn.Module, batch: Batch, question: Question) -> Importance:
    """-1 for the first word, 0 for the second … and no score for the last."""
    scores = torch.arange(batch.ids.shape[1]).expand(batch.ids.shape) - 2.0
    last = batch.maskable.cumsum(-1) == batch.maskable.sum(-1, keepdim=True)
    return Importance(scores.masked_fill(last | ~batch.maskable, torch.nan), signed=True)


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("elsewhere")
    vars(module)["rising"] = rising
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    monkeypatch.setitem(EXPLAINERS._entries, "rising", Explainer("elsewhere:rising", signed=True))  # type: ignore[index]


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
def test_explainers_stand_beside_each_other_token_by_token(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", stored(), "--text", "the good film the", "--explainer", "rising, attention"]) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "      rising  attention",
        "the    -1.00      0.250",
        "good    0.00      0.250",
        "film   +1.00      0.250",
        "the        –      0.250",
        "prediction: yes  (no 0.378, yes 0.622)",
    ]


@pytest.mark.usefixtures("second")
def test_a_long_text_is_shown_by_each_explainer_and_then_its_strongest_tokens(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = " ".join(["the good film"] * 15)
    assert run(["explain", stored(), "--text", text, "--explainer", "rising,attention"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "rising"
    assert "attention" in lines
    after = lines.index("the strongest tokens, in the order of the text")
    shown = [line.split() for line in lines[after + 2 : -1]]
    # the first five of equal attention, and the last five that rise, before the one without a score
    assert [row[1] for row in shown] == [
        "-1.0",
        "0.0",
        "+1.0",
        "+2.0",
        "+3.0",
        *(f"+{i}.0" for i in range(38, 43)),
    ]


def test_the_class_that_is_explained_is_told_where_it_is_another(capsys: pytest.CaptureFixture[str]) -> None:
    for target in ("no", "0"):
        assert (
            run(["explain", stored(), "--text", "good", "--explainer", "leave_one_out", "--target", target])
            == 0
        )
        out = capsys.readouterr().out.splitlines()
        assert out[0] == "leave_one_out"
        assert out[-1] == "leave_one_out explains no"


def test_the_seed_is_that_of_what_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for seed in ("0", "0", "1"):
        assert (
            run(["explain", stored(), "--text", "good", "--explainer", "random", "--seed", seed, "--json"])
            == 0
        )
        found.append(json.loads(capsys.readouterr().out)["explanations"])
    assert found[0] == found[1] != found[2]


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
        "targets": {"attention": "yes"},
    }


@pytest.mark.usefixtures("second")
def test_a_token_without_a_score_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", stored(), "--text", "the good film", "--explainer", "rising", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["explanations"] == {"rising": [-1.0, 0.0, None]}


def test_both_texts_of_a_pair_are_shown_where_both_are_attended_to(
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = ["--text", "the film", "--text-pair", "good ?"]
    assert run(["explain", stored("pair", pair="two_sided"), *texts]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert all("[" in line for line in lines[1:3])
    assert run(["explain", "pair", *texts, "--explainer", "attention,random"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert [line.split()[0] for line in lines] == [
        *("attention", "the", "film", "second", "attention", "good", "?", "prediction:")
    ]
    assert run(["explain", "pair", *texts, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pair_tokens"] == ["good", "?"]
    assert math.fsum(found["pair_explanations"]["attention"]) == pytest.approx(1)


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
    monkeypatch.setattr(explained, "out", terminal)
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
        (["--text", "good", "--target", "yess"], "unknown class 'yess': did you mean 'yes'?"),
        (["--text", "good", "--target", "7"], "unknown class '7': known are predicted, gold, no, yes"),
        (
            ["--text", "good", "--explainer", "attention:target=7"],
            "attention:target=7: expected a class from 0 to 1, found 7",
        ),
        (["gone.csv"], "gone.csv: no such file; correct its name, or put it there"),
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
    facts.write_text(facts.read_text().replace('"format": 1', '"format": 3'))
    assert error(capsys, "single", "--text", "good").startswith(
        "single/model.json: expected a model of format 2 or older, found 3; update faithgauge"
    )


# ---- files of texts


FILE = "text,label\nthe GOOD film,yes\nbad,no\n"


@pytest.fixture
def texts() -> str:
    Path("texts.csv").write_text(FILE)
    return "texts.csv"


def test_of_a_file_the_strongest_tokens_are_shown(texts: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", stored(), texts, "--explainer", "attention,leave_one_out"]) == 0
    # leaving out one of the others leaves half of 2 in place of a third: σ(2/3) - σ(1) = -0.070
    assert capsys.readouterr() == (
        "texts.csv:2  yes 0.661, labelled yes\n"
        "  attention: the 0.333 · GOOD 0.333 · film 0.333\n"
        "  leave_one_out: GOOD +0.161 · the -0.070 · film -0.070\n"
        "texts.csv:3  no 0.500, labelled no\n"
        "  attention: bad 1.00\n"
        "  leave_one_out: bad 0\n",
        "",
    )


def test_of_many_texts_the_first_are_shown_and_the_rest_counted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("texts.csv").write_text("text\n" + "the film\n" * 12)
    assert run(["explain", stored(), "texts.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10 * 2 + 1
    assert lines[-1] == "and 2 more texts: --out FILE.jsonl has all scores of all texts"


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_file_is_explained_as_rows(ending: str, texts: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = f"found.{ending}"
    names = "attention,leave_one_out:target=gold"
    assert run(["explain", stored(), texts, "--explainer", names, "--out", out]) == 0
    assert capsys.readouterr() == ("", f"explanations of 2 texts: {out}\n")
    if ending == "parquet":
        rows = pyarrow.parquet.read_table(out).to_pylist()
    else:
        rows = [json.loads(line) for line in Path(out).read_text().splitlines()]
    assert [(row["id"], row["explainer"], row["target"], row["gold"]) for row in rows] == [
        ("texts.csv:2", "attention", "yes", "yes"),
        ("texts.csv:2", "leave_one_out:target=gold", "yes", "yes"),
        ("texts.csv:3", "attention", "no", "no"),
        ("texts.csv:3", "leave_one_out:target=gold", "no", "no"),
    ]
    assert rows[0]["tokens"] == ["the", "GOOD", "film"]
    assert rows[0]["scores"] == pytest.approx([1 / 3] * 3)
    assert list(Path().glob("*.new")) == []


def test_with_json_all_rows_are_printed(texts: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", stored(), texts, "--json", "--out", "found.jsonl"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["model"], found["file"], found["texts"], found["cut"]) == ("single", "texts.csv", 2, 0)
    assert found["explanations"] == [
        json.loads(line) for line in Path("found.jsonl").read_text().splitlines()
    ]


def test_the_json_document_of_a_text_is_written_to_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", stored(), "--text", "good", "--out", "found.json", "--json"]) == 0
    assert json.loads(Path("found.json").read_text()) == json.loads(capsys.readouterr().out)


def test_a_page_of_texts_is_written(texts: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", stored(), texts, "--html", "page.html", "--out", "found.jsonl"]) == 0
    page = Path("page.html").read_text()
    assert page.count("<article>") == 2
    assert "<title>texts.csv explained by single</title>" in page
    assert capsys.readouterr().err.endswith("page: page.html\n")
    assert run(["explain", "single", "--text", "good", "--html", "page.html"]) == 0
    page = Path("page.html").read_text()
    assert page.count("<article>") == 1
    assert "<h2>" not in page


def test_a_page_shows_a_hundred_texts_and_says_of_how_many() -> None:
    Path("texts.csv").write_text("text\n" + "the film\n" * 120)
    assert run(["explain", stored(), "texts.csv", "--html", "page.html"]) == 0
    page = Path("page.html").read_text()
    assert page.count("<article>") == 100
    assert "<p>100 of 120 texts.</p>" in page


def test_a_text_that_was_cut_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("texts.csv").write_text("text\n" + "film " * 20_001 + "\nfilm\n")
    assert run(["explain", stored(), "texts.csv", "--out", "found.parquet"]) == 0
    assert "1 of the texts is cut after 20,000 tokens\n" in capsys.readouterr().err


def test_columns_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("texts.csv").write_text("a,b,c\nbad,good film,yes\n")
    columns = ["--text-column", "b", "--label-column", "c"]
    assert run(["explain", stored(), "texts.csv", *columns]) == 0
    assert capsys.readouterr().out.startswith("texts.csv:2  yes 0.731, labelled yes\n  attention: good 0.500")
    Path("texts.csv").write_text("a,b\nbad,good film\n")
    assert run(["explain", stored("pair"), "texts.csv", "--text-column", "a", "--pair-column", "b"]) == 0


def test_labels_of_other_classes_are_left_aside_unless_they_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("texts.csv").write_text("text,label\ngood,maybe\n")
    assert run(["explain", stored(), "texts.csv"]) == 0
    assert "labelled" not in capsys.readouterr().out
    assert error(capsys, "single", "texts.csv", "--label-column", "label") == (
        "texts.csv, line 2: expected a class of the model (no, yes) in column 'label', found 'maybe'; "
        "name another column, or none, or say which class is which: --labels"
    )
    assert error(capsys, "single", "texts.csv", "--target", "gold") == (
        "attention:target=gold: expected labelled texts for target=gold, found texts without labels"
    )


def test_scores_from_elsewhere_are_shown_with_ours(texts: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.jsonl").write_text(
        '{"text": "the GOOD film", "scores": [1, 2]}\n{"text": "bad", "scores": [3]}\n'
    )
    assert run(["explain", stored(), texts, "--scores", "mine.jsonl"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[2::3] == [
        "  mine: mine.jsonl, line 1: expected 3 tokens, found 2",
        "  mine: bad 3.00",
    ]
    assert err == "1 of the texts is without scores of mine\n"
    assert run(["explain", "single", "--text", "bad", "--scores", "mine.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["explanations"]["mine"] == [3]


def test_the_training_data_is_given_for_explainers_that_need_it(
    texts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    needing = ["explain", stored(), texts, "--explainer", "mutual_information"]
    assert error(capsys, *needing[1:]) == (
        "mutual_information needs the training split, found none; give --train with the model's training data"
    )
    Path("train.csv").write_text("text,label\n" + "the good film,yes\nbad,no\n" * 20)
    assert run([*needing, "--train", "train.csv"]) == 0
    assert "bad" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--out", "gone/x.jsonl"],
            "--out gone/x.jsonl: expected a file in a folder that can be written; choose",
        ),
        (["--out", "."], "--out .: expected a file in a folder that can be written; choose"),
        (["--out", "x.csv"], "--out x.csv: expected a name ending in .jsonl or .parquet; rename it"),
        (["--html", "gone/x.html"], "--html gone/x.html: expected a file in a folder that can be written"),
        (["--text", "good"], "expected a FILE of texts or one --text, found both; give one of them"),
        (["--text-pair", "good"], "expected --text beside --text-pair, found a FILE; give --pair-column"),
        (["--explainer", "lime:sample=3"], "lime:sample=3: unknown option 'sample': did you mean 'samples'?"),
        (
            ["--explainer", "lime:neely"],
            "lime:neely: unknown preset of lime 'neely': did you mean 'neely-2022'?",
        ),
        (["--explainer", "lime:samples=x"], "lime:samples=x: samples: input should be a valid integer"),
        (["--scores", "x.csv"], "x.csv: expected scores as .jsonl, .json or .parquet"),
    ],
)
def test_what_is_wrong_is_said_before_a_model_is_opened(
    arguments: list[str], message: str, texts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert error(capsys, "no-model", texts, *arguments).startswith(message)


def test_a_text_alone_has_no_gold_class(capsys: pytest.CaptureFixture[str]) -> None:
    message = (
        ": expected a labelled text for target=gold, found a text alone; give --target predicted, or a class"
    )
    named = "gradient:recursive-roar-2022"
    assert error(capsys, "no-model", "--text", "good", "--explainer", named) == named + message
    assert error(capsys, "no-model", "--text", "good", "--target", "gold") == "attention" + message
    texts = ["--text", "the good", "--explainer", named, "--target", "predicted"]
    assert run(["explain", stored(), *texts]) == 0


def test_a_file_without_texts_names_the_option_of_this_command(capsys: pytest.CaptureFixture[str]) -> None:
    Path("texts.jsonl").write_text('{"a": 1}\n')
    assert error(capsys, stored(), "texts.jsonl") == (
        "texts.jsonl: no column of texts among 'a'; give --text-column"
    )


def test_neither_text_nor_file_is_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        error(capsys, stored()) == "expected a FILE of texts or one --text, found neither; give one of them"
    )
