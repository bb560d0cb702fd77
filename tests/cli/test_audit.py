"""``faithgauge audit``: from a small file to its folder, and what is refused before anything is computed."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import faithgauge
from faithgauge.cli.main import run

SMALL = [
    "--encoder",
    "mlp",
    "--embed-size",
    "8",
    "--hidden-size",
    "4",
    "--epochs",
    "4",
    "--executor",
    "inline",
]
FEW = [
    "--explainers",
    "random,attention",
    "--instances",
    "20",
    "--learning-rate",
    "0.05",
    "--batch-size",
    "8",
]
SECRET = "zebra"


def page(folder: Path, charts: bool = True) -> Path:
    """Stands for the page, which has tests of its own."""
    assert (folder / "audit.json").is_file()
    place = folder / "report.html"
    place.write_text(f"charts {charts}", encoding="utf-8")
    return place


@pytest.fixture(autouse=True)
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = ModuleType("faithgauge.report.write")
    stand_in.write = page  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "faithgauge.report.write", stand_in)


def write_texts(path: Path, n: int = 120) -> Path:
    """Texts of three classes, each told by one word; one word stands in all."""
    drawn = random.Random(0)
    lines = ["text,label"]
    for i in range(n):
        label = ("good", "bad", "mixed")[i % 3]
        words = [f"{SECRET} {i}", *drawn.choices(["the", "a", "room", "was", "near"], k=5), label]
        lines.append(f"{' '.join(words)},{label}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_texts(tmp_path_factory.mktemp("data") / "reviews.csv")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests of this page: what one of them computed another only judges."""
    return tmp_path_factory.mktemp("store")


