"""``faithgauge run STUDY.toml``: computes what a study asks for and is not stored yet."""

from __future__ import annotations

from typing import Annotated

import typer

from faithgauge.cli.computing import Address, Events, ExecutorName, Workers, compute, document, report
from faithgauge.cli.options import Json
from faithgauge.cli.output import emit
from faithgauge.cli.studies import Changes, StoreFolder, StudyFile, opened, store_at


def command(
    study: StudyFile,
    executor: ExecutorName = "processes",
    workers: Workers = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of each job; as the study says, or 1.", show_default=False),
    ] = None,
    address: Address = None,
    store: StoreFolder = None,
    changes: Changes = None,
    events: Events = None,
    as_json: Json = False,
) -> None:
    """Compute what a study asks for. What is stored is not computed again: running again is resuming."""
    plan = opened(study, changes)
    place = store_at(store)
    done = compute(
        plan.targets,
        place,
        executor,
        workers=workers,
        threads=threads or plan.study.threads,
        address=address,
        events=events,
    )
    if as_json:
        more = {"study": plan.study.name, "store": place.root, "seconds": done.seconds}
        emit(document(done.ended) | more)
    else:
        report(done)
    if done.failed:
        raise typer.Exit(1)
