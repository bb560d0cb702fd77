"""Charts: drawn where there are rows, small, in colours that the page and the printed files share."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
import vl_convert
from audits import Made, write_audit

from faithgauge.report.attention_bins import density
from faithgauge.report.audit import opened
from faithgauge.report.charts.table import CHARTS
from faithgauge.report.charts.theme import PAPER, on_paper
from faithgauge.report.page import ASSETS
from faithgauge.report.tidy import TABLES, made
from faithgauge.report.write import drawn

STYLE = (ASSETS / "cards.css").read_text() + (ASSETS / "page.css").read_text()


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("charts")
    return drawn(made(opened(write_audit(folder, Made(texts=10, seeds=5)))))


def test_every_chart_is_drawn_where_there_are_rows_and_none_where_there_are_not(specs: Any) -> None:
    assert set(specs) == {*CHARTS, "texts"}
    assert drawn({}) == {}


@pytest.mark.parametrize("name", [*CHARTS, "texts"])
def test_a_chart_compiles_and_has_no_variable_left_on_paper(specs: Any, name: str) -> None:
    paper = on_paper(specs[name], "title")
    assert "var(--" not in json.dumps(paper)
    assert "<svg" in vl_convert.vegalite_to_svg(paper)


@pytest.mark.parametrize("name", [*CHARTS, "texts"])
def test_rows_are_in_a_chart_once_however_many_layers_show_them(specs: Any, name: str) -> None:
    tables = list(map(json.dumps, specs[name]["datasets"].values()))
    assert len(tables) == len(set(tables))
    assert json.dumps(specs[name]).count('"values": [{') == 0


def test_every_chart_names_a_table_and_says_what_it_does_not_say() -> None:
    for chart in CHARTS.values():
        assert chart.table in TABLES
        assert chart.says
        assert chart.says_not


def test_curves_of_one_way_of_masking_are_shown_at_a_time_the_recursive_ones_first() -> None:
    point = {"dataset": "d", "split": "test", "model": "m", "explainer": "lime", "measure": "f1_macro"}
    point |= {"fraction": 0.1, "value": 0.5, "low": 0.4, "high": 0.6, "n": 3, "missing": 0}
    spec = drawn({"roar": [{**point, "variant": name} for name in ("masked_training", "recursive")]})["roar"]
    (choice,) = (one for one in spec["params"] if one["name"] == "choice_variant")
    assert (choice["value"], choice["bind"]["options"]) == ("recursive", ["recursive", "masked_training"])
    alone = drawn({"roar": [{**point, "variant": None}]})["roar"]
    assert not [one for one in alone["params"] if one["name"] == "choice_variant"]


def test_the_choice_of_all_classes_is_not_a_choice_of_every_row(specs: Any) -> None:
    """With the rows of all texts and those of each class in one table, one of them is shown at a time."""
    parameters = {one["name"]: one for one in specs["erasure"]["params"] if "bind" in one}
    assert parameters["choice_group"]["value"] == "all"
    assert parameters["choice_group"]["bind"]["options"] == ["all", "negative", "positive"]
    assert "choice_group === 'every one' || datum['group'] === choice_group" in json.dumps(specs["erasure"])


def colours(part: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+):(#[0-9a-f]{3,6})", part))


def test_the_light_scheme_of_the_page_is_that_of_printed_charts() -> None:
    light = colours(
        re.sub(r"@media\(prefers-color-scheme:dark\)\{.*?\}\}|@media print.*", "", STYLE, flags=re.S)
    )
    for name, colour in PAPER.items():
        assert {"#fff": "#ffffff"}.get(light[name], light[name]) == colour, name


def test_the_dark_scheme_names_every_colour_that_charts_use() -> None:
    dark = colours("".join(re.findall(r"@media\(prefers-color-scheme:dark\)\{(.*?)\}\}", STYLE, flags=re.S)))
    assert set(PAPER) <= set(dark)


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ink", ["ink", "soft", "good", "bad", "unsure"])
@pytest.mark.parametrize("behind", ["page", "back"])
def test_words_have_the_contrast_that_wcag_asks_for(scheme: str, ink: str, behind: str) -> None:
    dark = "".join(re.findall(r"@media\(prefers-color-scheme:dark\)\{(.*?)\}\}", STYLE, flags=re.S))
    light = STYLE.split("@media")[0]
    found = colours(light if scheme == "light" else dark)
    one, other = sorted(map(luminance, (found[ink], found[behind])))
    assert (other + 0.05) / (one + 0.05) >= 4.5


def test_a_density_is_highest_where_most_values_are_and_reflected_at_the_ends() -> None:
    values = np.concatenate([np.zeros(30), np.linspace(0, 1, 10)])
    at, height = density(values)
    assert (at[0], at[-1]) == (0.0, 1.0)
    assert height.max() == height[0] == 1.0
    flat = density(np.linspace(0, 1, 200))[1]
    assert flat.min() > 0.9
