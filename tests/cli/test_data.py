"""The commands of ``faithgauge data``: one JSON document, or what fits into 80 columns."""

from __future__ import annotations

import inspect
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import platformdirs
import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from faithgauge.cli import output
from faithgauge.cli.data import app
from faithgauge.cli.options import Json, takes_data
from faithgauge.config import DataConfig
from faithgauge.errors import ConfigError, DataError

TREES = {"train": "(3 (2 Very) (4 good))\n(1 (2 Very) (0 bad))\n", "dev": "(3 (2 So) (3 good))\n"}


@pytest.fixture(autouse=True)
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FAITHGAUGE_DATA", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_: tmp_path / "cache")
    monkeypatch.setattr(output.out, "width", 80)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data" / "sst").mkdir(parents=True)
    for name, trees in TREES.items():
        (tmp_path / "data" / "sst" / f"{name}.txt").write_text(trees)
    return tmp_path / "data"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def document(*arguments: object) -> Any:
    result = run(*arguments, "--json")
    assert result.exception is None
    assert result.exit_code == 0
    return json.loads(result.stdout)


def lines(*arguments: object) -> list[str]:
    result = run(*arguments)
    assert result.exception is None
    assert max(map(len, result.stdout.splitlines())) <= 80
    return [line.rstrip() for line in result.stdout.splitlines()]


def test_list_says_which_sets_are_here(data: Path) -> None:
    listed = document("list", "--data-dir", data)
    here = {row["name"]: row["here"] for row in listed["datasets"]}
    assert len(here) == 16
    assert [name for name, there in here.items() if there] == ["sst"]
    assert listed["synthetic"][0] == "mock-1"
    assert lines("list", "--data-dir", data)[1].split()[:3] == ["sst", "yes", "sentences"]


def test_check_counts_and_says_what_is_missing(data: Path) -> None:
    checked = document("check", "sst", "--data-dir", data)
    assert (checked["dataset"], checked["variant"], checked["ok"]) == ("sst", "", False)
    assert checked["splits"] == {
        "train": {"examples": 2, "labels": {"negative": 1, "positive": 1}},
        "validation": {"examples": 1, "labels": {"negative": 0, "positive": 1}},
    }
    assert checked["missing"] == [
        "test.txt, the trees of test",
        "train: 2 of 6,920 examples are there",
        "validation: 1 of 872 examples are there",
    ]


def test_check_prints_numbers_under_each_other_and_sentences_below(data: Path) -> None:
    printed = lines("check", "sst", "--data-dir", data)
    assert printed[:8] == [
        "sst: incomplete",
        "            examples  negative  positive",
        "train              2         1         1",
        "validation         1         0         1",
        "missing",
        "  test.txt, the trees of test",
        "  train: 2 of 6,920 examples are there",
        "  validation: 1 of 872 examples are there",
    ]


def test_check_of_a_set_that_is_not_there_is_no_failure(tmp_path: Path) -> None:
    checked = document("check", "imdb", "--data-dir", tmp_path)
    assert (checked["ok"], checked["splits"]) == (False, {})
    assert lines("check", "imdb@jain-wallace-2019", "--data-dir", tmp_path)[:2] == [
        "imdb@jain-wallace-2019: incomplete",
        "missing",
    ]


def test_many_classes_are_only_counted(tmp_path: Path) -> None:
    file = tmp_path / "many.csv"
    file.write_text("text,label\n" + "".join(f"text {i},class {i % 9}\n" for i in range(90)))
    printed = lines("check", file)
    assert printed[0] == f"{file.name}: complete"
    assert printed[1] == "9 classes"
    assert printed[2].split() == ["examples"]


