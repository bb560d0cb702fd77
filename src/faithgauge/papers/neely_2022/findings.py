"""The claims of Neely et al.

Paper: neely-2022, section 5, appendices A and B, figure 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean

from faithgauge.papers.cells import PAIR, Ours, plain_keys
from faithgauge.papers.findings import (
    Check,
    Finding,
    Judge,
    Rows,
    Select,
    Verdict,
    above,
    all_above,
    at_most,
    both,
    each,
    select,
    show,
    verdict,
)

ATTENTIONS = frozenset({"attention", "rollout"})
"""What is called attention of the BiLSTM and of DistilBERT."""
ATTRIBUTIONS = frozenset({"lime", "integrated_gradient", "deeplift", "gradient_shap", "deep_shap"})
ALIKE = (
    frozenset({"integrated_gradient", "gradient_shap"}),
    frozenset({"deeplift", "deep_shap"}),
)
"""The pairs of attributions that are much the same computation."""
SHAPS = frozenset({"gradient_shap", "deep_shap"})
SINGLE = ("imdb", "sst")
PAIRS = ("mnli", "quora", "snli")
WEAK = 0.35
"""Up to this a rank correlation is called weak."""


def measures(row: Ours) -> frozenset[str]:
    return frozenset(plain_keys(row.keys)[name] for name in PAIR)


def taus(encoder: str, datasets: Iterable[str] | None = None) -> Select:
    """The rank correlation of each two different explanations among those of tables 1 and 2."""
    every = select("kendall_tau", encoder=encoder, free=PAIR, datasets=datasets)
    known = ATTENTIONS | ATTRIBUTIONS

    def rows(ours: Rows) -> list[Ours]:
        complete = [row for row in every(ours) if set(PAIR) <= set(row.keys)]
        return [row for row in complete if len(measures(row)) == 2 and measures(row) <= known]

    return rows


def with_attention(encoder: str, datasets: Iterable[str] | None = None) -> Select:
    rows = taus(encoder, datasets)
    return lambda ours: [row for row in rows(ours) if measures(row) & ATTENTIONS]


def among_attributions(encoder: str, datasets: Iterable[str] | None = None) -> Select:
    rows = taus(encoder, datasets)
    return lambda ours: [row for row in rows(ours) if not measures(row) & ATTENTIONS]


def between(pair: frozenset[str], encoder: str, datasets: Iterable[str] | None = None) -> Select:
    rows = taus(encoder, datasets)
    return lambda ours: [row for row in rows(ours) if measures(row) == pair]


def same_cell(row: Ours) -> tuple[str, frozenset[str]]:
    """The two measures, both forms of attention being one."""
    return row.base, frozenset("attention" if name in ATTENTIONS else name for name in measures(row))


def only_alike_moderate(ours: Rows) -> Verdict:
    """Pairs of ALIKE are above WEAK, all others are not."""
    return verdict(
        [
            Check((row.value > WEAK) == (measures(row) in ALIKE), show(row), (row,))
            for row in taus("distilbert")(ours)
        ]
    )


def single_above_pairs(rows: Callable[[str, Iterable[str]], Select], encoder: str) -> Judge:
    """The mean τ over single texts exceeds that over pairs; each data set counts with all its measures."""

    def judge(ours: Rows) -> Verdict:
        single, paired = rows(encoder, SINGLE)(ours), rows(encoder, PAIRS)(ours)
        if not single or not paired:
            return verdict([])
        a, b = fmean(row.value for row in single), fmean(row.value for row in paired)
        says = (
            f"{encoder}: mean τ {a:.3f} of {len(single)} on single texts, {b:.3f} of {len(paired)} on pairs"
        )
        return verdict([Check(a > b, says, (*single, *paired))])

    return judge


def accuracy(**attention: str) -> Select:
    return select("accuracy", encoder="bilstm", keys={"split": "test", **attention})


def flow(attributions: Iterable[str]) -> Select:
    chosen = [select("kendall_tau", keys={"measure_a": "flow", "measure_b": name}) for name in attributions]
    return lambda ours: [row for rows in chosen for row in rows(ours)]


def figure_1(ours: Rows) -> Verdict:
    """Over all pairs of explanations of the two printed texts τ is 0.1 or less on average."""
    rows = select("kendall_tau", free=PAIR, keys={"example": "figure-1"})(ours)
    means = {row.base: fmean(other.value for other in rows if other.base == row.base) for row in rows}
    return verdict(
        [Check(mean <= 0.1, f"{name}: mean τ {mean:.3f}", tuple(rows)) for name, mean in means.items()]
    )


_NEEDS = "kendall_tau of {} for {}"
_ALL = "each two of attention, lime, integrated_gradient, deeplift, gradient_shap and deep_shap"

FINDINGS: tuple[Finding, ...] = (
    Finding(
        "attention_agrees_weakly",
        "Attention agrees weakly with every attribution (τ at most 0.35), for both models.",
        _NEEDS.format("attention (distilbert: rollout) and attributions", "bilstm or distilbert"),
        both(*(each(with_attention(name), at_most(WEAK)) for name in ("bilstm", "distilbert"))),
    ),
    Finding(
        "distilbert_below_bilstm",
        "Each two explanations agree less for DistilBERT than for the BiLSTM.",
        _NEEDS.format(_ALL, "bilstm and distilbert"),
        above(taus("bilstm"), taus("distilbert"), match=same_cell),
    ),
    Finding(
        "distilbert_below_bilstm_among_attributions",
        "Each two attributions agree less for DistilBERT than for the BiLSTM.",
        _NEEDS.format("each two attributions", "bilstm and distilbert"),
        above(among_attributions("bilstm"), among_attributions("distilbert"), match=same_cell),
    ),
    Finding(
        "distilbert_only_two_pairs_moderate",
        "For DistilBERT integrated gradient agrees with gradient SHAP and DeepLIFT with deep SHAP (τ above "
        "0.35), and no other two explanations do.",
        _NEEDS.format(_ALL, "distilbert"),
        only_alike_moderate,
    ),
    Finding(
        "distilbert_shap_forms_disagree",
        "For DistilBERT gradient SHAP and deep SHAP hardly agree (τ at most 0.2).",
        _NEEDS.format("gradient_shap and deep_shap", "distilbert"),
        each(between(SHAPS, "distilbert"), at_most(0.2)),
    ),
    Finding(
        "bilstm_shap_forms_apart_on_pairs",
        "For the BiLSTM gradient SHAP and deep SHAP agree better on every set of single texts than on any "
        "of pairs.",
        _NEEDS.format("gradient_shap and deep_shap", "bilstm on single texts and on pairs"),
        all_above(between(SHAPS, "bilstm", SINGLE), between(SHAPS, "bilstm", PAIRS)),
    ),
    Finding(
        "bilstm_attributions_agree_more_on_single_texts",
        "For the BiLSTM attributions agree more on single texts than on pairs.",
        _NEEDS.format("each two attributions", "bilstm on single texts and on pairs"),
        single_above_pairs(among_attributions, "bilstm"),
    ),
    Finding(
        "bilstm_attention_agrees_more_on_single_texts",
        "For the BiLSTM attention agrees with attributions more on single texts than on pairs.",
        _NEEDS.format("attention and attributions", "bilstm on single texts and on pairs"),
        single_above_pairs(with_attention, "bilstm"),
    ),
    Finding(
        "distilbert_agrees_more_on_single_texts",
        "For DistilBERT, too, explanations agree more on single texts than on pairs.",
        _NEEDS.format(_ALL, "distilbert on single texts and on pairs"),
        single_above_pairs(taus, "distilbert"),
    ),
    Finding(
        "uniform_as_accurate",
        "A BiLSTM with uniform attention is at most 0.02 less accurate than with trained attention.",
        "accuracy of the test split for bilstm, and the same with the key attention = uniform",
        above(accuracy(attention="uniform"), accuracy(), by=-0.02),
    ),
    Finding(
        "flow_and_shap_forms_disagree",
        "Attention flow agrees weakly with gradient SHAP and with deep SHAP (τ at most 0.35).",
        _NEEDS.format("flow and gradient_shap or deep_shap", "distilbert"),
        each(flow(sorted(SHAPS)), at_most(WEAK)),
    ),
    Finding(
        "examples_of_figure_1_disagree",
        "The explanations of each of the two texts of figure 1 hardly agree (mean τ at most 0.1).",
        _NEEDS.format("each two explanations, with the key example = figure-1,", "distilbert"),
        figure_1,
    ),
)
