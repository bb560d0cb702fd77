"""Where, with what code and at what cost a result was computed: kept beside it, and no part of it."""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = ("faithgauge", "torch", "numpy", "tokenizers", "pyarrow")


def watch() -> Callable[[], dict[str, Any]]:
    """Start to measure; what is returned gives the provenance of what was computed since."""
    started, clock, cpu = time.time(), time.perf_counter(), time.process_time()
    with contextlib.suppress(OSError):  # Linux: the peak of memory counts from here
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")

    def measured() -> dict[str, Any]:
        return {
            **_machine(),
            "started": started,
            "seconds": time.perf_counter() - clock,
            "cpu_seconds": time.process_time() - cpu,
            "peak_memory": peak_memory(),
        }

    return measured


def peak_memory() -> int:
    """Bytes that this process has held at most, on Linux since `watch` was called last.

    There `getrusage` would begin with the peak of the process that started this one.
    """
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)


@cache
def _machine() -> dict[str, Any]:
    """What is the same for all that one process computes."""
    versions = {}
    for name in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "host": socket.gethostname(),
        "platform": platform.platform(),
        "device": os.environ.get("FAITHGAUGE_DEVICE", "cpu"),
        "python": platform.python_version(),
        "versions": versions,
        "commit": _commit(Path(__file__).parents[3]),
    }


def _commit(root: Path) -> str:
    """The git commit of the code, where it is run from a checkout."""
    command = ["git", "-C", str(root), "rev-parse", "HEAD"]
    if (root / ".git").exists():
        with contextlib.suppress(OSError):  # no git here
            return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return ""
