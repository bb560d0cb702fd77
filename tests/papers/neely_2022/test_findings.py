"""The judges of Neely et al.'s claims: on their own numbers, and on numbers made for the purpose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from faithgauge.papers.cells import Ours
from faithgauge.papers.published import PAPERS, published

Printed = Callable[[str], list[Ours]]
Judged = Callable[[str, str, Sequence[Ours]], str]
PAPER = "neely-2022"
UNTESTED = {"examples_of_figure_1_disagree"}
FAIL = {
    "distilbert_below_bilstm",
    "bilstm_attention_agrees_more_on_single_texts",
    "distilbert_agrees_more_on_single_texts",
}


def tau(dataset: str, encoder: str, a: str, b: str, value: float, **keys: str) -> Ours:
    return Ours(dataset, encoder, "kendall_tau", value, {"measure_a": a, "measure_b": b, **keys})


@pytest.mark.parametrize("name", [finding.name for finding in PAPERS[PAPER].findings])
def test_the_verdicts_on_the_printed_numbers(name: str, printed: Printed, judged: Judged) -> None:
    expected = "untested" if name in UNTESTED else "fails" if name in FAIL else "holds"
    assert judged(PAPER, name, printed(PAPER)) == expected


def test_the_cells_and_means_of_the_print(printed: Printed) -> None:
    """Tables 1 and 2; 5 and 6 print the same means."""
    ours = [row for table in ("1", "2") for row in of_table(table)]
    evidence = {f.name: f.judge(ours).evidence for f in PAPERS[PAPER].findings}
    assert evidence["distilbert_below_bilstm"].startswith("true in 67 of 75 on ")
    assert evidence["distilbert_below_bilstm_among_attributions"].startswith("true in 50 of 50 on ")
    assert evidence["bilstm_attributions_agree_more_on_single_texts"].endswith(
        "mean τ 0.711 of 20 on single texts, 0.352 of 30 on pairs"
    )
    assert evidence["bilstm_attention_agrees_more_on_single_texts"].endswith(
        "mean τ 0.175 of 10 on single texts, 0.186 of 15 on pairs"
    )
    assert evidence["distilbert_agrees_more_on_single_texts"].endswith(
        "mean τ 0.170 of 30 on single texts, 0.186 of 45 on pairs"
    )


def of_table(table: str) -> list[Ours]:
    return [
        Ours(cell.dataset, cell.encoder, cell.metric, float(cell.value or 0), cell.keys)
        for cell in published(PAPER, table)
    ]


def test_other_explainers_and_diagonals_take_no_part(judged: Judged) -> None:
    rows = [
        tau("sst", "bilstm", "attention", "attention", 1.0),
        tau("sst", "bilstm", "attention", "attention_norm", 0.9),
        tau("sst", "bilstm", "attention", "lime", 0.1),
    ]
    assert judged(PAPER, "attention_agrees_weakly", rows) == "holds"
    assert judged(PAPER, "attention_agrees_weakly", rows[:2]) == "untested"


def test_rollout_is_compared_with_attention_in_either_order(judged: Judged) -> None:
    rows = [tau("sst", "bilstm", "lime", "attention", 0.2), tau("sst", "distilbert", "rollout", "lime", 0.1)]
    assert judged(PAPER, "distilbert_below_bilstm", rows) == "holds"
    assert judged(PAPER, "distilbert_below_bilstm_among_attributions", rows) == "untested"


@pytest.mark.parametrize(
    ("a", "b", "value", "verdict"),
    [
        ("integrated_gradient", "gradient_shap", 0.4, "holds"),
        ("integrated_gradient", "gradient_shap", 0.3, "fails"),
        ("lime", "deeplift", 0.3, "holds"),
        ("lime", "deeplift", 0.4, "fails"),
    ],
)
def test_only_like_computations_agree_moderately(
    a: str, b: str, value: float, verdict: str, judged: Judged
) -> None:
    rows = [tau("sst", "distilbert", a, b, value)]
    assert judged(PAPER, "distilbert_only_two_pairs_moderate", rows) == verdict


def test_shap_forms_on_one_kind_of_text_alone_say_nothing(judged: Judged) -> None:
    single = tau("sst", "bilstm", "gradient_shap", "deep_shap", 0.7)
    pairs = tau("snli", "bilstm", "deep_shap", "gradient_shap", 0.8)
    assert judged(PAPER, "bilstm_shap_forms_apart_on_pairs", [single]) == "untested"
    assert judged(PAPER, "bilstm_shap_forms_apart_on_pairs", [single, pairs]) == "fails"


@pytest.mark.parametrize(("uniform", "verdict"), [(0.79, "holds"), (0.77, "fails")])
def test_uniform_attention_may_lose_two_hundredths(uniform: float, verdict: str, judged: Judged) -> None:
    rows = [
        Ours("sst", "bilstm", "accuracy", 0.8, {"split": "test"}),
        Ours("sst", "bilstm", "accuracy", uniform, {"split": "test", "attention": "uniform"}),
    ]
    assert judged(PAPER, "uniform_as_accurate", rows) == verdict


@pytest.mark.parametrize(("second", "verdict"), [(0.1, "holds"), (0.3, "fails")])
def test_the_examples_of_figure_1_are_averaged(second: float, verdict: str, judged: Judged) -> None:
    rows = [
        tau("sst", "distilbert", "rollout", "lime", 0.05, example="figure-1"),
        tau("sst", "distilbert", "lime", "deeplift", second, example="figure-1"),
    ]
    assert judged(PAPER, "examples_of_figure_1_disagree", rows) == verdict