@pytest.fixture
def audit(texts: Path, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def audited(*more: str, code: int = 0) -> dict[str, Any]:
        fixed = [str(texts), *SMALL, *FEW, "--store", str(store), "--out", str(tmp_path / "out"), "--json"]
        assert run(["audit", *fixed, *more]) == code
        out: dict[str, Any] = json.loads(capsys.readouterr().out)
        return out

    return audited


def lines(path: Path) -> Iterator[dict[str, Any]]:
    yield from (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def test_an_audit_ends_with_a_folder_that_says_all_of_it(audit: Any, tmp_path: Path) -> None:
    found = audit("--seeds", "3", "--tests", "erasure")
    folder = tmp_path / "out"
    assert found["report"] == str(folder / "report.html")
    assert {path.name for path in folder.iterdir()} == {
        "audit.json", "cite.bib", "instances.jsonl", "report.html", "results.parquet",
    }  # fmt: skip
    document = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    assert document == {name: value for name, value in found.items() if name != "report"}
    assert document["format"] == 1
    assert [one["explainer"] for one in document["verdicts"]] == ["random", "attention"]
    # 18 texts are in the test split: too few to decide anything, and all else is told.
    assert {one["verdict"] for one in document["verdicts"]} == {"undecided"}
    assert document["headline"] == "No explanation is supported; 2 undecided."
    first = document["verdicts"][0]["tests"][0]
    assert {
        "test",
        "measure",
        "value",
        "low",
        "high",
        "baseline",
        "n",
        "seeds",
        "sentence",
        "says_not",
    } <= set(first)
    assert (first["n"], first["seeds"]) == (18, 3)
    assert document["about"]["data"]["splits"] == {"train": 84, "validation": 18, "test": 18}
    assert document["about"]["model"]["seeds"] == [0, 1, 2]
    assert 0 < document["about"]["model"]["metrics"]["test"]["accuracy"] <= 1
    assert "deyoung2020" in document["cites"]
    assert "@inproceedings{deyoung2020," in (folder / "cite.bib").read_text(encoding="utf-8")


def test_instances_hold_tokens_and_a_number_for_each(audit: Any, tmp_path: Path) -> None:
    audit("--seeds", "3", "--tests", "erasure")
    every = list(lines(tmp_path / "out" / "instances.jsonl"))
    assert len(every) == 18
    for one in every:
        assert [one["text"][start:end] for start, end in one["spans"]] == one["tokens"]
        assert {len(scores) for scores in one["explanations"].values()} == {len(one["tokens"])}
        assert one["signed"] == {"random": False, "attention": False}
        assert sum(one["explanations"]["attention"]) == pytest.approx(1, abs=1e-4)
        assert one["numbers"]["confidence"] == max(one["probabilities"].values())
        assert one["id"].startswith("reviews.csv:")


def test_without_texts_no_file_has_any(audit: Any, tmp_path: Path) -> None:
    audit("--seeds", "3", "--tests", "erasure", "--no-texts")
    for path in (tmp_path / "out").iterdir():
        assert SECRET.encode() not in path.read_bytes()
    first = next(lines(tmp_path / "out" / "instances.jsonl"))
    assert (first["text"], first["tokens"], first["spans"]) == (None, None, None)
    assert len(first["explanations"]["attention"]) > 0


def test_a_model_that_is_there_is_audited_without_training(
    audit: Any, texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model"
    assert run(["train", str(texts), *SMALL[:-2], *FEW[4:], "--out", str(model), "--json"]) == 0
    capsys.readouterr()
    own = write_texts(tmp_path / "other.csv", 60)
    arguments = [str(own), "--model", str(model), *FEW[:4], "--executor", "inline"]
    assert run(["audit", *arguments, "--out", str(tmp_path / "given"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["about"]["data"]["splits"] == {"test": 60}  # all rows
    assert found["about"]["model"]["given"] == str(model)
    left = {one["test"]: one["why"] for one in found["left_out"]}
    assert "needs models to be trained: about" in left["uniform"]
    assert "--retrain does it" in left["uniform"]
    # 20 texts of one model: enough seeds, too few texts.
    assert found["verdicts"][0]["reasons"] == ["Too few texts: 20, of 30 that are needed."]
    same = audit("--model", str(model))
    assert same["about"]["data"]["splits"] == {"test": 18}
    assert any("only the test split" in note for note in same["about"]["data"]["notes"])


def test_a_model_of_the_transformers_library_is_audited_once_its_classes_have_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import tiny

    model = tiny.folder_of(tmp_path / "bert", "bert")
    lines = [f"a {word} film,{label}" for word, label in (("good", "positive"), ("bad", "negative"))] * 20
    (tmp_path / "films.csv").write_text("\n".join(["text,label", *lines]), encoding="utf-8")
    arguments = [
        "audit",
        str(tmp_path / "films.csv"),
        "--model",
        str(model),
        "--executor",
        "inline",
        "--json",
    ]
    assert run([*arguments, "--out", str(tmp_path / "none")]) == 2
    assert "or the classes of the model with --labels" in json.loads(capsys.readouterr().out)["error"]
    assert not (tmp_path / "none").exists()
    arguments += ["--labels", "negative=0,positive=1", "--explainers", "random,rollout", "--tests", "erasure"]
    assert run([*arguments, "--out", str(tmp_path / "out")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["explainer"] for one in found["verdicts"]] == ["random", "rollout"]
    assert found["failures"] == []
    assert "texts are shown by words" in found["about"]["data"]["notes"][-1]


def test_models_beside_one_of_the_transformers_library_are_of_its_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import tiny

    model = tiny.folder_of(tmp_path / "bert", "bert", id2label={0: "negative", 1: "positive"})
    films = [
        f"a {'good' if i % 2 else 'bad'} film {'plot ' * i},{('negative', 'positive')[i % 2]}"
        for i in range(20)
    ]
    (tmp_path / "films.csv").write_text("\n".join(["text,label", *films]), encoding="utf-8")
    arguments = ["audit", str(tmp_path / "films.csv"), "--model", str(model), "--too-long", "cut"]
    arguments += [
        "--explainers",
        "random,rollout",
        "--executor",
        "inline",
        "--json",
        "--out",
        str(tmp_path / "out"),
    ]
    assert run(arguments) == 0
    left = {one["test"]: one["why"] for one in json.loads(capsys.readouterr().out)["left_out"]}
    assert (
        left["attefa"]
        == "asks of one attention over a text, and a transformer has many (rollout sums them up)"
    )
    assert left["uniform"].startswith("needs models to be trained: about ")
    arguments += ["--retrain", "--tests", "uniform", "--seeds", "1", "--epochs", "1"]
    assert run(arguments) == 0
    out, err = capsys.readouterr()
    assert "begin with the weights of hf:bert under a new head" in " ".join(err.split())
    found = json.loads(out)
    assert found["failures"] == []
    assert [one["test"] for one in found["model_tests"]] == ["majority", "uniform"]


def test_scores_from_elsewhere_are_judged_like_others(audit: Any, texts: Path, tmp_path: Path) -> None:
    rows = []
    for line in texts.read_text(encoding="utf-8").splitlines()[1:]:
        text, label = line.rsplit(",", 1)
        start = text.index(label)
        rows.append({"text": text, "spans": [[start, start + len(label)], [0, 3]], "scores": [1.0, -0.5]})
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = audit("--seeds", "3", "--tests", "erasure", "--scores", str(tmp_path / "mine.jsonl"))
    assert [one["explainer"] for one in found["verdicts"]] == ["random", "attention", "mine"]
    first = next(lines(tmp_path / "out" / "instances.jsonl"))
    assert first["signed"]["mine"] is True


def test_other_files_are_not_written_over(audit: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work", encoding="utf-8")
    assert "found other files" in audit(code=2)["error"]
    (tmp_path / "out" / "audit.json").write_text('{"format": 99}', encoding="utf-8")
    assert "expected an audit of format 1, found 99" in audit(code=2)["error"]
    assert (tmp_path / "out" / "thesis.tex").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--budget", "soon"], "expected a time such as 90s"),
        (["--budget", "1s", "--seeds", "4"], "expected at least"),
        (["--tests", "erasur"], "did you mean 'erasure'"),
        (["--explainers", "lmie"], "did you mean 'lime'"),
        (["--explainers", "oracle"], "texts whose evidence is known"),
        (["--retrain"], "found no model"),
        (["--quiet", "--verbose"], "found both"),
        (["--model", "nowhere"], "expected a folder that `faithgauge train` wrote"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(audit: Any, more: list[str], said: str) -> None:
    assert said in audit(*more, code=2)["error"]


def test_one_class_is_an_error_and_ten_texts_are_undecided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = tmp_path / "one.csv"
    one.write_text("text,label\n" + "".join(f"number {i},yes\n" for i in range(20)), encoding="utf-8")
    out = ["--out", str(tmp_path / "out"), "--json"]
    assert run(["audit", str(one), *out]) == 2
    assert "one class only" in json.loads(capsys.readouterr().out)["error"]
    ten = tmp_path / "ten.csv"
    ten.write_text(
        "text,label\n" + "".join(f"number {i},{'yn'[i % 2]}\n" for i in range(10)), encoding="utf-8"
    )
    few = ["--seeds", "1", "--tests", "erasure", *FEW[:2]]
    assert run(["audit", str(ten), *SMALL, *few, *out]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["verdict"] for one in found["verdicts"]} == {"undecided"}


def test_what_failed_is_told_and_the_page_still_written(
    audit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise faithgauge.JobError(f"no {SECRET} today")

    monkeypatch.setattr("faithgauge.measured.erasure", broken)
    found = audit("--seeds", "1", "--tests", "erasure", "--instances", "10", "--no-texts", code=1)
    assert found["headline"].startswith("Warning: 1 jobs failed")
    assert found["failures"][0]["job"].startswith("Erase")
    assert SECRET not in json.dumps(found)
    assert Path(found["report"]).is_file()
    again = audit("--seeds", "1", "--tests", "erasure", "--instances", "10", code=1)
    assert "zebra today" in again["failures"][0]["reason"]


def test_for_people_there_is_a_calm_table(
    texts: Path, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fixed = [str(texts), *SMALL, *FEW, "--seeds", "3", "--tests", "erasure", "--store", str(store)]
    assert run(["audit", *fixed, "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr()
    assert "Plan: 2 tests of 2 explainers on 18 texts, 3 models." in shown.err
    assert "Cost: " in shown.err
    assert shown.out.rstrip().endswith(f"Report: {tmp_path / 'out' / 'report.html'}")
    assert max(map(len, shown.out.splitlines()[:-1])) <= 80
    assert run(["audit", *fixed, "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_the_works_of_an_audit_can_be_cited(
    audit: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit("--seeds", "3", "--tests", "erasure")
    assert run(["cite", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out == (tmp_path / "out" / "cite.bib").read_text(encoding="utf-8")
    assert run(["cite", str(tmp_path)]) == 2


def test_python_says_the_same(audit: Any, texts: Path, store: Path, tmp_path: Path) -> None:
    told = audit("--seeds", "3", "--tests", "erasure")
    found = faithgauge.audit(
        texts,
        explainers=["random", "attention"],
        tests="erasure",
        seeds=3,
        instances=20,
        store=store,
        out=tmp_path / "python",
        encoder="mlp",
        embed_size=8,
        hidden_size=4,
        epochs=4,
        learning_rate=0.05,
        batch_size=8,
    )
    assert found.verdicts == {one["explainer"]: one["verdict"] for one in told["verdicts"]}
    assert found.headline == told["headline"]
    assert "undecided" in found._repr_html_()
