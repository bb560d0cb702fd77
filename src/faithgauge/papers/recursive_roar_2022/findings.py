"""The claims of the Recursive ROAR paper. The faithfulness of a measure is the area of equation 3.

Paper: recursive-roar-2022, sections 5 and 6, appendices D and G.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from faithgauge.papers.cells import Ours
from faithgauge.papers.findings import (
    Check,
    Finding,
    Judge,
    Rows,
    Select,
    Verdict,
    both,
    each,
    higher,
    over,
    select,
    show,
    verdict,
)

BABI = ("babi-1", "babi-2", "babi-3")
MEASURES = ("attention", "gradient", "input_x_gradient", "integrated_gradient")
GRADIENTS = ("gradient", "input_x_gradient")
INCLUDE_0 = {
    ("anemia", "bilstm", "gradient"),
    ("anemia", "bilstm", "input_x_gradient"),
    ("diabetes", "bilstm", "integrated_gradient"),
    ("imdb", "bilstm", "gradient"),
    ("anemia", "roberta", "input_x_gradient"),
}
"""Data set, model and measure whose printed interval holds 0."""
CHEAP_ABOVE = {"bilstm": ("babi-2", "babi-3", "snli"), "roberta": ("babi-2", "babi-3")}
PERFORMANCE = ("f1_macro", "f1_micro", "accuracy")
NEAR = 0.02
"""Curves on the synthetic problem that are no further apart are the same: chance alone makes 0.01."""


def faithfulness(encoder: str, measure: str, datasets: Iterable[str] | None = None) -> Select:
    return select("faithfulness", encoder=encoder, keys={"measure": measure}, datasets=datasets)


def ranked(ours: Rows, encoder: str, dataset: str) -> list[Ours]:
    """The paper's measures from the most faithful to the least; empty where fewer than two are there."""
    rows = [row for measure in MEASURES for row in faithfulness(encoder, measure, [dataset])(ours)]
    return sorted(rows, key=lambda row: -row.value) if len(rows) > 1 else []


def cases(ours: Rows) -> list[list[Ours]]:
    """By data set and model the measures in their order."""
    rows = select("faithfulness", free=("measure",))(ours)
    where = dict.fromkeys((row.encoder, row.base) for row in rows)
    return [order for encoder, dataset in where if (order := ranked(ours, encoder, dataset))]


def quoted(order: Sequence[Ours]) -> str:
    return ", ".join(map(show, order))


def none_best_everywhere(ours: Rows) -> Verdict:
    """Over all data sets and models more than one measure comes first."""
    orders = cases(ours)
    if len(orders) < 2:
        return verdict([])
    best = {order[0].keys["measure"] for order in orders}
    says = "; ".join(show(order[0]) for order in orders)
    return verdict([Check(len(best) > 1, f"first: {says}", tuple(order[0] for order in orders))])


def first(encoder: str, measure: str, datasets: Sequence[str], *, places: int = 1) -> Judge:
    """On each of the data sets the measure is among the first so many."""

    def judge(ours: Rows) -> Verdict:
        orders = [ranked(ours, encoder, dataset) for dataset in datasets]
        there = [order for order in orders if any(row.keys["measure"] == measure for row in order)]
        return verdict(
            [
                Check(measure in [row.keys["measure"] for row in order[:places]], quoted(order), tuple(order))
                for order in there
            ]
        )

    return judge


def integrated_gradient_last(ours: Rows) -> Verdict:
    """On each bAbI set integrated gradient is the least faithful for RoBERTa."""
    orders = [order for dataset in BABI if (order := ranked(ours, "roberta", dataset))]
    return verdict(
        [
            Check(order[-1].keys["measure"] == "integrated_gradient", quoted(order), tuple(order))
            for order in orders
            if any(row.keys["measure"] == "integrated_gradient" for row in order)
        ]
    )


