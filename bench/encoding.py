"""Encoding 25,000 reviews of the length of IMDB's: seconds and peak memory against their bounds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.measure import Row
from faithgauge.engine.provenance import peak_memory


def rows() -> Iterator[Row]:
    command = [sys.executable, "-m", "bench.encoding"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, megabytes = json.loads(done.stdout)
    yield Row("encoding 25,000 reviews, of one minute", seconds / 60, 1.0, seconds, 60.0, "s")
    yield Row("encoding 25,000 reviews, of one GB", megabytes / 1000, 1.0, megabytes, 1000.0, "MB")


def _reviews(n: int) -> list[str]:
    """Texts of about 230 words with the frequencies of a natural language."""
    random = np.random.default_rng(0)
    words = np.array([f"w{i:x}" for i in range(90_000)])
    frequency = 1 / (np.arange(len(words)) + 2.7)
    frequency /= frequency.sum()
    lengths = np.clip(random.lognormal(5.2, 0.6, n), 10, 2400).astype(int)
    return [" ".join(random.choice(words, length, p=frequency)) + "." for length in lengths]


def _measure() -> tuple[float, float]:
    from faithgauge.config import EncodeConfig
    from faithgauge.data.dataset import Dataset
    from faithgauge.encode.corpus import encode
    from faithgauge.types import Example

    examples = [Example(text, i % 2, str(i)) for i, text in enumerate(_reviews(25_000))]
    dataset = Dataset("reviews", "", "single", ("0", "1"), {"train": examples})
    with TemporaryDirectory() as folder:
        started = time.perf_counter()
        encode(dataset, EncodeConfig(), Path(folder) / "corpus")
        seconds = time.perf_counter() - started
    return seconds, peak_memory() / 1e6


if __name__ == "__main__":
    print(json.dumps(_measure()))
