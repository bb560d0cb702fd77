"""Rows of what models that were trained again say beside the one they are compared with, by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isnan, log, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import EOS, SOS, encode, ragged

from faithgauge.comparing import Answers, attefa_rows, distances, gaps, guide_of, sweep
from faithgauge.types import Encoded, Said, Split

LN2 = log(2)
TWO = encode([[SOS, 4, 5, EOS]] * 4, [0, 1, 0, 1])
FIRST, SECOND = [0, 1, 0, 0], [0, 0, 1, 0]
SURE = [0.0, 1.0, 0.0, 1.0]


class Fakes:
    """A corpus with these texts as validation and test split."""

    def __init__(self, encoded: Encoded) -> None:
        self.splits = {"validation": encoded, "test": encoded}


def answers(
    p: list[float], attention: list[list[float]], *, epoch: int = 3, seed: int = 7, classes: int = 2
) -> Answers:
    columns = [np.array(p), *[np.zeros(len(p))] * (classes - 2)]
    probability = np.stack([1 - np.array(p), *columns], -1).astype(np.float32)
    said = Said(probability, ragged(attention, np.float32))
    about = {"dataset": "toy", "model": "mlp", "seed": seed, "setting": json.dumps({"vectors": "x"})}
    splits: tuple[Split, ...] = ("validation", "test")
    return Answers(
        dict.fromkeys(splits, said),
        {split: about | {"split": split} for split in splits},
        tuple("abc"[:classes]),
        epoch,
    )


def rows_of(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every row on its own, the setting as a mapping."""
    found = []
    for part in parts:
        columns = {k: list(v) for k, v in part.items() if not isinstance(v, str) and hasattr(v, "__len__")}
        for i in range(len(columns["value"])):
            row = {**part, **{name: column[i] for name, column in columns.items()}}
            found.append(row | {"setting": json.loads(part["setting"])})
    return found


def values(rows: list[dict[str, Any]], measure: str, **setting: Any) -> list[float]:
    return [
        row["value"]
        for row in rows
        if row["measure"] == measure and setting.items() <= row["setting"].items()
    ]


def compared(other: Answers, encoded: Encoded = TWO, base: Answers | None = None) -> list[dict[str, Any]]:
    base = base or answers(SURE, [FIRST] * 4)
    return rows_of(distances(base, other, encoded, split="test", setting={"lambda": 0.1}))


def test_the_distances_stand_text_by_text_with_the_class_that_the_base_predicts() -> None:
    """Says .8 for 0: ½ · .8; attends to the other token: ln 2."""
    rows = compared(answers([0.8, 1, 0, 1], [SECOND, FIRST, FIRST, FIRST]))
    assert values(rows, "output_distance") == pytest.approx([0.4, 0, 0, 0])
    assert values(rows, "attention_jsd") == pytest.approx([LN2, 0, 0, 0])
    assert values(rows, "max_attention") == pytest.approx([1, 1, 1, 1])
    by_text = [row for row in rows if row["measure"] == "output_distance"]
    assert [(row["example"], row["class"]) for row in by_text] == [
        ("0", "a"),
        ("1", "b"),
        ("2", "a"),
        ("3", "b"),
    ]
    assert {row["versus"] for row in rows} == {"base model"}
    assert by_text[0]["setting"] == {"vectors": "x", "lambda": 0.1}


def test_the_metrics_are_those_of_the_other_model_on_the_labels() -> None:
    assert values(compared(answers([0.8, 1, 0, 1], [FIRST] * 4)), "accuracy") == [0.75]


def test_a_text_of_one_token_has_no_distance_of_attention_and_says_why() -> None:
    encoded = encode([[SOS, 4, EOS], [SOS, 4, 5, EOS], [SOS, EOS]], [0, 1, 0])
    weights = [[0, 1, 0], FIRST, [0, 0]]
    rows = compared(answers([0, 1, 0], weights), encoded, answers([0, 1, 0], weights))
    found = [(row["value"], row["reason"]) for row in rows if row["measure"] == "attention_jsd"]
    assert [reason for _, reason in found] == ["fewer than two tokens", None, "fewer than two tokens"]
    assert [isnan(value) for value, _ in found] == [True, False, True]


def gauged(
    *others: tuple[str, Answers], base: Answers | None = None, encoded: Encoded = TWO
) -> list[dict[str, Any]]:
    found = attefa_rows(
        base or answers(SURE, [FIRST] * 4),
        dict(others),
        Fakes(encoded),  # type: ignore[arg-type]
        split="test",
        select_on="validation",
        setting={"against": "adversary"},
    )
    return rows_of(found)


FOUND = answers([0.1, 0.9, 0.1, 0.9], [SECOND] * 4, epoch=5)
"""TVD .05, JSD ln 2: loss .1 − 1, AtteFa .1."""
STUCK = answers([0.0] * 4, [SECOND] * 4)
"""One class for all: TVD ¼, JSD ln 2: loss ½ − 1, AtteFa ½, as the constant ½ has."""


