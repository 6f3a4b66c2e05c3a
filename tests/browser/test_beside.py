"""More than two sides, other outputs beside an output, and the case by other parsers: with and without script."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_compare import EXAMPLE, FOUR, OUTPUT, compare_from, focus, open_side, run_posted

pytestmark = pytest.mark.browser

OTHER_OUTPUT = OUTPUT.replace('"b"', '"Bern, of course"')


def sides(page: Page) -> list[str]:
    expect(page.locator(".pair-title").first).to_be_visible()
    return [" ".join(text.split()) for text in page.locator(".pair-title").all_inner_texts()]


def test_the_compare_button_of_a_run_leads_to_sides_that_are_added_by_links(page: Page) -> None:
    page.goto("/example/two-calls-with-prose")
    page.get_by_role("link", name="Compare", exact=True).click()
    page.get_by_role("link", name="Put beside: passthrough").click()
    page.get_by_role("link", name="Put beside: character by character").click()
    expect(page.locator("#step-d .side-step:not([hidden]) h2")).to_have_text(re.compile("Step|End"))
    assert sides(page) == [
        "A kimik2 token by token", "B kimik2 whole", "C passthrough token by token", "D kimik2 character by character",
    ]  # fmt: skip
    expect(page.locator("#beside")).to_contain_text("Four sides at most")
    expect(page.locator("#compare-headline strong")).to_contain_text(
        "C parts in content at character 21 of the output and gives other calls"
    )


def test_sides_are_moved_and_removed_in_their_chips(page: Page) -> None:
    page.goto(FOUR)
    open_side(page, "c")
    page.get_by_role("link", name="Move C to the left").click()
    assert [side[:13] for side in sides(page)] == ["A kimik2 toke", "B passthrough", "C llama examp", "D kimik2 char"]
    open_side(page, "d")
    page.get_by_role("link", name="Remove D").click()
    assert len(sides(page)) == 3


def test_one_cursor_goes_through_outputs_that_differ(page: Page) -> None:
    page.goto(f"{EXAMPLE}?a_chunk=token&b_text=example:unknown-tool&at=0")
    focus(page)
    strips = page.locator("[data-both]")
    expect(strips).to_have_count(2)
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        for strip in strips.all():
            expect(strip.locator("[aria-selected=true]")).to_have_count(1)
    page.keyboard.press("End")
    expect(page.locator("#both + * , [data-both]").last.locator("[aria-selected=true]")).to_have_text("end of output")


@pytest.mark.parametrize(
    "more", ["", "&c_parser=passthrough", "&c_parser=passthrough&d_parser=llama"], ids=["one", "two", "three"]
)
def test_lines_of_outputs_beside_each_other_stand_level(page: Page, more: str) -> None:
    page.goto(f"{EXAMPLE}?a_chunk=token&b_text=example:unknown-tool{more}&at=0")
    heights = [
        strip.evaluate("strip => getComputedStyle(strip).lineHeight") for strip in page.locator("[data-both]").all()
    ]
    assert (len(heights), len({*heights})) == (2, 1)


def test_a_pasted_text_is_beside_and_its_first_difference_is_led_to(page: Page) -> None:
    run_posted(page, OUTPUT)
    page.locator("#put").fill(OTHER_OUTPUT)
    page.get_by_role("button", name="Put beside", exact=True).click()
    said = page.locator(".compare-sentence")
    at = OUTPUT.index('"b"') + 1
    expect(said).to_contain_text(f"C gives other calls from character {at} of A's output on")
    expect(page).to_have_url(
        re.compile(r"/r/\w+/compare\?a_chunk=token&b_chunk=whole&c_chunk=token&c_text=paste:1&at=")
    )
    page.locator("#go-to").fill("0")
    page.locator("#go-to").press("Enter")
    said.get_by_role("button", name="Go to where C parts from A").click()
    expect(page.locator("#go-to")).to_have_value(str(at))
    page.reload()
    expect(said).to_contain_text(f"C gives other calls from character {at} of A's output on")


def test_a_case_in_the_store_is_put_beside_by_its_address(page: Page) -> None:
    page.goto(f"{EXAMPLE}?a_chunk=token&b_chunk=whole")
    page.locator("#put").fill("/example/unknown-tool")
    page.get_by_role("button", name="Put beside", exact=True).click()
    expect(page).to_have_url(re.compile("c_text=example:unknown-tool"))
    assert sides(page)[2].startswith("C llama example, A tool nobody declared")


def test_the_matrix_comes_on_demand_and_a_cell_becomes_a_side(page: Page) -> None:
    page.goto(f"{EXAMPLE}?a_chunk=token&b_chunk=whole")
    expect(page.locator(".matrix")).to_have_count(0)
    page.get_by_role("link", name="This case, elsewhere").click()
    page.get_by_role("link", name="All parsers").click()
    row = page.locator(".matrix tr", has=page.locator("th code", has_text=re.compile("^passthrough$")))
    expect(row).to_contain_text("no call")
    row.get_by_role("link", name="Put beside: passthrough, in one delta").click()
    expect(page).to_have_url(re.compile("c_parser=passthrough"))
    expect(page.locator(".matrix tr[aria-current]")).to_contain_text("same message")


def test_the_dock_of_a_comparison_keeps_its_tab_through_windows_and_steps(page: Page) -> None:
    page.goto(f"{EXAMPLE}?a_chunk=token&b_chunk=token&b_parser=passthrough&at=21")
    page.get_by_role("link", name="Where the sides part 3", exact=True).click()
    expect(page.locator("#places")).to_be_visible()
    page.get_by_role("link", name="Next step of any side").click()
    expect(page.locator("#go-to")).not_to_have_value("21")
    shown = [name for name in ("places", "steps", "conformance") if page.locator(f"#{name}").is_visible()]
    assert shown == ["places"]


def test_a_comparison_leads_back_to_its_run(page: Page) -> None:
    page.goto(EXAMPLE.removesuffix("/compare"))
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.locator("[data-compare]")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#inspector")).to_be_visible()


def test_without_script_texts_are_pasted_and_the_matrix_is_a_link(plain: Page) -> None:
    plain.goto("/")
    plain.locator("#text").fill(OUTPUT)
    plain.locator("#parser").select_option("qwen")
    plain.locator("#setup [name=run]").click()
    plain.get_by_role("button", name="Compare", exact=True).click()
    plain.locator("#put").fill(OTHER_OUTPUT)
    plain.get_by_role("button", name="Put beside", exact=True).click()
    expect(plain.locator("#compare-headline strong")).to_contain_text("C gives other calls")
    plain.get_by_role("button", name="First character").click()
    expect(plain.locator("#go-to")).to_have_value("0")
    plain.get_by_role("button", name="Next place where the sides part").click()
    expect(plain.locator("#go-to")).to_have_value(str(OUTPUT.index('"b"') + 1))
    plain.get_by_role("button", name="Parsers that share markers").click()
    expect(plain.locator(".matrix")).to_contain_text("same message")
    open_side(plain, "b")
    plain.get_by_role("button", name="Remove B").click()
    assert len(sides(plain)) == 2
    open_side(plain, "b")
    plain.locator("#b_chunk").fill("char")
    compare_from(plain, "b")
    expect(plain.locator("#compare-headline strong")).to_have_text("The calls differ.")


def test_an_edited_copy_says_what_it_changed_and_is_compared_with_its_parent(page: Page) -> None:
    page.goto("/example/unknown-tool/share")
    page.locator("main").get_by_role("button", name="Create a permalink").click()
    page.get_by_role("link", name="Open it").click()
    page.get_by_role("link", name="Edit a copy").click()
    page.locator("#text").fill(page.locator("#text").input_value().replace("5", "7"))
    page.locator("#setup [name=run]").click()
    page.locator("#fork summary").click()
    expect(page.locator("#fork ins")).to_have_text("7")
    page.get_by_role("button", name="Compare with the parent").click()
    expect(page.locator(".compare-sentence")).to_contain_text("The output of B differs from A's in 1 place")


def test_the_list_of_parsers_begins_with_those_that_read_the_output_and_is_filtered_by_keys(page: Page) -> None:
    page.goto(f"{EXAMPLE}?a_chunk=token&b_parser=passthrough")
    choice = page.locator("#pick-parser")
    groups = choice.locator("optgroup").evaluate_all("all => all.map(one => one.label)")
    assert groups[-2:] == ["Others", "That of A"]
    page.get_by_label("Filter the parsers by name").fill("deeps V3")
    shown = choice.locator("option").all_inner_texts()
    assert 0 < len(shown) < 6
    assert all("deeps" in words.lower() for words in shown)
    expect(page.locator("[data-pick-note]")).to_have_text(re.compile(r"^\d parsers?$"))
    page.keyboard.press("ArrowDown")
    expect(choice).to_be_focused()
    chosen = choice.input_value()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"c_chunk=token&c_parser={chosen}"))
    assert sides(page)[2].startswith("C deepseek")
    page.get_by_label("Filter the parsers by name").fill("nobody")
    expect(page.locator("[data-pick-note]")).to_have_text("no parser has that name")
    page.get_by_label("Filter the parsers by name").fill("hermes")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("d_chunk=token&d_parser="))


@pytest.mark.parametrize(
    ("typed", "first"),
    [("json", "json"), ("hermes", "qwen"), ("qwen25", "qwen"), ("qwen_co", "qwen_coder"), ("llama3_json", "llama")],
)
def test_enter_takes_the_parser_that_has_the_name_then_the_one_that_is_also_called_so(
    page: Page, typed: str, first: str
) -> None:
    page.goto(f"{EXAMPLE}?a_chunk=token&b_parser=passthrough")
    page.get_by_label("Filter the parsers by name").fill(typed)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"c_parser={first}(&|$)"))


@pytest.mark.parametrize("posted", [False, True])
def test_without_script_the_list_of_parsers_is_a_plain_select(plain: Page, posted: bool) -> None:
    if posted:
        plain.goto("/")
        plain.locator("#text").fill(OUTPUT)
        plain.locator("#parser").select_option("passthrough")
        plain.locator("#setup [name=run]").click()
        plain.get_by_role("button", name="Compare", exact=True).click()
    else:
        plain.goto(f"{EXAMPLE}?a_chunk=token&a_parser=passthrough")
    choice = plain.locator("#pick-parser")
    expect(plain.locator("#pick-filter")).to_be_hidden()
    assert choice.locator("optgroup").first.get_attribute("label") == "Read this output"
    assert ("1 call (" if posted else "2 calls (") in choice.locator("option").first.inner_text()
    value = choice.input_value()
    plain.get_by_role("button", name="Put the parser beside").click()
    expect(plain.locator(".pair-title")).to_have_count(3)
    assert sides(plain)[2].startswith(f"C {value}")


@pytest.mark.parametrize("width", [1440, 390])
def test_a_tab_of_a_comparison_keeps_the_focus(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(EXAMPLE)
    bar = page.locator(".compare-dock" if width > 700 else ".jump-list")
    for name in (
        "Steps",
        "Messages" if width > 700 else "Verdict",
        "Matrix" if width < 700 else "This case, elsewhere",
    ):
        tab = bar.get_by_role("link", name=name, exact=True)
        tab.click()
        expect(tab).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(tab).to_be_focused()
    bar.get_by_role("link", name="Steps", exact=True).focus()
    page.keyboard.press("Enter")
    expect(bar.get_by_role("link", name="Steps", exact=True)).to_be_focused()
    expect(page.locator("#steps")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(1100, 800), (768, 900), (1300, 700)])
def test_a_panel_of_a_comparison_stands_under_its_tabs_in_view(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{EXAMPLE}?a_chunk=token&b_parser=qwen_coder&c_parser=llama&d_parser=passthrough")
    dock = page.locator(".compare-dock")
    for name, panel in (("Where the sides part", "places"), ("This case", "conformance"), ("Steps", "steps")):
        dock.get_by_role("link", name=name).click()
        expect(page.locator(f"#{panel}")).to_be_in_viewport(ratio=0.95)
        expect(dock).to_be_in_viewport(ratio=0.95)
        tabs, shown = dock.bounding_box(), page.locator(f"#{panel}").bounding_box()
        assert tabs is not None
        assert shown is not None
        assert 0 <= shown["y"] - tabs["y"] - tabs["height"] <= 2


def test_what_is_swapped_for_its_like_keeps_the_focus(page: Page) -> None:
    page.goto(EXAMPLE)
    page.get_by_role("link", name="This case, elsewhere").click()
    near = page.get_by_role("link", name="Parsers that share markers")
    near.click()
    expect(page.locator("#matrix table")).to_be_visible()
    expect(near).to_be_focused()
    page.goto(f"{EXAMPLE.removesuffix('/compare')}?step=5&dock=wire")
    choice = page.locator("[data-choice='wire=sse']")
    choice.click()
    expect(choice).to_have_attribute("aria-current", "true")
    expect(choice).to_be_focused()
