from __future__ import annotations

import ast
import io
import shutil
import sys
import tokenize
from pathlib import Path

import pytest

import faithgauge.engine
from faithgauge.engine.environment import variables
from faithgauge.engine.executors import EXECUTORS, executor
from faithgauge.engine.inline import Inline
from faithgauge.engine.processes import Processes
from faithgauge.errors import ConfigError, UnsupportedError

CORE = ("job", "store", "work", "run")


def code_lines(path: Path) -> int:
    """Those with code: neither blank, nor comment, nor docstring."""
    text = path.read_text(encoding="utf-8")
    strings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    nothing = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {
        line
        for token in tokens
        if token.type not in nothing | {tokenize.ENDMARKER}
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(code - strings)


def test_the_core_is_under_500_lines_and_each_executor_under_150() -> None:
    folder = Path(faithgauge.engine.__file__).parent
    assert sum(code_lines(folder / f"{name}.py") for name in CORE) < 500
    for name in EXECUTORS:
        assert code_lines(folder / f"{name}.py") < 150


def test_executors_go_by_name() -> None:
    assert list(EXECUTORS) == ["inline", "processes", "ray", "slurm"]
    assert isinstance(executor("inline", 1, 1), Inline)
    made = executor("processes", 3, 2)
    assert isinstance(made, Processes)
    assert made.slots == 3


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"unknown executor 'proceses': did you mean 'processes'\?"):
        executor("proceses", 1, 1)


@pytest.mark.parametrize(
    ("name", "workers", "address", "sentence"),
    [
        ("processes", 0, None, "expected 1 worker and 1 thread or more, found 0 and 1"),
        ("processes", 1, "there", "'processes' has no address; leave out --address, or choose ray or slurm"),
        ("inline", 2, None, "'inline' has 1 worker, not 2; choose processes, or --workers 1"),
    ],
)
def test_what_an_executor_cannot_do_is_refused(
    name: str, workers: int, address: str | None, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        executor(name, workers, 1, address=address)


@pytest.mark.parametrize(("name", "package"), [("ray", "ray"), ("slurm", "submitit")])
def test_a_missing_extra_is_named(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UnsupportedError, match=rf"pip install 'faithgauge\[{name}\]'"):
        executor(name, 1, 1)


def test_slurm_needs_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("submitit", reason="needs the extra slurm")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(UnsupportedError, match="expected SLURM, found no sbatch"):
        executor("slurm", 1, 1)


def test_one_thread_waits_passively_and_two_do_not() -> None:
    assert variables(1) == {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    assert variables(2) == {"OMP_NUM_THREADS": "2"}
