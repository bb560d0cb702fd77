"""The claims of Jain & Wallace.

Paper: jain-wallace-2019, section 4, appendix C and the caption of table 1.
"""

from __future__ import annotations

from faithgauge.papers.findings import (
    Check,
    Finding,
    Judge,
    Rows,
    Select,
    Verdict,
    above,
    at_most,
    both,
    by_class,
    each,
    mean_gap,
    over,
    pairs,
    select,
    show,
    verdict,
)

LONG = ("diabetes", "anemia")
QUESTIONS = ("cnn", "babi-1", "babi-2", "babi-3")
CLASSIFICATION = ("sst", "imdb", "adr", "20news", "agnews", *LONG)
AGREE = 0.1
"""Within this of each other two rank correlations are called comparable."""
SMALL_CHANGE = 0.1


def pair(a: str, b: str, encoder: str, *, metric: str = "kendall_tau", attention: str = "") -> Select:
    """How far two things agree, by class; `attention` is named where it is not the additive one."""
    keys = {"measure_a": a, "measure_b": b, **({"attention": attention} if attention else {})}
    return by_class(select(metric, encoder=encoder, keys=keys, free=("class",)))


def diabetes_positives(metric: str) -> Select:
    return select(metric, encoder="bilstm", keys={"class": "1"}, datasets=("diabetes",))


def all_others(metric: str) -> Select:
    """By class, without the positive class of diabetes."""
    every, left_out = by_class(select(metric, encoder="bilstm", free=("class",))), diabetes_positives(metric)
    return lambda ours: [row for row in every(ours) if row not in left_out(ours)]


def gradients_and_leave_one_out_over(a: str, b: str) -> Judge:
    """They agree better than `a` and `b` do: on each data set but snli, and by 0.2 on average."""
    upper, lower = (
        _without_snli(pair("gradient", "leave_one_out", "bilstm")),
        _without_snli(pair(a, b, "bilstm")),
    )
    return both(mean_gap(upper, lower, over=0.2), above(upper, lower))


def _without_snli(rows: Select) -> Select:
    return lambda ours: [row for row in rows(ours) if row.base != "snli"]


def dot_like_additive(ours: Rows) -> Verdict:
    """Every τ with dot-product attention lies within AGREE of that with additive attention."""
    checks = []
    for explainer in ("gradient", "leave_one_out"):
        dot = pair("attention", explainer, "bilstm", attention="dot")(ours)
        additive = pair("attention", explainer, "bilstm")(ours)
        checks += [
            Check(abs(a.value - b.value) <= AGREE, f"{show(a)} against {show(b)}", (a, b))
            for a, b in pairs(dot, additive)
        ]
    return verdict(checks)


def long_texts(ours: Rows) -> Verdict:
    """On the long texts of MIMIC τ is below a half, and significant in every text."""
    taus, shares = (
        [row for row in pair("attention", "gradient", "bilstm", metric=metric)(ours) if row.base in LONG]
        for metric in ("kendall_tau", "sig_frac")
    )
    return verdict(
        [
            Check(tau.value < 0.5 and share.value >= 0.995, f"{show(tau)}, {show(share)}", (tau, share))
            for tau, share in pairs(taus, shares)
        ]
    )


def performance(encoder: str, metric: str, datasets: tuple[str, ...]) -> Select:
    return select(metric, encoder=encoder, keys={"split": "test"}, datasets=datasets)


_TAU = "kendall_tau of {} for {}, by class"
_OTHERS = ("average", "cnn")

