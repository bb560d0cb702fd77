"""The page in a browser, opened from a file with the network blocked: what it shows and what it does."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from audits import EXPLAINERS, HOSTILE, Made, write_audit

from faithgauge.report.write import compare, write

pytestmark = pytest.mark.slow

FIRST_MAP = "document.querySelectorAll('#list article')[i].querySelector('.map p')"
"""The text i of the list, as its first explanation shows it."""


class Opened:
    """A page in a tab, with what it asked for and what it complained of."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab
        self.said: list[str] = []
        self.asked: list[str] = []
        tab.on("console", lambda message: self.said.append(message.text))
        tab.on("pageerror", lambda error: self.said.append(str(error)))
        tab.on("request", lambda request: self.asked.append(request.url))
        tab.route(re.compile("^(?!file:)"), lambda route: route.abort())

    def open(self, page: Path) -> Opened:
        self.tab.goto(page.as_uri())
        self.tab.wait_for_selector("html[data-charts=drawn]", state="attached")
        return self

    def of(self, script: str) -> Any:
        return self.tab.evaluate(script)

    def status(self) -> str:
        return str(self.tab.locator("#status").inner_text())

    def ids(self) -> list[str]:
        return [text.lstrip("#") for text in self.tab.locator("#list article > header h3").all_inner_texts()]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's chromium, or that of Playwright."""
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    place = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync.sync_playwright() as playwright:
        if place is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip("there is no chromium: apt-get install chromium")
        running = playwright.chromium.launch(
            executable_path=place, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield running
        running.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """Opens a page as asked, each in a tab of its own."""
    contexts = []

    def open_(page: Path, *, width: int = 1280, **more: Any) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **more)
        contexts.append(context)
        return Opened(context.new_page()).open(page)

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Made(texts=40, hostile=True)
    folder = write_audit(tmp_path_factory.mktemp("audit"), made)
    write(folder, charts=False)
    return folder


@pytest.fixture(scope="module")
def page(audit: Path) -> Path:
    return audit / "report.html"


