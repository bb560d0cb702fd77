"""The judges of Wiegreffe & Pinter's claims: on their own numbers, and on numbers made for the purpose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from faithgauge.papers.cells import Ours
from faithgauge.papers.published import PAPERS

Printed = Callable[[str], list[Ours]]
Judged = Callable[[str, str, Sequence[Ours]], str]
PAPER = "wiegreffe-pinter-2019"
UNTESTED = {
    "curves_mostly_convex",
    "instance_adversary_below_curve",
    "sst_uniform_below_curve",
    "diabetes_positives_near_concave",
    "sst_robust_to_seed",
}
FAIL = {"adversarial_guides_useless"}


def number(dataset: str, metric: str, value: float, **keys: str) -> Ours:
    return Ours(dataset, "bilstm", metric, value, keys)


def sweep(dataset: str, *points: tuple[str, float, float, float]) -> list[Ours]:
    """Points of λ, JSD, TVD and F1."""
    return [
        number(dataset, metric, value, **{"lambda": weight})
        for weight, *values in points
        for metric, value in zip(("jsd", "tvd", "f1_positive"), values, strict=True)
    ]


CURVE = sweep("sst", ("0", 0.1, 0.02, 0.8), ("0.001", 0.5, 0.06, 0.79), ("0.01", 0.6, 0.1, 0.6))


@pytest.mark.parametrize("name", [finding.name for finding in PAPERS[PAPER].findings])
def test_the_verdicts_on_the_printed_numbers(name: str, printed: Printed, judged: Judged) -> None:
    """Fails: on diabetes an adversarial guide does better than uniform attention, .503 against .404."""
    expected = "untested" if name in UNTESTED else "fails" if name in FAIL else "holds"
    assert judged(PAPER, name, printed(PAPER)) == expected


@pytest.mark.parametrize(("base", "verdict"), [(0.8, "holds"), (0.801, "fails")])
def test_the_best_far_adversary_may_lose_a_hundredth(base: float, verdict: str, judged: Judged) -> None:
    rows = [*CURVE, number("sst", "f1_positive", base, split="test")]
    assert judged(PAPER, "adversaries_keep_f1", rows) == verdict


def test_an_adversary_that_stays_near_is_not_chosen(judged: Judged) -> None:
    near = sweep("sst", ("5.25e-4", 0.4, 0.02, 0.9))
    assert judged(PAPER, "far_adversary_at_printed_lambda", [*CURVE, *near]) == "fails"
    far = sweep("sst", ("5.25e-4", 0.41, 0.02, 0.9))
    assert judged(PAPER, "far_adversary_at_printed_lambda", [*CURVE, *far]) == "holds"


def test_anemia_is_the_one_that_stays_nearer_at_one_thousandth(judged: Judged) -> None:
    name, at = "jsd_at_lambda_one_thousandth", {"lambda": "1e-3"}
    assert (
        judged(PAPER, name, [number("anemia", "jsd", 0.58, **at), number("sst", "jsd", 0.62, **at)])
        == "holds"
    )
    assert judged(PAPER, name, [number("anemia", "jsd", 0.62, **at)]) == "fails"
    assert judged(PAPER, name, [number("sst", "jsd", 0.6, **at)]) == "fails"


@pytest.mark.parametrize(("tvd", "verdict"), [(0.05, "holds"), (0.07, "fails")])
def test_a_point_is_compared_with_the_curve_between_its_neighbours(
    tvd: float, verdict: str, judged: Judged
) -> None:
    """At JSD 0.5 the curve has TVD 0.06; at JSD 0.55 it is halfway to 0.1, 0.08."""
    for key, name in (
        ({"adversary": "per_instance"}, "instance_adversary_below_curve"),
        ({"attention": "uniform"}, "sst_uniform_below_curve"),
    ):
        point = [number("sst", "jsd", 0.5, **key), number("sst", "tvd", tvd, **key)]
        assert judged(PAPER, name, [*CURVE, *point]) == verdict
        halfway = [number("sst", "jsd", 0.55, **key), number("sst", "tvd", 0.079, **key)]
        assert judged(PAPER, name, [*CURVE, *halfway]) == "holds"
        assert judged(PAPER, name, point) == "untested"


def test_distance_is_not_free_where_the_outputs_move_or_the_distance_does_not(judged: Judged) -> None:
    assert judged(PAPER, "sst_jsd_costs_no_tvd", CURVE) == "fails"
    flat = sweep("sst", ("0", 0.1, 0.03, 0.8), ("0.1", 0.3, 0.03, 0.8), ("1", 0.49, 0.03, 0.8))
    assert judged(PAPER, "sst_jsd_costs_no_tvd", flat) == "fails"


def test_most_curves_are_convex_when_more_than_half_are(judged: Judged) -> None:
    areas = [number(name, "chord_area", 0.1) for name in ("sst", "imdb")]
    concave = [number(name, "chord_area", -0.1) for name in ("anemia", "diabetes")]
    assert judged(PAPER, "curves_mostly_convex", [*areas, concave[0]]) == "holds"
    assert judged(PAPER, "curves_mostly_convex", [*areas, *concave]) == "fails"


def test_the_curve_of_the_positives_of_diabetes_is_looked_at_alone(judged: Judged) -> None:
    for area, verdict in ((0.05, "holds"), (0.06, "fails")):
        rows = [number("diabetes", "chord_area", area, **{"class": "1"})]
        assert judged(PAPER, "diabetes_positives_near_concave", rows) == verdict
        assert judged(PAPER, "curves_mostly_convex", rows) == "untested"


def test_seeds_move_the_negatives_of_diabetes_more_than_sst(judged: Judged) -> None:
    diabetes = number("diabetes", "seed_jsd", 0.3, **{"class": "0"})
    for value, verdict in ((0.2, "holds"), (0.4, "fails")):
        rows = [diabetes, number("sst", "seed_jsd", value, **{"class": "1"})]
        assert judged(PAPER, "sst_robust_to_seed", rows) == verdict
    assert judged(PAPER, "sst_robust_to_seed", [diabetes]) == "untested"


def test_guides_out_of_order_fail(judged: Judged) -> None:
    def guided(guide: str, value: float) -> Ours:
        return Ours("sst", "mlp", "f1_positive", value, {"guide": guide})

    rows = [guided("base", 0.8), guided("own", 0.7), guided("uniform", 0.75)]
    assert judged(PAPER, "guides_in_order", rows) == "fails"
    assert judged(PAPER, "guides_in_order", rows[:2]) == "holds"
