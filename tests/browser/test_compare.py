"""Two replays side by side: one cursor for both, with keys, mouse and address, with and without script."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_access import on_each_screen, violations

pytestmark = pytest.mark.browser

EXAMPLE = "/example/two-calls-with-prose/compare"
OTHER = f"{EXAMPLE}?a_chunk=token&b_chunk=token&b_parser=passthrough"
SAME = f"{EXAMPLE}?a_chunk=token&b_chunk=char:7"
FOUR = f"{EXAMPLE}?a_chunk=token&b_text=example:unknown-tool&c_parser=passthrough&d_chunk=char"
OUTPUT = 'Hi.\n<tool_call>\n{"name": "f", "arguments": {"a": "b"}}\n</tool_call>'
LONG = f"{'Some words, ' * 1500}{OUTPUT}"


def titles(page: Page) -> list[str]:
    """The steps of both sides, as their heads say."""
    heads = [page.locator(f"#step-{side} .side-step:not([hidden]) h2") for side in "ab"]
    return [" ".join(head.inner_text().split()) for head in heads]


def focus(page: Page) -> None:
    page.locator("#both [tabindex='0']").focus()


def open_side(page: Page, name: str) -> None:
    """The set-up of a side stands in a chip."""
    page.locator(f"#side-{name} > summary").click()


def compare_from(page: Page, name: str) -> None:
    page.locator(f"#side-{name}").get_by_role("button", name="Compare").click()


def run_posted(page: Page, text: str) -> None:
    """Compare a run that is stored nowhere, as the inspector's link to this page does."""
    page.goto("/")
    page.locator("#text").fill(text)
    page.locator("#parser").select_option("qwen")
    page.locator("#setup [name=run]").click()
    expect(page.locator(".case-note")).to_have_text("not shared")
    page.locator("#cursor").evaluate("form => { form.action = '/compare'; form.submit(); }")
    expect(page.locator("[data-compare]")).to_be_visible()


def test_one_cursor_moves_both_sides(page: Page) -> None:
    page.goto(f"{SAME}&at=0")
    page.get_by_role("link", name="Next step of any side").click()
    assert titles(page) == ["A Step 2", "B Step 1"]
    page.locator("#both [data-from='7']").click()
    assert titles(page)[1] == "B Step 2"
    expect(page.locator("#go-to")).to_have_value("7")
    expect(page.locator("[data-compare-slider]")).to_have_value("7")
    expect(page.locator("#both [aria-selected=true]")).to_have_attribute("data-from", "7")


def test_keys_lead_by_step_state_place_and_to_both_ends(page: Page) -> None:
    page.goto(f"{OTHER}&at=0")
    focus(page)
    for key, at in (("ArrowRight", 1), ("ArrowLeft", 0), ("d", 21), ("d", 298), ("d", 317), ("D", 298), ("[", 271),
                    ("Home", 0), ("]", 21), ("End", 317)):  # fmt: skip
        page.keyboard.press(key)
        expect(page.locator("#go-to"), key).to_have_value(str(at))
    assert titles(page) == ["A End of output", "B End of output"]
    page.keyboard.press("g")
    page.keyboard.type("21")
    page.keyboard.press("Enter")
    expect(page.locator("#places tr[aria-current]")).to_contain_text("<|tool_calls_section_begin|>")
    expect(page.locator("#live")).to_contain_text("The sides part here.")


def test_keys_lead_to_both_ends_where_the_page_scrolls_too(page: Page) -> None:
    page.set_viewport_size({"width": 1100, "height": 700})
    page.goto(f"{OTHER}&at=21")
    expect(page.locator("html[data-ready]")).to_be_attached()
    for key, at in (("End", "317"), ("Home", "0")):
        page.keyboard.press(key)
        expect(page.locator("#go-to")).to_have_value(at)
        assert page.evaluate("scrollY") == 0
    page.get_by_role("button", name="Share", exact=True).focus()
    page.keyboard.press("End")
    expect(page.locator("#go-to")).to_have_value("317")


