from __future__ import annotations

import json
from typing import Any

import pytest

from faithgauge.cli import output
from faithgauge.cli.main import run

QUICK = [
    "--dataset", "planted", "--encoder", "mlp", "--quick", "--instances", "20", "--executor", "inline",
    "--set", "model.embed_size=8", "--set", "model.hidden_size=4", "--set", "train.epochs=1",
]  # fmt: skip
KEYS = ["paper", "table", "dataset", "encoder", "metric", "published", "ours", "low", "high", "note"]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output.out, "width", 100)


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run(["reproduce", *arguments, "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return json.loads(out)


def test_rows_and_findings_are_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "jain-wallace-2019", *QUICK)
    assert set(found) == {"rows", "findings", "left_out", "jobs", "failures"}
    assert all(set(KEYS) <= set(row) for row in found["rows"])
    tau = [row for row in found["rows"] if row["metric"] == "kendall_tau" and "class" not in row]
    assert {(row["measure_a"], row["measure_b"]) for row in tau} == {
        ("attention", "gradient"),
        ("attention", "leave_one_out"),
        ("gradient", "leave_one_out"),
    }
    assert all(row["published"] is None and row["n_seeds"] == 1 and row["n"] == 20 for row in tau)
    assert all(row["note"].endswith("quick run") for row in tau)
    verdicts = {finding["name"]: finding["verdict"] for finding in found["findings"]}
    assert verdicts["average_above_bilstm"] == "untested"
    assert found["jobs"]["done"] == 10


def test_what_is_stored_is_not_computed_again(capsys: pytest.CaptureFixture[str]) -> None:
    first = document(capsys, "jain-wallace-2019", *QUICK)
    again = document(capsys, "jain-wallace-2019", *QUICK)
    assert again["jobs"]["done"] == 0
    assert again["rows"] == first["rows"]


def test_a_plan_says_how_long_it_takes_and_computes_one_job_of_each_sort(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["jain-wallace-2019", *QUICK[:-2], "--set", "train.epochs=2", "--table", "2", "--seeds", "2"]
    assert run(["reproduce", *arguments, "--plan", "--workers", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["study"], found["workers"]) == ("jain-wallace-2019", 2)
    assert found["states"]["todo"] > 0
    assert 0 < found["wall_seconds"] < found["work_seconds"]


def test_numbers_stand_by_data_set_and_encoder_and_verdicts_below(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "jain-wallace-2019", *QUICK, "--table", "2"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "planted mlp"
    assert lines[1].split() == ["published", "ours", "95", "%", "interval", "difference"]
    assert any(line.startswith("kendall_tau attention gradient class 0") for line in lines)
    assert any(line.startswith("untested  average_above_bilstm: ") for line in lines)
    assert not any(line.startswith("accuracy") for line in lines)
    assert lines[-1].startswith("6 done, 0 cached, 0 failed, 0 blocked")


def test_a_job_that_fails_is_said_and_the_exit_code_is_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    (tmp_path / "one.csv").write_text("text,label\n" + "a film,yes\n" * 30)
    arguments = ["jain-wallace-2019", "--dataset", str(tmp_path / "one.csv"), "--encoder", "mlp", "--quick"]
    assert run(["reproduce", *arguments, "--executor", "inline", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert len(found["failures"]) == 1
    assert "holds one class only" in found["failures"][0]["reason"]


def test_the_list_has_every_table_of_every_paper(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "--list")
    assert len(found["tables"]) == 29  # 28 tables, and the numbers of one running text
    assert sum(row["cells"] for row in found["tables"] if row["table"] != "text") == 2740
    assert run(["reproduce", "--list"]) == 0
    assert "A Song of (Dis)agreement" in capsys.readouterr().out


def test_the_list_of_one_paper_has_its_tables(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "attefa", "--list")
    assert [row["table"] for row in found["tables"]] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected the name of a paper, found none; faithgauge reproduce --list has them"),
        (["jain-walace"], "unknown paper 'jain-walace': did you mean 'jain-wallace-2019'?"),
        (
            ["jain-wallace-2019", "--dataset", "plantd"],
            "unknown data set 'plantd': did you mean 'planted'?",
        ),
    ],
)
def test_what_is_wrong_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(["reproduce", *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1


@pytest.mark.slow
def test_curves_are_drawn_below_the_numbers_and_judged(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["recursive-roar-2022", *QUICK, "--fractions", "0,0.5,1", "--test", "recursive_roar"]
    assert run(["reproduce", *arguments]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    start = next(i for i, line in enumerate(lines) if " f1_macro by the share masked, from " in line)
    curves = [line.split() for line in lines[start + 1 : start + 6]]
    names = ["attention", "gradient", "input_x_gradient", "integrated_gradient", "random"]
    assert sorted(words[0] for words in curves) == names
    assert {len(words[1]) for words in curves} == {3}
    assert any(line.startswith("walltime_minutes random") for line in lines)
    assert any(
        line.split()[:2] in (["holds", "largest_drop_early:"], ["fails", "largest_drop_early:"])
        for line in lines
    )


def test_a_gap_to_uniform_attention_is_followed_by_what_it_means(capsys: pytest.CaptureFixture[str]) -> None:
    from faithgauge.cli.beside import show
    from faithgauge.papers.cells import Ours
    from faithgauge.papers.compare import compare

    gap = Ours("sst", "bilstm", "f1_positive_gap", 0.001, {"attention": "uniform"}, low=-0.004, high=0.006)
    show(compare([], [gap]), [], {})
    assert "uniform attention does as well; the task does not need attention" in capsys.readouterr().out


def test_numbers_in_print_stand_by_table_and_others_of_the_same_explanations_are_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from faithgauge.cli.beside import show
    from faithgauge.papers.cells import Ours
    from faithgauge.papers.compare import compare
    from faithgauge.papers.published import PAPERS, published

    pair = {"measure_a": "rollout", "measure_b": "lime"}
    ours = [
        Ours("sst", "distilbert", "kendall_tau", 0.2, pair, low=0.15, high=0.25),
        Ours("sst", "distilbert", "kendall_tau", 0.3, {**pair, "class": "1"}),
        Ours("sst", "distilbert", "accuracy", 0.85, {"split": "test"}),
        Ours("sst", "", "n_train", 6355.0),
    ]
    cells = [cell for table in "138" for cell in published("neely-2022", table) if cell.dataset == "sst"]
    show(compare(cells, ours), [], PAPERS["neely-2022"].tables)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:2] == ["sst", "table 8: sizes of the splits, before texts are left out for their length"]
    assert lines[3].split() == ["n_train", "8,544", "6,355", "-2,189"]
    assert "table 1: rank correlation of six explanations, DistilBERT" in lines
    assert any(
        " ".join(line.split()) == "kendall_tau rollout lime 0.136 0.200 0.150 – 0.250 +0.064*"
        for line in lines
    )
    assert "1 more of ours on the same explanations, which are not in print: --json has them." in lines
