"""From rows made by hand to verdicts that can be told by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from made_rows import BASE, by_text, erased, right, row, rows_of

from faithgauge.audit.conclude import Conclusion, conclude, told
from faithgauge.audit.numbers import Known

NAMES = ("attention", "good", "bad")
EXPLAINED = [*erased("attention", 0.2, -0.2), *erased("good", 0.3, -0.1), *erased("bad", -0.1, 0.1)]


def concluded(*parts: list[dict[str, Any]], tests: Sequence[str] = (), **other: Any) -> Conclusion:
    names = other.pop("names", NAMES)
    chosen = ("majority", "erasure", *tests)
    return conclude(rows_of(*parts), chosen, Known(names, ("a", "b")), trained_here=True, **other)


def words(found: Conclusion) -> dict[str, str]:
    return {name: judged.verdict for name, judged in found.verdicts.items()}


def test_numbers_become_words() -> None:
    found = concluded(EXPLAINED, right())
    assert words(found) == {"attention": "supported", "good": "supported", "bad": "not supported"}
    assert found.headline == "attention and good are supported; 1 not supported."


def test_a_number_has_its_mean_its_sign_and_its_count() -> None:
    found = concluded(EXPLAINED, right())
    first, second = found.of("good")
    assert (first.measure, first.n, first.seeds, first.baseline) == ("comprehensiveness", 40, 3, 0.0)
    assert first.value == pytest.approx(0.3)
    assert second.value == pytest.approx(0.1)  # sufficiency is better where it is lower
    assert first.low < 0.3 < first.high
    # The least p of 1,999 draws, for each of three explainers.
    assert first.p == pytest.approx(3 * 2 / 2000)
    assert "falls by 0.300 more than in random order" in first.sentence
    assert first.says_not


def test_half_of_the_test_is_not_enough() -> None:
    assert words(concluded(erased("good", 0.3, 0.0), right(), names=("good",))) == {"good": "not supported"}


def test_a_model_no_better_than_one_class_is_said_first() -> None:
    found = concluded(EXPLAINED, right(0.5))
    assert set(words(found).values()) == {"undecided"}
    assert found.headline.startswith("Warning: the model is no better than always naming one class.")
    (number,) = [one for one in found.numbers if one.test == "majority"]
    assert (number.value, number.baseline) == (0.5, 0.5)


def test_ten_texts_decide_nothing() -> None:
    found = concluded(erased("good", 0.3, -0.3, n=10), right(n=10), names=("good",))
    assert words(found) == {"good": "undecided"}
    assert "10" in found.verdicts["good"].reasons[0]


def test_recognition_is_the_mean_over_classes() -> None:
    rows = [
        row("right", float(i < 30), seed, example=str(i), **{"class": "a" if i < 30 else "b"})
        for seed in range(3)
        for i in range(40)
    ]
    (number,) = concluded(rows, names=()).numbers
    assert number.value == 0.5  # all of one class, none of the other: 75 % are right, and nothing is known
    assert "75.0% of" in number.sentence


def gap(value: float, low: float, high: float) -> list[dict[str, Any]]:
    ends = {"": value, "_low": low, "_high": high}
    setting = {"seeds": 3, "distribution": "uniform"}
    return [row(f"f1_positive_gap{end}", one, versus=BASE, setting=setting) for end, one in ends.items()]


def test_attention_that_the_model_does_not_need_is_lowered_and_said_first() -> None:
    found = concluded(EXPLAINED, right(), gap(0.0, -0.01, 0.01), tests=["uniform"])
    assert words(found) == {"attention": "undecided", "good": "supported", "bad": "not supported"}
    assert found.headline.startswith("Warning: the model does no better with its attention than with uniform")
    needed = concluded(EXPLAINED, right(), gap(0.1, 0.05, 0.15), tests=["uniform"])
    assert words(needed)["attention"] == "supported"
    assert "Warning" not in needed.headline


def attefa(*values: float) -> list[dict[str, Any]]:
    return [
        row(measure, one, seed, versus=BASE)
        for seed, value in enumerate(values)
        for measure, one in (("attefa_adjusted", value), ("attefa_best", value / 2), ("attefa_cap", 0.5))
    ]


def test_a_cheap_adversary_lowers_attention_and_a_dear_one_does_not() -> None:
    cheap = concluded(EXPLAINED, right(), attefa(0.1, 0.12, 0.11), tests=["attefa"])
    assert words(cheap)["attention"] == "undecided"
    assert "50%" in cheap.verdicts["attention"].reasons[0]
    dear = concluded(EXPLAINED, right(), attefa(0.9, 0.92, 0.91), tests=["attefa"])
    assert words(dear)["attention"] == "supported"


def adversary(jsd: float, moved: float) -> list[dict[str, Any]]:
    texts = range(40)
    where = {"versus": BASE, "setting": {"against": "adversary", "lambda": 0.001}}
    seeds = {"versus": BASE, "setting": {"against": "seed", "base_seed": 0}}
    return [
        *by_text("attention_jsd", [[jsd] * len(texts)] * 3, **where),
        *by_text("output_distance", [[moved] * len(texts)] * 3, **where),
        *by_text("attention_jsd", [[0.1] * len(texts)] * 3, **seeds),
    ]


@pytest.mark.parametrize(
    ("jsd", "moved", "word"),
    [(0.3, 0.01, "undecided"), (0.05, 0.01, "supported"), (0.3, 0.05, "supported")],
    ids=["further than seeds and the same output", "no further than seeds", "another output"],
)
def test_an_adversary_lowers_attention_if_it_goes_further_than_seeds_at_no_cost(
    jsd: float, moved: float, word: str
) -> None:
    found = concluded(EXPLAINED, right(), adversary(jsd, moved), tests=["trained_adversary"])
    assert words(found)["attention"] == word


def test_agreement_never_decides() -> None:
    pairs = by_text("kendall_tau", [[0.9] * 40] * 3, explainer="good", versus="bad")
    before, after = concluded(EXPLAINED, right()), concluded(EXPLAINED, right(), pairs, tests=["agreement"])
    assert words(before) == words(after)
    (number,) = [one for one in after.of("good") if one.test == "agreement"]
    assert number.value == pytest.approx(0.9)


def test_nothing_computed_is_undecided() -> None:
    assert words(concluded(names=("good",))) == {"good": "undecided"}


def test_what_is_not_finite_is_null_in_json() -> None:
    found = concluded(EXPLAINED, right())
    (number,) = [told(one) for one in found.numbers if one.test == "majority"]
    assert number["p"] is None
    assert set(number) >= {
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
    }