def test_attefa_of_each_start_by_hand() -> None:
    rows = gauged(("fresh", STUCK), ("warm", FOUND))
    for start, attefa, tvd, epoch in (("fresh", 0.5, 0.25, 3), ("warm", 0.1, 0.05, 5)):
        assert values(rows, "attefa", start=start) == pytest.approx([attefa])
        assert values(rows, "output_distance", start=start) == pytest.approx([tvd])
        assert values(rows, "attention_jsd", start=start) == pytest.approx([LN2])
        assert values(rows, "epoch", start=start) == [epoch]


def test_a_degenerate_adversary_says_one_class() -> None:
    rows = gauged(("fresh", STUCK), ("warm", FOUND))
    assert values(rows, "same_class_share", start="fresh") == [1.0]
    assert values(rows, "f1_positive", start="fresh") == [0.0]
    assert values(rows, "same_class_share", start="warm") == [0.5]


def test_cold_is_the_first_start_and_best_the_one_with_the_least_loss() -> None:
    rows = gauged(("fresh", STUCK), ("warm", FOUND))
    assert values(rows, "attefa_cold") == pytest.approx([0.5])
    assert values(rows, "attefa_best") == pytest.approx([0.1])
    assert values(rows, "attefa_cap") == pytest.approx([0.5])
    assert values(rows, "attefa_cold_adjusted") == pytest.approx([1.0])
    assert values(rows, "attefa_adjusted") == pytest.approx([0.2])
    assert values(rows, "attefa_won", start="warm", cold="fresh", starts=2) == [1.0]
    assert values(rows, "best_output_distance", start="warm") == pytest.approx([0.05])


def test_the_constant_predictor_is_one_of_the_starts() -> None:
    """This one moves the output by .4 and half of the attention: loss .8 − .5 at best."""
    bad = answers([0.8, 0.2, 0.8, 0.2], [[0, 0.5, 0.5, 0]] * 4)
    rows = gauged(("fresh", bad))
    assert values(rows, "attefa_won", start="constant") == [1.0]
    assert values(rows, "attefa_best") == pytest.approx([0.5])
    assert values(rows, "adversary_not_found") == [1.0]
    assert values(gauged(("fresh", FOUND)), "adversary_not_found") == [0.0]


def test_at_the_cap_an_adversary_counts_as_found() -> None:
    assert values(gauged(("fresh", STUCK)), "adversary_not_found") == [0.0]


def test_the_best_is_chosen_where_the_study_says_and_not_where_it_is_measured() -> None:
    warm = answers([0.0] * 4, [SECOND] * 4)
    better = FOUND.said["validation"]
    chosen = Answers({"validation": better, "test": warm.said["test"]}, warm.about, warm.classes, 1)
    rows = gauged(("fresh", answers([0.2, 0.8, 0.2, 0.8], [SECOND] * 4)), ("warm", chosen))
    assert values(rows, "attefa_won", start="warm") == [1.0]
    assert values(rows, "attefa_best") == pytest.approx([0.5])


def test_of_a_base_at_chance_nothing_is_adjusted_and_the_reason_is_told() -> None:
    """Right in two of four."""
    rows = gauged(("fresh", FOUND), base=answers([0, 1, 1, 0], [FIRST] * 4))
    assert values(rows, "base_above_chance") == [0.0]
    adjusted = [row for row in rows if row["measure"] in ("attefa_adjusted", "attefa_cold_adjusted")]
    assert all(
        isnan(row["value"]) and row["reason"] == "the base model is not above chance" for row in adjusted
    )
    assert len(adjusted) == 2


def test_texts_that_cannot_move_are_counted_and_left_out() -> None:
    """With the one-token text the mean TVD would be .0375."""
    encoded = encode([*[[SOS, 4, 5, EOS]] * 4, [SOS, 4, EOS]], [0, 1, 0, 1, 1])
    one = [[0.0, 1.0, 0.0]]
    base = answers([*SURE, 1.0], [*[FIRST] * 4, *one])
    other = answers([0.1, 0.9, 0.1, 0.9, 0.0], [*[SECOND] * 4, *one])
    rows = gauged(("fresh", other), base=base, encoded=encoded)
    assert values(rows, "texts_that_cannot_move") == [1.0]
    assert values(rows, "output_distance") == pytest.approx([0.05])
    assert values(rows, "attention_jsd") == pytest.approx([LN2])


def test_texts_of_one_token_alone_have_no_attefa_and_say_why() -> None:
    encoded = encode([[SOS, 4, EOS]] * 4, [0, 1, 0, 1])
    same = answers(SURE, [[0, 1, 0]] * 4)
    rows = gauged(("fresh", same), base=same, encoded=encoded)
    (distance,) = [row for row in rows if row["measure"] == "attention_jsd"]
    assert isnan(distance["value"])
    assert distance["reason"] == "no text of two tokens or more"
    assert "not defined" not in {row["reason"] for row in rows if row["measure"] not in ("roc_auc", "pr_auc")}
    assert all(row["reason"] for row in rows if isnan(row["value"]))