def attention_in_front(ours: Rows) -> Verdict:
    """Attention comes first or second for the BiLSTM, and on sst later."""
    checks = []
    for order in cases(ours):
        names = [row.keys["measure"] for row in order]
        if order[0].encoder == "bilstm" and "attention" in names and len(names) > 2:
            ok = (names.index("attention") < 2) != (order[0].base == "sst")
            checks.append(Check(ok, quoted(order), tuple(order)))
    return verdict(checks)


def cheap_gradient_above(ours: Rows) -> Verdict:
    """The interval of gradient or input × gradient lies wholly above that of integrated gradient."""
    checks = []
    for encoder, datasets in CHEAP_ABOVE.items():
        for dear in faithfulness(encoder, "integrated_gradient", datasets)(ours):
            cheap = [
                row for measure in GRADIENTS for row in faithfulness(encoder, measure, [dear.base])(ours)
            ]
            if cheap:
                ok = any(apart(row, dear) for row in cheap)
                checks.append(Check(ok, quoted([*cheap, dear]), (*cheap, dear)))
    return verdict(checks)


def apart(upper: Ours, lower: Ours) -> bool:
    """Whether the first interval lies wholly above the second."""
    return upper.low is not None and lower.high is not None and upper.low > lower.high


def depends_on_model(measure: str, dataset: str, *, upper: str, lower: str) -> Judge:
    """The measure's interval for one model lies wholly above that for the other."""

    def judge(ours: Rows) -> Verdict:
        found = [
            (a, b)
            for a in faithfulness(upper, measure, [dataset])(ours)
            for b in faithfulness(lower, measure, [dataset])(ours)
        ]
        return verdict([Check(apart(a, b), f"{show(a)} against {show(b)}", (a, b)) for a, b in found])

    return judge


def intervals_with_0(ours: Rows) -> Verdict:
    """Where the printed interval holds 0, ours does, and nowhere else."""
    checks = []
    for row in (row for measure in MEASURES for row in select(*_ANY, keys={"measure": measure})(ours)):
        if row.encoder in CHEAP_ABOVE and row.low is not None and row.high is not None:
            printed = (row.base, row.encoder, row.keys["measure"]) in INCLUDE_0
            checks.append(Check((row.low <= 0 <= row.high) == printed, show(row), (row,)))
    return verdict(checks)


def early_drop(ours: Rows) -> Verdict:
    """Of all steps from one fraction to the next, the largest fall ends at 20 % or before, in most curves."""
    checks = []
    for rows in curves(ours):
        falls = [(a.value - b.value, b) for a, b in pairwise(rows)]
        if falls:
            size, at = max(falls, key=lambda fall: fall[0])
            checks.append(
                Check(float(at.keys["fraction"]) <= 0.2, f"{show(at)}, a fall of {size:.4g}", (at,))
            )
    return verdict(checks, needed=0.5)


def leakage(ours: Rows) -> Verdict:
    """For RoBERTa on babi-3 performance at 60 % masked is above that at 50 %, for some measure."""
    rises = [
        (a, b)
        for rows in curves(ours)
        for a, b in pairwise(rows)
        if b.encoder == "roberta" and b.base == "babi-3" and float(b.keys["fraction"]) == 0.6
    ]
    if not rises:
        return verdict([])
    a, b = max(rises, key=lambda step: step[1].value - step[0].value)
    return verdict([higher(b, a)])


def curves(ours: Rows) -> list[list[Ours]]:
    """Performance by fraction, one curve for each data set, model and measure, from the least masked."""
    found: dict[tuple[str, ...], list[Ours]] = {}
    for metric in PERFORMANCE:
        for row in select(metric, free=("measure", "fraction", "split"))(ours):
            if row.encoder != "logistic" and {"measure", "fraction"} <= set(row.keys):
                found.setdefault((row.base, row.encoder, row.keys["measure"], metric), []).append(row)
    return [sorted(rows, key=lambda row: float(row.keys["fraction"])) for rows in found.values()]