@pytest.fixture(scope="module")
def instances(audit: Path) -> list[dict[str, Any]]:
    lines = (audit / "instances.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def test_it_opens_from_a_file_without_a_network_and_without_a_complaint(opened: Any, page: Path) -> None:
    tab = opened(page)
    assert tab.said == []
    assert tab.asked == [page.as_uri()]
    assert tab.of("document.querySelectorAll('.plot svg').length") == 10
    assert tab.of("[...document.querySelectorAll('.card h3')].length") == len(EXPLAINERS)


def test_a_script_in_the_data_does_not_run_and_is_shown(opened: Any, page: Path) -> None:
    tab = opened(page)
    tab.tab.select_option("#sort", "given")
    assert tab.of("window.injected") is None
    shown = tab.of(
        "[...document.querySelectorAll('#list article')].map(a => a.querySelector('.map p').textContent)"
    )
    assert shown[: len(HOSTILE)] == list(HOSTILE)


def test_a_script_that_got_into_the_page_all_the_same_is_not_allowed_to_run(
    opened: Any, page: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.html"
    text = page.read_text(encoding="utf-8")
    bad.write_text(text.replace("<main", "<script>window.injected = 9</script><main"), encoding="utf-8")
    tab = opened(bad)
    assert tab.of("window.injected") is None
    assert any("Content Security Policy" in line for line in tab.said)


def test_texts_are_sorted_by_each_number_in_both_directions(
    opened: Any, page: Path, instances: list[dict[str, Any]]
) -> None:
    tab = opened(page)
    for label, name in (
        ("disagreement", "disagreement"),
        ("attention moved (JSD)", "jsd"),
        ("confidence", "confidence"),
    ):
        tab.tab.select_option("#sort", label=label)
        for order, down in (("down", True), ("up", False)):
            tab.tab.select_option("#order", order)
            best = sorted(instances, key=lambda one: one["numbers"][name], reverse=down)
            assert tab.ids() == [one["id"] for one in best[:10]]
    tab.tab.select_option("#sort", "given")
    tab.tab.select_option("#order", "down")
    assert tab.ids() == [str(i) for i in range(10)]


def test_texts_are_filtered_by_class_label_error_and_word(
    opened: Any, page: Path, instances: list[dict[str, Any]]
) -> None:
    tab = opened(page)
    assert tab.status() == "40 texts"
    tab.tab.select_option("#label", label="negative")
    assert tab.status() == "20 of 40 texts"
    tab.tab.check("#wrong")
    wrong = [one for one in instances if one["label"] == "negative" and one["gold"] == "positive"]
    assert tab.status() == f"{len(wrong)} of 40 texts"
    tab.tab.select_option("#label", label="any")
    tab.tab.select_option("#gold", label="negative")
    wrong = [one for one in instances if one["label"] == "positive" and one["gold"] == "negative"]
    assert sorted(tab.ids()) == sorted(one["id"] for one in wrong)
    tab.tab.uncheck("#wrong")
    tab.tab.select_option("#gold", label="any")
    tab.tab.fill("#find", "LOVED it")
    assert tab.ids() == ["5"]
    tab.tab.fill("#find", "no such words")
    assert tab.status() == "No text is like that; loosen a filter."


def test_explanations_can_be_chosen(opened: Any, page: Path) -> None:
    tab = opened(page)
    heads = "[...document.querySelector('#list article').querySelectorAll('h4')].map(h => h.firstChild.data)"
    assert len(tab.of(heads)) == len(EXPLAINERS) + 1
    tab.tab.click("#none")
    assert tab.of(heads) == []
    tab.tab.get_by_label("lime", exact=True).check()
    tab.tab.get_by_label("trained adversary", exact=True).check()
    assert sorted(tab.of(heads)) == ["lime", "trained adversary"]


def test_pages_of_texts_follow_each_other(opened: Any, page: Path) -> None:
    tab = opened(page)
    first = tab.ids()
    assert tab.tab.locator("#page").inner_text() == "1–10 of 40"
    assert tab.tab.locator("#previous").is_disabled()
    for _ in range(3):
        tab.tab.click("#next")
    assert tab.tab.locator("#page").inner_text() == "31–40 of 40"
    assert tab.tab.locator("#next").is_disabled()
    assert not set(tab.ids()) & set(first)


def test_the_numbers_of_a_token_are_those_of_the_audit(
    opened: Any, page: Path, instances: list[dict[str, Any]]
) -> None:
    tab = opened(page)
    tab.tab.select_option("#sort", "given")
    one = instances[9]
    token = tab.tab.locator("#list article").nth(9).locator(".map").nth(0).locator(".t").nth(4)
    token.scroll_into_view_if_needed()
    token.hover()
    assert tab.tab.locator("#tip b").inner_text() == one["tokens"][4]
    rows = tab.of("[...document.querySelectorAll('#tip tr')].map(r => [...r.cells].map(c => c.textContent))")
    assert len(rows) == len(EXPLAINERS) + 1
    for name, written in rows:
        scores = one["explanations"].get(name) or one["adversarial"][name]
        top = max(map(abs, scores))
        assert abs(float(written.replace("−", "-")) - scores[4]) <= 0.005 * top
    assert tab.of("document.querySelectorAll('.t.on').length") == len(rows)


def test_tokens_are_cut_where_the_audit_cuts_them_also_beyond_the_basic_plane(
    opened: Any, page: Path, instances: list[dict[str, Any]]
) -> None:
    tab = opened(page)
    tab.tab.select_option("#sort", "given")
    words = f"i => [...{FIRST_MAP}.querySelectorAll('.t')].map(t => t.textContent)"
    for i in range(len(HOSTILE)):
        assert tab.tab.evaluate(words, i) == instances[i]["tokens"]


def test_arabic_runs_from_right_to_left_and_latin_from_left_to_right(opened: Any, page: Path) -> None:
    tab = opened(page)
    tab.tab.select_option("#sort", "given")
    way = f"i => getComputedStyle({FIRST_MAP}).direction"
    assert tab.tab.evaluate(way, 4) == "rtl"
    assert tab.tab.evaluate(way, 5) == "ltr"


def test_the_keyboard_reaches_every_number(opened: Any, page: Path) -> None:
    tab = opened(page)
    tab.tab.focus("#next")
    tab.tab.keyboard.press("Shift+Tab")
    tab.tab.locator("#list .map p").first.focus()
    tab.tab.keyboard.press("ArrowRight")
    tab.tab.keyboard.press("ArrowRight")
    second = tab.tab.locator("#list .map").first.locator(".t").nth(1)
    assert "on" in (second.get_attribute("class") or "")
    spoken = tab.tab.locator("#spoken").text_content()
    assert re.fullmatch(r".+: [−+]?[\d.]+", spoken)
    assert tab.tab.locator("#tip").is_visible()
    tab.tab.keyboard.press("Escape")
    assert not tab.tab.locator("#tip").is_visible()
    tab.tab.keyboard.press("End")
    last = tab.tab.locator("#list .map").first.locator(".t").last
    assert "on" in (last.get_attribute("class") or "")


def test_a_brush_over_the_plane_of_texts_chooses_those_below(opened: Any, page: Path) -> None:
    tab = opened(page)
    area = tab.tab.locator("[data-chart=texts] svg .background").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    middle = box["y"] + box["height"] * 0.5
    tab.tab.mouse.move(box["x"] + 2, box["y"] + 2)
    tab.tab.mouse.down()
    tab.tab.mouse.move(box["x"] + box["width"] - 2, middle, steps=4)
    tab.tab.mouse.up()
    tab.tab.wait_for_selector("#unbrush:not([hidden])")
    some = int(tab.status().split()[0])
    assert 0 < some < 40
    tab.tab.click("#unbrush")
    assert tab.status() == "40 texts"


def test_a_choice_below_a_chart_changes_it_and_a_legend_filters(opened: Any, page: Path) -> None:
    tab = opened(page)
    marks = (
        "[...document.querySelectorAll('[data-chart=erasure] .mark-symbol path')]"
        ".map(p => p.getAttribute('transform')).join()"
    )
    before = tab.of(marks)
    tab.tab.locator("[data-chart=erasure]").get_by_label("Measure").select_option("deletion")
    assert tab.of(marks) != before
    lines = "[...document.querySelectorAll('[data-chart=roar] .mark-line path')]"
    line = f"{lines}.map(p => p.getAttribute('opacity'))"
    assert set(tab.of(line)) <= {None, "1"}
    tab.tab.locator("[data-chart=roar] .role-legend-label text").first.click()
    assert sorted({one or "1" for one in tab.of(line)}) == ["0.08", "1"]


def test_a_chart_is_there_as_a_table_too(opened: Any, page: Path) -> None:
    tab = opened(page)
    details = tab.tab.locator("[data-table=evidence]")
    details.locator("summary").click()
    assert details.locator("tbody tr").count() == len(EXPLAINERS)
    assert "explainer" in details.locator("thead").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_makes_the_page_wider_than_a_phone(
    opened: Any, page: Path, scheme: str, tmp_path: Path
) -> None:
    tab = opened(page, width=390, color_scheme=scheme, has_touch=True)
    tab.of("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    tab.tab.select_option("#sort", "given")
    assert tab.of("document.documentElement.scrollWidth") <= 390
    both = compare([page.parent, page.parent], tmp_path / "both.html")
    tab.tab.goto(both.as_uri())
    assert tab.of("document.documentElement.scrollWidth") <= 390


def test_the_dark_scheme_is_dark_in_its_words_and_in_its_charts(opened: Any, page: Path) -> None:
    found = {}
    for scheme in ("light", "dark"):
        tab = opened(page, color_scheme=scheme)
        of = "(s, p) => getComputedStyle(document.querySelector(s))[p]"
        found[scheme] = [
            sum(map(int, re.findall(r"\d+", tab.of(f"({of})('{place}', '{part}')"))[:3]))
            for place, part in (
                ("body", "backgroundColor"),
                ("h1", "color"),
                ("[data-chart=roar] text", "fill"),
            )
        ]
    assert found["light"][0] > 600 > 150 > found["light"][1]
    assert found["dark"][0] < 150 < 600 < found["dark"][1]
    assert found["light"][2] < 400 < found["dark"][2]


def test_on_paper_there_are_no_controls_and_all_tests_are_open(opened: Any, page: Path) -> None:
    tab = opened(page, color_scheme="dark")
    tab.tab.emulate_media(media="print")
    tab.of("window.dispatchEvent(new Event('beforeprint'))")
    assert not tab.tab.locator("#controls").is_visible()
    assert tab.tab.locator(".card .sentence").first.is_visible()
    assert tab.of("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.of("getComputedStyle(document.querySelector('h1')).color") == "rgb(0, 0, 0)"
    assert tab.tab.pdf().startswith(b"%PDF")


def test_an_audit_without_texts_shows_its_numbers(opened: Any, tmp_path: Path) -> None:
    folder = write_audit(tmp_path, Made(texts=6, explainers=("random",), seeds=1, with_texts=False))
    tab = opened(write(folder, charts=False))
    assert tab.said == []
    assert tab.status() == "6 texts"
    tab.tab.locator(".block").first.hover()
    assert tab.tab.locator("#tip b").inner_text().startswith("token ")


def test_500_texts_and_12_explainers_are_small_and_soon_there(
    opened: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_audit(tmp_path, Made(texts=500, tokens=30))
    start, used = time.perf_counter(), time.process_time()
    page = write(folder)
    took, used = time.perf_counter() - start, time.process_time() - used
    tab = opened(page)
    ready = tab.of("performance.getEntriesByName('ready')[0].startTime")
    size = page.stat().st_size
    with capsys.disabled():
        print(
            f"\n500 texts × 12 explainers: {size / 1e6:.2f} MB, built in {took:.1f} s ({used:.1f} s of CPU), "
            f"interactive after {ready / 1e3:.2f} s"
        )
    assert size < 3e6
    assert tab.said == []
    assert tab.status() == "500 texts"