def test_info_shows_variants_files_and_home(data: Path) -> None:
    shown = document("info", "sst", "--data-dir", data)
    assert shown["classes"] == ["negative", "positive"]
    assert shown["sizes"]["official"] == {"train": 6920, "validation": 872, "test": 1821}
    assert shown["found"] == [str(data / "sst")]
    assert "jain-wallace-2019" in shown["variants"]
    url = "https://nlp.stanford.edu/sentiment/trainDevTestTrees_PTB.zip"
    assert shown["files"] == {"trainDevTestTrees_PTB.zip": url}
    assert any(url in line for line in lines("info", "sst", "--data-dir", data))


def test_info_of_ones_own_file_says_what_was_taken_for_what(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("body,verdict\n" + "".join(f"text {i},{'ok' if i % 2 else 'no'}\n" for i in range(20)))
    shown = document("info", file, "--text", "body", "--label", "verdict", "--data-seed", 3)
    assert set(shown["classes"]) == {"ok", "no"}
    assert shown["sizes"] == {"train": 14, "validation": 3, "test": 3}
    assert any("seed 3" in note for note in shown["notes"])


def test_preview_shows_examples_from_the_whole_length_of_a_split(tmp_path: Path) -> None:
    shown = document("preview", "mock-1", "-n", 2)
    assert [len(part) for part in shown["splits"].values()] == [2, 2, 2]
    assert set(shown["splits"]["train"][0]) == {"id", "text", "label"}
    assert lines("preview", "mock-1", "-n", 1)[0] == "train, 8000 examples"


def test_preview_cuts_escapes_and_takes_no_markup(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"
    odd = "[bold]not markup[/bold] \x1b[31mred\x07 [/nonsense] " + "long " * 50
    file.write_text("text,label,split\n" + f'"{odd}",a,train\n"plain",b,train\n"other",a,test\n')
    printed = lines("preview", file)
    assert printed[1].startswith("  a: [bold]not markup[/bold] \\x1b[31mred\\x07 [/nonsense] long")
    assert printed[1].endswith("…")
    assert printed[2] == "  b: plain"


def test_preview_shows_both_texts_of_a_pair(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("text,other,label,split\none,two,a,train\nthree,four,b,train\n")
    assert lines("preview", file, "--text-pair", "other")[1:3] == ["  a: one", "    | two"]


def test_fetch_without_a_network_says_what_to_put_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_network(*arguments: object, **more: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(socket, "create_connection", no_network)
    result = run("fetch", "sst", "--data-dir", tmp_path)
    assert isinstance(result.exception, DataError)
    assert str(result.exception).endswith(
        f"no network; try again, or download it by hand and put it into {tmp_path}/sst"
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["fetch", "mock-1"], ConfigError, "unknown data set 'mock-1'"),
        (["fetch", "adr"], DataError, "adr cannot be downloaded: ask"),
        (["check", "sstt"], ConfigError, "did you mean 'sst'"),
        (["preview", "sst"], DataError, "no data of sst"),
    ],
)
def test_what_is_wrong_is_an_error_of_ours(
    arguments: list[str], error: type[Exception], message: str
) -> None:
    result = run(*arguments)
    assert isinstance(result.exception, error)
    assert message in str(result.exception)


def test_a_command_takes_the_options_of_a_data_set_beside_its_own() -> None:
    seen: list[object] = []

    def train(config: DataConfig, as_json: Json = False, **options: object) -> None:
        seen.extend([config.name, config.seed, config.position, options["seed"], as_json])

    kind = inspect.Parameter.KEYWORD_ONLY
    seed = inspect.Parameter("seed", kind, default=None, annotation=Annotated[int | None, typer.Option()])
    own = typer.Typer()
    own.command()(takes_data(train, seed))
    assert CliRunner().invoke(own, ["planted", "--position", "end", "--json"]).exit_code == 0
    assert CliRunner().invoke(own, ["planted", "--seed", "7", "--data-seed", "3"]).exit_code == 0
    assert seen == ["planted", 0, "end", None, True, "planted", 3, "scattered", 7, False]


def test_the_module_imports_neither_torch_nor_pandas() -> None:
    code = "import sys, faithgauge.cli.data; print(sorted({'torch', 'pandas', 'pyarrow'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