def only_recursive(ours: Rows) -> Verdict:
    """On diabetes the interval of the gradient lies above 0 under recursive ROAR and not under plain ROAR."""
    recursive = faithfulness("bilstm", "gradient", ["diabetes"])(ours)
    plain = select(
        "faithfulness",
        encoder="bilstm",
        keys={"measure": "gradient", "masking": "plain"},
        datasets=["diabetes"],
    )(ours)
    return verdict(
        [
            Check(
                a.low is not None and a.low > 0 and (b.low is None or b.low <= 0),
                f"recursive {show(a)}, plain {show(b)}",
                (a, b),
            )
            for a in recursive
            for b in plain
        ]
    )


def share_of_time(ours: Rows) -> Verdict:
    """Integrated gradient takes between 0.57 and 0.77 of the time of all measures, for each model."""
    minutes = select("walltime_minutes", free=("measure",))(ours)
    checks = []
    for encoder in dict.fromkeys(row.encoder for row in minutes):
        rows = [
            row
            for row in minutes
            if row.encoder == encoder and row.keys.get("measure") in ("random", *MEASURES)
        ]
        dear = [row for row in rows if row.keys["measure"] == "integrated_gradient"]
        if dear and len(rows) > len(dear):
            share = sum(row.value for row in dear) / sum(row.value for row in rows)
            checks.append(Check(abs(share - 2 / 3) <= 0.1, f"{encoder}: a share of {share:.3f}", tuple(rows)))
    return verdict(checks)


def on_synthetic(measure: str, masking: str | None = None) -> Select:
    """Accuracy on the problem whose truth is known, by the share of features that is removed."""
    keys = {"measure": measure, **({"masking": masking} if masking else {})}
    return select("accuracy", encoder="logistic", keys=keys, free=("fraction", "split"))


def recursive_is_truth(ours: Rows) -> Verdict:
    """At every step the two curves are within 0.02 of each other."""
    found = pairs_by_fraction(on_synthetic("weights")(ours), on_synthetic("truth", "plain")(ours))
    return verdict([Check(abs(a.value - b.value) <= NEAR, f"{show(a)}, {show(b)}", (a, b)) for a, b in found])


def plain_is_not_truth(ours: Rows) -> Verdict:
    """At some step the model does better by more than 0.02 than without the truly important features."""
    found = pairs_by_fraction(on_synthetic("weights", "plain")(ours), on_synthetic("truth", "plain")(ours))
    if not found:
        return verdict([])
    a, b = max(found, key=lambda pair: pair[0].value - pair[1].value)
    return verdict([Check(a.value - b.value > NEAR, f"at most apart at {show(a)}, {show(b)}", (a, b))])


def pairs_by_fraction(first: Rows, second: Rows) -> list[tuple[Ours, Ours]]:
    """The numbers of both at the same fraction."""
    other = {row.keys["fraction"]: row for row in second}
    return [(row, other[row.keys["fraction"]]) for row in first if row.keys["fraction"] in other]


_ANY = ("faithfulness",)
_NEEDS = "faithfulness for {}, by measure"