def test_the_key_to_the_next_place_says_where_there_is_none(page: Page) -> None:
    page.goto(f"{OTHER}&at=317")
    expect(page.locator("html[data-ready]")).to_be_attached()
    page.keyboard.press("d")  # nobody has put the focus anywhere yet
    expect(page.locator("#live")).to_have_text("Next place where the sides part: there is none.")
    expect(page.locator("[data-compare-summary]")).to_have_text("Next place where the sides part: there is none.")
    page.keyboard.press("D")
    expect(page.locator("#go-to")).to_have_value("298")
    expect(page.locator("[data-compare-summary]")).not_to_contain_text("none")
    page.goto(SAME)
    expect(page.locator("html[data-ready]")).to_be_attached()
    page.keyboard.press("d")
    expect(page.locator("#live")).to_contain_text("The sides part nowhere. The same message on both sides.")


def test_a_comparison_opens_where_its_sentence_says_and_its_band_begins(page: Page) -> None:
    page.goto(OTHER)
    named = page.locator(".first-place [data-go-at]").get_attribute("data-go-at") or ""
    expect(page.locator("#go-to")).to_have_value(named)
    expect(page.locator("#places tr[data-place]").first).to_have_attribute("data-from", named)
    expect(page.locator("#places tr[data-place]").first).to_have_attribute("aria-current", "true")
    expect(page.locator("#both [aria-selected=true]")).to_have_class(re.compile(r"\bparts\b"))
    mark = page.locator(".mark-parting").first.bounding_box()
    cursor = page.locator(".compare-overview [data-band-cursor]").bounding_box()
    assert mark is not None
    assert cursor is not None
    assert mark["x"] - 2 <= cursor["x"] <= mark["x"] + mark["width"] + 2


def test_single_keys_can_be_switched_off(page: Page) -> None:
    page.goto(f"{OTHER}&at=0")
    page.keyboard.press("?")
    page.get_by_label("Single keys are on").uncheck()
    page.keyboard.press("Escape")
    focus(page)
    page.keyboard.press("d")
    expect(page.locator("#go-to")).to_have_value("0")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#go-to")).to_have_value("1")


def test_the_messages_follow_and_show_what_the_other_side_lacks(page: Page) -> None:
    page.goto(f"{OTHER}&at=21")
    name = page.locator("#messages .pair-side[data-side=a] .role-name.differs").first
    expect(name).to_have_text("get_weather")
    expect(name).to_have_class("run role-name differs differs-last not-yet")
    expect(page.locator("#messages .gap").first).to_contain_text("276 characters missing")
    page.locator("#go-to").fill("300")
    page.locator("#go-to").press("Enter")
    expect(name).to_have_class("run role-name differs differs-last")


def test_the_address_follows_and_opens_the_same_view(page: Page, plain: Page) -> None:
    page.goto(f"{OTHER}&at=0")
    focus(page)
    page.keyboard.press("d")
    page.wait_for_url("**at=21")
    plain.goto(page.url)
    assert titles(plain) == titles(page)


def test_the_slider_moves_both_sides(page: Page) -> None:
    page.goto(f"{SAME}&at=0")
    page.locator("[data-compare-slider]").focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#go-to")).to_have_value("8")
    assert titles(page)[1] == "B Step 2"


def test_the_form_changes_a_side_and_leaves_a_tidy_address(page: Page) -> None:
    page.goto(OTHER)
    open_side(page, "b")
    page.locator("#b_parser").select_option("")
    page.locator("#b_chunk").fill("cuts:30,60")
    compare_from(page, "b")
    expect(page.locator("#compare-headline strong")).to_have_text("The same message on both sides.")
    expect(page).to_have_url(re.compile(r"\?a_chunk=token&b_chunk=cuts:30,60"))
    page.get_by_role("link", name="Swap").click()
    expect(page.locator("#a_chunk")).to_have_value("cuts:30,60")


def test_policies_are_chosen_in_the_menu_of_their_side(page: Page) -> None:
    page.goto(EXAMPLE)
    open_side(page, "b")
    page.locator(".side-b .side-policies summary").click()
    page.locator("#b_policy-content_after_calls").select_option("strip")
    compare_from(page, "b")
    expect(page.locator(".side-b .side-policies summary")).to_contain_text("1 set")
    expect(page).to_have_url(re.compile("b_policy=content_after_calls:strip"))


def test_a_wrong_word_is_said_beside_its_control(page: Page) -> None:
    page.goto(EXAMPLE)
    open_side(page, "a")
    page.locator("#a_chunk").fill("cuts:9999")
    compare_from(page, "a")
    expect(page.locator("#a_chunk-error")).to_contain_text("9999")
    expect(page.locator("#a_chunk")).to_have_value("cuts:9999")
    focus(page)
    page.keyboard.press("End")
    assert titles(page) == ["A End of output", "B End of output"]


