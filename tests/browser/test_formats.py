"""Formats: listed, edited, checked while one types, replayed on samples, shared; with script and without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_access import on_each_screen, violations

pytestmark = pytest.mark.browser

OUTPUT = 'Hi.\n<call>{"name": "f", "arguments": {"a": "b"}}</call>'
PATHS = ("/formats", "/formats/edit", "/formats/edit?from=qwen_coder", "/formats/language")


def test_what_is_typed_in_the_editor_survives_a_reload_until_it_is_taken_back(page: Page) -> None:
    page.goto("/formats/edit?from=qwen")
    before = page.locator("#format-text").input_value()
    page.locator("#format-text").fill(before.replace("<tool_call>", "<other_call>"))
    page.get_by_role("button", name="Add a sample").click()
    page.locator("#samples textarea[name^='output.']").last.fill("typed sample")
    page.wait_for_function("() => sessionStorage.getItem('format-draft')?.includes('typed sample')")
    page.reload()
    expect(page.locator("#format-text")).to_have_value(before.replace("<tool_call>", "<other_call>"))
    expect(page.locator("#format-text")).to_be_focused()
    expect(page.locator("#samples textarea[name^='output.']").last).to_have_value("typed sample")
    page.goto("/formats/edit?from=mistral")
    expect(page.get_by_role("button", name="Back to the file")).to_be_hidden()
    page.goto("/formats/edit?from=qwen")
    page.get_by_role("button", name="Back to the file").click()
    expect(page.locator("#format-text")).to_have_value(before)


def test_edges_of_the_editor_have_the_text_of_their_markers(page: Page) -> None:
    page.goto("/formats/edit?from=qwen")
    expect(page.locator("#format-machine .edge text").first).to_have_text("<tool_call>")


@pytest.mark.parametrize("script", [True, False])
def test_a_new_format_from_skeleton_to_permalink(page: Page, plain: Page, script: bool) -> None:
    tab = page if script else plain
    tab.goto("/formats")
    tab.get_by_role("link", name="New format").click()
    text = tab.locator("#format-text")
    changed = text.input_value().replace("<call>", "<t>").replace("</call>", "</t>").replace("my_format", "tee_format")
    text.fill(changed)
    tab.locator("#output-1").fill(OUTPUT.replace("call>", "t>") + ("" if script else " "))
    tab.locator("#beside").select_option("qwen")
    if not script:
        tab.get_by_role("button", name="Check").click()
    expect(tab.locator("#sample-outcome-1")).to_contain_text("Not the message of qwen")
    expect(tab.locator("#format-status")).to_contain_text("Nothing found")
    expect(tab.locator("#format-text")).to_have_value(changed)
    tab.get_by_role("button", name="Expect today's result of sample 1").click()
    expect(tab.locator("#sample-outcome-1")).to_contain_text("As expected.")
    assert json.loads(tab.locator("#expect-1").input_value())["tool_calls"] == [{"name": "f", "arguments": {"a": "b"}}]
    with tab.expect_popup() as opened:
        tab.get_by_role("button", name="Share sample 1").click()
    share = opened.value
    share.get_by_label("Title").fill("tee" if script else "tee without script")
    share.get_by_role("button", name="Create a permalink").click()
    share.get_by_role("link", name="Open it").click()
    expect(share.locator("#result")).to_contain_text("f")
    share.get_by_role("link", name="Edit this format").click()
    assert json.loads(share.locator("#format-text").input_value())["name"] == "tee_format"
    expect(share.locator("#sample-outcome-1")).to_contain_text("As expected.")


def test_a_run_leads_to_the_editor_and_back_to_the_inspector(page: Page) -> None:
    page.goto("/")
    page.locator("#text").fill('<tool_call>{"name": "f", "arguments": {}}</tool_call>')
    page.locator("#setup [name=run]").click()
    expect(page.locator(".case-note")).to_have_text("not shared")
    page.get_by_role("button", name="Edit this format").click()
    expect(page.locator("#output-1")).to_have_value('<tool_call>{"name": "f", "arguments": {}}</tool_call>')
    page.locator("#output-1").fill(typed := '<tool_call>{"name": "typed_name", "arguments": {}}</tool_call>')
    page.wait_for_function("() => sessionStorage.getItem('format-draft')?.includes('typed_name')")
    page.reload()  # what was typed over a run that is stored nowhere comes back too
    expect(page.locator("#output-1")).to_have_value(typed)
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Open in the inspector").click()
    expect(opened.value.locator("#reasons")).to_contain_text("The case brings its own format.")


def test_the_check_follows_the_typing_and_never_touches_a_field(page: Page) -> None:
    page.goto("/formats/edit?from=qwen")
    text = page.locator("#format-text")
    text.focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Delete")
    expect(page.locator("#format-status")).to_contain_text("it does not run")
    expect(page.locator("#format-findings")).to_contain_text("Not JSON")
    expect(page.locator("#format-machine svg")).to_be_visible()  # the last one that was drawn
    expect(text).to_be_focused()
    page.keyboard.type("{")
    expect(page.locator("#format-status")).to_contain_text("all samples fine")
    assert json.loads(text.input_value())["name"] == "qwen"


def test_a_finding_moves_the_caret_to_its_place(page: Page) -> None:
    page.goto("/formats/edit?from=qwen_coder")
    text = page.locator("#format-text")
    text.fill(text.input_value().replace('"to": "TOOL_BETWEEN"', '"to": "NOWHERE"', 1))
    expect(page.locator("#format-findings")).to_contain_text("NOWHERE")
    page.locator("#format-findings [data-caret]").first.click()
    expect(text).to_be_focused()
    selected = text.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)")
    assert selected == '"NOWHERE"'
    line = page.locator("#format-gutter .severity-error").first
    expect(line).to_be_in_viewport()


def test_line_numbers_and_indentation_follow_the_text(page: Page) -> None:
    page.goto("/formats/edit")
    text = page.locator("#format-text")
    text.fill('{\n  "terminals": {')
    text.press("Control+End")
    text.press("Enter")
    page.keyboard.type('"A": "a"')
    text.press("Enter")
    assert text.input_value() == '{\n  "terminals": {\n    "A": "a"\n    '
    expect(page.locator("#format-gutter li")).to_have_count(4)
    text.press("Control+Enter")
    expect(page.locator("#format-findings")).to_contain_text("line 4")


def test_samples_come_and_go_and_keep_what_was_typed(page: Page) -> None:
    page.goto("/formats/edit")
    add = page.get_by_role("button", name="Add a sample")
    add.click()
    expect(page.locator("#output-2")).to_be_focused()
    page.keyboard.type("no call")
    expect(page.locator("#sample-outcome-2")).to_contain_text("no·call")
    page.get_by_role("button", name="Remove sample 1").click()
    expect(page.locator("#output-2")).to_have_value("no call")
    expect(page.locator("[data-sample]")).to_have_count(1)
    for _ in range(7):
        add.click()
    expect(add).to_be_disabled()
    expect(page.get_by_role("heading", name="Sample 9")).to_be_visible()


def test_downloads_are_what_was_typed(page: Page) -> None:
    page.goto("/formats/edit")
    page.locator("summary", has_text="Download").click()
    with page.expect_download() as download:
        page.locator("[formaction='/formats/file']").click()
    assert download.value.suggested_filename == "my_format.json"
    assert Path(download.value.path()).read_text("utf-8") == page.locator("#format-text").input_value()


@pytest.mark.parametrize("path", PATHS)
def test_axe_finds_nothing_and_nothing_is_too_wide(page: Page, path: str) -> None:
    page.goto(path)
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen)) == (screen, [])
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")


def test_axe_finds_nothing_while_the_text_is_broken(page: Page) -> None:
    page.goto("/formats/edit?from=qwen")
    page.locator("#output-1").fill("changed")
    expect(page.locator("#sample-outcome-1")).to_contain_text("changed")
    page.locator("#format-text").fill('{"name": 1}')
    expect(page.locator("[data-stale]")).to_be_visible()
    for screen in on_each_screen(page):
        assert (screen, violations(page, screen)) == (screen, [])
