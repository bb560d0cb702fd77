"""Tables as files: exact in CSV, and nothing of the data is markup anywhere."""

from __future__ import annotations

import csv
import io

import pytest
from audits import HOSTILE

from faithgauge.report.written import as_csv, as_latex, as_markdown

ROWS = [
    {"split": "test", "explainer": "a_b", "value": 0.1234567890123456, "n": 3, "nothing": None},
    {"split": "test", "explainer": "c", "value": None, "n": 4, "nothing": None},
]


def test_csv_has_every_digit_and_every_column() -> None:
    assert as_csv(ROWS) == ("split,explainer,value,n,nothing\ntest,a_b,0.1234567890123456,3,\ntest,c,,4,\n")


def test_markdown_says_once_what_all_rows_share_and_leaves_out_what_is_empty() -> None:
    assert as_markdown(ROWS, "A title") == (
        "# A title\n\nAll: split test.\n\n"
        "| explainer | value | n |\n| --- | --- | --- |\n| a\\_b | 0.123 | 3 |\n| c |  | 4 |\n"
    )


def test_latex_is_a_table_of_escaped_cells() -> None:
    assert as_latex(ROWS, "100 % & more") == "\n".join(
        [
            r"\begin{table}",
            r"\caption{100 \% \& more. All: split test.}",
            r"\begin{tabular}{lrr}",
            r"\toprule",
            r"explainer & value & n \\",
            r"\midrule",
            r"a\_b & 0.123 & 3 \\",
            r"c &  & 4 \\",
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


@pytest.mark.parametrize("text", [*HOSTILE, "a | b", "\\input{x}", "$x_1^2$ # ~", "two\nlines"], ids=ascii)
def test_words_stay_words(text: str) -> None:
    rows = [{"explainer": text, "value": 1.0}, {"explainer": "other", "value": 2.0}]
    assert next(csv.DictReader(io.StringIO(as_csv(rows))))["explainer"] == text
    line = as_markdown(rows, "t").splitlines()[4]
    assert line.replace("\\|", "").count("|") == 3
    assert "<" not in line
    cell = as_latex(rows, "t").splitlines()[6]
    assert cell.endswith(r"& 1.000 \\")
    assert "\\input{" not in cell
    assert cell.replace("\\&", "").count("&") == 1
