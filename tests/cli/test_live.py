"""The live view: what is counted, how long is left, what a running job says of itself."""

from __future__ import annotations

import io
import json
import time
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from faithgauge.cli.live import Watch, lines, view, watching
from faithgauge.engine.run import Event


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    texts = {"a" * 64: "planted", "b" * 64: "planted bilstm seed=0"}
    return Watch(texts, Counter({"Prepare": 1, "Train": 3}), slots=2, partial=lambda key: tmp_path / key)


def shown(watch: Watch, width: int = 80) -> str:
    file = io.StringIO()
    Console(file=file, width=width, highlight=False).print(view(watch))
    return file.getvalue()


def test_events_are_counted_and_the_total_stays(watch: Watch) -> None:
    for what in ("started", "done"):
        watch.take(Event(what, "a" * 64, "Prepare"))  # type: ignore[arg-type]
    watch.take(Event("started", "b" * 64, "Train"))
    assert (watch.ended, watch.total, list(watch.running)) == (1, 4, ["b" * 64])
    watch.take(Event("failed", "b" * 64, "Train", "no"))
    watch.take(Event("blocked", "c" * 64, "Train", "needs it"))
    assert (watch.ended, watch.total, watch.left.total()) == (3, 4, 1)


def test_a_retried_job_keeps_running(watch: Watch) -> None:
    watch.take(Event("started", "b" * 64, "Train"))
    watch.take(Event("retried", "b" * 64, "Train", "its worker died"))
    assert list(watch.running) == ["b" * 64]
    assert watch.ended == 0


def test_the_time_left_is_the_mean_of_each_kind_over_the_slots(watch: Watch) -> None:
    assert watch.seconds_left() is None
    watch.spent = {"Train": [10.0, 20.0], "Prepare": [1.0]}
    watch.left = Counter({"Train": 4})
    assert watch.seconds_left() == 30.0
    watch.running = {"b": ("Train", time.monotonic() - 5)}
    assert watch.seconds_left() == pytest.approx(27.5, abs=0.1)
    watch.left = Counter({"Train": 1})
    assert watch.seconds_left() == pytest.approx(10.0, abs=0.1)


def test_the_view_shows_a_running_job_and_what_it_says_in_80_columns(watch: Watch, tmp_path: Path) -> None:
    watch.take(Event("started", "b" * 64, "Train"))
    folder = tmp_path / ("b" * 64)
    folder.mkdir()
    (folder / "progress.json").write_text(json.dumps({"done": 3, "total": 12, "text": "epoch 1/4"}))
    text = shown(watch)
    assert "Train  planted bilstm seed=0  25 % epoch 1/4" in text
    assert "0 done, 1 running, 3 todo; time left unknown" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("content", ["", "{", '{"done": 1}', '{"done": 1, "total": 0, "text": "x"}', "[]"])
def test_progress_that_is_half_written_is_no_error(watch: Watch, tmp_path: Path, content: str) -> None:
    watch.take(Event("started", "b" * 64, "Train"))
    (tmp_path / ("b" * 64)).mkdir()
    (tmp_path / ("b" * 64) / "progress.json").write_text(content)
    assert "Train" in shown(watch)


def test_a_line_says_what_happened_to_which_job_and_why(watch: Watch) -> None:
    event = Event("failed", "b" * 64, "Train", "the loss is\nnot a\x1b[2J")
    watch.take(Event("started", "b" * 64, "Train"))
    assert lines(event, watch, watch.take(event)) == [
        "1/4  failed    Train     bbbbbbbbbbbb  planted bilstm seed=0  0.0 s: the loss is not a\\x1b[2J"
    ]
    elsewhere = Event("elsewhere", "a" * 64, "Prepare")
    assert lines(elsewhere, watch, None) == [
        "elsewhere Prepare   aaaaaaaaaaaa  planted  another run computes it: waiting"
    ]


def test_what_a_job_prints_does_not_reach_the_view_and_the_other_way_round(
    watch: Watch, capsys: pytest.CaptureFixture[str]
) -> None:
    import contextlib

    log = io.StringIO()
    with watching(watch, None) as on_event, contextlib.redirect_stderr(log):
        on_event(Event("started", "a" * 64, "Prepare"))
    assert log.getvalue() == ""
    assert capsys.readouterr().err == "started   Prepare   aaaaaaaaaaaa  planted\n"
