"""The page of explained texts: what is in it, what is escaped, and that its colours can be read."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithgauge.report.explanation import Explanation
from faithgauge.report.heatmap import _STYLE, fragment, number, page, shares, strongest


def explanation(
    text: str = "a fine film", scores: tuple[float, ...] = (0.0, 0.8, 0.4), **more: Any
) -> Explanation:
    spans = tuple(found.span() for found in re.finditer(r"\S+", text))
    return Explanation(
        **{
            "text": text,
            "text_pair": None,
            "tokens": tuple(text.split()),
            "spans": spans,
            "label": "yes",
            "probabilities": {"no": 0.25, "yes": 0.75},
            "scores": {"one": scores},
            **more,
        }
    )


class _Reader(HTMLParser):
    """The tags of a page, and the words of its texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)


def read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def test_a_token_has_its_number_and_as_much_colour_as_its_share() -> None:
    html = fragment([explanation()])
    assert '<span title="0.800" class="p" style="--a:1.00">fine</span>' in html
    assert '<span title="0.400" class="p" style="--a:0.50">film</span>' in html
    assert '<span title="0.000">a</span>' in html


def test_negative_scores_have_the_other_hue_and_signs() -> None:
    html = fragment([explanation(scores=(0.25, -0.5, nan))])
    assert '<span title="+0.250" class="p" style="--a:0.50">a</span>' in html
    assert '<span title="-0.500" class="n" style="--a:1.00">fine</span>' in html
    assert '<span title="–">film</span>' in html


def test_the_numbers_are_listed_strongest_first_without_those_that_are_not_there() -> None:
    html = fragment([explanation(scores=(0.25, -0.5, nan))])
    assert re.findall(r"<li>(.*?)</li>", html) == ["-0.500 <bdi>fine</bdi>", "+0.250 <bdi>a</bdi>"]


def test_of_a_long_text_the_strongest_200_are_listed_and_the_rest_counted() -> None:
    html = fragment([explanation("w " * 250, tuple(i / 250 for i in range(250)))])
    assert html.count("<li>") == 200
    assert "50 weaker ones are left out." in html


@given(st.text(min_size=1))
def test_whatever_a_text_holds_it_stays_text(text: str) -> None:
    html = page(
        [explanation(text, (1.0,) * len(text.split()), label=text, id=text, probabilities={text: 1.0})],
        title=text,
    )
    assert {tag for tag, _ in read(html).tags} <= {
        *("html", "head", "meta", "title", "style", "body", "main", "div", "h1", "h2", "h3", "article"),
        *("section", "p", "b", "small", "span", "i", "details", "summary", "ol", "li", "bdi"),
    }
    html.encode()


def test_a_script_in_a_text_is_shown_and_not_run() -> None:
    text = "<script>alert(1)</script> \"kind\" & 'x'"
    html = page([explanation(text, (1.0, 0.5, 0.2, 0.1), label=text, targets={"one": "no"})], title=text)
    assert "<script" not in html
    shown = re.search(r'<p class="text" dir="auto">(.*?)</p>', html)
    assert shown is not None
    assert unescape(re.sub(r"<.*?>", "", shown[1])) == text


def test_control_characters_are_written_out_and_line_breaks_stay() -> None:
    html = fragment([explanation("a\x00b\nc\x1b[31m", (1.0, 1.0))])
    assert "a\\x00b" in html
    assert "\\x1b[31m" in html
    assert "\n" in html


def test_nothing_is_loaded_from_anywhere() -> None:
    html = page([explanation()], title="t")
    assert not re.search(r"\b(src|href|url|import|http)\b", html)
    assert "<script" not in html


def test_both_texts_of_a_pair_share_a_scale() -> None:
    html = fragment(
        [
            explanation(
                text_pair="why not",
                pair_tokens=("why", "not"),
                pair_spans=((0, 3), (4, 7)),
                pair_scores={"one": (1.6, 0.0)},
            )
        ]
    )
    assert '<span title="0.80" class="p" style="--a:0.50">fine</span>' in html
    assert '<span title="1.60" class="p" style="--a:1.00">why</span>' in html
    assert html.count('<p class="text"') == 2


def test_a_second_text_without_scores_is_plain() -> None:
    assert '<p class="text" dir="auto">why not</p>' in fragment([explanation(text_pair="why not")])


def test_another_class_than_the_predicted_one_a_reason_and_an_error_are_told() -> None:
    said = {"targets": {"one": "no"}, "reasons": {"one": "line 3: too few"}, "errors": {"one": 0.0125}}
    html = fragment([explanation(**said, gold="no")])
    for part in ("explains no", "line 3: too few", "error 0.013", "labelled <b>no</b>"):
        assert part in html
    assert "explains" not in fragment([explanation(targets={"one": "yes"})])


def test_tokens_that_overlap_are_shown_once_and_listed_twice() -> None:
    html = fragment([explanation("ab", (1.0, 0.5), tokens=("ab", "b"), spans=((0, 2), (1, 2)))])
    assert html.count("<span ") == 1
    assert html.count("<li>") == 2


def test_a_text_without_any_score_is_plain() -> None:
    html = fragment([explanation(scores=(nan, nan, nan))])
    assert "--a:" not in re.sub(r"<style>.*?</style>|<p class=\"scale\">.*?</p>", "", html, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("score", "top", "signed", "text"),
    [
        (0.5, 0.5, False, "0.500"),
        (0.5, 0.5, True, "+0.500"),
        (-0.04, 12.0, True, "0.0"),
        (-1.26, 12.0, True, "-1.3"),
        (3.2e-4, 3.2e-4, False, "0.000320"),
        (3.2e-9, 3.2e-9, False, "3.20e-09"),
        (2e7, 2e7, True, "+2.00e+07"),
        (1234.5, 1234.5, False, "1234"),
        (0.0, 0.0, False, "0"),
        (nan, 1.0, True, "–"),
    ],
)
def test_numbers_have_the_decimals_that_three_digits_of_the_strongest_take(
    score: float, top: float, signed: bool, text: str
) -> None:
    assert number(score, top, signed=signed) == text


def test_shares_are_of_the_strongest_or_of_what_is_given() -> None:
    assert strongest([0.25, -0.5, nan]) == 0.5
    assert shares([0.25, -0.5]) == [0.5, -1.0]
    assert shares([0.25, -0.5], 1.0) == [0.25, -0.5]
    assert shares([0.0, 0.0]) == [0.0, 0.0]
    assert strongest([]) == 0.0


def luminance(colour: tuple[float, ...]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("hue", ["p", "n"])
@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_on_every_colour_has_the_contrast_that_wcag_asks_for(hue: str, scheme: int) -> None:
    def hexadecimal(name: str) -> list[int]:
        digits = re.findall(rf"--{name}:#([0-9a-f]+)", _STYLE)[scheme]
        digits = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
        return [int(digits[i : i + 2], 16) for i in (0, 2, 4)]

    colour = [int(part) for part in re.findall(rf"--{hue}:(\d+) (\d+) (\d+)", _STYLE)[scheme]]
    behind, ink = hexadecimal("page"), luminance(tuple(c / 255 for c in hexadecimal("ink")))
    for step in range(21):
        mixed = luminance(
            tuple((low + (high - low) * step / 20) / 255 for low, high in zip(behind, colour, strict=True))
        )
        light, dark = max(mixed, ink), min(mixed, ink)
        assert (light + 0.05) / (dark + 0.05) >= 4.5
