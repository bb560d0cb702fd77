"""Which charts there are, with one sentence of what each says and one of what it does not.

A test that is added later adds its table to `tidy.TABLES` and its chart here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithgauge.registry import Table
from faithgauge.report.tidy import Tables

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class Chart:
    """A chart: `draw` names the function that makes it of the tables, and gives None where there are no rows.

    `table` is the one whose numbers it shows. `least` is the width in rem below which it scrolls.
    """

    title: str
    says: str
    says_not: str
    table: str
    draw: Callable[[Tables], alt.LayerChart | None]
    least: int = 0


def _drawn(place: str) -> Callable[[Tables], alt.LayerChart | None]:
    """The function at a place, imported when it is called, since charts take long to import."""

    def draw(tables: Tables) -> alt.LayerChart | None:
        from typing import cast

        from faithgauge.registry import locate

        found = cast("Callable[[Tables], alt.LayerChart | None]", locate(f"faithgauge.report.charts.{place}"))
        return found(tables)

    return draw


CHARTS: Table[Chart] = Table(
    "chart",
    {
        "erasure": Chart(
            "Do the tokens an explainer puts first matter more than random ones?",
            "Each line is an explainer: how much more the model's output changes when the tokens that it "
            "puts first are erased, than when as many random tokens of the same text are. The bar is the "
            "95 % interval; right of the dashed line is better than random.",
            "A text with holes is none that the model was trained on. A good number does not make an "
            "explanation complete, and it does not make the model right.",
            "erasure",
            _drawn("intervals:erasure"),
        ),
        "roar": Chart(
            "And when the model may learn again without them?",
            "The tokens that each explainer puts first are masked and a new model is trained on what is "
            "left. The sooner its curve falls below that of random, the more those tokens were needed. "
            "Bands are 95 % intervals over seeds. The curves of masked training, where they are chosen, are "
            "of one model that knows masked texts, and not of new ones.",
            "Where a task can be solved by several words, a curve stays up although the explanation is "
            "right.",
            "roar",
            _drawn("curves:roar"),
        ),
        "evidence": Chart(
            "Do they find the words that are known to decide?",
            "Where the data say which words decide the label: how many of them each explainer finds. The "
            "grey tick is what a random order finds.",
            "Where people marked the words this is agreement with people, not faithfulness to the model.",
            "evidence",
            _drawn("intervals:evidence"),
        ),
        "gaps": Chart(
            "Does the model need its attention?",
            "How much better it does than the same model with equal attention on every token, over seeds "
            "and texts. Where the interval covers 0, its attention explains little since it is not "
            "needed.",
            "A gap does not make attention an explanation; it only does not rule it out.",
            "gaps",
            _drawn("intervals:gaps"),
        ),
        "guides": Chart(
            "Is attention any use to another model?",
            "A model that reads one token at a time is given attention from elsewhere. If the base "
            "model's attention helps it more than equal weights do, that attention knows something of the "
            "words.",
            "What helps another model need not be what this one goes by.",
            "guides",
            _drawn("intervals:guides"),
        ),
        "by_attention": Chart(
            "What happens to texts on which attention is sure?",
            "Texts in bins of their largest attention weight, and in each bin what changed when attention "
            "was changed. Wide is where most texts are; the white point is the median, the bar the middle "
            "half.",
            "That an output stays where attention changes may be because other tokens say the same.",
            "by_attention",
            _drawn("violins:by_attention"),
        ),
        "distances": Chart(
            "How far can attention go while the output stays?",
            "Each point is another model beside this one: how far its attention is (right) and how far "
            "its output is (up). Points far right and low are other attention for the same decisions. A "
            "line joins the adversaries of one seed, by the weight λ of their attention.",
            "That other attention is possible does not make this one unfaithful, unless it is no further "
            "away than that of another seed.",
            "distances",
            _drawn("planes:distances"),
        ),
        "attefa": Chart(
            "What does it cost to move attention away?",
            "AtteFa is how far the output has to move for attention to move: 1 if as far, 0 if it can "
            "stay. Each point is a seed; the cap is what a model reaches that says the same of every "
            "text.",
            "A number near its cap says nothing, and one above it means that the adversary was not found.",
            "attefa",
            _drawn("planes:attefa"),
        ),
        "agreement": Chart(
            "Do the explainers agree with each other?",
            "Kendall's τ and other measures of every two explainers: 1 is the same order of tokens, 0 "
            "none in common. On the diagonal is an explainer with itself on a model of another seed.",
            "Agreement is not faithfulness: two explainers can agree and both be wrong. It decides no "
            "verdict.",
            "agreement",
            _drawn("matrix:agreement"),
            least=38,
        ),
    },
)
"""In the order of the page. The chart of the texts, which belongs to their list, is `planes.texts`."""
