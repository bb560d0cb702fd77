"""What every benchmark needs: a row of the result, a clock, and texts of the size of SST."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np

from faithgauge.types import Encoded, Ragged


@dataclass(frozen=True)
class Row:
    """One comparison; `goal` is the ratio that must be reached, None where the number only informs."""

    name: str
    ratio: float
    goal: float | None
    ours: float
    baseline: float
    unit: str

    def document(self) -> dict[str, object]:
        return asdict(self)

    def line(self) -> str:
        goal = "" if self.goal is None else f"  (goal {self.goal:g})"
        values = f"{self.ours:.4g} against {self.baseline:.4g} {self.unit}"
        return f"{self.name:48} {self.ratio:6.2f}{goal:13}  {values}"


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of this process while `work` runs."""
    started = time.process_time()
    work()
    return time.process_time() - started


def medians(works: dict[str, Callable[[], object]], repeats: int = 3) -> dict[str, float]:
    """CPU seconds of each, in turns, after one turn that does not count."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + 1):
        for name, work in works.items():
            gc.collect()
            seconds = cpu_seconds(work)
            if turn:
                times[name].append(seconds)
    return {name: median(found) for name, found in times.items()}


def sst_sized() -> tuple[Encoded, int]:
    """The binary SST training split where it is at hand, else random words with its lengths and frequencies.

    Returns the encoded texts and the size of their vocabulary.
    """
    if Path(os.environ.get("FAITHGAUGE_DATA", "nowhere"), "sst").is_dir():
        import faithgauge
        from faithgauge.encode.corpus import encode

        dataset = faithgauge.load("sst")
        corpus = encode(dataset, dataset.encoding)
        return corpus.splits["train"], len(corpus.tokenizer.vocabulary)
    random = np.random.default_rng(0)
    lengths = np.clip(random.gamma(4.2, 4.7, 6920).round(), 2, 56).astype(np.int64) + 2
    words = 14_829
    frequency = 1 / (np.arange(words) + 2.7)
    ids = random.choice(words, lengths.sum(), p=frequency / frequency.sum()).astype(np.int32) + 4
    offsets = np.concatenate([[0], lengths.cumsum()])
    ids[offsets[:-1]], ids[offsets[1:] - 1] = 2, 3
    spans = np.where(ids[:, None] < 4, -1, np.array([0, 1])).astype(np.int32)
    labels = random.integers(0, 2, len(lengths))
    texts = Ragged(np.zeros(len(lengths), np.uint8), np.arange(len(lengths) + 1))
    return Encoded(Ragged(ids, offsets), Ragged(spans, offsets), labels, texts), words + 5