FINDINGS: tuple[Finding, ...] = (
    Finding(
        "no_measure_best_everywhere",
        "Which measure is the most faithful depends on data set and model.",
        _NEEDS.format("at least two of data sets and models"),
        none_best_everywhere,
    ),
    Finding(
        "bilstm_attention_best_on_snli",
        "For the BiLSTM attention is the most faithful measure on snli.",
        _NEEDS.format("bilstm on snli"),
        first("bilstm", "attention", ["snli"]),
    ),
    Finding(
        "bilstm_input_measures_best_on_sst",
        "For the BiLSTM integrated gradient and input × gradient are the two most faithful on sst.",
        _NEEDS.format("bilstm on sst"),
        both(
            first("bilstm", "integrated_gradient", ["sst"], places=2),
            first("bilstm", "input_x_gradient", ["sst"], places=2),
        ),
    ),
    Finding(
        "roberta_integrated_gradient_best_on_imdb_and_snli",
        "For RoBERTa integrated gradient is the most faithful on imdb and snli.",
        _NEEDS.format("roberta on imdb or snli"),
        first("roberta", "integrated_gradient", ["imdb", "snli"]),
    ),
    Finding(
        "roberta_gradient_best_on_babi",
        "For RoBERTa the gradient is the most faithful on babi-1 and babi-2.",
        _NEEDS.format("roberta on babi-1 or babi-2"),
        first("roberta", "gradient", ["babi-1", "babi-2"]),
    ),
    Finding(
        "roberta_integrated_gradient_worst_on_babi",
        "For RoBERTa integrated gradient is the least faithful on every bAbI set.",
        _NEEDS.format("roberta on babi-1, 2 or 3"),
        integrated_gradient_last,
    ),
    Finding(
        "attention_in_front_except_on_sst",
        "For the BiLSTM attention is the first or second of the measures on every data set but sst.",
        _NEEDS.format("bilstm, at least three measures"),
        attention_in_front,
    ),
    Finding(
        "cheap_gradients_above_integrated_gradient",
        "Gradient or input × gradient is more faithful than integrated gradient, intervals apart, on babi-2 "
        "and babi-3 for both models and on snli for the BiLSTM.",
        _NEEDS.format("bilstm or roberta on babi-2, babi-3 or snli"),
        cheap_gradient_above,
    ),
    Finding(
        "gradient_on_imdb_depends_on_model",
        "On imdb the gradient is more faithful for RoBERTa than for the BiLSTM, intervals apart.",
        _NEEDS.format("bilstm and roberta on imdb"),
        depends_on_model("gradient", "imdb", upper="roberta", lower="bilstm"),
    ),
    Finding(
        "integrated_gradient_on_babi_3_depends_on_model",
        "On babi-3 integrated gradient is more faithful for the BiLSTM than for RoBERTa, intervals apart.",
        _NEEDS.format("bilstm and roberta on babi-3"),
        depends_on_model("integrated_gradient", "babi-3", upper="bilstm", lower="roberta"),
    ),
    Finding(
        "input_measures_on_snli_change_sign",
        "On snli input × gradient and integrated gradient are below 0 for the BiLSTM and above 0.3 for "
        "RoBERTa.",
        _NEEDS.format("bilstm or roberta on snli"),
        both(
            *(
                each(faithfulness(encoder, measure, ["snli"]), test)
                for measure in ("input_x_gradient", "integrated_gradient")
                for encoder, test in (("bilstm", lambda area: area < 0), ("roberta", over(0.3)))
            )
        ),
    ),
    Finding(
        "not_told_from_random",
        "The interval holds 0 for gradient and input × gradient on anemia, integrated gradient on diabetes "
        "and gradient on imdb with the BiLSTM, for input × gradient on anemia with RoBERTa, and nowhere "
        "else.",
        _NEEDS.format("bilstm or roberta, with intervals"),
        intervals_with_0,
    ),
    Finding(
        "largest_drop_early",
        "Most curves fall most before 20 % of the tokens are masked.",
        "f1_macro, f1_micro or accuracy by measure and fraction",
        early_drop,
    ),
    Finding(
        "class_leakage_on_babi_3",
        "For RoBERTa on babi-3 some measure does better at 60 % masked than at 50 %.",
        "accuracy of roberta on babi-3 by measure and fraction",
        leakage,
    ),
    Finding(
        "diabetes_gradient_only_recursive",
        "On diabetes the gradient is faithful under recursive ROAR and not under plain ROAR.",
        "faithfulness of gradient for bilstm on diabetes, and the same with the key masking = plain",
        only_recursive,
    ),
    Finding(
        "integrated_gradient_two_thirds_of_time",
        "Integrated gradient takes about two thirds of the time (within 0.1).",
        "walltime_minutes of each model, by measure",
        share_of_time,
    ),
    Finding(
        "recursive_roar_is_the_truth",
        "Where the truth is known, recursive ROAR loses as much at every step as removing what is truly "
        "important (within 0.02).",
        "accuracy on roar-synthetic, by order of removal",
        recursive_is_truth,
    ),
    Finding(
        "plain_roar_is_not_the_truth",
        "Where the truth is known and features are redundant, plain ROAR loses less (by more than 0.02 at "
        "some step).",
        "accuracy on roar-synthetic, by order of removal",
        plain_is_not_truth,
    ),
)
