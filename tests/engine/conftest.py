"""A disk of its own for a test, and coordinators in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Coordinator = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A small disk, mounted or mounted anew with options: ``disk("size=1m")``, ``disk("remount,ro")``."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"needs the right to mount a disk: {done.stderr.strip()}")
        return folder

    yield mount
    subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, check=False)


@pytest.fixture
def coordinator() -> Iterator[Coordinator]:
    """Starts ``coordinate.py``; whatever is left of it at the end of the test is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(root: Path, executor: str, workers: int, which: str, log: Path) -> subprocess.Popen[str]:
        tests = Path(__file__).parents[1]
        command = [sys.executable, "-W", "error", str(tests / "engine" / "coordinate.py")]
        process = subprocess.Popen(
            [*command, str(root), executor, str(workers), which, str(log)],
            env={**os.environ, "PYTHONPATH": str(tests)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