FINDINGS: tuple[Finding, ...] = (
    Finding(
        "attention_gradient_tau_modest",
        "With a BiLSTM attention and gradients agree modestly: mean τ is at most 0.5 in every class.",
        _TAU.format("attention and gradient", "bilstm"),
        each(pair("attention", "gradient", "bilstm"), at_most(0.5)),
    ),
    Finding(
        "average_above_bilstm",
        "Attention and gradients agree better over the average encoder than over the BiLSTM, in every class.",
        _TAU.format("attention and gradient", "bilstm and average"),
        above(pair("attention", "gradient", "average"), pair("attention", "gradient", "bilstm")),
    ),
    Finding(
        "leave_one_out_average_above_bilstm",
        "Attention and leave-one-out agree better over the average encoder than over the BiLSTM, by about "
        "0.375 on average over data sets (judged as: by more than 0.25).",
        _TAU.format("attention and leave_one_out", "bilstm and average"),
        mean_gap(
            pair("attention", "leave_one_out", "average"),
            pair("attention", "leave_one_out", "bilstm"),
            over=0.25,
        ),
    ),
    Finding(
        "gradient_leave_one_out_above_attention_leave_one_out",
        "Gradients agree with leave-one-out better than attention does, on every data set but snli, and by "
        "more than 0.2 on average.",
        _TAU.format("gradient, attention and leave_one_out", "bilstm"),
        gradients_and_leave_one_out_over("attention", "leave_one_out"),
    ),
    Finding(
        "gradient_leave_one_out_above_attention_gradient",
        "Gradients agree with leave-one-out better than with attention, on every data set but snli, and by "
        "about 0.25 on average (judged as: by more than 0.2).",
        _TAU.format("gradient, attention and leave_one_out", "bilstm"),
        gradients_and_leave_one_out_over("attention", "gradient"),
    ),
    Finding(
        "long_texts_significant_though_weak",
        "On diabetes and anemia the agreement of attention and gradients is significant in every text "
        "though τ is below a half.",
        "kendall_tau and sig_frac of attention and gradient for bilstm on diabetes or anemia",
        long_texts,
    ),
    Finding(
        "attention_leave_one_out_tau_modest",
        "With a BiLSTM attention and leave-one-out agree modestly: mean τ is at most 0.5 in every class.",
        _TAU.format("attention and leave_one_out", "bilstm"),
        each(pair("attention", "leave_one_out", "bilstm"), at_most(0.5)),
    ),
    Finding(
        "permutation_changes_little",
        "Permuting attention changes the output little (median of the texts' median |Δp| at most 0.1), in "
        "every class but the positive one of diabetes.",
        "permutation_tvd for bilstm, by class",
        each(all_others("permutation_tvd"), at_most(SMALL_CHANGE)),
    ),
    Finding(
        "permutation_changes_diabetes_positives",
        "Permuting attention changes the output of the positive class of diabetes (median |Δp| above 0.1).",
        "permutation_tvd for bilstm, class 1 of diabetes",
        each(diabetes_positives("permutation_tvd"), over(SMALL_CHANGE)),
    ),
    Finding(
        "adversarial_attention_for_many",
        "For many texts (judged as: half of each class) there is an attention as far away as JSD 0.6 that "
        "leaves the output within ε, in every class but the positive one of diabetes.",
        "adversarial_share for bilstm, by class: the share of texts whose ε-max JSD is at least 0.6",
        each(all_others("adversarial_share"), lambda share: share >= 0.5),
    ),
    Finding(
        "adversarial_attention_rare_for_diabetes_positives",
        "For less than half of the positive texts of diabetes there is such an attention.",
        "adversarial_share for bilstm, class 1 of diabetes",
        each(diabetes_positives("adversarial_share"), lambda share: share < 0.5),
    ),
    Finding(
        "peaked_attention_hardly_protects",
        "Maximal attention and ε-max JSD are related negatively and only weakly (Spearman's ρ between −0.5 "
        "and 0).",
        "spearman of max_attention and epsilon_max_jsd for bilstm, by class",
        each(
            pair("max_attention", "epsilon_max_jsd", "bilstm", metric="spearman"),
            lambda rho: -0.5 < rho < 0,
        ),
    ),
    Finding(
        "dot_product_like_additive",
        "Dot-product attention agrees with gradients and leave-one-out as additive attention does (every τ "
        "within 0.1).",
        "kendall_tau with additive attention, and with the key attention = dot, for bilstm, by class",
        dot_like_additive,
    ),
    Finding(
        "encoders_alike_on_classification",
        "On classification the average and the CNN encoder do as well as the BiLSTM (F1 at most 0.05 lower).",
        "f1_positive of the test split for bilstm and for average or cnn",
        both(
            *(
                above(
                    performance(other, "f1_positive", CLASSIFICATION),
                    performance("bilstm", "f1_positive", CLASSIFICATION),
                    by=-0.05,
                )
                for other in _OTHERS
            )
        ),
    ),
    Finding(
        "bilstm_better_on_questions",
        "On questions the average and the CNN encoder do much worse than the BiLSTM (accuracy more than 0.1 "
        "lower).",
        "accuracy of the test split for bilstm and for average or cnn on babi or cnn",
        both(
            *(
                above(
                    performance("bilstm", "accuracy", QUESTIONS),
                    performance(other, "accuracy", QUESTIONS),
                    by=0.1,
                )
                for other in _OTHERS
            )
        ),
    ),
)
