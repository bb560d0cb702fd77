"""The command `faithgauge`: its sub-commands, and how it ends.

Exit code 0: done; 1: a computation failed; 2: the input was wrong; 130: interrupted. With ``--json`` an error
is ``{"error": …}`` on standard output, otherwise one line on standard error. Only a defect of ours shows a
traceback.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.main import get_command

from faithgauge.cli import (
    audit,
    check_model,
    cite,
    clean,
    data,
    explain,
    list_,
    plan,
    predict,
    reproduce,
    results,
    status,
    train,
)
from faithgauge.cli import report as write_report
from faithgauge.cli import run as run_study
from faithgauge.cli.output import emit, err, report
from faithgauge.errors import FaithgaugeError, JobError
from faithgauge.registry import locate
from faithgauge.version import __version__

_USAGE_ERROR = cast("type[Exception]", typer.BadParameter.__mro__[1])
"""Where it is defined differs between versions of typer; what is derived from it does not."""

app = typer.Typer(
    name="faithgauge",
    help="A gauge for the faithfulness of token explanations of text classifiers.",
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data.app, name="data")
app.command("audit")(audit.command)
app.command("cite")(cite.command)
app.command("train")(train.command)
app.command("predict")(predict.command)
app.command("explain")(explain.command)
app.command("check-model")(check_model.command)
app.command("list")(list_.command)
app.command("reproduce")(reproduce.command)
app.command("run")(run_study.command)
app.command("plan")(plan.command)
app.command("status")(status.command)
app.command("results")(results.command)
app.command("report")(write_report.command)
app.command("clean")(clean.command)


def main() -> None:
    """The console script; a model of the user's own is looked for in the current folder too."""
    sys.path.append(str(Path.cwd()))
    if "_FAITHGAUGE_COMPLETE" in os.environ:  # a shell asks how to complete, or for completions
        cast("Any", locate("typer.completion:completion_init"))()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str], *, commands: typer.Typer = app) -> int:
    """Runs one command line and returns its exit code."""
    as_json = "--json" in arguments
    try:
        returned = get_command(commands).main(
            list(arguments) or ["--help"], prog_name="faithgauge", standalone_mode=False
        )
        sys.stdout.flush()
    except _USAGE_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its help is printed already
            return 0
        return _fail(cast("Any", error).format_message(), 2, as_json=as_json)
    except FaithgaugeError as error:
        return _fail(str(error), 1 if isinstance(error, JobError) else 2, as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except (BrokenPipeError, SystemExit) as error:
        if not _reader_left(error):
            raise
        return _close_output()
    except OSError as error:  # a full disk, a folder that may not be written
        return _fail(_system(error), 2, as_json=as_json)
    code = returned if isinstance(returned, int) else 0
    return _interrupted() if code == 130 else code


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"faithgauge {__version__}\n")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_version, is_eager=True)
    ] = False,
) -> None: ...


def _fail(message: str, code: int, *, as_json: bool) -> int:
    with contextlib.suppress(OSError):  # there may be nowhere left to say it
        if as_json:
            emit({"error": " ".join(message.split())})
            sys.stdout.flush()
        else:
            report(message)
    return code


def _system(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}; free some space, or choose another place"


def _interrupted() -> int:
    err.print("interrupted")
    return 130


def _reader_left(error: BaseException) -> bool:
    """Whether the other end of a pipe was closed; typer turns that into an exit of its own."""
    cause = error.__context__ if isinstance(error, SystemExit) else error
    return isinstance(cause, OSError) and cause.errno == errno.EPIPE


def _close_output() -> int:
    """Nobody reads on: end quietly as other programs do (128 + SIGPIPE), with nothing left to flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141
