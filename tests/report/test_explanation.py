"""An explained text as a JSON document and as rows."""

from __future__ import annotations

import json
from math import nan
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from faithgauge.report.explanation import COLUMNS, Explanation, document, rows, write_rows


def explanation(**changed: Any) -> Explanation:
    fields: dict[str, Any] = {
        "text": "good film",
        "text_pair": None,
        "tokens": ("good", "film"),
        "spans": ((0, 4), (5, 9)),
        "label": "yes",
        "probabilities": {"no": 0.25, "yes": 0.75},
        "scores": {"a": (0.5, nan), "b": (-1.0, 2.0)},
        "id": "f.csv:2",
        "targets": {"a": "yes", "b": "no"},
    }
    return Explanation(**{**fields, **changed})


def paired() -> Explanation:
    return explanation(
        text_pair="why",
        pair_tokens=("why",),
        pair_spans=((0, 3),),
        pair_scores={"a": (0.125,)},
        gold="no",
        errors={"b": 0.5},
        reasons={"a": "because"},
    )


def test_the_document_has_the_keys_that_are_promised_and_null_for_no_score() -> None:
    assert document(explanation()) == {
        "tokens": ("good", "film"),
        "spans": ((0, 4), (5, 9)),
        "label": "yes",
        "probabilities": {"no": 0.25, "yes": 0.75},
        "explanations": {"a": [0.5, None], "b": [-1.0, 2.0]},
        "targets": {"a": "yes", "b": "no"},
    }


def test_a_second_text_errors_and_reasons_stand_in_the_document_where_there_are_any() -> None:
    found = document(paired())
    assert (found["pair_tokens"], found["pair_explanations"]) == (("why",), {"a": [0.125]})
    assert (found["errors"], found["reasons"]) == ({"b": 0.5}, {"a": "because"})
    json.dumps(found, allow_nan=False)


def test_there_is_one_row_for_each_explainer() -> None:
    first, second = rows(paired())
    assert tuple(first) == tuple(second) == COLUMNS
    assert (first["explainer"], first["scores"], first["pair_scores"]) == ("a", [0.5, None], [0.125])
    assert (first["label"], first["probability"], first["gold"]) == ("yes", 0.75, "no")
    assert (first["reason"], first["error"]) == ("because", None)
    assert (second["explainer"], second["target"], second["pair_scores"]) == ("b", "no", None)
    assert second["error"] == 0.5


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_rows_are_read_again_as_they_were_written(ending: str, tmp_path: Path) -> None:
    every = [*rows(paired()), *rows(explanation())]
    file = tmp_path / f"rows.{ending}"
    write_rows(iter(every), file, parquet=ending == "parquet")
    if ending == "parquet":
        assert pyarrow.parquet.read_table(file).to_pylist() == every
    else:
        assert [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] == every


def test_parquet_of_more_rows_than_a_part_has_them_all(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    write_rows((row for _ in range(1250) for row in rows(explanation())), file, parquet=True)
    assert pyarrow.parquet.ParquetFile(file).metadata.num_row_groups == 3
    assert pyarrow.parquet.read_table(file, columns=["id"]).num_rows == 2500


def test_a_notebook_shows_the_heat_map() -> None:
    html = explanation()._repr_html_()
    assert html.startswith('<div class="faithgauge">')
    assert ">good</span>" in html
