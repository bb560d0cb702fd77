"""The numbers of a paper as if they were ours, and its judges by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from faithgauge.papers.cells import Ours
from faithgauge.papers.published import PAPERS, published

Judged = Callable[[str, str, Sequence[Ours]], str]


def as_ours(paper: str) -> list[Ours]:
    """Every number that the paper computed itself."""
    return [
        Ours(cell.dataset, cell.encoder, cell.metric, cell.value, cell.keys, low=cell.low, high=cell.high)
        for table in PAPERS[paper].tables
        for cell in published(paper, table)
        if isinstance(cell.value, float) and cell.keys.get("source") not in PAPERS
    ]


def judge(paper: str, name: str, ours: Sequence[Ours]) -> str:
    """The verdict of one of its judges."""
    [finding] = [finding for finding in PAPERS[paper].findings if finding.name == name]
    return finding.judge(ours).verdict


@pytest.fixture
def printed() -> Callable[[str], list[Ours]]:
    return as_ours


@pytest.fixture
def judged() -> Judged:
    return judge
