"""From the rows of a run to its verdicts: what each test says of each explanation, and the word for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any

from faithgauge.audit.numbers import Known, Number
from faithgauge.audit.rows import Rows
from faithgauge.audit.table import AUDITED
from faithgauge.audit.verdict import LEAST_SEEDS, LEAST_TEXTS, Difference, Judged, judge

SAID = {"erasure": "masked", "deletion": "deleted", "recursive_roar": "recursive ROAR"}
ONLY = {
    "comprehensiveness": "without its first words",
    "sufficiency": "with its first words only",
    "faithfulness": "trained again without its first words",
}


@dataclass(frozen=True)
class Conclusion:
    """The word for each explainer with the numbers of its tests, those of the model, and the first line."""

    verdicts: dict[str, Judged]
    numbers: tuple[Number, ...]
    headline: str

    def of(self, explainer: str) -> list[Number]:
        return [one for one in self.numbers if one.explainer == explainer]


def conclude(
    rows: Rows, tests: Sequence[str], known: Known, *, trained_here: bool, attention: str | None = "attention"
) -> Conclusion:
    """What all of it says; `attention` is the label of the explainer that tests of attention are about."""
    found = [
        replace(number, test=name, says_not=AUDITED[name].says_not)
        for name in tests
        for number in AUDITED[name].read(rows, known)
    ]
    beats = _beats_constant(found)
    lowered = {
        AUDITED[name].lowers([one for one in found if one.test == name and _enough(one)])
        for name in tests
        if AUDITED[name].role == "lowers attention"
    }
    verdicts = {
        explainer: judge(
            [_difference(one) for one in found if one.explainer == explainer and _decides(one)],
            model_beats_constant=beats,
            least_seeds=LEAST_SEEDS if trained_here else 1,
            lowered_by=sorted(filter(None, lowered)) if explainer == attention else (),
        )
        for explainer in known.explainers
    }
    return Conclusion(verdicts, tuple(found), _headline(verdicts, found, beats))


def told(number: Number) -> dict[str, Any]:
    """A number for JSON: what is not finite is null."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in asdict(number).items()
        if name != "explainer"
    }


def _enough(number: Number) -> bool:
    """Whether a number of texts is of so many that it may lower a word; one of whole models is."""
    return number.test == "attefa" or number.n >= LEAST_TEXTS


def _decides(number: Number) -> bool:
    return AUDITED[number.test].role == "decides"


def _difference(number: Number) -> Difference:
    how = f"{ONLY.get(number.measure, number.measure)} ({SAID.get(number.test, number.test)})"
    return Difference(how[0].upper() + how[1:], number.low, number.high, number.p, number.n, number.seeds)


def _beats_constant(found: Sequence[Number]) -> bool | None:
    """Whether the model is better than the constant predictor; None where too little was seen to tell."""
    for one in found:
        if AUDITED[one.test].role == "model":
            if one.low > one.baseline:
                return True
            return False if one.n >= LEAST_TEXTS and isfinite(one.low) else None
    return True


def _headline(verdicts: dict[str, Judged], found: Sequence[Number], beats: bool | None) -> str:
    """One line; what spoils everything else is said first."""
    words = [judged.verdict for judged in verdicts.values()]
    by_word = {word: [name for name, one in verdicts.items() if one.verdict == word] for word in words}
    supported = by_word.get("supported", [])
    said = "No explanation is supported"
    if supported:
        said = f"{_listed(supported)} {'is' if len(supported) == 1 else 'are'} supported"
    parts = [f"{len(by_word[word])} {word}" for word in ("not supported", "undecided") if by_word.get(word)]
    line = f"{said}{'; ' + ', '.join(parts) if parts else ''}."
    warnings = []
    if beats is False:
        warnings.append("Warning: the model is no better than always naming one class.")
    if beats is None:
        warnings.append(
            "Warning: too few texts to tell whether the model is better than always naming one class."
        )
    if any(AUDITED[one.test].lowers([one]) for one in found if one.test == "uniform" and _enough(one)):
        warnings.append("Warning: the model does no better with its attention than with uniform attention.")
    return " ".join([*warnings, line])


def _listed(names: Sequence[str]) -> str:
    if len(names) > 3:
        return f"{len(names)} explanations ({', '.join(names)})"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
