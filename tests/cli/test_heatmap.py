"""The heat map, with the exact output of small texts."""

from __future__ import annotations

from io import StringIO
from math import nan

import pytest
from rich.console import Console
from rich.text import Text

from faithgauge.cli.heatmap import grids, heatmap, legend, style

TEXT = "a fine film"
SPANS = [(0, 1), (2, 6), (7, 11)]


def printed(text: Text, *, colour: bool, width: int = 80) -> str:
    console = Console(
        file=StringIO(), width=width, force_terminal=colour, color_system="truecolor" if colour else None,
        highlight=False, no_color=False,
    )  # fmt: skip
    console.print(text)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def boxed(word: str, red: int, green: int, blue: int) -> str:
    return f"\x1b[38;2;0;0;0;48;2;{red};{green};{blue}m{word}\x1b[0m"


def test_the_strongest_token_is_vivid_orange_and_half_of_it_is_half_way_from_grey() -> None:
    shown = printed(heatmap(TEXT, SPANS, [0.0, 0.8, 0.4], colour=True), colour=True)
    # grey (148, 144, 140) and orange (255, 136, 0): half way is (201.5, 140, 70)
    assert shown == "a " + boxed("fine", 255, 136, 0) + " " + boxed("film", 201, 140, 70) + "\n"


def test_negative_scores_are_blue_and_share_the_scale_with_positive_ones() -> None:
    shown = printed(heatmap(TEXT, SPANS, [0.25, -0.5, 0.0], colour=True), colour=True)
    assert shown == boxed("a", 201, 140, 70) + " " + boxed("fine", 64, 156, 255) + " film\n"


def test_scores_below_a_twentieth_of_the_strongest_are_plain() -> None:
    shown = printed(heatmap(TEXT, SPANS, [0.049, 1.0, nan], colour=True), colour=True)
    assert shown == "a " + boxed("fine", 255, 136, 0) + " film\n"


def test_the_scale_is_relative_so_a_common_factor_changes_nothing() -> None:
    one = heatmap(TEXT, SPANS, [0.1, 0.2, 0.4], colour=True)
    assert one == heatmap(TEXT, SPANS, [1.0, 2.0, 4.0], colour=True)


@pytest.mark.parametrize("scores", [[0.0, 0.0, 0.0], [nan, nan, nan]])
@pytest.mark.parametrize("colour", [True, False])
def test_without_any_score_the_text_is_plain(scores: list[float], colour: bool) -> None:
    assert printed(heatmap(TEXT, SPANS, scores, colour=colour), colour=colour) == "a fine film\n"


def test_without_colour_the_strongest_tokens_carry_their_number() -> None:
    shown = printed(heatmap(TEXT, SPANS, [0.01, 0.612, 0.378], colour=False), colour=False)
    assert shown == "a fine[0.61] film[0.38]\n"


def test_without_colour_signed_scores_carry_their_sign() -> None:
    shown = printed(heatmap(TEXT, SPANS, [-0.5, 0.25, 0.0], colour=False), colour=False)
    assert shown == "a[-0.5] fine[+0.25] film\n"


def test_a_token_without_a_place_in_the_text_is_left_out() -> None:
    spans = [(-1, -1), *SPANS, (-1, -1)]
    assert heatmap(TEXT, spans, [nan, 0.1, 0.2, 0.3, nan], colour=False) == heatmap(
        TEXT, SPANS, [0.1, 0.2, 0.3], colour=False
    )


def test_parts_of_one_word_are_coloured_each_for_itself() -> None:
    shown = printed(heatmap("undone", [(0, 2), (2, 6)], [1.0, 0.5], colour=True), colour=True)
    assert shown == boxed("un", 255, 136, 0) + boxed("done", 201, 140, 70) + "\n"


def test_of_two_tokens_at_one_place_the_stronger_is_seen() -> None:
    both = heatmap("é", [(0, 1), (0, 1)], [1.0, 0.5], colour=True)
    assert printed(both, colour=True) == boxed("é", 255, 136, 0) + "\n"