def test_a_long_output_is_fetched_in_windows_and_no_key_is_lost(page: Page) -> None:
    run_posted(page, LONG)
    page.locator("#go-to").fill("6000")
    page.locator("#go-to").press("Enter")
    expect(page.locator("[data-compare-window]")).to_have_attribute("data-at", "6000")
    focus(page)
    start = titles(page)[0]
    for _ in range(200):
        page.keyboard.press("ArrowRight")
    wanted = int(start.rpartition(" ")[2].replace(",", "")) + 200
    expect(page.locator("#step-a .side-step:not([hidden]) h2")).to_have_text(f"A Step {wanted:,}")
    expect(page.locator("#both [data-bit]:focus")).to_have_count(1)
    assert page.locator("*").count() < 20_000


def test_a_posted_run_keeps_its_case_out_of_the_address(page: Page) -> None:
    run_posted(page, OUTPUT)
    open_side(page, "b")
    page.locator("#b_parser").select_option("passthrough")
    compare_from(page, "b")
    expect(page.locator("#compare-headline strong")).to_have_text("The calls differ.")
    focus(page)
    page.keyboard.press("d")
    expect(page).to_have_url(re.compile(r"/r/\w+/compare\?a_chunk=token&b_chunk=whole&b_parser=passthrough&at=\d+$"))
    page.get_by_role("button", name="Swap").click()
    expect(page.locator("#a_parser")).to_have_value("passthrough")


def test_a_side_opens_in_the_inspector(page: Page) -> None:
    page.goto(f"{OTHER}&at=21")
    page.get_by_role("link", name="Inspect A").click()
    expect(page.locator("#inspector")).to_be_visible()
    page.goto(f"{OTHER}&at=21")
    page.get_by_role("button", name="Inspect B").click()
    expect(page.locator("#inspector")).to_be_visible()
    expect(page.locator("#parser")).to_have_value("passthrough")


def test_without_script_every_move_is_a_link(plain: Page) -> None:
    plain.goto(f"{OTHER}&at=0")
    plain.get_by_role("link", name="Next place where the sides part").click()
    expect(plain.locator("#go-to")).to_have_value("21")
    plain.get_by_role("link", name="Next step of any side").click()
    expect(plain.locator("#go-to")).to_have_value("49")
    plain.locator("#go-to").fill("100")
    plain.get_by_role("button", name="Go").click()
    expect(plain.locator("[data-compare]")).to_have_attribute("data-at", "100")
    expect(plain).to_have_url(re.compile("b_parser=passthrough"))
    plain.locator("#places").get_by_role("link", name="298").click()
    expect(plain.locator("[data-compare]")).to_have_attribute("data-at", "298")
    open_side(plain, "b")
    plain.locator("#b_chunk").fill("whole")
    compare_from(plain, "b")
    expect(plain.locator("#b_chunk")).to_have_value("whole")
    expect(plain.locator("#go-to")).to_have_value("298")


def test_without_script_a_posted_run_moves_by_its_form(plain: Page) -> None:
    plain.goto("/")
    plain.locator("#text").fill(OUTPUT)
    plain.locator("#parser").select_option("qwen")
    plain.locator("#setup [name=run]").click()
    case = plain.locator("#cursor [name=case]").get_attribute("value") or ""
    plain.goto("/help")
    form: dict[str, str | float | bool] = {"case": case, "b_parser": "passthrough"}
    answer = plain.request.post("/compare", form=form, headers={"Sec-Fetch-Site": "same-origin"})
    plain.route("**/shown", lambda route: route.fulfill(body=answer.body(), content_type="text/html"))
    plain.goto("/shown")
    plain.get_by_role("button", name="Next place where the sides part").click()
    expect(plain.locator("[data-compare]")).to_have_attribute("data-at", "67")
    plain.locator("#go-to").fill("9")
    plain.locator("#go-to").press("Enter")
    expect(plain.locator("[data-compare]")).to_have_attribute("data-at", "9")
    expect(plain.locator("#b_parser")).to_have_value("passthrough")


@pytest.mark.parametrize("path", [f"{OTHER}&at=21", f"{SAME}&a_chunk=zap&b_policy=x&at=z", f"{FOUR}&matrix=near"])
def test_axe_finds_nothing(page: Page, path: str) -> None:
    page.goto(path)
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen)) == (screen, [])
