"""The tests that an audit asks, by name: one entry each, and nothing to change elsewhere for another.

An entry belongs to the test of the same name in `plans.grid.TESTS`, which makes its jobs. To add one, such as
ROAR, a permutation or another adversary, write the function that makes numbers of its rows (as in
`audit.numbers`) and an entry here: from then on it is planned, told, and counts as its `role` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from faithgauge.audit import attacks, numbers, roar
from faithgauge.audit.numbers import Known, Number
from faithgauge.audit.rows import Rows
from faithgauge.audit.verdict import DELTA, SHARE_OF_CAP
from faithgauge.registry import Table

Role = Literal["model", "decides", "lowers attention", "tells"]
Need = Literal["attention", "any attention", "evidence", "seeds", "explainers"]


@dataclass(frozen=True)
class Audited:
    """One test of an audit.

    `question` is what it answers, `says_not` what nobody should read into it. `read` makes numbers of the
    rows of a run; those that name an explainer belong to it, all others to the model. Of a test that
    `decides` every number of an explainer is a difference from random, with its p-value; one that `lowers
    attention` says by `lowers` why attention may not be supported, or nothing. `trains` says whether models
    beside the audited one are trained, `first` in which order tests are left out where time is short, the
    greatest first; tests with 0 never are.
    """

    question: str
    says_not: str
    read: Callable[[Rows, Known], list[Number]]
    role: Role = "tells"
    first: int = 1
    trains: bool = False
    needs: tuple[Need, ...] = ()
    cites: tuple[str, ...] = ()
    lowers: Callable[[Sequence[Number]], str] = lambda _found: ""

    @property
    def summary(self) -> str:
        return self.question


def _no_better_than_uniform(found: Sequence[Number]) -> str:
    worse = [one for one in found if not one.low > one.baseline]
    return "The model does no better with its attention than with uniform attention." if worse else ""


def _shuffled_for_nothing(found: Sequence[Number]) -> str:
    idle = [one for one in found if one.high < one.baseline]
    return f"In random order the attention leaves the output within {DELTA:g}." if idle else ""


def _another_attention(found: Sequence[Number]) -> str:
    far = [one for one in found if one.measure == "attention_jsd" and one.low > one.baseline]
    if not far:
        return ""
    return f"Another attention, further away than that of other seeds, keeps the output within {DELTA:g}."


def _cheap_adversary(found: Sequence[Number]) -> str:
    cheap = [one for one in found if one.high < one.baseline]
    return f"Attention can be moved away at less than {SHARE_OF_CAP:.0%} of AtteFa's cap." if cheap else ""


AUDITED: Table[Audited] = Table(
    "test of an audit",
    {
        "majority": Audited(
            "Does the model know anything of its task?",
            "It says nothing of explanations; a model that fails it has nothing to explain.",
            numbers.performance,
            role="model",
            first=0,
        ),
        "erasure": Audited(
            "Does the output depend on the words that an explanation puts first?",
            "A text with masked words is unlike any that the model was trained on: only the difference from "
            "random orders counts. A model may use words in ways that no single order of them shows.",
            numbers.masking,
            role="decides",
            first=0,
            cites=("deyoung2020", "samek2017", "carton2020", "petsiuk2018", "serrano2019"),
        ),
        "deletion": Audited(
            "Does it hold when the words are taken out instead of masked?",
            "A text with gaps reads differently; agreement of both ways of erasing is what counts.",
            numbers.deleting,
            role="decides",
            first=2,
            cites=("deyoung2020",),
        ),
        "evidence": Audited(
            "Does an explanation find the words that are known to decide the label?",
            "Evidence that people marked is what they go by, not what the model goes by: it decides nothing.",
            numbers.evidence,
            first=1,
            needs=("evidence",),
            cites=("deyoung2020", "voorhees1999"),
        ),
        "uniform": Audited(
            "Does the model need its attention at all?",
            "A model that does as well without says nothing against other explanations of it.",
            numbers.uniform,
            role="lowers attention",
            first=3,
            trains=True,
            needs=("any attention",),
            cites=("wiegreffe-pinter-2019",),
            lowers=_no_better_than_uniform,
        ),
        "permutation": Audited(
            "Does it matter to the output which words get the attention?",
            "Attention in random order is none that the model would have; a large change says that the "
            "weights matter, not that they show what does.",
            attacks.permutation,
            role="lowers attention",
            first=3,
            needs=("attention",),
            cites=("jain-wallace-2019",),
            lowers=_shuffled_for_nothing,
        ),
        "exact_adversary": Audited(
            "How different an attention would have given the same output?",
            "No model was trained to attend so: the output leaves the attention open; whether a model could "
            "have come to it is what trained adversaries ask. It decides nothing.",
            attacks.exact_adversary,
            first=3,
            needs=("attention",),
            cites=("jain-wallace-2019",),
        ),
        "agreement": Audited(
            "Do explanations agree with each other?",
            "Two explanations may agree and both be wrong, or differ and both be right: it decides nothing.",
            numbers.agreement,
            first=4,
            needs=("explainers",),
            cites=("jain-wallace-2019", "neely-2022"),
        ),
        "stability": Audited(
            "Does an explanation say the same of a model that is trained again?",
            "Models of other seeds may rightly use other words: it decides nothing.",
            numbers.stability,
            first=5,
            trains=True,
            needs=("seeds",),
            cites=("wiegreffe-pinter-2019",),
        ),
        "seed_variance": Audited(
            "How far does attention move from seed to seed?",
            "It is the yardstick for adversaries, and judges nothing by itself.",
            numbers.seed_variance,
            first=6,
            trains=True,
            needs=("attention", "seeds"),
            cites=("wiegreffe-pinter-2019",),
        ),
        "attefa": Audited(
            "What does it cost to train a model that attends elsewhere and says the same?",
            "An adversary shows that attention could have been another one, not that this one misleads; one "
            "that was not found shows nothing.",
            numbers.attefa,
            role="lowers attention",
            first=7,
            trains=True,
            needs=("attention",),
            cites=("attefa",),
            lowers=_cheap_adversary,
        ),
        "trained_adversary": Audited(
            "Can a model attend elsewhere, further than other seeds do, and say the same?",
            "As with AtteFa: another attention that would do is no proof that this one is wrong.",
            numbers.trained_adversary,
            role="lowers attention",
            first=8,
            trains=True,
            needs=("attention",),
            cites=("wiegreffe-pinter-2019",),
            lowers=_another_attention,
        ),
        "masked_training": Audited(
            "Does a model that knows masked texts miss the words that an explanation puts first?",
            "It is an estimate of ROAR by one training, of another model than the one that is explained: it "
            "decides nothing.",
            roar.masked_training,
            first=9,
            trains=True,
            cites=("madsen2023",),
        ),
        "recursive_roar": Audited(
            "Does a model that is trained without these words do worse?",
            "A model that is trained again may find other words that say the same; what it loses is what the "
            "texts do not say twice.",
            roar.recursive_roar,
            role="decides",
            first=11,
            trains=True,
            cites=("recursive-roar-2022",),
        ),
        "guides": Audited(
            "Does the attention help a model that reads word by word?",
            "Attention that helps another model knows something of the task; how it was used stays open.",
            numbers.guides,
            first=10,
            trains=True,
            needs=("attention",),
            cites=("wiegreffe-pinter-2019",),
        ),
    },
    group="faithgauge.audited",
)


def questions() -> Mapping[str, str]:
    """Which test answers which question."""
    return {name: AUDITED[name].question for name in AUDITED}
