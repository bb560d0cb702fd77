"""What the documentation says of the audit is what the code does."""

from __future__ import annotations

from pathlib import Path

from faithgauge.audit.cites import bibliography, bibtex, cites
from faithgauge.audit.plan import EXPLAINERS, KNOWN_ANSWERS
from faithgauge.audit.table import AUDITED
from faithgauge.audit.verdict import RULES
from faithgauge.explain.table import EXPLAINERS as EVERY
from faithgauge.plans.grid import TESTS

PAGE = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
COUNTS = {
    "model": "first of all",
    "decides": "decides",
    "lowers attention": "can lower attention",
    "tells": "is told",
}


def test_the_rules_stand_in_the_documentation_word_for_word() -> None:
    assert [
        f"| {rule.word} | {rule.when} |" for rule in RULES if f"| {rule.word} | {rule.when} |" not in PAGE
    ] == []


def test_every_test_stands_there_with_its_question() -> None:
    rows = [f"| {name} | {AUDITED[name].question} | {COUNTS[AUDITED[name].role]} |" for name in AUDITED]
    assert [row for row in rows if row not in PAGE] == []


def test_every_test_of_an_audit_is_one_of_a_study() -> None:
    assert set(AUDITED) <= set(TESTS)
    assert set(EXPLAINERS) | set(KNOWN_ANSWERS) <= set(EVERY)


def test_every_test_says_what_it_does_not_say_and_whom_it_cites() -> None:
    for name in AUDITED:
        assert AUDITED[name].says_not.endswith(".")
        assert set(AUDITED[name].cites) <= set(bibliography())


def test_citations_are_those_of_tests_and_explainers() -> None:
    found = cites(["erasure"], ["lime"])
    assert {"deyoung2020", "ribeiro2016", "holm1979"} <= set(found)
    assert "attefa" not in found
    assert bibtex(["holm1979"]).startswith("@article{holm1979,")
