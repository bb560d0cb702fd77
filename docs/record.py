"""A page of results from what `faithgauge reproduce … --json` printed: numbers beside the published ones.

    python docs/record.py TITLE COMMAND SECONDS FILE.json >> docs/results/PAPER.md

Only numbers that were computed stand on the page, by data set and encoder; a published number that lies
outside our interval is marked. With fewer than three seeds intervals are over texts alone. Numbers of single
seeds, or by λ, are a table with a line for each; those by the share or the number of tokens are one for each
metric, with a column for each step.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HEAD = "| what | published | ours | 95 % interval | difference | texts | seeds |"
NAMED = frozenset({"class", "seed", "lambda", "start", "guide"})
"""Keys whose values do not say what they are."""
LINES = ("seed", "lambda")
"""Keys by which numbers are a table of their own, a line for each value."""
STEPS = {"fraction": "the share of the tokens", "count": "the number of tokens"}
"""Keys by which numbers are curves, a column for each value."""
RULE = "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"


def main(title: str, command: str, seconds: str, file: str) -> None:
    document = json.loads(Path(file).read_text(encoding="utf-8"))
    print(f"\n## {title}\n\n```sh\n{command}\n```\n\nComputed in {seconds}.\n")
    every = [row for row in document["rows"] if row["ours"] is not None]
    rows = [row for row in every if not any(step in row for step in STEPS)]
    for where in sorted({_where(row) for row in rows}):
        mine = [row for row in rows if _where(row) == where]
        print(f"### {' '.join(where)}\n\n{HEAD}\n{RULE}")
        print("\n".join(_line(row) for row in mine if not any(key in row for key in LINES)))
        for key in LINES:
            for part in _kinds((row for row in mine if key in row), key):
                print(f"\n{_by(key, part)}")
        notes = sorted({row["note"].partition("; mean and std")[0] for row in mine} - {""})
        print("\n" + "; ".join(notes) + ".\n" if notes else "")
    for step, title in STEPS.items():
        points = [row for row in every if step in row]
        for where in sorted({(*_where(row), row["metric"]) for row in points}):
            mine = [row for row in points if (*_where(row), row["metric"]) == where]
            print(f"### {' '.join(where)} by {title}\n\n{_curves(mine, step)}\n")
    print("| claim | verdict | evidence |\n| --- | --- | --- |")
    for finding in document["findings"]:
        if finding["verdict"] != "untested":
            evidence = finding["evidence"].replace("|", "\\|")
            print(f"| {finding['claim']} (`{finding['name']}`) | {finding['verdict']} | {evidence} |")


def _where(row: dict[str, Any]) -> tuple[str, str]:
    return row["dataset"].partition("@")[0], row["encoder"]


def _line(row: dict[str, Any]) -> str:
    what = f"{row['metric']} {_keys(row)}".strip()
    interval = "" if row["low"] is None else f"{row['low']:.3f} – {row['high']:.3f}"
    difference = "" if row["difference"] is None else f"{row['difference']:+.3f}"
    marked = difference + (" *" if row["inside"] is False else "")
    numbers = (_number(row["published"], row["published_spread"]), _number(row["ours"], row["spread"]))
    counts = " | ".join("" if row[name] is None else str(row[name]) for name in ("n", "n_seeds"))
    return f"| {what} | {' | '.join(numbers)} | {interval} | {marked} | {counts} |"


def _kinds(rows: Iterable[dict[str, Any]], key: str) -> list[list[dict[str, Any]]]:
    """The rows that have this key, those together that differ in nothing but it and the metric."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(_keys(row, without=(key,)), []).append(row)
    return list(found.values())


def _by(key: str, rows: list[dict[str, Any]]) -> str:
    """A line for each value of the key, a column for each metric: ours, and in brackets what is published."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    title = ", ".join(filter(None, [_keys(rows[0], without=(key,)), f"{key} (published)"]))
    lines = [f"| {title} | " + " | ".join(metrics) + " |", "| --- |" + " ---: |" * len(metrics)]
    for value in sorted({row[key] for row in rows}, key=float):
        own = {row["metric"]: row for row in rows if row[key] == value}
        lines.append(f"| {value} | " + " | ".join(_both(own.get(metric)) for metric in metrics) + " |")
    return "\n".join(lines)


def _both(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    published = _number(row["published"], None)
    return f"{_number(row['ours'], None)} ({published})" if published else _number(row["ours"], None)


def _curves(rows: list[dict[str, Any]], step: str) -> str:
    """A line for each measure and way of masking, a column for each step."""
    steps = sorted({row[step] for row in rows}, key=float)
    lines = ["| measure | " + " | ".join(steps) + " |", "| --- |" + " ---: |" * len(steps)]
    for name in dict.fromkeys(_name(row) for row in rows):
        own = {row[step]: row for row in rows if _name(row) == name}
        lines.append(f"| {name} | " + " | ".join(_point(own.get(one)) for one in steps) + " |")
    return "\n".join(lines)


def _name(row: dict[str, Any]) -> str:
    return " ".join(str(row[key]) for key in ("measure", "masking") if row.get(key))


def _point(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    interval = "" if row["low"] is None else f" ({row['low']:.3f} – {row['high']:.3f})"
    return f"{row['ours']:.3f}{interval}"


def _keys(row: dict[str, Any], without: tuple[str, ...] = ()) -> str:
    """What a number is of, beside its metric, as words."""
    names = list(row)
    keys = names[names.index("metric") + 1 : names.index("published")]
    return " ".join(
        f"{name} {row[name]}" if name in NAMED else row[name] for name in keys if name not in without
    )


def _number(value: float | str | None, spread: float | None) -> str:
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:.3f}" if spread is None else f"{value:.3f} ± {spread:.3f}"


if __name__ == "__main__":
    main(*sys.argv[1:])
