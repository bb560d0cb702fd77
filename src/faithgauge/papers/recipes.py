"""What of a paper can be computed: by which test, and for which of its cells and figures."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from faithgauge.papers.cells import Cell


@dataclass(frozen=True)
class Recipe:
    """A test (of `plans.grid.TESTS`) and what it answers: figures, and cells of a table.

    Of the cells those of these metrics; `encoders` are those of the table that the test is run on.
    What is empty is not restricted. `alias` is another name by which the test may be asked for. One that is
    `asked` is left out where nothing is asked for by name. `brings` is the problem of its own that the test
    needs no data set for. `study` is the name of the study file beside the tables. `seeds` is how many the
    test compares at least.
    """

    test: str
    table: str = ""
    metrics: Collection[str] = ()
    encoders: Collection[str] = ()
    figures: Collection[str] = ()
    alias: str = ""
    asked: bool = False
    brings: str = ""
    study: str = "study"
    seeds: int = 1

    def covers(self, cell: Cell) -> bool:
        return (
            cell.table == self.table
            and (not self.metrics or cell.metric in self.metrics)
            and (not self.encoders or cell.encoder in self.encoders)
        )