@pytest.mark.parametrize("weights", [FIRST, [0, 0.5, 0.5, 0]])
def test_one_hot_and_uniform_bases_have_their_numbers(weights: list[float]) -> None:
    rows = gauged(("fresh", FOUND), base=answers(SURE, [weights] * 4))
    far = LN2 if weights == FIRST else LN2 + (0.5 * log(0.5) - 1.5 * log(1.5)) / 2
    assert values(rows, "attention_jsd") == pytest.approx([far], rel=1e-5)
    assert values(rows, "attefa_cap") == pytest.approx([min(0.5 / (far / LN2), 1)])


def swept(**others: Answers) -> list[dict[str, Any]]:
    weights = {float(name.replace("w", "")) / 10: one for name, one in others.items()}
    parts = sweep(answers(SURE, [FIRST] * 4), weights, TWO, split="test", setting={"against": "adversary"})
    return rows_of(parts)


def mixed(p: float, share: float) -> Answers:
    """Every output moved by p, every attention to a mixture."""
    return answers([p, 1 - p, p, 1 - p], [[0, 1 - share, share, 0]] * 4)


def test_the_curve_of_a_sweep_is_convex_or_concave_by_a_number() -> None:
    """At the ends of JSD the TVD is 0 and .2; in between it is 0: far below the chord."""
    rows = swept(w0=mixed(0, 0), w1=mixed(0, 0.5), w2=mixed(0.4, 1))
    middle = (log(4 / 3) + log(2 / 3) / 2 + log(2) / 2) / 2 / LN2
    areas = {row["class"]: row["value"] for row in rows if row["measure"] == "chord_area"}
    assert areas == pytest.approx({None: middle / 2, "a": middle / 2, "b": middle / 2}, rel=1e-5)


def test_a_class_without_a_form_says_why() -> None:
    rows = swept(w0=mixed(0, 0), w1=mixed(0, 0.5), w2=mixed(0, 1))
    found = [(isnan(row["value"]), row["reason"]) for row in rows if row["measure"] == "chord_area"]
    assert found == [(True, "fewer than three distances, or no difference of output")] * 3


def test_table_4_takes_the_best_f1_among_those_that_are_far() -> None:
    """λ .1 is near and right, .2 far and right, .3 farther and wrong in half of the texts."""
    rows = swept(w1=mixed(0, 0.5), w2=mixed(0.2, 1), w3=answers([1, 1, 1, 1], [SECOND] * 4))
    assert values(rows, "far_lambda") == [0.2]
    assert values(rows, "far_f1_positive") == [1.0]
    assert values(rows, "far_output_distance") == pytest.approx([0.1])
    assert values(rows, "far_attention_jsd") == pytest.approx([LN2])


def test_without_a_far_adversary_there_is_no_best_one() -> None:
    rows = [row for row in swept(w0=mixed(0, 0), w1=mixed(0, 0.5)) if row["measure"].startswith("far_")]
    assert len(rows) == 4
    assert all(
        isnan(row["value"]) and row["reason"] == "no adversary has a mean JSD above 0.4" for row in rows
    )


def test_the_gap_to_other_models_is_the_difference_of_their_f1() -> None:
    """Bases right in all; others say 1 of all: F1 2/3. Two seeds alike."""
    base, other = answers(SURE, [FIRST] * 4), answers([1, 1, 1, 1], [FIRST] * 4)
    rows = rows_of(gaps([base] * 2, [other] * 2, TWO, split="test"))
    assert [row["measure"] for row in rows] == [
        "f1_positive_gap",
        "f1_positive_gap_low",
        "f1_positive_gap_high",
    ]
    assert rows[0]["value"] == pytest.approx(1 / 3)
    assert rows[1]["value"] <= rows[0]["value"] <= rows[2]["value"]
    assert (rows[0]["seed"], rows[0]["setting"]["seeds"]) == (None, 2)


def test_of_more_classes_the_gap_is_one_of_accuracy() -> None:
    base, other = (answers(p, [FIRST] * 4, classes=3) for p in (SURE, [1.0, 1, 1, 1]))
    rows = rows_of(gaps([base], [other], TWO, split="test"))
    assert (rows[0]["measure"], rows[0]["value"]) == ("accuracy_gap", 0.5)


def test_scores_that_guide_are_normalised(tmp_path: Path) -> None:
    """|−3|, 1: ¾ and ¼; scores that are all 0, and texts of which nothing was explained, guide evenly."""
    texts = encode([[SOS, 4, 5, EOS]] * 3)
    np.save(tmp_path / "scores-test.npy", np.array([nan, -3, 1, nan, nan, 0, 0, nan, *[nan] * 4], np.float32))
    corpus: Any = Fakes(texts)
    del corpus.splits["validation"]
    found = guide_of(tmp_path, corpus)["test"]
    assert found.values.reshape(3, 4).tolist() == [[0, 0.75, 0.25, 0], [0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0]]
