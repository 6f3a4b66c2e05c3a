"""Paste, run, step, share, open, export: with script and without."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

OUTPUT = '\nHello.\n<tool_call>\n{"name": "get_time", "arguments": {"tz": "Europe/Zurich"}}\n</tool_call>'


def heading(page: Page) -> str:
    return page.locator("#step .card:not([hidden]) h2").inner_text()


def run(page: Page, text: str, parser: str = "qwen", note: str = "not shared") -> None:
    page.goto("/")
    page.locator("#text").fill(text)
    page.locator("#parser").select_option(parser)
    page.locator("#setup [name=run]").click()
    expect(page.locator(".case-note")).to_have_text(note)


def result(page: Page) -> str:
    return page.locator("#result").inner_text()


@pytest.mark.parametrize("script", [True, False])
def test_paste_run_step_share_open_export(page: Page, plain: Page, script: bool) -> None:
    tab = page if script else plain
    run(tab, OUTPUT + ("" if script else " "))
    expect(tab.locator("#result")).to_contain_text("get_time")
    control = tab.get_by_role("button", name="Next step")
    before = tab.locator("#go-to").input_value()
    control.click()
    expect(tab.locator("#go-to")).to_have_value(str(int(before) + 1))
    tab.get_by_role("button", name="Share").click()
    expect(tab.get_by_label("Title")).to_have_value("")  # not the worked example's
    tab.get_by_label("Title").fill("Zurich")
    tab.get_by_label("What is wrong?").fill("nothing, really")
    tab.get_by_role("button", name="Create a permalink").click()
    assert len(tab.get_by_label("Delete key").input_value()) > 10
    tab.get_by_role("link", name="Open it").click()
    expect(tab.locator(".lead")).to_contain_text("nothing, really")
    tab.locator("summary", has_text="Export").click()
    with tab.expect_download() as download:
        tab.locator(".menu-list a").first.click()
    saved = json.loads(Path(download.value.path()).read_text())
    assert saved["title"] == "Zurich"
    assert "".join(token[1] for token in saved["input"]["tokens"]).startswith("\nHello.")


@pytest.mark.parametrize("script", [True, False], ids=["script", "plain"])
def test_a_run_becomes_a_test_of_another_project(page: Page, plain: Page, script: bool) -> None:
    tab = page if script else plain
    run(tab, OUTPUT + ("  " if script else "   "))
    tab.locator("summary", has_text="Export").click()
    tab.get_by_role("button", name="SGLang test").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("What should come out?")
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Export").click()
    assert download.value.suggested_filename.startswith("test_")
    assert "(CustomTestCase):" in Path(download.value.path()).read_text()


@pytest.mark.parametrize("script", [True, False])
def test_a_page_that_only_a_form_leads_to_has_words_at_its_address_and_a_way_back(
    page: Page, plain: Page, allowed: list[str], script: bool
) -> None:
    allowed.append("405")
    tab = page if script else plain
    run(tab, OUTPUT)
    tab.locator("summary", has_text="Export").click()
    tab.get_by_role("button", name="SGLang test").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("What should come out?")
    tab.goto(tab.url)
    expect(tab.get_by_role("heading", level=1)).to_have_text("This page has no address of its own")
    expect(tab.locator("main")).to_contain_text("with your browser's Back button, and ask again from there")
    expect(tab.get_by_role("link", name="Start anew")).to_be_visible()
    back = tab.get_by_role("button", name="Back to the run")
    expect(back).to_be_visible(visible=script)
    if script:
        back.click()
        expect(tab.locator("#headline")).to_be_visible()


def test_a_posted_run_survives_a_reload_at_its_step(page: Page) -> None:
    run(page, OUTPUT)
    page.locator("#go-to").fill("2")
    page.locator("#go-to").press("Enter")
    page.wait_for_url("**/r/*step=2*")
    page.reload()
    expect(page.locator("#go-to")).to_have_value("2")
    expect(page.locator("#text")).to_have_value(OUTPUT)
    expect(page.locator("#result")).to_contain_text("get_time")


def test_a_leading_newline_and_trailing_blank_survive_the_form(page: Page) -> None:
    run(page, "\n\n x \n")
    expect(page.locator("#input .pane-note")).to_contain_text("6 characters")
    expect(page.locator("#text")).to_have_value("\n\n x \n")
    page.locator("#setup [name=run]").click()
    expect(page.locator("#input .pane-note")).to_contain_text("6 characters")


def test_ctrl_enter_runs_from_the_text_area(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill("plain words")
    page.locator("#text").press("Control+Enter")
    expect(page.locator("#result")).to_contain_text("plain·words")


def test_ctrl_s_shares_nothing(page: Page) -> None:
    run(page, "secret")
    page.keyboard.press("Control+s")
    expect(page.locator("#share-dialog")).to_be_hidden()


def test_a_log_is_named_and_not_taken_for_output(page: Page, allowed: list[str]) -> None:
    allowed.append("422")
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m",
             "choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": None}]}  # fmt: skip
    run(page, f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n", note="not run")
    expect(page.locator("main")).to_contain_text("SSE")


def test_an_uploaded_file_keeps_its_bytes(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_bytes(b"one\r\ntwo\r\n")
    page.goto("/")
    page.locator("#file").set_input_files(path)
    expect(page.locator("#input .pane-note")).to_contain_text("10 characters")
    page.get_by_role("button", name="Last step").click()
    assert "oneCR⏎" in result(page)


def test_what_is_changed_and_not_run_says_so_and_offers_run(page: Page) -> None:
    run(page, OUTPUT)
    stale, again = page.locator("#stale"), page.locator("#setup [name=run]")
    expect(stale).to_be_hidden()
    page.locator("#parser").select_option("passthrough")
    expect(stale).to_have_text("Changed, not run")
    expect(again).to_have_class("button primary")
    page.locator("#parser").select_option("qwen")
    expect(stale).to_be_hidden()
    page.locator("#tools-summary").click()
    page.locator("#tools").fill('[{"name": "get_time", "parameters": {}}]')
    expect(stale).to_be_visible()
    page.locator("#tools-menu").get_by_role("button", name="Run again").click()
    expect(page.locator("#tools-summary")).to_contain_text("1")
    expect(stale).to_be_hidden()


def test_the_text_opens_with_the_caret_in_it_and_closes_like_a_chip(page: Page) -> None:
    run(page, OUTPUT)
    page.locator("#source > summary").click()
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#source")).not_to_have_attribute("open", "")
    page.locator("#source > summary").click()
    page.locator("#machine-title").click()
    expect(page.locator("#source")).not_to_have_attribute("open", "")


@pytest.mark.parametrize(
    ("path", "focused"),
    [
        ("/example/unfinished-json", "#headline"),
        ("/example/two-calls-with-prose/compare?a_chunk=token&b_chunk=whole", "#compare-headline"),
    ],
)
def test_a_page_that_was_opened_has_the_focus_on_its_verdict(page: Page, path: str, focused: str) -> None:
    page.goto(path)
    expect(page.locator(focused)).to_be_focused()
    page.keyboard.press("g")
    expect(page.locator("#go-to")).to_be_focused()


def test_an_empty_run_keeps_the_whole_box_and_says_what_is_missing(page: Page, allowed: list[str]) -> None:
    allowed.append("422")
    page.goto("/")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#errors")).to_contain_text("There is no text. Paste")
    button = page.locator("#setup [name=run]")
    assert button.evaluate("button => button.scrollWidth <= button.clientWidth")
    box, text = button.bounding_box(), page.locator("#text").bounding_box()
    assert box is not None
    assert text is not None
    assert box["x"] + box["width"] <= text["x"] + text["width"] + 1


def test_bad_fields_keep_the_form_and_move_the_focus(page: Page, allowed: list[str]) -> None:
    allowed.append("422")
    page.goto("/")
    page.locator("#text").fill("keep me")
    page.locator("#tools-menu summary").click()
    page.locator("#tools").fill("[{]")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#errors")).to_be_focused()
    expect(page.locator("#errors a")).to_have_attribute("href", "#tools")
    expect(page.locator("#text")).to_have_value("keep me")
    expect(page.locator("#tools")).to_have_attribute("aria-invalid", "true")


def test_bad_fields_without_script(plain: Page, allowed: list[str]) -> None:
    allowed.append("422")
    plain.goto("/")
    plain.locator("#text").fill("keep me")
    plain.locator("#tools-menu summary").click()
    plain.locator("#tools").fill("[{]")
    plain.locator("#setup [name=run]").click()
    expect(plain.locator("#errors")).to_be_visible()
    expect(plain.locator("#text")).to_have_value("keep me")


def test_too_much_text_says_limit_and_size_and_keeps_it(page: Page, allowed: list[str]) -> None:
    allowed.append("413")
    page.goto("/")
    page.locator("#text").fill("x" * 1_000_001)
    page.locator("#setup [name=run]").click()
    expect(page.locator("#errors")).to_contain_text("1,000,001 bytes; the limit is 1,000,000 bytes")
    assert len(page.locator("#text").input_value()) == 1_000_001


def test_hostile_output_is_shown_and_not_run(page: Page) -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp.exe\u200b\x01\"'`"
    run(page, hostile)
    expect(page.locator("#strip")).to_contain_text("<script>alert(1)</script>".replace(" ", "·"))
    expect(page.locator("#strip .boxed").first).to_have_text("RLO")
    assert page.locator("#inspector script, #inspector img").count() == 0


def test_a_private_link_opens_without_being_stored(page: Page) -> None:
    run(page, OUTPUT)
    expect(page.locator(".case-note")).to_have_text("not shared")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Copy a private link").click()
    said = page.locator("#share-dialog [data-private-result]")
    expect(said).to_contain_text("Cop")
    link = said.get_attribute("data-link") or ""
    assert "#v1." in link
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#result")).to_contain_text("get_time")
    page.locator("#go-to").fill("3")
    page.locator("#go-to").press("Enter")
    expect(page).to_have_url(re.compile(r"/\?step=3#v1\."))
    page.reload()
    expect(page.locator("#go-to")).to_have_value("3")
    expect(page.locator("#result")).to_contain_text("get_time")


def test_selecting_an_argument_lights_up_its_tokens_and_back(page: Page) -> None:
    page.goto("/example/marker-split-across-tokens?step=44")
    page.locator("#result .parsed > summary").first.click()
    page.locator("#result table.arguments th a", has_text="city").click()
    assert "Zürich" in "".join(page.locator("#strip .linked").all_inner_texts())
    page.locator("#strip .token", has_text="rich").click()
    assert "rich" in "".join(page.locator("#result .linked").all_inner_texts())
    page.keyboard.press("Escape")
    expect(page.locator("#inspector .linked")).to_have_count(0)


def test_back_after_a_run_returns_to_the_first_page(page: Page) -> None:
    run(page, OUTPUT)
    expect(page.locator(".case-note")).to_have_text("not shared")
    expect(page).to_have_url(re.compile("/r/"))
    page.go_back()
    expect(page.locator(".intro")).to_be_visible()
    expect(page.locator("#inspector")).to_have_count(0)
    page.go_forward()
    page.locator("#go-to").fill("12")
    page.locator("#go-to").press("Enter")
    assert "Step 12" in heading(page)


def test_back_and_forward_put_the_focus_where_run_does(page: Page) -> None:
    run(page, OUTPUT)
    page.locator("#source > summary").click()
    page.locator("#text").fill(f"{OUTPUT} More.")
    first = page.url.partition("?")[0]
    page.locator("#setup [name=run]").click()
    expect(page).not_to_have_url(re.compile(re.escape(first)))
    expect(page.locator("#headline")).to_be_focused()
    page.go_back()
    expect(page).to_have_url(re.compile(re.escape(first)))
    expect(page.locator("#headline")).to_be_focused()
    page.go_forward()
    expect(page).not_to_have_url(re.compile(re.escape(first)))
    expect(page.locator("#headline")).to_be_focused()
    page.keyboard.press("End")
    expect(page.locator("#step .card:not([hidden]) h2")).to_contain_text("End of output")
    for _ in range(2):
        page.go_back()
    expect(page.locator("#setup.at-home #text")).to_be_focused()


def test_a_file_over_the_limit_of_a_request_leaves_the_page_as_it_is(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    path.write_bytes(b"x" * 9_000_000)
    page.goto("/")
    page.locator("#text").fill("typed before")
    page.locator("#file").set_input_files(path)
    expect(page.locator("#file-refused")).to_contain_text("the limit is 8,000,000 bytes")
    expect(page.locator("#text")).to_have_value("typed before")


def test_a_file_can_be_dropped_anywhere(page: Page) -> None:
    page.goto("/")
    data = page.evaluate_handle(
        "() => { const data = new DataTransfer(); data.items.add(new File(['dropped words'], 'x.txt')); return data; }"
    )
    page.locator("body").dispatch_event("drop", {"dataTransfer": data})
    expect(page.locator("#input .pane-note")).to_contain_text("13 characters")


def test_policies_are_those_of_the_chosen_parser(page: Page) -> None:
    page.goto("/")
    page.locator("#policies > summary").click()
    page.locator("#parser").select_option("mistral")
    expect(page.locator("#policy-mistral_version")).to_be_visible()
    page.locator("#parser").select_option("qwen")
    expect(page.locator("#policy-mistral_version")).to_be_hidden()


def test_a_deep_link_opens_step_and_tabs(page: Page) -> None:
    page.goto("/example/two-calls-with-prose?step=30&dock=wire&machine=table&input=bytes")
    assert "Step 30" in heading(page)
    expect(page.get_by_role("region", name="Chunks as the client receives them")).to_be_visible()
    expect(page.get_by_role("region", name="Transition table")).to_be_visible()
    expect(page.get_by_role("region", name="Bytes of the output")).to_be_visible()


def test_a_damaged_private_link_says_so(page: Page) -> None:
    page.goto("/#v1.AAAA")
    notice = page.locator("#connection")
    expect(notice).to_contain_text("This private link is damaged")
    expect(notice).not_to_contain_text("did not answer")
    expect(notice.get_by_role("button", name="Retry")).to_be_hidden()


def test_a_copy_is_edited_and_a_case_is_deleted(page: Page) -> None:
    run(page, "to be deleted")
    page.locator("[data-share]").click()
    page.get_by_role("button", name="Create a permalink").click()
    key = page.get_by_label("Delete key").input_value()
    page.get_by_role("link", name="Open it").click()
    page.get_by_role("link", name="Edit a copy").click()
    expect(page.locator(".case-note")).to_have_text("editing a copy")
    page.go_back()
    page.get_by_role("link", name="delete").click()
    page.get_by_label("Delete key").fill(key)
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status").first).to_contain_text("Deleted.")
