"""How a command line ends: exit codes, error lines, JSON errors, interruptions, closed pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Annotated

import pytest
import typer

from faithgauge.cli.main import run
from faithgauge.errors import ConfigError, DataError, JobError, UnsupportedError

FAITHGAUGE = [sys.executable, "-c", "from faithgauge.cli.main import main; main()"]

toy = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)


@toy.command()
def fail(
    how: Annotated[str, typer.Argument()],
    times: Annotated[int, typer.Option()] = 1,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Ends as it is told to."""
    path = "/data/" + "a" * 200 + "/[bold]train[/bold].csv"
    errors: dict[str, BaseException] = {
        "config": ConfigError("unknown encoder 'lstn': did you mean 'lstm'?"),
        "data": DataError(f"{path}, row 3: expected a label,\n  found nothing"),
        "unsupported": UnsupportedError("the model has no attention"),
        "job": JobError("epoch 3: the loss is not a number"),
        "defect": ZeroDivisionError("ours"),
        "interrupt": KeyboardInterrupt(),
    }
    if how in errors:
        raise errors[how]


@toy.command()
def other() -> None:
    """Does nothing."""


@pytest.mark.parametrize(
    ("how", "code", "line"),
    [
        ("config", 2, "error: unknown encoder 'lstn': did you mean 'lstm'?\n"),
        (
            "data",
            2,
            "error: /data/" + "a" * 200 + "/[bold]train[/bold].csv, row 3: expected a label, found nothing\n",
        ),
        ("unsupported", 2, "error: the model has no attention\n"),
        ("job", 1, "error: epoch 3: the loss is not a number\n"),
        ("interrupt", 130, "interrupted\n"),
        ("nothing", 0, ""),
    ],
)
def test_an_end_has_its_exit_code_and_at_most_one_line(
    capsys: pytest.CaptureFixture[str], how: str, code: int, line: str
) -> None:
    assert run(["fail", how], commands=toy) == code
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize(("how", "code"), [("config", 2), ("job", 1)])
def test_with_json_an_error_is_a_document_on_standard_output(
    capsys: pytest.CaptureFixture[str], how: str, code: int
) -> None:
    assert run(["fail", how, "--json"], commands=toy) == code
    out, err = capsys.readouterr()
    assert set(json.loads(out)) == {"error"}
    assert err == ""


def test_a_defect_of_ours_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        run(["fail", "defect"], commands=toy)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fial", "config"], ["fial", "fail"]),
        (["fail", "config", "--tims", "3"], ["--tims", "--times"]),
        (["fail", "config", "--times", "three"], ["--times", "integer"]),
        (["fail"], ["HOW"]),
        (["fail", "a", "b"], ["b"]),
    ],
    ids=["command", "option", "value", "missing", "extra"],
)
def test_a_wrong_command_line_is_a_wrong_input_and_names_what_was_meant(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    assert run(arguments, commands=toy) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert all(word.lower() in err.lower() for word in words), err
    assert run([*arguments, "--json"], commands=toy) == 2
    assert json.loads(capsys.readouterr().out) == {"error": err.removeprefix("error: ").removesuffix("\n")}


@pytest.mark.parametrize("arguments", [[], ["--help"], ["data"], ["data", "--help"]])
def test_no_arguments_and_help_show_the_commands_once(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert run(arguments) == 0
    out, err = capsys.readouterr()
    assert out.count("Usage:") == 1
    assert "list" in out
    assert err == ""


def test_version_prints_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    from faithgauge.version import __version__

    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"faithgauge {__version__}\n"


def test_an_unknown_list_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "dataset"]) == 2
    assert capsys.readouterr().err == "error: unknown list 'dataset': did you mean 'datasets'?\n"


def test_a_reader_that_leaves_early_ends_the_program_quietly() -> None:
    process = subprocess.Popen(
        [*FAITHGAUGE, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), errors) == (141, "")


def test_a_defect_shows_the_traceback_of_python() -> None:
    program = "from faithgauge.cli import list_, main; list_.TABLES = {'x': (3,)}; main.main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "list", "x"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback (most recent call last):\n  File ")
    assert done.stderr.endswith("AttributeError: 'int' object has no attribute 'partition'\n")


def test_a_shell_is_told_how_to_complete() -> None:
    program = "from faithgauge.cli.main import main; main()"
    ask = {"_FAITHGAUGE_COMPLETE": "complete_bash", "COMP_WORDS": "faithgauge ci", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, **ask},
        check=False,
    )
    assert done.stdout.split() == ["cite"]
