"""Is it all there, and is it what the papers had?

Counts a data set as it would be loaded and compares it twice: with the sizes of its complete data, which
decides whether it is `ok`, and with the sizes that the papers print, which contradict each other and decide
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from faithgauge.config import DataConfig
from faithgauge.data.dataset import Dataset, Published, Source
from faithgauge.data.load import checked, find_folders, load, not_found, public_name, read_public
from faithgauge.types import SPLITS, Split


def check(config: DataConfig) -> dict[str, Any]:
    """What is there of a data set and how it differs, as the document of ``data check NAME --json``."""
    public = public_name(config.name)
    if public is None:
        from faithgauge.data.mock import AMOUNTS, PUBLISHED

        return _document(load(config), {}, PUBLISHED if config.name in AMOUNTS else ())
    source, variant = public
    if not find_folders(source, config.data_dir):
        return _nothing(source, variant, (not_found(source, config.data_dir),))
    dataset = read_public(source, variant, config.data_dir)
    if not any(dataset.splits.values()):
        return _nothing(source, variant, dataset.missing)
    return _document(checked(dataset), source.sizes.get(variant, {}), source.published)


def _nothing(source: Source, variant: str, missing: tuple[str, ...]) -> dict[str, Any]:
    return {
        "dataset": source.name,
        "variant": variant,
        "ok": False,
        "splits": {},
        "differences": [],
        "missing": list(missing),
        "notes": [],
        "substituted": False,
        "published": _published(source.published),
    }


def _document(
    dataset: Dataset, sizes: Mapping[Split, int], published: tuple[Published, ...]
) -> dict[str, Any]:
    counts = dataset.counts()
    incomplete = list(_sizes_that_differ(counts, sizes))
    unlike = list(_prints_that_differ(counts, published))
    return {
        "dataset": dataset.name,
        "variant": dataset.variant,
        "ok": dataset.complete and not incomplete,
        "splits": counts,
        "differences": [*incomplete, *unlike],
        "missing": list(dataset.missing),
        "notes": list(dataset.notes),
        "substituted": dataset.substituted,
        "published": _published(published),
    }


def _sizes_that_differ(counts: Mapping[str, Mapping[str, Any]], sizes: Mapping[Any, int]) -> Iterator[str]:
    for split in SPLITS:
        here = counts.get(split, {}).get("examples", 0)
        if split in sizes and here != sizes[split]:
            yield f"{split}: the complete data have {sizes[split]} examples, here are {here}"


def _prints_that_differ(
    counts: Mapping[str, Mapping[str, Any]], published: tuple[Published, ...]
) -> Iterator[str]:
    """One sentence for each size that is not ours; papers that print the same stand in one."""
    papers: dict[tuple[str, str, str, str], list[str]] = {}
    for printed in published:
        here = counts.get(printed.split)
        if here is None:
            continue
        ours = {name: here["labels"].get(name, 0) for name in printed.labels}
        if here["examples"] != printed.examples or ours != dict(printed.labels):
            theirs = _sized(printed.examples, printed.labels)
            sentence = (printed.split, theirs, _sized(here["examples"], ours), printed.why)
            papers.setdefault(sentence, []).append(printed.paper)
    for (split, theirs, own, why), names in papers.items():
        verb = "prints" if len(names) == 1 else "print"
        reason = f": {why}" if why else ""
        yield f"{split}: {_joined(names)} {verb} {theirs}, here are {own}{reason}"


def _joined(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _sized(examples: int, labels: Mapping[str, int]) -> str:
    if not labels:
        return str(examples)
    return f"{examples} ({', '.join(f'{name} {n}' for name, n in labels.items())})"


def _published(published: tuple[Published, ...]) -> list[dict[str, Any]]:
    return [
        {"paper": one.paper, "split": one.split, "examples": one.examples, "labels": dict(one.labels)}
        for one in published
    ]
