"""The judges of Jain & Wallace's claims: on their own numbers, and on numbers made for the purpose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from faithgauge.papers.cells import Ours
from faithgauge.papers.published import PAPERS

Printed = Callable[[str], list[Ours]]
Judged = Callable[[str, str, Sequence[Ours]], str]
PAPER = "jain-wallace-2019"
HOLD = {
    "attention_gradient_tau_modest",
    "average_above_bilstm",
    "long_texts_significant_though_weak",
    "attention_leave_one_out_tau_modest",
}


def tau(dataset: str, encoder: str, a: str, b: str, value: float, **keys: str) -> Ours:
    return Ours(dataset, encoder, "kendall_tau", value, {"measure_a": a, "measure_b": b, **keys})


@pytest.mark.parametrize("name", [finding.name for finding in PAPERS[PAPER].findings])
def test_what_the_tables_show_holds_on_them_and_what_only_figures_show_is_untested(
    name: str, printed: Printed, judged: Judged
) -> None:
    assert judged(PAPER, name, printed(PAPER)) == ("holds" if name in HOLD else "untested")


def test_leave_one_out_needs_a_gap_over_a_quarter(judged: Judged) -> None:
    def rows(average: float) -> list[Ours]:
        return [
            tau("sst", "bilstm", "attention", "leave_one_out", 0.3),
            tau("sst", "average", "attention", "leave_one_out", average),
        ]

    assert judged(PAPER, "leave_one_out_average_above_bilstm", rows(0.56)) == "holds"
    assert judged(PAPER, "leave_one_out_average_above_bilstm", rows(0.54)) == "fails"


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ("leave_one_out", "gradient_leave_one_out_above_attention_leave_one_out"),
        ("gradient", "gradient_leave_one_out_above_attention_gradient"),
    ],
)
def test_gradients_and_leave_one_out_agree_more_on_each_set_but_snli_and_by_a_fifth(
    other: str, name: str, judged: Judged
) -> None:
    def rows(dataset: str, own: float) -> list[Ours]:
        return [
            tau(dataset, "bilstm", "gradient", "leave_one_out", own),
            tau(dataset, "bilstm", "attention", other, 0.3),
        ]

    assert judged(PAPER, name, rows("sst", 0.6)) == "holds"
    assert judged(PAPER, name, rows("sst", 0.4)) == "fails"
    assert judged(PAPER, name, rows("sst", 0.9) + rows("imdb", 0.2)) == "fails"
    assert judged(PAPER, name, rows("sst", 0.9) + rows("snli", 0.2)) == "holds"
    assert judged(PAPER, name, rows("snli", 0.9)) == "untested"


def test_permutation_is_judged_apart_for_the_positives_of_diabetes(judged: Judged) -> None:
    def changes(dataset: str, label: str, value: float) -> Ours:
        return Ours(dataset, "bilstm", "permutation_tvd", value, {"class": label})

    rows = [changes("sst", "0", 0.05), changes("diabetes", "0", 0.1), changes("diabetes", "1", 0.3)]
    assert judged(PAPER, "permutation_changes_little", rows) == "holds"
    assert judged(PAPER, "permutation_changes_diabetes_positives", rows) == "holds"
    assert judged(PAPER, "permutation_changes_little", [changes("sst", "1", 0.11)]) == "fails"
    assert judged(PAPER, "permutation_changes_diabetes_positives", [changes("diabetes", "1", 0.1)]) == "fails"
    assert judged(PAPER, "permutation_changes_diabetes_positives", rows[:2]) == "untested"


def test_adversarial_attention_is_judged_apart_for_the_positives_of_diabetes(judged: Judged) -> None:
    def share(dataset: str, label: str, value: float) -> Ours:
        return Ours(dataset, "bilstm", "adversarial_share", value, {"class": label})

    rows = [share("sst", "0", 0.5), share("diabetes", "1", 0.4)]
    assert judged(PAPER, "adversarial_attention_for_many", rows) == "holds"
    assert judged(PAPER, "adversarial_attention_rare_for_diabetes_positives", rows) == "holds"
    assert judged(PAPER, "adversarial_attention_for_many", [share("sst", "0", 0.4)]) == "fails"


@pytest.mark.parametrize(("rho", "verdict"), [(-0.3, "holds"), (-0.5, "fails"), (0.1, "fails")])
def test_peaked_attention_is_weakly_and_negatively_related(rho: float, verdict: str, judged: Judged) -> None:
    keys = {"measure_a": "max_attention", "measure_b": "epsilon_max_jsd", "class": "0"}
    assert judged(
        PAPER, "peaked_attention_hardly_protects", [Ours("sst", "bilstm", "spearman", rho, keys)]
    ) == (verdict)


def test_dot_product_attention_is_compared_with_additive(judged: Judged) -> None:
    additive = tau("sst", "bilstm", "attention", "gradient", 0.3)
    for value, verdict in ((0.35, "holds"), (0.45, "fails")):
        dot = tau("sst", "bilstm", "attention", "gradient", value, attention="dot")
        assert judged(PAPER, "dot_product_like_additive", [additive, dot]) == verdict
    assert judged(PAPER, "dot_product_like_additive", [additive]) == "untested"


def test_encoders_are_alike_on_classification_and_apart_on_questions(judged: Judged) -> None:
    def score(dataset: str, encoder: str, metric: str, value: float) -> Ours:
        return Ours(dataset, encoder, metric, value, {"split": "test"})

    texts = [score("sst", "bilstm", "f1_positive", 0.8), score("sst", "cnn", "f1_positive", 0.76)]
    assert judged(PAPER, "encoders_alike_on_classification", texts) == "holds"
    worse = [*texts, score("sst", "average", "f1_positive", 0.7)]
    assert judged(PAPER, "encoders_alike_on_classification", worse) == "fails"
    questions = [score("babi-1", "bilstm", "accuracy", 0.9), score("babi-1", "average", "accuracy", 0.5)]
    assert judged(PAPER, "bilstm_better_on_questions", questions) == "holds"
    assert judged(PAPER, "bilstm_better_on_questions", texts) == "untested"


def test_long_texts_need_both_a_low_correlation_and_full_significance(judged: Judged) -> None:
    pair = {"measure_a": "attention", "measure_b": "gradient", "class": "0"}
    rows = [
        Ours("anemia", "bilstm", "kendall_tau", 0.4, pair),
        Ours("anemia", "bilstm", "sig_frac", 0.9, pair),
    ]
    assert judged(PAPER, "long_texts_significant_though_weak", rows) == "fails"
