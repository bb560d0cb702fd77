"""On a Ray cluster of this machine: the same bytes, and machines that are lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from engine.toys import Sum, artefacts, layers, leftovers

from faithgauge.engine.inline import Inline
from faithgauge.engine.run import run
from faithgauge.engine.store import Store

pytest.importorskip("ray", reason="needs the extra ray")
pytestmark = pytest.mark.slow

SAME = """
from pathlib import Path
from engine.toys import Broken, Mortal, Threads, layers
from faithgauge.engine.executors import executor
from faithgauge.engine.job import key_of
from faithgauge.engine.run import run
from faithgauge.engine.store import Store
import json, sys
root = Path(sys.argv[1])
ended = run(layers(3, 3, size=999), Store(root / "ray"), executor("ray", 2, 1))
print(sorted({node.status for node in ended.values()}))
events = []
jobs = [Broken(), Mortal(1, root / "log"), Threads()]
store = Store(root / "more")
ended = run(jobs, store, executor("ray", 2, 1), on_event=events.append)
print([ended[key_of(job)].status for job in jobs], ended[key_of(jobs[0])].reason)
print([event.what for event in events].count("retried"))
print((store.checked(key_of(jobs[2])) / "threads.json").read_text())
"""

LOST = """
import sys, threading, time
from pathlib import Path
from ray.cluster_utils import Cluster
from engine.toys import Sum, lines
from faithgauge.engine.executors import executor
from faithgauge.engine.run import run
from faithgauge.engine.store import Store
root = Path(sys.argv[1])
log = root / "log"
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
second = cluster.add_node(num_cpus=1)
cluster.wait_for_nodes()

def lose():
    while len(lines(log)) < 2:
        time.sleep(0.01)
    cluster.remove_node(second, allow_graceful=False)

threading.Thread(target=lose, daemon=True).start()
events = []
jobs = [Sum(i, (), 100, 3.0, log) for i in range(4)]
there = executor("ray", 2, 1, address=cluster.address)
ended = run(jobs, Store(root / "lost"), there, on_event=events.append)
again = [event.reason for event in events if event.what == "retried"]
print(sorted({node.status for node in ended.values()}), len(again) >= 1)
print(again, file=sys.stderr)
cluster.shutdown()
"""


def in_a_process_of_its_own(program: str, root: Path) -> list[str]:
    """Ray keeps threads, sockets and settings in the process that uses it."""
    done = subprocess.run(
        [sys.executable, "-c", program, str(root)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_local_cluster_gives_the_bytes_of_inline_and_replaces_dead_workers(tmp_path: Path) -> None:
    run(layers(3, 3, size=999), Store(tmp_path / "inline"), Inline())
    assert in_a_process_of_its_own(SAME, tmp_path) == [
        "['done']",
        "['failed', 'done', 'done'] ValueError: two lines",
        "1",
        '[1, "1", "PASSIVE"]',
    ]
    assert artefacts(tmp_path / "ray") == artefacts(tmp_path / "inline")
    assert leftovers(tmp_path / "ray") == []


def test_the_jobs_of_a_lost_machine_are_sent_again(tmp_path: Path) -> None:
    assert in_a_process_of_its_own(LOST, tmp_path) == ["['done'] True"]
    run([Sum(i, (), 100) for i in range(4)], Store(tmp_path / "inline"), Inline())
    assert artefacts(tmp_path / "lost") == artefacts(tmp_path / "inline")
    assert leftovers(tmp_path / "lost") == []
