"""What hands do on every page: the command palette, copying what a pane shows, a draft that survives a reload."""

from __future__ import annotations

import json
import re
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.dock import show_panel
from tests.browser.test_access import violations
from tests.corpus import case_data

pytestmark = pytest.mark.browser

EXAMPLE = "/example/two-calls-with-prose"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
OUTPUT = 'Hi. <tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


def copied(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


@pytest.fixture
def clipboard(page: Page) -> Page:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return page


def test_the_palette_finds_and_presses_what_the_page_has(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19")
    page.locator("#strip [data-token][aria-selected=true]").focus()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search the commands")
    expect(field).to_be_focused()
    assert violations(page, part="#palette-dialog") == []
    page.keyboard.type("export")
    expect(page.locator("#palette-list [aria-selected=true]")).to_contain_text("Export")
    assert [words for words in page.locator("#palette-list li").all_inner_texts() if "Export" not in words] == []
    page.locator("#palette-words").fill("")
    page.keyboard.type("next state")
    expect(page.locator("#palette-list [aria-selected=true]")).to_contain_text("Next state change")
    page.keyboard.press("Enter")
    expect(page.locator("#palette-dialog")).to_be_hidden()
    expect(page.locator("#go-to")).not_to_have_value("19")
    page.keyboard.press(":")
    page.keyboard.type("nothing of the kind")
    expect(page.locator("#palette-dialog [data-none]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#palette-dialog")).to_be_hidden()
    assert page.evaluate("document.activeElement.matches('[data-token]')")  # where it was


@pytest.mark.parametrize(
    ("words", "shown"),
    [("watch dock", "#watch"), ("share", "#share-dialog"), ("keys help", "#help-dialog"), ("who wrote", "#who-caret")],
)
def test_the_palette_leads_everywhere(page: Page, words: str, shown: str) -> None:
    page.goto(f"{EXAMPLE}?step=19")
    page.keyboard.press("Control+k")
    page.keyboard.type("help" if words == "keys help" else words)
    page.keyboard.press("Enter")
    expect(page.locator(shown)).to_be_visible()


def test_the_palette_chooses_a_parser_by_its_name(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19")
    page.keyboard.press("Control+k")
    page.keyboard.type("replay with llama4_pythonic")
    page.keyboard.press("Enter")
    expect(page.locator("#inspector")).to_have_attribute("data-parser", "llama4_pythonic")
    expect(page.locator("#headline")).to_be_focused()


# Controls that are no commands: pieces of texts, rows and steps that lists name, what folds a sentence, and what calls
# the palette itself.
PIECES = """#strip *, [data-bit], #message *, table *, .card *, .facts *, .findings *, .heat *, .drop-places *,
 .product, .skip-link, .more-grounds, dialog *, [data-palette], [aria-disabled=true], #stop-marks *, #pin-marks *,
 [data-step]:not([data-jump], [data-leap], [data-choice])"""
COLOURS = ["as the system", "light", "dark"]
PALETTE = """async () => {
  const { src } = [...document.scripts].find(one => one.src.includes("/js/main"));
  window.palette = await import(src.replace(/main[^/]*$/, "palette.js"));
  const found = window.palette.commands().map(({ name, key, press }) => ({ name, key: press ?? key }));
  window.offered = new Set(found.map(({ name }) => name.replace(/ [\\d,]+$/, "")));
  return found;
}"""
LEFT_OUT = """pieces => {
  for (const menu of document.querySelectorAll("details.menu, details.source")) menu.open = true;
  const all = document.querySelectorAll("button, summary, a[href], select, input:not([type=hidden]), textarea");
  return [...all].filter(one => one.checkVisibility() && !one.disabled && !one.matches(pieces))
    .map(one => window.palette.nameOf(one).replace(/ [\\d,]+$/, "")).filter(name => !window.offered.has(name));
}"""
TABS = ".screens a, .jump-list a, .compare-dock a, [data-tabs=dock] a"
RUN, COMPARE = f"{EXAMPLE}?step=19&until=sent:args", f"{EXAMPLE}/compare?a_chunk=token&b_parser=passthrough"
FOUR = f"{COMPARE}&c_parser=llama&d_parser=glm45"
RECORDED = "/example/sglang-24147-value-ends-like-a-tag"


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize(
    "path",
    [RUN, "/example/unfinished-json?step=3", RECORDED, COMPARE, FOUR, f"{RECORDED}/compare", "/", "/gallery",
     "/library", "/formats", "/formats/edit?from=qwen", "/tokenizers", "/engines", "/help"],
)  # fmt: skip
def test_every_action_that_a_page_shows_is_a_command(page: Page, path: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(path)
    expect(page.locator("html[data-ready]")).to_be_attached()
    expect(page.locator("[data-report-pending]")).to_have_count(0)
    expect(page.locator("[data-searching]")).to_have_count(0, timeout=60_000)  # its counts name some
    offered = {one["name"] for one in page.evaluate(PALETTE)}
    assert {f"Colours: {name}" for name in COLOURS[1:]} <= offered
    assert set(page.evaluate(LEFT_OUT, PIECES)) <= {f"Colours: {COLOURS[0]}"}  # the button that goes through them
    for tab in page.locator(TABS).all():
        if tab.is_visible():
            tab.click()
            left = set(page.evaluate(LEFT_OUT, PIECES)) - {f"Colours: {COLOURS[0]}"}
            assert not left, tab.inner_text()


# Keys of the sheet that are no command of their own: they are for a field, a dialog, or the palette itself.
INSIDE = {"↓", "Enter", "Esc", "Ctrl K", ":"}
LABELS = {"PageUp": "PgUp", "PageDown": "PgDn"}


@pytest.mark.parametrize(
    ("path", "places", "compares"),
    [("/example/call-inside-reasoning?step=", (1, 20, 30), False), (f"{COMPARE}&at=", (0, 100, 300), True)],
)
def test_every_key_of_the_sheet_is_a_command(page: Page, path: str, places: tuple[int, ...], compares: bool) -> None:
    shown = set[str]()
    for place in places:  # what leads nowhere is not offered
        page.goto(f"{path}{place}")
        expect(page.locator("html[data-ready]")).to_be_attached()
        expect(page.locator("[data-report-pending]")).to_have_count(0)
        shown |= {LABELS.get(one["key"], one["key"]) for one in page.evaluate(PALETTE)}
    wanted = set[str]()
    for row in page.locator("#help-dialog .keys tbody tr").all():
        keys, does = {*row.locator("kbd").all_inner_texts()}, row.locator("td").inner_text()
        if compares == ("compared" in does) or (compares and keys & {"←", "Home", "[", "g", "?"}):
            wanted |= keys
    wanted = (wanted - INSIDE - {"1 … 5"}) | (set() if compares else {*"12345"})
    assert len(wanted) > 5
    assert wanted - shown == set()


@pytest.mark.parametrize("path", ["/", RUN, COMPARE])
def test_the_palette_changes_the_colours_and_swaps_the_sides(page: Page, path: str) -> None:
    page.goto(path)
    for words, theme in (("theme dark", "dark"), ("colours light", "light"), ("theme system", None)):
        page.keyboard.press("Control+k")
        page.keyboard.type(words)
        page.keyboard.press("Enter")
        assert page.evaluate("document.documentElement.dataset.theme ?? null") == theme
    if path != COMPARE:
        return
    titles = page.locator("#messages .pair-title")
    expect(titles.nth(1)).to_have_text(re.compile(r"B\s+passthrough"))
    page.keyboard.press("Control+k")
    page.keyboard.type("swap")
    page.keyboard.press("Enter")
    expect(titles.nth(0)).to_have_text(re.compile(r"A\s+passthrough"))


@pytest.mark.parametrize("width", [1440, 390])
def test_to_look_at_the_commands_changes_nothing_on_the_page(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{EXAMPLE}?step=19&dock=wire")
    expect(page.locator("html[data-ready]")).to_be_attached()
    address = page.url
    page.keyboard.press(":")
    expect(page.locator("#palette-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    assert page.url == address
    expect(page.locator("#wire")).to_have_count(1)


def test_space_plays_from_where_the_focus_is_after_a_run(page: Page) -> None:
    page.goto(EXAMPLE)
    page.locator("#headline").focus()
    page.keyboard.press("Space")
    expect(page.locator("[data-play]").first).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Space")
    expect(page.locator("[data-play]").first).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("filter events", "#filter"), ("download the whole stream", None), ("redact first", "#share-dialog"),
        ("copy the findings", "#findings"), ("not streamed", "#wire"), ("go to dock", "#dock"),
        ("cut it at the cursor", "#truncation"), ("run to the next", None), ("private link", "#share-dialog"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("width", [1440, 390])
def test_commands_open_the_panel_that_they_are_in(page: Page, words: str, shown: str | None, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{EXAMPLE}?step=19")
    page.keyboard.press("Control+k")
    page.keyboard.type(words)
    expect(page.locator("#palette-list [aria-selected=true]")).to_contain_text(re.compile(words.split()[0], re.I))
    if shown:
        page.keyboard.press("Enter")
        expect(page.locator(shown)).to_be_visible()


def test_labels_of_the_palette_are_words_with_blanks_between(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19")
    page.keyboard.press("Control+k")
    page.keyboard.type("case file")
    expect(page.locator("#palette-list [aria-selected=true]")).to_contain_text("Case file ")


def test_a_pane_is_copied_as_the_text_it_stands_for(clipboard: Page) -> None:
    page = clipboard
    page.goto("/")
    page.locator("#text").fill(OUTPUT)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#headline")).to_be_focused()
    page.get_by_role("button", name="Last step").click()
    page.get_by_role("button", name="Copy output").click()
    expect(page.locator("#input .pane-copy[data-done]")).to_be_visible()
    assert copied(page) == OUTPUT
    page.get_by_role("button", name="Copy the message").click()
    expect(page.locator("#result .pane-copy[data-done]")).to_be_visible()
    message = json.loads(copied(page))
    assert (message["content"], message["tool_calls"][0]["arguments"]) == ("Hi. ", '{"a": 1}')
    page.get_by_role("button", name="Copy the machine").click()
    expect(page.locator("#machine .pane-copy[data-done]")).to_be_visible()
    assert copied(page).startswith("stateDiagram-v2\n")
    page.get_by_role("button", name="First step").click()
    page.get_by_role("button", name="Copy the step").click()
    expect(page.locator("#step .pane-copy[data-done]")).to_be_visible()
    assert json.loads(copied(page))["index"] == 1
    show_panel(page, "events")
    page.get_by_role("button", name="Copy the events").click()
    expect(page.locator("#events .pane-copy[data-done]")).to_be_visible()
    assert "CallArguments\t" in copied(page)


def test_blanks_and_lines_of_the_message_are_copied_as_they_are(clipboard: Page) -> None:
    page = clipboard
    text = "alpha   \n\n\n\n    beta\t \n"
    page.goto("/")
    page.locator("#parser").select_option("passthrough")
    page.locator("#text").fill(text)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#headline")).to_be_focused()
    page.get_by_role("button", name="Last step").click()
    page.get_by_role("button", name="Copy the message").click()
    expect(page.locator("#result .pane-copy[data-done]")).to_be_visible()
    assert json.loads(copied(page))["content"] == text


def test_an_output_with_carriage_returns_is_copied_whole_and_not_edited_in_place(clipboard: Page) -> None:
    page = clipboard
    text = "one\r\ntwo\r 'three' &amp;"
    case = {"schema": 1, "parser": {"name": "passthrough"}, "input": {"text": text}}
    page.goto(page.request.post("/api/v1/cases", data=case).json()["url"])
    page.get_by_role("button", name="Copy output").click()
    expect(page.locator("#input .pane-copy[data-done]")).to_be_visible()
    assert copied(page) == text
    expect(page.locator("[data-live-open]")).to_have_count(0)


def test_where_the_browser_refuses_the_text_is_laid_out_to_be_copied(page: Page) -> None:
    page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))")
    page.goto(f"{EXAMPLE}?step=19")
    page.get_by_role("button", name="Copy the step").click()
    expect(page.locator("#copy-dialog")).to_be_visible()
    assert json.loads(page.locator("#copy-source").input_value())["index"] == 19
    assert violations(page, part="#copy-dialog") == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Copy the step")).to_be_focused()


def test_every_pane_has_its_copy_button(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19")
    for pane in ("input", "step", "result", "machine"):
        expect(page.locator(f"#{pane} [data-copy-pane]")).to_be_visible()
    for panel in ("findings", "chunkings", "events", "watch", "robustness", "truncation", "lag", "wire"):
        show_panel(page, panel)
        expect(page.locator(f"#{panel} [data-copy-pane]")).to_be_visible()


def test_panes_of_a_recording_are_copied_and_a_chunk_as_it_came(clipboard: Page) -> None:
    page, case = clipboard, case_data("recorded/no-index")
    page.goto(page.request.post("/api/v1/cases", data=case).json()["url"])
    page.get_by_role("button", name="Copy the chunk", exact=True).click()
    expect(page.locator("#step .pane-copy[data-done]")).to_be_visible()
    assert json.loads(copied(page)) in case["input"]["stream"]
    page.get_by_role("button", name="Copy the chunks", exact=True).first.click()
    expect(page.locator("#input .pane-copy[data-done]")).to_be_visible()
    assert "carries\ttext" in copied(page)
    page.get_by_role("button", name="Copy the evidence").click()
    expect(page.locator("#machine .pane-copy[data-done]")).to_be_visible()


def test_a_draft_survives_a_reload_until_it_is_run(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill("typed before")
    page.locator("#parser").select_option("qwen")
    page.reload()
    expect(page.locator("#text")).to_have_value("typed before")
    expect(page.locator("#parser")).to_have_value("qwen")
    page.locator("#text").press("Control+Enter")
    expect(page.locator("#headline")).to_be_focused()
    page.goto("/")
    expect(page.locator("#text")).to_have_value("")


def test_a_draft_is_cleared(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill("typed before")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#text")).to_be_focused()
    page.reload()
    expect(page.locator("#text")).to_have_value("")
    expect(page.locator("#parser")).to_have_value("auto")


def test_axe_finds_nothing_while_hands_are_at_work(page: Page) -> None:
    page.goto(f"{EXAMPLE}?step=19&pins=5,19&until=held>10&filter=sent:args&dock=watch")
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.locator("#strip [data-token][aria-selected=true]").focus()
        page.keyboard.press("w")
        assert (scheme, violations(page, scheme)) == (scheme, [])
        page.keyboard.press("Control+k")
        assert (scheme, violations(page, scheme, "#palette-dialog")) == (scheme, [])
        page.keyboard.press("Escape")


def test_without_script_nothing_is_offered_that_needs_it(plain: Page) -> None:
    plain.goto(f"{EXAMPLE}?step=19")
    for control in ("[data-copy-pane]", "[data-palette]", "[data-live-open]", "#who"):
        expect(plain.locator(control).first).to_be_hidden()
