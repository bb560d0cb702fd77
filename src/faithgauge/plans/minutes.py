"""How long trainings, and each measure of ROAR, took: from the provenance of the stored jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import fmean, pstdev

from faithgauge.encode.corpus import open_corpus
from faithgauge.engine.job import Job, inputs_of, key_of
from faithgauge.engine.store import PROVENANCE, Store, read_json
from faithgauge.jobs import CORPUS
from faithgauge.papers.cells import PARTIAL, SUBSTITUTED, Ours
from faithgauge.papers.roar_numbers import measure_of
from faithgauge.plans.grid import Cell
from faithgauge.plans.roar import Road, curves

UNIT = "minutes of the processor, on one thread"


def minutes(cells: Iterable[Cell], store: Store) -> list[Ours]:
    """For each measure the time of one step of recursive ROAR for one seed, as recursive-roar-2022, table 7.

    Counted are explaining, masking, training and evaluating; the mean is over steps and seeds. What is
    printed is time on the clock; here it is the processor's, which other work on the machine does not change.
    """
    spent: dict[tuple[str, str, str], list[float]] = {}
    marks = {}
    for cell in cells:
        marks[cell.data.name] = _mark(cell, store)
        road = Road(cell.study.roar, cell.study.roar.labels()[0])
        for label, steps in curves(cell, road).steps.items():
            place = (cell.data.name, cell.model.model.encoder, measure_of(label))
            for done in steps.values():
                own = [_seconds(job, store) for job in _of_step(done)]
                known = [one for one in own if one is not None]
                if len(known) == len(own):
                    spent.setdefault(place, []).append(sum(known) / 60)
    return [
        Ours(dataset, encoder, "walltime_minutes", fmean(own), {"measure": name}, note=marks[dataset] + UNIT)
        for (dataset, encoder, name), own in spent.items()
    ]


def training_minutes(cells: Iterable[Cell], store: Store) -> list[Ours]:
    """The time of one training, mean and spread over seeds, as neely-2022, table 7, has it.

    In print it is time on the clock of a GPU, so that only the ratio of two models can be compared. Of a
    training that was interrupted it is that of its last part.
    """
    spent: dict[tuple[str, str], list[float]] = {}
    marks = {}
    for cell in cells:
        place = (cell.data.name, cell.model.model.encoder)
        if (seconds := _seconds(cell.model, store)) is not None:
            spent.setdefault(place, []).append(seconds / 60)
            marks[place] = _mark(cell, store)
    return [
        Ours(
            dataset,
            encoder,
            "minutes",
            fmean(own),
            spread=pstdev(own) if len(own) > 1 else None,
            n_seeds=len(own),
            note=marks[dataset, encoder] + UNIT,
        )
        for (dataset, encoder), own in spent.items()
    ]


def _mark(cell: Cell, store: Store) -> str:
    """What must be said first of numbers on data that are not those of the paper."""
    if not store.has(key_of(cell.data)):
        return ""
    corpus = open_corpus(store.place(key_of(cell.data)) / CORPUS)
    return "" if corpus.complete else f"{SUBSTITUTED if corpus.substituted else PARTIAL}; "


def _of_step(done: Job) -> Iterator[Job]:
    """The evaluation of a step, its training, its masked data and the explanation they go by."""
    kinds = ("Evaluate", "Train", "Mask", "Explain")
    found: dict[str, Job] = {}
    below = [done]
    while below:
        job = below.pop()
        kind = type(job).__name__.removesuffix("On")
        if kind in kinds and kind not in found:
            found[kind] = job
            if kind != "Explain":
                below += inputs_of(job)
    yield from {key_of(job): job for job in found.values()}.values()


def _seconds(job: Job, store: Store) -> float | None:
    place = store.place(key_of(job)) / PROVENANCE
    return float(read_json(place)["cpu_seconds"]) if place.is_file() else None