def test_markup_and_control_characters_of_the_text_are_shown_as_they_are_and_keep_their_place() -> None:
    text = "[bold]x[/] \x1b[31m bad"
    shown = printed(heatmap(text, [(6, 7), (17, 20)], [0.5, 1.0], colour=False), colour=False)
    assert text[17:20] == "bad"
    assert shown == "[bold]x[0.5][/] \\x1b[31m bad[1]\n"


def test_a_long_text_is_wrapped_at_the_width_of_the_console() -> None:
    text = "one two three four"
    shown = printed(heatmap(text, [(8, 13)], [1.0], colour=True), colour=True, width=13)
    assert shown == "one two " + boxed("three", 255, 136, 0) + "\nfour\n"


def test_a_span_for_every_score_is_required() -> None:
    with pytest.raises(ValueError, match="shorter"):
        heatmap(TEXT, SPANS, [0.1, 0.2], colour=False)


@pytest.mark.parametrize("share", [i / 20 for i in range(-20, 21)])
def test_black_on_every_colour_of_the_scale_has_a_contrast_of_at_least_six(share: float) -> None:
    background = style(share).bgcolor
    assert background is not None
    assert background.triplet is not None
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in background.triplet.normalized
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    assert (luminance + 0.05) / 0.05 >= 6  # WCAG asks for 4.5


def test_the_legend_shows_both_ends_of_the_scale() -> None:
    assert legend([0.1, 0.42, nan], colour=True).plain == "0           0.42"
    assert legend([-0.1, 0.42], colour=True).plain == "-0.42           0.42"
    assert legend([0.1, 0.42], colour=False).plain == "numbers: scores of at least 20% of the largest, 0.42"


def grid(tokens: list[str], scores: dict[str, list[float]], *, width: int = 80) -> list[list[str]]:
    """The lines of each grid, without colour."""
    found = []
    for one in grids(tokens, scores, colour=False, width=width):
        console = Console(file=StringIO(), width=width, highlight=False)
        console.print(one)
        assert isinstance(console.file, StringIO)
        found.append([line.rstrip() for line in console.file.getvalue().splitlines()])
    return found


def test_in_a_grid_each_token_has_a_row_and_each_explainer_a_column() -> None:
    assert grid(["a", "fine"], {"one": [0.5, 0.25], "two": [-2.0, nan]}) == [
        ["        one    two", "a     0.500  -2.00", "fine  0.250      –"]
    ]


def test_a_column_is_coloured_by_its_own_strongest_score() -> None:
    (one,) = grids(["a", "b"], {"x": [0.5, 0.25], "y": [-8.0, 0.0]}, colour=True, width=80)
    cells = [list(column.cells) for column in one.columns[1:]]
    assert [cell.style for cell in cells[0]] == [style(1.0), style(0.5)]  # type: ignore[union-attr]
    assert [cell.style for cell in cells[1]] == [style(-1.0), ""]  # type: ignore[union-attr]


def test_long_names_are_broken_where_their_parts_meet() -> None:
    name = "integrated_gradient:recursive-roar-2022"
    (lines,) = grid(["a"], {name: [1.0]})
    assert [line.strip() for line in lines[:-1]] == ["integrated_", "gradient:", "recursive-", "roar-2022"]


def test_columns_that_are_too_many_for_the_width_stand_below() -> None:
    scores = {f"explainer {i}": [1.0] for i in range(7)}
    blocks = grid(["word"], scores, width=40)
    assert [len(block) for block in blocks] == [2, 2, 2, 2]
    assert all(len(line) <= 40 for block in blocks for line in block)
    assert len(grid(["word"], {"a" * 90: [1.0], "b": [1.0]}, width=20)) == 2


def test_tokens_of_a_grid_are_printable_and_short() -> None:
    (lines,) = grid(["\x1b[31m", "x" * 40, "a\nb"], {"one": [1.0, 0.5, 0.25]})
    assert [line.split("  ")[0] for line in lines[1:]] == ["\\x1b[31m", "x" * 17 + "…", "a b"]


def test_two_texts_may_share_a_scale() -> None:
    shown = printed(heatmap(TEXT, SPANS, [0.0, 0.8, 0.4], colour=True, top=1.6), colour=True)
    assert shown == "a " + boxed("fine", 201, 140, 70) + " " + boxed("film", 174, 142, 105) + "\n"
