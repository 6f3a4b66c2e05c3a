"""How pages stand on a screen, by bounding boxes: no pane overlaps another, none leaves the screen sideways, what is
meant to fit fits, and nobody's settings (large text, forced colours, paper, no script) hide a part."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.dock import show_panel
from tests.corpus import case_data

pytestmark = pytest.mark.browser

OUTPUT = """Let me check both.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Z\u00fcrich", "days": 3}}
</tool_call>
<tool_call>
{"name": "save_note", "arguments": {"body": "Ends with </tool_call>, quoted"}}
</tool_call>"""
RUN = ("setup", "verdict", "overview", "step-bar", "input", "step", "result", "machine", "dock")
COMPARE = ("sides", "cursor-bar", "output", "messages", "steps", "places", "beside", "conformance")
FOUR = "a_chunk=token&b_text=example:unknown-tool&c_parser=passthrough&d_chunk=char&matrix=near"
MANY = {
    "two": "a_chunk=token&b_parser=passthrough&b_chunk=token&at=21",
    "pair": "a_chunk=token&b_text=example:call-inside-reasoning&at=21",
    "three": "a_chunk=token&b_parser=passthrough&c_parser=llama&at=21",
    "mixed": "a_chunk=token&b_parser=passthrough&b_chunk=token&c_text=example:call-inside-reasoning&at=21",
    "texts": "a_chunk=token&b_text=example:unknown-tool&c_text=example:call-inside-reasoning&at=21",
    "four": FOUR.replace("&matrix=near", ""),
    "fourtexts": "a_chunk=token&b_text=example:unknown-tool&c_text=example:call-inside-reasoning"
    "&d_text=example:unfinished-json&at=21",
}
WIDE, MIDDLE, TABLET, NARROW, LEAST = (1440, 900), (1100, 900), (768, 1024), (390, 844), (320, 640)
SCREENS = (WIDE, MIDDLE, TABLET, NARROW, LEAST)


@dataclass(frozen=True)
class Screen:
    """One page: its address, the parts of it that must stand apart, the tabs it has on a narrow screen, and how many
    screens high it may be at each width; what is not said is not asked."""

    path: str
    parts: tuple[str, ...] = ()
    tabs: tuple[str, ...] = ("",)
    high: tuple[tuple[int, float], ...] = ()


RUN_TABS = ("", "#input", "#step", "#machine", "#result", "#dock")
COMPARE_TABS = ("", "#at-verdict", "#at-output", "#at-steps", "#at-places", "#at-beside", "#at-matrix")
PAGES = {
    "run": Screen("/example/call-inside-reasoning", RUN, RUN_TABS, ((1440, 1), (1100, 2), (390, 2.2))),
    "step": Screen("/example/two-calls-with-prose?step=20", RUN, RUN_TABS, ((1440, 1), (1100, 2), (390, 2.2))),
    "fails": Screen("/example/unfinished-json?step=3", RUN, RUN_TABS, ((1440, 1), (1100, 2), (390, 2.4))),
    "failure": Screen(
        "/example/sglang-24147-value-ends-like-a-tag", RUN, RUN_TABS, ((1440, 1), (1100, 2), (390, 2))
    ),
    "compare": Screen(
        "/example/two-calls-with-prose/compare?a_chunk=token&b_parser=passthrough&b_chunk=token&at=21",
        COMPARE, COMPARE_TABS, ((1440, 1), (1100, 2.5), (390, 2.1)),
    ),
    "four": Screen(
        f"/example/two-calls-with-prose/compare?{FOUR}", COMPARE, COMPARE_TABS, ((1440, 1), (390, 2.2))
    ),
    "three": Screen(
        "/example/two-calls-with-prose/compare?a_chunk=token&b_parser=passthrough&c_parser=llama", COMPARE,
        COMPARE_TABS, ((1440, 1), (390, 2.2)),
    ),
    "home": Screen("/", ("text", "drop", "tools-menu", "policies"), high=((1440, 1.02),)),
    "gallery": Screen("/gallery"),
    "formats": Screen("/formats"),
    "tokenizers": Screen("/tokenizers"),
    "editor": Screen(
        "/formats/edit?from=qwen", ("format-pane", "format-report", "samples-pane"), high=((1440, 1),)
    ),
    "checks": Screen("/checks"),
    "help": Screen("/help"),
    "share": Screen("/example/unfinished-json/share"),
}  # fmt: skip
AT_THE_THUMB = {"overview", "step-bar", "cursor-bar"}  # on a narrow screen, over what scrolls


def boxes(page: Page, parts: tuple[str, ...]) -> dict[str, Any]:
    """The parts that are shown, by name; a picture of none has no size."""
    script = """names => Object.fromEntries(names.map(name => [name, document.getElementById(name)])
      .filter(([, element]) => element && element.checkVisibility())
      .map(([name, element]) => [name, element.getBoundingClientRect().toJSON()]))"""
    found: dict[str, Any] = page.evaluate(script, list(parts))
    return {part: box for part, box in found.items() if box["width"] > 1 and box["height"] > 1}


def overlap(one: Any, other: Any) -> bool:
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return bool(across > 1 and down > 1)


def overlapping(shown: dict[str, Any]) -> list[tuple[str, str]]:
    return [pair for pair in combinations(sorted(shown), 2) if overlap(shown[pair[0]], shown[pair[1]])]


def cut_sideways(page: Page) -> list[str]:
    """Controls and text that stand beyond an edge of the screen, but for what scrolls sideways in its own box."""
    script = """() => [...document.querySelectorAll("a, button, summary, input, select, h1, h2, h3")].filter(
      element => {
      if (!element.checkVisibility({ visibilityProperty: true })) return false;
      for (let box = element; box; box = box.parentElement) {
        const style = getComputedStyle(box);
        if (box !== document.body && box !== document.documentElement && style.overflowX !== "visible") return false;
        if (style.clipPath !== "none") return false;
      }
      const { left, right, width } = element.getBoundingClientRect();
      return width > 0 && (left < -1 || right > innerWidth + 1);
    }).map(element => `${element.tagName} ${element.id} ${element.textContent.trim().slice(0, 30)}`)"""
    found: list[str] = page.evaluate(script)
    return found


def sideways(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def screens_high(page: Page) -> float:
    return float(page.evaluate("document.documentElement.scrollHeight / innerHeight"))


@pytest.mark.parametrize("name", PAGES)
def test_parts_stand_apart_and_inside_the_screen(page: Page, name: str) -> None:
    asked = PAGES[name]
    page.goto(asked.path)
    for number, (width, height) in enumerate((*SCREENS, WIDE, NARROW)):
        scheme: Literal["light", "dark"] = "light" if number < len(SCREENS) else "dark"
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        for tab in asked.tabs if width < 700 else asked.tabs[:1]:
            page.evaluate("tab => { location.hash = tab; }", tab)
            where = f"{scheme} {width}{tab}"
            shown = boxes(page, tuple(part for part in asked.parts if width > 700 or part not in AT_THE_THUMB))
            assert (where, overlapping(shown)) == (where, [])
            assert (where, sideways(page), cut_sideways(page)) == (where, 0, [])
            assert (where, screens_high(page) <= dict(asked.high).get(width, 100)) == (where, True), screens_high(page)


@pytest.mark.parametrize("width", [1101, 1200])
def test_what_scrolls_in_a_pane_of_a_comparison_makes_no_page_longer(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 760})
    page.goto("/example/two-calls-with-prose/compare?a_chunk=token&b_chunk=whole&c_chunk=token&c_parser=llama")
    assert page.locator(".picker").evaluate("one => one.scrollHeight > one.clientHeight")
    assert screens_high(page) == 1


TEXT_LINES = {".pairs": 24, ".both-strip": 24}  # pixels of a line of what is compared
LEAST_PANEL = 140  # pixels of the panel of the dock, in which some lines can be read


@pytest.mark.parametrize(
    ("name", "compared"),
    [("two", ".pairs"), ("three", ".pairs"), ("four", ".both-strip"), ("pair", ".both-strip"),
     ("texts", ".both-strip"), ("fourtexts", ".both-strip")],
)  # fmt: skip
def test_what_is_compared_shows_twelve_lines_or_all_of_it_beside_each_other(
    page: Page, name: str, compared: str
) -> None:
    page.goto(f"/example/two-calls-with-prose/compare?{MANY[name]}")
    shown = page.locator(f"{compared}:visible").evaluate_all(
        "all => all.map(one => [one.clientHeight, one.scrollHeight, one.getBoundingClientRect().top])"
    )
    assert len(shown) == (1 if compared == ".pairs" else {"pair": 2, "four": 2, "texts": 3, "fourtexts": 4}[name])
    assert len({round(top) for _, _, top in shown}) == 1
    least = 12 * TEXT_LINES[compared]
    assert [box for box in shown if box[0] < min(least, box[1])] == []
    for part in ("#compare-headline", ".first-place >> nth=0", "#cursor-bar", "#output-title", ".compare-dock"):
        expect(page.locator(part)).to_be_in_viewport(ratio=0.9)


@pytest.mark.parametrize("width", [390, 360, 320])
def test_a_name_without_a_place_to_break_leaves_the_verdict_its_width(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("/example/sglang-33324-every-index-is-zero")
    over = "() => document.documentElement.scrollWidth - innerWidth"
    assert page.evaluate(over) == 0
    for part in ("#headline", ".grounds", "#smallest h3", "#smallest dt", "#smallest dd", ".verdict-words .way > *"):
        for element in page.locator(part).all():
            element.evaluate("(element, name) => { element.textContent = name; }", "long_name" * 33)
    assert page.evaluate(over) == 0


def test_the_rest_of_the_grounds_and_what_folds_are_pressed_apart(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/")
    page.locator("#text").fill('{"id":"n123","input":{"text":""}}')
    page.locator("#setup [name=run]").click()
    more, folded = page.locator(".more-grounds"), page.locator(".verdict-more summary")
    expect(folded).to_be_visible()
    page.evaluate("document.getElementById('verdict').dataset.cut = ''")
    expect(more).to_be_visible()
    assert not overlap(*(one.evaluate("one => one.getBoundingClientRect().toJSON()") for one in (more, folded)))
    folded.click()
    expect(page.locator(".verdict-more ul")).to_be_visible()


SIDE_LINE = 37  # pixels of a line of the text with a line for each of three sides under it


@pytest.mark.parametrize("name", ["three", "mixed", "texts", "four", "fourtexts"])
def test_of_more_than_two_sides_the_verdict_is_whole_and_so_are_the_names_of_parsers(page: Page, name: str) -> None:
    page.goto(f"/example/two-calls-with-prose/compare?{MANY[name]}")
    cut = """() => [...document.querySelectorAll(".compare-sentence, .compare-sentence *, [data-pick] option")]
      .filter(one => one.checkVisibility() && !one.matches("code, svg *") && getComputedStyle(one).display !== "inline"
        && (one.scrollHeight > one.clientHeight + 2 || one.scrollWidth > one.clientWidth + 2))
      .map(one => one.outerHTML.slice(0, 60))"""
    assert page.evaluate(cut) == []
    shown = page.locator(".first-place, .first-sends")
    for one in shown.all():
        expect(one).to_be_in_viewport(ratio=1)
    if name == "three":
        assert page.locator(".both-strip").evaluate("one => one.clientHeight") / SIDE_LINE > 4.5


def test_text_around_the_steps_on_the_page_is_shown_too(page: Page) -> None:
    page.goto("/example/two-calls-with-prose/compare?a_chunk=char&b_chunk=char&b_parser=passthrough&at=150")
    strip = page.locator("#both")
    expect(strip).to_contain_text("end of output")
    expect(strip).to_contain_text("will")
    window = page.locator("[data-compare-window]")
    end = int(window.get_attribute("data-to") or "0")
    assert end < 317
    far = strip.locator("[data-bit]").last
    far.click()
    expect(page.locator("#go-to")).to_have_value("317")
    expect(window).to_have_attribute("data-to", "317")


def test_of_three_sides_a_narrow_screen_shows_one_beside_a(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/example/two-calls-with-prose/compare?{MANY['three']}")
    sides = page.locator("#messages .pair-side:visible")

    def letters() -> set[str | None]:
        return {one.get_attribute("data-side") for one in sides.all()}

    assert letters() == {"a", "b"}
    page.get_by_label("A and B").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("A and C")).to_be_checked()
    assert letters() == {"a", "c"}
    page.get_by_role("link", name="Steps", exact=True).click()
    assert [one.get_attribute("data-side") for one in page.locator("#steps > section:visible").all()] == ["a", "c"]
    page.get_by_label("all sides", exact=True).check()
    expect(page.locator("#steps > section:visible")).to_have_count(3)


@pytest.mark.parametrize("name", ["two", "three", "texts", "four", "fourtexts"])
def test_sides_stand_in_one_column_each_and_every_panel_of_the_dock_has_height(page: Page, name: str) -> None:
    page.goto(f"/example/two-calls-with-prose/compare?{MANY[name]}")
    rows = page.locator("#messages .pair:not(.pair-heads)").evaluate_all(
        """rows => rows.map(row => [...row.querySelectorAll(".pair-side")].map(one => one.getBoundingClientRect()))
          .map(sides => [sides.map(one => Math.round(one.left)), Math.max(...sides.map(one => one.width))
            - Math.min(...sides.map(one => one.width))])"""
    )
    assert len({tuple(lefts) for lefts, _ in rows}) == 1 < len(rows)
    assert max(uneven for _, uneven in rows) < 2
    for tab, part in (("Steps", "steps"), ("This case, elsewhere", "conformance"), ("Messages", "messages")):
        page.get_by_role("link", name=tab, exact=True).click()
        shown = boxes(page, ("messages", "steps", "places", "conformance"))
        assert [*shown] == [part]
        assert shown[part]["height"] >= LEAST_PANEL
        assert shown[part]["bottom"] <= 901


@pytest.mark.parametrize("name", ["two", "three", "four"])
def test_the_sample_of_what_the_sides_read_otherwise_stands_inside_its_row(page: Page, name: str) -> None:
    page.goto(f"/example/two-calls-with-prose/compare?{MANY[name]}")
    sample = page.locator(".compare-legend .both")
    row = page.locator(".compare-legend").bounding_box()
    box = sample.bounding_box()
    assert row is not None
    assert box is not None
    assert row["y"] <= box["y"]
    assert box["y"] + box["height"] <= row["y"] + row["height"]
    assert box["height"] > 16  # with its lines


@pytest.mark.parametrize("width", [1120, 1440])
def test_a_name_that_the_banner_has_no_room_for_is_whole_under_the_focus(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/example/dynamo-9536-calls-with-a-semicolon")
    name, note = page.locator(".case-name"), page.locator(".case-note")
    words = name.inner_text()
    whole = "getComputedStyle(document.querySelector('.case-note'), '::after').content"
    page.evaluate("words => { document.querySelector('.case-name').textContent = words; }", "Seven words. " * 20)
    page.set_viewport_size({"width": width + 10, "height": 900})
    expect(name).to_have_attribute("tabindex", "0")
    expect(note).to_have_attribute("data-whole", re.compile("^(Seven words. ){19}"))
    assert page.evaluate(whole) == "none"
    name.focus()
    assert "Seven words. Seven words. " in page.evaluate(whole)
    assert sideways(page) == 0
    page.evaluate("words => { document.querySelector('.case-name').textContent = words; }", words[:12])
    page.set_viewport_size({"width": width, "height": 900})
    expect(name).not_to_have_attribute("tabindex", "0")


LINE = 24  # pixels of the text under study
LEAST_LINES = {(1440, 900): 6, (1280, 800): 4}


def lines_of_text(page: Page) -> float:
    """As many lines of the output as its pane shows at once."""
    return float(page.locator("[data-strip-box]").evaluate("box => box.clientHeight")) / LINE


@pytest.mark.parametrize("name", ["run", "step", "fails"])
def test_the_output_has_room_for_its_text(page: Page, name: str) -> None:
    page.goto(PAGES[name].path)
    for (width, height), least in LEAST_LINES.items():
        page.set_viewport_size({"width": width, "height": height})
        assert (width, lines_of_text(page) >= least) == (width, True)
        cut = """() => [...document.querySelectorAll(".pane-head > .tabs")].filter(one => one.checkVisibility()
          && one.scrollWidth > one.clientWidth + 1).map(one => one.ariaLabel)"""
        assert (width, page.evaluate(cut)) == (width, [])
        assert page.locator("#setup").evaluate("form => form.offsetHeight") < 48  # one line


def test_the_output_of_a_stored_case_has_room_for_its_text(page: Page, base: str) -> None:
    case = {"schema": 1, "title": "A long title of a case " * 4, "parser": {"name": "qwen"}, "input": {"text": OUTPUT}}
    answer = page.request.post(f"{base}/api/v1/cases", data=case)
    page.goto(f"/c/{answer.json()['id']}")
    for (width, height), least in LEAST_LINES.items():
        page.set_viewport_size({"width": width, "height": height})
        assert (width, lines_of_text(page) >= least) == (width, True)


@pytest.mark.parametrize("name", ["harmony", "mistral", "deepseek", "glm45_moe"])
def test_the_diagram_is_readable_and_shows_the_current_state(page: Page, name: str) -> None:
    page.goto(f"/formats/example/{name}?step=1")
    for step in ("10", "20", "30", "99"):
        page.locator("#go-to").fill(step)
        page.locator("#go-to").press("Enter")
        current = page.locator(".when-diagram .state.current")
        expect(current).to_be_in_viewport(ratio=1)
        box, pane = current.bounding_box(), page.locator(".diagram-box.when-diagram").bounding_box()
        assert box is not None
        assert pane is not None
        assert pane["y"] <= box["y"] <= box["y"] + box["height"] <= pane["y"] + pane["height"]
        scale = "drawing => drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width"
        assert page.locator("svg.diagram:visible").evaluate(scale) > 0.999  # its type has 11 pixels
    for view in ("diagram", "all"):
        page.locator(f"[data-tabs=machine] [data-tab={view}]").click()
        page.get_by_role("button", name="Fit").click()
        assert page.locator("svg.diagram:visible").evaluate(scale) > 0.999
        room, wide = page.locator(f".diagram-box.when-{view}").evaluate(
            "box => [box.clientWidth - 24, box.firstElementChild.getBoundingClientRect().width]"
        )
        assert wide > 0.95 * room  # a small one is as wide as its pane


def test_lines_of_the_output_stand_at_one_distance_and_only_markers_are_framed(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill('Hi.\n<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>\n' * 3)
    page.locator("#setup [name=run]").click()
    page.locator("#strip").wait_for()
    tops = sorted(set(page.locator("#strip .token").evaluate_all("all => all.map(one => Math.round(one.offsetTop))")))
    assert len({lower - upper for upper, lower in pairwise(tops)}) == 1 < len(tops)
    framed = page.locator("#strip .run.role-marker:not(.structure)")
    assert {text.strip("⏎") for text in framed.all_inner_texts()} == {"<tool_call>", "</tool_call>"}


def test_the_banner_of_a_second_run_has_two_rows_on_a_narrow_screen(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/")
    for text in ("one", "two"):
        page.locator("#text").fill(text)
        page.locator("#setup [name=run]").click()
        page.locator("#headline").wait_for()
        page.evaluate("location.hash = ''")
        page.goto("/") if text == "one" else None
    assert page.locator(".banner").evaluate("one => one.offsetHeight") <= 100


@pytest.fixture
def recording(page: Page, base: str) -> str:
    answer = page.request.post(f"{base}/api/v1/cases", data=case_data("recorded/no-index"))
    return f"/c/{answer.json()['id']}?step=2"


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: str(screen[0]))
def test_a_recorded_stream_stands_apart_and_inside_the_screen(page: Page, recording: str, screen: Any) -> None:
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    page.goto(recording)
    for tab in RUN_TABS if screen[0] < 700 else RUN_TABS[:1]:
        page.evaluate("tab => { location.hash = tab; }", tab)
        assert (
            overlapping(boxes(page, tuple(part for part in RUN if screen[0] > 700 or part not in AT_THE_THUMB))) == []
        )
        assert (sideways(page), cut_sideways(page)) == (0, [])
    assert screens_high(page) <= {1440: 1, 1100: 2, 768: 2, 390: 2, 320: 2.6}[screen[0]]


@pytest.mark.parametrize("name", ["run", "failure", "compare", "home", "gallery", "editor"])
def test_text_at_twice_its_size_on_half_a_screen_is_cut_nowhere(browser: Browser, watch: Any, name: str) -> None:
    context = watch.context(browser, viewport={"width": 720, "height": 450})
    page = context.new_page()
    page.goto(PAGES[name].path)
    page.evaluate("document.documentElement.style.setProperty('font-size', '200%')")
    assert (sideways(page), cut_sideways(page)) == (0, [])
    assert overlapping({part: box for part, box in boxes(page, PAGES[name].parts).items()
                        if part not in AT_THE_THUMB}) == []  # fmt: skip
    context.close()


PANELS = ("findings", "chunkings", "events", "watch", "robustness", "truncation", "lag", "wire")
HEADS = """() => [...document.querySelectorAll(".dock .tabs, .panel > .pane-head > *")].filter(
  one => one.checkVisibility()).map(one => one.getBoundingClientRect().toJSON()).filter(box => box.width > 1)"""


@pytest.mark.parametrize("width", [1440, 1280, 1101, 1100])
def test_the_tabs_of_the_dock_and_the_head_of_a_panel_share_a_row_whatever_they_count(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/example/two-calls-with-prose")
    for name in PANELS:
        show_panel(page, name)
        expect(page.locator(f"#{name}")).to_be_visible()
        for words in ("3", "3.9k", "999k"):
            page.locator("#dock .count").evaluate_all("(all, words) => all.map(one => one.textContent = words)", words)
            heads = page.evaluate(HEADS)
            assert (name, [pair for pair in combinations(heads, 2) if overlap(*pair)]) == (name, [])
            assert (name, sideways(page), len(heads) > 1) == (name, 0, True)
    tabs = page.locator("#dock .tabs")
    assert width < 1440 or tabs.evaluate("nav => nav.scrollWidth <= nav.clientWidth")


CARD = "#step .card:not([hidden]) h2"
SHOWN = {
    "run": ["#headline", "#input-title", CARD, "#result-title", "#machine-title", "#findings-title", "#chunkings h2",
            "#events h2", "#truncation-title"],
    "failure": ["#headline", ".departed", "#input-title", CARD, "#result-title", "#machine-title", "#findings-title"],
    "compare": [".compare-sentence", "#output-title", "#messages-title", "#step-a .side-step:not([hidden])",
                "#step-b .side-step:not([hidden])", "#places-title"],
}  # fmt: skip


TEXTS = """() => {
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const box = node.parentElement, range = document.createRange();
    if (!node.data.trim() || box.closest("svg, .visually-hidden, .skip-link")) continue;
    if (!box.checkVisibility({ visibilityProperty: true })) continue;
    range.selectNodeContents(node);
    found.push(...[...range.getClientRects()].map(one => ({ ...one.toJSON(), words: node.data.trim().slice(0, 40) })));
  }
  return found.filter(one => one.width > 1).sort((one, other) => one.top - other.top);
}"""


def texts_on_texts(page: Page) -> list[tuple[str, str]]:
    """Lines of text that stand on one another: by more than the space that two lines share."""
    found, boxes_of = [], page.evaluate(TEXTS)
    for number, one in enumerate(boxes_of):
        for other in boxes_of[number + 1 :]:
            if other["top"] > one["bottom"] - 5:
                break
            across = min(one["right"], other["right"]) - max(one["left"], other["left"])
            found += [(one["words"], other["words"])] * (across > 2)
    return found


@pytest.mark.parametrize("width", [718, 794, 1440])
@pytest.mark.parametrize("name", SHOWN)
def test_paper_has_everything_and_nothing_to_press(page: Page, name: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(PAGES[name].path)
    page.emulate_media(media="print")
    for part in SHOWN[name]:
        assert page.locator(part).first.is_visible(), part
    for part in (".banner", ".step-bar", ".case-bar", ".pane-copy", "[data-undo]", ".compare-dock", ".dock"):
        assert [one.is_visible() for one in page.locator(part).all() if one.is_visible()] == [], part
    clipped = """() => [...document.querySelectorAll(".pane-body, .pairs, .both-strip")].filter(element =>
      element.checkVisibility() && element.scrollHeight > element.clientHeight + 1
      && getComputedStyle(element).overflowY !== "visible").map(element => element.className)"""
    assert page.evaluate(clipped) == []
    assert (sideways(page), texts_on_texts(page)) == (0, [])
    found, events = boxes(page, ("findings", "events")).get("findings"), boxes(page, ("events",)).get("events")
    assert not events or (found and found["bottom"] <= events["top"] + 1)  # the answer, then the proof


@pytest.mark.parametrize("name", SHOWN)
def test_without_script_everything_stands_below_another(plain: Page, name: str) -> None:
    plain.goto(PAGES[name].path)
    assert [part for part in SHOWN[name] if not plain.locator(part).first.is_visible()] == []
    assert overlapping(boxes(plain, PAGES[name].parts)) == []


@pytest.mark.parametrize("path", [f"{PAGES['compare'].path}#at-places", PAGES["run"].path])
@pytest.mark.parametrize("width", [390, 1440])
def test_the_current_tab_has_a_line_in_forced_colours(browser: Browser, watch: Any, path: str, width: int) -> None:
    context = watch.context(browser, viewport={"width": width, "height": 900}, forced_colors="active")
    page = context.new_page()
    page.goto(path)
    lines = """() => [...document.querySelectorAll(".tabs, .screens, .jump-list")].filter(one => one.checkVisibility())
      .map(nav => [...nav.children].filter(tab => parseInt(getComputedStyle(tab).borderBottomWidth) >= 2).length)"""
    found = page.evaluate(lines)
    assert found
    assert found == [1] * len(found)
    context.close()


@pytest.mark.parametrize("name", ["step", "fails", "failure", "compare"])
def test_what_stands_at_the_thumb_leaves_the_screen_to_the_rest(page: Page, name: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(PAGES[name].path)
    shown = boxes(page, ("overview", "step-bar", "cursor-bar"))
    fixed = [box for part, box in shown.items() if part != "overview" or name != "compare"]
    assert sum(box["height"] for box in fixed) <= 104
    arrows = page.locator(".step-bar .jump > .button:visible").evaluate_all(
        "all => all.map(it => it.getBoundingClientRect().height)"
    )
    assert min(arrows) >= 44


@pytest.mark.parametrize("width", [1101, 1150, 1200, 1280, 1440])
def test_what_is_wrong_with_a_condition_is_read_whole(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/example/two-calls-with-prose?step=20&until=held+%3E+x")
    problem = page.locator(".stop-note")
    expect(problem).to_have_text(re.compile(r"held is compared with a number, as in held > 20\."))
    assert problem.evaluate("one => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight + 1")
    assert (screens_high(page), sideways(page)) == (1, 0)
    assert page.locator(".banner").evaluate("one => one.offsetHeight") < 50


def test_a_pane_that_goes_on_below_its_edge_has_a_shade_there(page: Page) -> None:
    page.goto("/example/two-calls-with-prose?step=20")
    going_on = """() => [...document.querySelectorAll("#input > .pane-body, .work .pane-body")]
      .filter(one => one.checkVisibility() && one.scrollHeight > one.clientHeight)
      .map(one => [one.closest("[id]").id, getComputedStyle(one).backgroundAttachment.includes("local, scroll")])"""
    page.set_viewport_size({"width": 1440, "height": 760})
    found = dict(page.evaluate(going_on))
    assert found["input"]
    assert all(found.values())


@pytest.mark.parametrize("path", ["/example/two-calls-with-prose?step=20", "/formats/example/harmony?step=30"])
def test_the_roles_under_the_output_are_all_in_sight(page: Page, path: str) -> None:
    page.goto(path)
    legend = page.locator("#input .legend").bounding_box()
    assert legend is not None
    shown = page.locator("#input .legend .role-toggle:visible")
    for box in [one.bounding_box() for one in shown.all()]:
        assert box is not None
        assert box["x"] + box["width"] <= legend["x"] + legend["width"] + 1
        assert legend["y"] - 4 <= box["y"]
        assert box["y"] + box["height"] <= legend["y"] + legend["height"] + 4


def test_tabs_that_go_on_beyond_the_edge_say_so_and_have_the_current_one_in_sight(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/example/two-calls-with-prose?step=20&dock=wire#dock")
    tabs = page.locator("#dock .tabs")
    assert tabs.evaluate("row => row.scrollWidth > row.clientWidth && row.scrollLeft > 0")
    expect(tabs.locator("[aria-current]")).to_be_in_viewport(ratio=0.98)
    assert "local" in tabs.evaluate("row => getComputedStyle(row).backgroundAttachment")


@pytest.mark.parametrize("width", [1024, 1100, 1200, 1279, 1280, 1440])
def test_the_chips_of_the_set_up_stand_apart(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("/example/smg-2271-answer-swallowed")
    chips = page.locator("#setup > .setup > *").evaluate_all(
        """all => all.map(it => [it, ...it.children].filter(one => one.checkVisibility())
          .map(one => one.getBoundingClientRect()))
          .map(found => ({ top: found[0].top, bottom: found[0].bottom, left: found[0].left,
            right: Math.max(...found.map(one => one.right)) }))"""
    )
    assert [pair for pair in pairwise(chips) if overlap(*pair)] == []
